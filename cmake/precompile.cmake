# Precompiled headers: the standard library and fmt cost 1.8 of the 2.5 seconds that a file takes on average.
# Only foreign headers are in them, and the presets dev and coverage do without, so that a missing #include shows.
if(GALATEA_PRECOMPILE)
  add_subdirectory(cmake/precompiled)
endif()

# galatea_precompile(TARGET library|once|test)
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
