// Which compiler this is: a hash of the sources that decide what code a kernel becomes, of the C++ compiler
// and of LLVM's version, taken when galatea was built (cmake/build_id.cmake).
#pragma once

#include <string_view>

namespace galatea::codegen {

/// 32 hexadecimal digits. Two builds with the same id generate the same code and have the same types.
std::string_view build_id();

}  // namespace galatea::codegen
