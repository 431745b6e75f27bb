// A program of the runtime alone: no compiler, no LLVM. Runs one batch without any kernel.
#include <cstdio>

#include "runtime/session.h"

int main() {
  using namespace galatea;           // NOLINT
  using namespace galatea::runtime;  // NOLINT
  Program program;
  program.num_registers = 1;
  program.num_slots = 1;
  program.constants = {Cell{42}};
  program.lists = {0, 0};  // [0]: register 0 of the element; [1]: slot 0
  Instruction number, store, done;
  number.op = Opcode::kConst, number.dst = 0, number.a = 0;
  store.op = Opcode::kStoreElements, store.dst = 0, store.type = DType::kI32, store.a = 0, store.imm = 0,
  store.b = 0;
  done.op = Opcode::kReturn, done.a = 1, done.imm = 1;
  program.code = {number, store, done};
  OutputSpec output;
  output.port = make_port("number", DType::kI32, 0);
  program.outputs = {output};
  auto session = Session::create(std::make_shared<Program>(program), NativeTable{});
  if (!session) return std::fprintf(stderr, "%s\n", session.error().message().c_str()), 1;
  auto batch = (*session)->next();
  if (!batch || !*batch) return 1;
  Cell cell = load_cell(DType::kI32, (**batch)->outputs[0].samples[0].data);
  return cell_to_int(DType::kI32, cell) == 42 ? 0 : 1;
}
