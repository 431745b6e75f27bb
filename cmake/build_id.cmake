# cmake -DROOT=... -DFILES=LIST_FILE -DCOMPILER=... -DOUTPUT=FILE -P build_id.cmake: writes build_id.cpp.
# A file's name and contents count, not where the tree lies.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${FILES} files)
list(SORT files)
set(all "${COMPILER}\n")
foreach(file ${files})
  file(SHA256 ${file} hash)
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(APPEND all "${name} ${hash}\n")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 32 id)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"// Written by cmake/build_id.cmake.
#include \"compiler/codegen/build_id.h\"

namespace galatea::codegen {

std::string_view build_id() { return \"@id@\"; }

}  // namespace galatea::codegen
" @ONLY)
