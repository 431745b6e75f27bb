# Headers as they were and as they may become, made of today's: `older` lacks the newest fields of every struct,
# `newer` has one more in each.
file(READ ${CMAKE_SOURCE_DIR}/include/galatea.h today)
set(folder ${CMAKE_CURRENT_BINARY_DIR}/headers)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/galatea.h)
string(REGEX REPLACE "\n[^\n;]*; +/\\* since 0\\.2:([^*]|\\*[^/])*\\*/" "" older "${today}")
foreach(name galatea_tensor galatea_port galatea_session_options)
  if(NOT today MATCHES "since 0\\.2:[^}]*} ${name};" OR older MATCHES "since 0\\.2:[^}]*} ${name};")
    message(FATAL_ERROR "the fields of ${name} that are new were not found in galatea.h")
  endif()
  string(REPLACE "} ${name};" "  int64_t future;\n} ${name};" today "${today}")
endforeach()
file(CONFIGURE OUTPUT ${folder}/older/galatea.h CONTENT "${older}" @ONLY)
file(CONFIGURE OUTPUT ${folder}/newer/galatea.h CONTENT "${today}" @ONLY)
