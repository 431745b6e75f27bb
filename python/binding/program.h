#pragma once

#include "binding/engine.h"

namespace galatea_python {

class Program {
 public:
  galatea_program* get() const { return program_.get(); }
  Owner<galatea_program, galatea_program_destroy>& owner() { return program_; }

 private:
  Owner<galatea_program, galatea_program_destroy> program_{"program"};
};

}  // namespace galatea_python
