// A code generation module as another build would have left it beside the program.
#include "compiler/codegen/module_interface.h"

extern "C" __attribute__((visibility("default"))) const galatea::codegen::ModuleTable*
galatea_codegen_module() {
  static const galatea::codegen::ModuleTable table = {galatea::codegen::kModuleInterface, 0,
                                                      "00000000000000000000000000000000", "LLVM 0", nullptr};
  return &table;
}
