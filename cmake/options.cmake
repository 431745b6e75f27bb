# Compiler settings shared by every target: link galatea_options (PRIVATE).
add_library(galatea_options INTERFACE)
target_include_directories(galatea_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(galatea_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wcast-align
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast> -Wno-missing-field-initializers -fno-math-errno -ffp-contract=off -fvisibility=hidden)
# Not in unity builds of clang, which takes the equal aliases of two sources for shadowing; g++ always looks for it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT GALATEA_UNITY)
  target_compile_options(galatea_options INTERFACE -Wshadow)
endif()
# g++ 12 reports these inside its own standard library, some only with -O2.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(galatea_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict
    -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# clang sees that std::stable_sort of libstdc++ 12 uses what C++23 deprecates.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(galatea_options INTERFACE -Wno-deprecated-declarations)
endif()
# g++ tidies its memory up ever again; a file takes less than a gigabyte without that, and a twentieth less time.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(galatea_options INTERFACE --param=ggc-min-heapsize=1048576)
endif()
# Bit-equal results on every machine: baseline code only, no fast-math, no contraction (above).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(galatea_options INTERFACE -march=x86-64-v2)
endif()

# Ninety programs with lines of the source for every report: a third of the disk less, in the same time.
if(GALATEA_SANITIZE_ADDRESS OR GALATEA_SANITIZE_THREAD)
  target_link_options(galatea_options INTERFACE -Wl,--compress-debug-sections=zstd)
endif()
if(GALATEA_SANITIZE_ADDRESS)
  # A target's own options stand before these, where a -fno-sanitize says nothing: so these ask what they are for. Without object-size,
  # which takes a fifth of clang's time to look for part of what the address sanitizer finds: accesses behind an object.
  target_compile_options(galatea_options INTERFACE -fsanitize=address $<$<NOT:$<BOOL:$<TARGET_PROPERTY:GALATEA_OWN_CODE_OF_TESTS>>>:-fsanitize=undefined>
    -fno-sanitize=object-size -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # A fifth of clang's time more, for ./dev test --all: stacks after return; accesses by null, which the address sanitizer tells of anyway;
  # misaligned accesses and pointers that wrap where all memory has the type that it is read as.
  if(NOT GALATEA_SANITIZE_ALL)
    target_compile_options(galatea_options INTERFACE -fsanitize-address-use-after-return=never -fno-sanitize=null
      $<$<NOT:$<BOOL:$<TARGET_PROPERTY:GALATEA_READS_BYTES>>>:-fno-sanitize=alignment,pointer-overflow>)
  endif()
  # Places of the source that reports name are a million addresses in a program: where it may lie anywhere, each start of one writes them
  # all anew, a quarter of the time of a short run.
  target_link_options(galatea_options INTERFACE -fsanitize=address,undefined $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
# galatea_fuzzed(TARGET [SOURCES...]): what libFuzzer steers by, in the libraries (or in some of a library's sources)
# that read foreign bytes or text. In the build of ./dev fuzz alone: tests of the language would take a third longer. As
# -fsanitize=fuzzer-no-link has it, but for the name, by which clang would want precompiled headers of their own.
function(galatea_fuzzed target)
  if(GALATEA_FUZZ AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(coverage -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
    if(ARGN)
      set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS ${coverage})
    else()
      foreach(part ${target} ${target}_often)
        if(TARGET ${part})
          target_compile_options(${part} PRIVATE ${coverage})
        endif()
      endforeach()
    endif()
  endif()
endfunction()
# galatea_reads_bytes(TARGET): its code takes bytes for numbers, and counts in pointers.
function(galatea_reads_bytes target)
  foreach(part ${target} ${target}_often)
    if(TARGET ${part})
      set_target_properties(${part} PROPERTIES GALATEA_READS_BYTES ON)
    endif()
  endforeach()
endfunction()
if(GALATEA_SANITIZE_THREAD)
  target_compile_options(galatea_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(galatea_options INTERFACE -fsanitize=thread)
endif()

# Nobody waits for the tests' own code: g++ takes half the time for it with -Og, and no less with -O0. Under the address sanitizer,
# undefined behaviour is looked for in what they test: in their own code it takes a fifth of the compiler's time. Lines of the source, which
# reports name, are those of what they test: for their own code, whose functions reports name, they take an eighth.
function(galatea_test_options target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
  if(GALATEA_SANITIZE_ADDRESS OR GALATEA_SANITIZE_THREAD)
    target_compile_options(${target} PRIVATE -g0)
  endif()
  set_target_properties(${target} PROPERTIES GALATEA_OWN_CODE_OF_TESTS ON)
endfunction()
# Programs alone: clang takes a third of the time with -O0. Loops over elements belong into a galatea_test_library, which is optimized.
# Where g++ compiles the product and clang is installed too, clang compiles the programs of the tests: g++ takes 1.8 times as long for
# them, whatever its level. cmake knows one compiler, so cmake/compile_by.sh stands in front of it and calls the other one.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND GALATEA_PRECOMPILE)
  find_program(GALATEA_TESTS_CLANG NAMES clang++-22 clang++-21 clang++-20 clang++-19)
endif()
function(galatea_test_program_options target)
  galatea_test_options(${target})
  if(GALATEA_TESTS_CLANG)
    # Warnings that clang does not know, options of g++'s memory, and what is said above of clang.
    set(options -Wno-unknown-warning-option -Wno-unused-command-line-argument -Wno-deprecated-declarations -Wno-shadow)
    set_target_properties(${target} PROPERTIES
      CXX_COMPILER_LAUNCHER "${CMAKE_SOURCE_DIR}/cmake/compile_by.sh;${GALATEA_TESTS_CLANG};${options};--")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

include(cmake/precompile.cmake)

# galatea_unity(TARGET [SOURCES THAT STAY ALONE...]): sixty neighbours in the list of sources are compiled as one file, so that what they
# all include is parsed, and what they all instantiate is generated, once. So the names of a library's unnamed namespaces are
# all different.
function(galatea_unity target)
  if(GALATEA_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 60)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # g++ takes the sources for headers, of which others might see the types too.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# galatea_precompile_light(TARGET): headers for a library that does little; under the sanitizers it is compiled with -O0.
function(galatea_precompile_light target)
  if(GALATEA_SANITIZE_ADDRESS OR GALATEA_SANITIZE_THREAD)
    target_compile_options(${target} PRIVATE -O0)
    galatea_precompile(${target} once)
  else()
    galatea_precompile(${target} library)
  endif()
endfunction()

# galatea_library(NAME SOURCES... [PUBLIC ...] [PRIVATE ...] [ALONE SOURCES...] [ONCE | GLUE] [TESTS_RUN_OFTEN | TESTS_RUN_SELDOM] [OFTEN
# SOURCES...]) declares the library of one folder; those ALONE are made anew often. A library whose code runs ONCE for a program, never
# for a sample, is compiled with -O1, in a fifth to a third less time. GLUE declares, prints, or hands on to others: -Og takes another
# sixth less. Those of its sources that run OFTEN after all are compiled with -O2. Clang takes two fifths of the time with -O0: under the
# thread sanitizer, where few tests compute, all is compiled with that; under the address sanitizer what runs ONCE or is GLUE, unless
# TESTS_RUN_OFTEN what is in it, and what TESTS_RUN_SELDOM.
function(galatea_library name)
  cmake_parse_arguments(ARG "ONCE;GLUE;TESTS_RUN_OFTEN;TESTS_RUN_SELDOM" "" "SOURCES;PUBLIC;PRIVATE;ALONE;OFTEN" ${ARGN})
  if(NOT ARG_SOURCES)  # a layer that has no source yet still takes part in linking
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}_empty.cpp CONTENT "")
    set(ARG_SOURCES ${CMAKE_BINARY_DIR}/generated/${name}_empty.cpp)
  endif()
  set(parts galatea_${name})
  # Options of a source would keep it out of unity builds, so those are a target; others see one library.
  if(ARG_OFTEN)
    list(REMOVE_ITEM ARG_SOURCES ${ARG_OFTEN})
    add_library(galatea_${name}_often OBJECT ${ARG_OFTEN})
    list(APPEND ARG_SOURCES $<TARGET_OBJECTS:galatea_${name}_often>)
    list(APPEND parts galatea_${name}_often)
  endif()
  add_library(galatea_${name} STATIC ${ARG_SOURCES})
  foreach(part ${parts})
    target_link_libraries(${part} PUBLIC galatea_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
    galatea_unity(${part} ${ARG_ALONE})
    if(GALATEA_SANITIZE_THREAD OR (part STREQUAL "galatea_${name}" AND (ARG_ONCE OR ARG_GLUE) AND NOT ARG_TESTS_RUN_OFTEN)
       OR ARG_TESTS_RUN_SELDOM)
      galatea_precompile_light(${part})
    else()
      galatea_precompile(${part} library)
    endif()
  endforeach()
  if(ARG_ONCE)
    target_compile_options(galatea_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  elseif(ARG_GLUE)
    target_compile_options(galatea_${name} PRIVATE $<$<CONFIG:Release>:-Og>)
  endif()
endfunction()

# galatea_test_library(NAME KIND SOURCES...) declares what several test programs link, or what loops over elements for long, of the kind
# (STATIC, SHARED) of a library.
function(galatea_test_library name kind)
  add_library(${name} ${kind} ${ARGN})
  galatea_precompile(${name} library)
  galatea_test_options(${name})
  galatea_unity(${name})
endfunction()

# tests_LABEL builds the tests of one label: the thread sanitizer is run for runtime, api and device, coverage for dsl,
# and --aarch64 needs its own alone.
foreach(label runtime api device dsl aarch64)
  add_custom_target(tests_${label})
endforeach()

# galatea_test(NAME SOURCES... LIBRARIES... [LABELS ...] [LONG] [BUILT_HERE]) declares one GoogleTest program, seen by ctest. Those that
# are LONG are started first, so that no processor waits for them at the end.
# A program's own sources are compiled once, for the usual build and for the address sanitizer's, which looks at what is tested: where
# GALATEA_TEST_OBJECTS names a build's folder, the program is linked of what was compiled there. Not where a program is told of files of
# its own build (BUILT_HERE), under the thread sanitizer, which must see every access, and where all shall be looked at (./dev test --all).
set(GALATEA_TEST_OBJECTS "" CACHE PATH "The build whose objects the tests are linked of; empty: this one")
function(galatea_test name)
  cmake_parse_arguments(ARG "LONG;BUILT_HERE" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  set(list tests/objects/${name}.txt)
  if(GALATEA_TEST_OBJECTS AND NOT ARG_BUILT_HERE)
    if(NOT EXISTS ${GALATEA_TEST_OBJECTS}/${list})
      message(FATAL_ERROR "${name} is linked of what ${GALATEA_TEST_OBJECTS} compiles, which is not there: ./dev build --preset=address")
    endif()
    file(STRINGS ${GALATEA_TEST_OBJECTS}/${list} ARG_SOURCES)
    set_source_files_properties(${ARG_SOURCES} PROPERTIES EXTERNAL_OBJECT ON)
  elseif(NOT ARG_BUILT_HERE)
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${list} CONTENT "$<JOIN:$<TARGET_OBJECTS:${name}>,\n>\n")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  # The optimized first: of a function that headers define, the linker takes the first copy (tests/CMakeLists.txt).
  set(optimized)
  if((GALATEA_SANITIZE_ADDRESS OR GALATEA_SANITIZE_THREAD) AND "${ARG_LIBRARIES}" MATCHES "galatea_(dsl|ops|lsp|commands)")
    set(optimized galatea_compiler galatea_runtime galatea_base)
  endif()
  target_link_libraries(${name} PRIVATE galatea_options ${optimized} ${ARG_LIBRARIES} galatea_test_main GTest::gtest)
  galatea_precompile(${name} test)
  galatea_test_program_options(${name})
  galatea_unity(${name})
  target_compile_definitions(${name} PRIVATE GALATEA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  # A program that can compile a pipeline needs the code generator beside it.
  if(TARGET galatea_codegen_llvm AND "${ARG_LIBRARIES}" MATCHES "galatea_(compiler|dsl|ops|kernel_fuzz)")
    add_dependencies(${name} galatea_codegen_llvm)
  endif()
  foreach(label ${ARG_LABELS})
    if(TARGET tests_${label})
      add_dependencies(tests_${label} ${name})
    endif()
  endforeach()
  set(environment "GALATEA_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache")
  # The graph is verified after each pass where passes are what is tested; elsewhere, as users have it, at the end.
  if("${ARG_LABELS}" MATCHES "passes|plan|graph|gpu|region")
    list(APPEND environment "GALATEA_VERIFY=each")
  endif()
  if(DEFINED GALATEA_BUDGET_${name})
    list(APPEND environment "GALATEA_TEST_BUDGET=${GALATEA_BUDGET_${name}}")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS "${ARG_LABELS}" ENVIRONMENT "${environment}"
    SKIP_REGULAR_EXPRESSION "^\\[  SKIPPED \\] ALL")
  if(ARG_LONG)
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
endfunction()
