// batch_permutation: places of samples of the batch, drawn at random.
//
// Comes in: nothing. Goes out: one place a sample. Each sample draws a number by itself, with its own
// counter; the order of these numbers is the permutation, so that it depends on the samples of the batch and
// on nothing else.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

runtime::BatchOp way_of_drawing(const RecipeBuilder& b) {
  const bool no_fixed_points = b.flag("no_fixed_points");
  if (b.flag("allow_repetitions"))
    return no_fixed_points ? runtime::BatchOp::kPickOther : runtime::BatchOp::kPick;
  return no_fixed_points ? runtime::BatchOp::kCycle : runtime::BatchOp::kShuffle;
}

void define_batch_permutation(RecipeBuilder& b) {
  const Expr draw = to_i64(b.random_u32(i64(0)));
  b.output_scalars(0, {kernel::saturate(b.over_batch(way_of_drawing(b), draw), DType::kI32)});
}

ArgSpec flag(const char* name, const char* documentation) {
  return {.name = name, .kind = ArgKind::kBool, .default_value = false, .documentation = documentation};
}

}  // namespace

Operator make_batch_permutation() {
  Operator op;
  op.name = "batch_permutation";
  op.summary = "A random permutation of the batch: for each sample the place of one.";
  op.documentation =
      "Places of the samples of the batch (behind an if: of those that take the same way), INT32, for "
      "fn.permute_batch. Without fixed points it is one random cycle through all samples. See "
      "docs/batches.md.";
  op.args = {flag("allow_repetitions", "Whether each sample draws a place by itself, so that places repeat."),
             flag("no_fixed_points", "Whether no sample gets its own place; one that is alone does.")};
  op.random = true;
  op.sees_batch = [](const ir::Node&) { return true; };
  op.example = "return fn.batch_permutation()\n";
  op.type_rule = [](const TypeContext&) -> Types {
    ir::Type out;
    out.dtype = DType::kI32;
    return std::vector{out};
  };
  op.define = define_batch_permutation;
  return op;
}

}  // namespace galatea::ops
