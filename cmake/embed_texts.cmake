# cmake -D FOLDER=… -D OUT=… [-D EXTENSION=md] -P embed_texts.cmake: writes a C++ file with every *.EXTENSION of a
# folder and of those below it as (path in the folder without extension, text) pairs, for a function that NAMESPACE and
# FUNCTION name.
if(NOT EXTENSION)
  set(EXTENSION md)
endif()
file(GLOB_RECURSE paths ${FOLDER}/*.${EXTENSION})
list(SORT paths)
set(content "// Made by cmake/embed_texts.cmake.\n#include <string_view>\n#include <utility>\n#include <vector>\n\n")
string(APPEND content "using namespace std::string_view_literals;\n\nnamespace ${NAMESPACE} {\n\nstd::vector<std::pair<std::string_view, std::string_view>> ${FUNCTION}() {\n  return {\n")
foreach(path IN LISTS paths)
  file(RELATIVE_PATH name ${FOLDER} ${path})
  string(REGEX REPLACE "\\.${EXTENSION}$" "" name ${name})
  file(READ ${path} text)
  string(APPEND content "      {\"${name}\"sv, R\"~page~(${text})~page~\"sv},\n")
endforeach()
string(APPEND content "  };\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUT} "${content}")
