# cmake -D FOLDER=… -D OUT=… -P embed_texts.cmake: writes a C++ file with every *.md of a folder as
# (name without extension, text) pairs, for a function that NAMESPACE and FUNCTION name.
file(GLOB paths ${FOLDER}/*.md)
list(SORT paths)
set(content "// Made by cmake/embed_texts.cmake.\n#include <string_view>\n#include <utility>\n#include <vector>\n\n")
string(APPEND content "namespace ${NAMESPACE} {\n\nstd::vector<std::pair<std::string_view, std::string_view>> ${FUNCTION}() {\n  return {\n")
foreach(path IN LISTS paths)
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} text)
  string(APPEND content "      {\"${name}\", R\"~page~(${text})~page~\"},\n")
endforeach()
string(APPEND content "  };\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUT} "${content}")
