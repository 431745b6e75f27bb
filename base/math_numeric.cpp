// The mathematical functions on cells.
#include "base/math_numeric.h"

#include "base/result.h"

namespace galatea {

Cell evaluate_math(ScalarOp op, DType, const Cell*) {
  GALATEA_CHECK(false, std::string(name_of(op)) + " has no expansion yet");
  return {};
}

}  // namespace galatea
