# Every outside library, by the name under which Debian packages it. CUDA is not among them: it is opened at run time.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)              # libfmt-dev
find_package(nlohmann_json REQUIRED)    # nlohmann-json3-dev
find_package(CLI11 REQUIRED)            # libcli11-dev
find_package(JPEG REQUIRED)             # libjpeg62-turbo-dev
find_package(PNG REQUIRED)              # libpng-dev
find_package(PkgConfig REQUIRED)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp)  # libwebp-dev
find_package(ZLIB REQUIRED)             # zlib1g-dev
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)  # libdeflate-dev
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)    # liblz4-dev
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb)     # liblmdb-dev
find_package(TIFF REQUIRED)             # libtiff-dev
pkg_check_modules(OPENJPEG REQUIRED IMPORTED_TARGET libopenjp2)  # libopenjp2-7-dev

# Of libcurl the headers alone: it is opened at run time, where something far away is read.
find_path(CURL_INCLUDE_DIR curl/curl.h REQUIRED)          # libcurl4-openssl-dev

# Films, in a module of their own. Where the headers are missing it is not built, and the rest is.
pkg_check_modules(LIBAV IMPORTED_TARGET libavformat>=59 libavcodec>=59 libavutil>=57)  # libavformat-dev, libavcodec-dev, libavutil-dev
if(NOT LIBAV_FOUND)
  message(STATUS "libav is missing (libavformat-dev, libavcodec-dev, libavutil-dev): libgalatea_video.so, which decodes films, is not built")
endif()

# The page of `galatea serve`, in a module of its own. Where the headers are missing it is not built, and the rest is.
pkg_check_modules(HTTPLIB IMPORTED_TARGET cpp-httplib>=0.11)  # libcpp-httplib-dev, libssl-dev
if(NOT HTTPLIB_FOUND)
  message(STATUS "cpp-httplib is missing (libcpp-httplib-dev): libgalatea_http.so, for `galatea serve`, is not built")
endif()

# LLVM 19 or newer; the newest that is installed wins.
foreach(version 22 21 20 19)
  # Its version file accepts only an exact major.minor, and releases start at .1.
  find_package(LLVM ${version}.1 CONFIG QUIET PATHS /usr/lib/llvm-${version})
  if(LLVM_FOUND)
    break()
  endif()
endforeach()
if(NOT LLVM_FOUND OR LLVM_VERSION_MAJOR LESS 19)
  message(FATAL_ERROR "LLVM 19 or newer is missing: install llvm-19-dev (./dev build does it where it can)")
endif()
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

if(GALATEA_TESTS)
  find_package(GTest REQUIRED)          # libgtest-dev
endif()
