// Every operator and every native function, registered once for a test program.
#pragma once

#include "compiler/op/operator.h"
#include "runtime/native.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"

namespace galatea::testing {

struct Product {
  op::Registry registry;
  runtime::NativeTable natives;
  Product() {
    ops::register_all(registry);
    native::register_natives(natives);
  }
};

inline const Product& product() {
  static const Product instance;
  return instance;
}

}  // namespace galatea::testing
