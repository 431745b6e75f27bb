# Precompiled headers: the standard library and fmt cost 1.8 of the 2.5 seconds that a file takes on average.
# Only foreign headers are in them, and the presets dev and coverage do without, so that a missing #include shows.
set(precompiled_headers <algorithm> <array> <atomic> <cstdint> <cstring> <expected> <filesystem> <functional> <map> <memory> <mutex>
  <optional> <set> <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h>)

# One for position-independent code and one for programs, which the compiler tells apart.
if(GALATEA_PRECOMPILE)
  set(empty ${CMAKE_BINARY_DIR}/generated/precompiled.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "int main() { return 0; }\n")
  add_library(galatea_precompiled_library OBJECT ${empty})
  add_executable(galatea_precompiled_test EXCLUDE_FROM_ALL ${empty})
  galatea_test_options(galatea_precompiled_test)
  foreach(kind library test)
    target_link_libraries(galatea_precompiled_${kind} PRIVATE galatea_options fmt::fmt)
    set(headers ${precompiled_headers})
    if(kind STREQUAL "test" AND TARGET GTest::gtest)
      list(APPEND headers <gtest/gtest.h>)
      target_link_libraries(galatea_precompiled_test PRIVATE GTest::gtest)
    endif()
    list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
    target_precompile_headers(galatea_precompiled_${kind} PRIVATE ${headers})
  endforeach()
endif()

# galatea_precompile(TARGET library|test)
function(galatea_precompile target kind)
  if(GALATEA_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM galatea_precompiled_${kind})
    # The compiler refuses headers that other definitions would have read otherwise.
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
    if(kind STREQUAL "test" AND TARGET GTest::gtest)
      target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>)
    endif()
  endif()
endfunction()
