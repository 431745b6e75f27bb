// What a legal kernel is.
//
// Comes in: a kernel from a plan, a pass, or a text. Goes out: nothing, or an error that names the stage and
// what is wrong with it.
#include <fmt/format.h>

#include "compiler/kernel/kernel.h"
#include "runtime/kernel_abi.h"

namespace galatea::kernel {
namespace {

/// Which leaves one expression may use.
struct Allowed {
  int axes = 0;        ///< axis0 … axis(axes-1)
  int only_axis = -1;  ///< not -1: this one alone
  int reduce_axes = 0;
  bool tap = false;
  bool loads = false;
  const Stage* accumulator_of = nullptr;
};

class KernelVerifier {
 public:
  explicit KernelVerifier(const Kernel& kernel) : kernel_(kernel) {}

  Status run() {
    for (size_t i = 0; i < kernel_.inputs.size(); ++i) {
      where_ = fmt::format("input in{}", i);
      const KernelInput& input = kernel_.inputs[i];
      GALATEA_TRY(check_extents(input.extents));
      GALATEA_TRY(check_dense(input.dense_axes, input.extents.size()));
    }
    for (size_t i = 0; i < kernel_.stages.size(); ++i) {
      const Stage& stage = kernel_.stages[i];
      where_ = fmt::format("stage{}", i);
      if (!stage.name.empty()) where_ += " (" + stage.name + ")";
      span_ = stage.span;
      current_ = static_cast<int>(i);
      GALATEA_TRY(check_stage(stage));
    }
    span_ = {};
    for (const KernelOutput& output : kernel_.outputs) {
      where_ = fmt::format("output of stage{}", output.stage);
      GALATEA_TRY(check_output(output));
    }
    return {};
  }

 private:
  std::unexpected<Error> wrong(std::string message) const {
    Diagnostic diagnostic;
    diagnostic.message = where_ + ": " + message;
    diagnostic.span = span_;
    return make_error(ErrorKind::kInternal, std::move(diagnostic));
  }

  Status check_extents(const std::vector<Expr>& extents) {
    if (extents.size() > static_cast<size_t>(runtime::kMaxRank)) {
      return wrong(fmt::format("{} axes; at most {}", extents.size(), runtime::kMaxRank));
    }
    for (const Expr& extent : extents) GALATEA_TRY(check_expr("extent", extent, DType::kI64, {}));
    return {};
  }

  Status check_dense(int dense_axes, size_t rank) {
    if (dense_axes < 0 || static_cast<size_t>(dense_axes) > rank) return wrong("more dense axes than axes");
    return {};
  }

  Status check_stage(const Stage& stage) {
    GALATEA_TRY(check_extents(stage.extents));
    switch (stage.form) {
      case StageForm::kMap:
        if (stage.first || stage.taps || stage.weight || stage.source || stage.finish) {
          return wrong("a map has a body and nothing else");
        }
        return check_expr("body", stage.body, stage.type, {.axes = stage.rank(), .loads = true});
      case StageForm::kBand:
        return check_band(stage);
      case StageForm::kReduce:
        return check_reduce(stage);
      case StageForm::kHistogram:
        return check_histogram(stage);
      case StageForm::kScan:
        return check_scan(stage);
    }
    return wrong("unknown form");
  }

  Status check_band(const Stage& stage) {
    if (stage.body || !stage.reduce_extents.empty()) return wrong("a band has no body and no reduction box");
    if (stage.band_axis < 0 || stage.band_axis >= stage.rank())
      return wrong("the band axis is not an axis of the domain");
    if (stage.accumulator != DType::kI16 && stage.accumulator != DType::kI32 &&
        stage.accumulator != DType::kF32 && stage.accumulator != DType::kF64) {
      return wrong("a band accumulates in i16, i32, f32 or f64");
    }
    Allowed along{.axes = stage.rank(), .only_axis = stage.band_axis, .loads = true};
    GALATEA_TRY(check_expr("first", stage.first, DType::kI64, along));
    GALATEA_TRY(check_expr("taps", stage.taps, DType::kI64, {}));
    Allowed per_tap{.axes = stage.rank(), .tap = true, .loads = true};
    GALATEA_TRY(check_expr("weight", stage.weight, stage.accumulator, per_tap));
    if (!stage.source || stage.source->kind != ExprKind::kLoad)
      return wrong("the source of a band must be a load");
    GALATEA_TRY(check_expr("source", stage.source, stage.source->type, per_tap));
    Expr band_index = stage.first + tap();
    int along_band = 0;
    for (const Expr& index : stage.source->args) {
      if (!contains(index, ExprKind::kTap)) continue;
      if (!same(index, band_index)) return wrong("the band index of the source must be first + tap");
      ++along_band;
    }
    if (along_band != 1) return wrong("exactly one index of the source must be first + tap");
    return check_finish(stage);
  }

  Status check_reduce(const Stage& stage) {
    if (stage.first || stage.taps || stage.weight || stage.source)
      return wrong("a reduction has no band fields");
    if (stage.accumulator == DType::kF16) return wrong("a reduction does not accumulate in f16");
    if (stage.combiner == Combiner::kSum && stage.accumulator == DType::kF32)
      return wrong("a reduction sums floats in f64");
    if (stage.combiner == Combiner::kSum && is_bool(stage.accumulator))
      return wrong("a sum does not accumulate in bool");
    GALATEA_TRY(check_extents(stage.reduce_extents));
    Allowed allowed{
        .axes = stage.rank(), .reduce_axes = static_cast<int>(stage.reduce_extents.size()), .loads = true};
    GALATEA_TRY(check_expr("body", stage.body, has_leaves(stage) ? DType::kF32 : stage.accumulator, allowed));
    return check_finish(stage);
  }

  Status check_histogram(const Stage& stage) {
    if (stage.first || stage.taps || stage.weight || stage.source)
      return wrong("a histogram has no band fields");
    if (stage.extents.empty()) return wrong("a histogram has no axis for its bins");
    if (!is_integral(stage.accumulator) || is_bool(stage.accumulator))
      return wrong("a histogram counts in an integer type");
    GALATEA_TRY(check_extents(stage.reduce_extents));
    Allowed allowed{.axes = stage.rank() - 1,
                    .reduce_axes = static_cast<int>(stage.reduce_extents.size()),
                    .loads = true};
    GALATEA_TRY(check_expr("body", stage.body, DType::kI64, allowed));
    return check_finish(stage);
  }

  Status check_scan(const Stage& stage) {
    if (stage.first || stage.taps || stage.weight || stage.source || !stage.reduce_extents.empty())
      return wrong("a scan has no band fields and no reduction box");
    if (stage.scan_axis < 0 || stage.scan_axis >= stage.rank())
      return wrong("the scan axis is not an axis of the domain");
    if (stage.accumulator == DType::kF16) return wrong("a scan does not accumulate in f16");
    if (stage.combiner == Combiner::kSum && is_bool(stage.accumulator))
      return wrong("a sum does not accumulate in bool");
    GALATEA_TRY(check_expr("body", stage.body, stage.accumulator, {.axes = stage.rank(), .loads = true}));
    return check_finish(stage);
  }

  Status check_finish(const Stage& stage) {
    if (!stage.finish) return {};
    return check_expr("finish", stage.finish, stage.type,
                      {.axes = stage.rank(), .loads = true, .accumulator_of = &stage});
  }

  Status check_expr(std::string_view field, const Expr& e, DType type, const Allowed& allowed) {
    if (!e) return wrong(fmt::format("{} is missing", field));
    if (e->type != type) {
      return wrong(fmt::format("{} has type {}, not {}", field, short_name(e->type), short_name(type)));
    }
    Status status;
    for_each_node(e, [&](const Expr& node) {
      if (status) status = check_node(field, *node, allowed);
    });
    return status;
  }

  Status check_node(std::string_view field, const ExprNode& node, const Allowed& allowed) {
    auto refuse = [&](std::string_view what) { return wrong(fmt::format("{} may not use {}", field, what)); };
    switch (node.kind) {
      case ExprKind::kConst:
      case ExprKind::kPhilox:
        return {};
      case ExprKind::kOp:
        return check_op(field, node);
      case ExprKind::kParam:
        if (node.index < 0 || static_cast<size_t>(node.index) >= kernel_.params.size()) {
          return refuse(fmt::format("p{}: there are {} parameters", node.index, kernel_.params.size()));
        }
        if (kernel_.params[static_cast<size_t>(node.index)].type != node.type) {
          return wrong(fmt::format("{}: p{} is not {}", field, node.index, short_name(node.type)));
        }
        return {};
      case ExprKind::kAxis:
        if (node.index < 0 || node.index >= allowed.axes) return refuse(fmt::format("axis{}", node.index));
        if (allowed.only_axis >= 0 && node.index != allowed.only_axis) {
          return refuse(fmt::format("axis{}, only the band axis", node.index));
        }
        return {};
      case ExprKind::kReduceAxis:
        if (node.index < 0 || node.index >= allowed.reduce_axes)
          return refuse(fmt::format("raxis{}", node.index));
        return {};
      case ExprKind::kTap:
        return allowed.tap ? Status{} : refuse("tap");
      case ExprKind::kAcc:
        if (allowed.accumulator_of == nullptr) return refuse("acc");
        if (allowed.accumulator_of->accumulator != node.type)
          return wrong("acc has another type than the accumulator");
        return {};
      case ExprKind::kLoad:
        return allowed.loads ? check_load(field, node) : refuse("a load");
      case ExprKind::kSymbol:
        return refuse("a symbol; symbols become parameters before a kernel is made");
      case ExprKind::kVar:
      case ExprKind::kLoadFlat:
        return refuse("a variable or flat load; these belong to loops");
    }
    return wrong("unknown kind of expression");
  }

  Status check_op(std::string_view field, const ExprNode& node) {
    if (node.op == ScalarOp::kSelect || is_conversion(node.op)) return {};
    DType type = node.args[0]->type;
    if (type == DType::kF16)
      return wrong(fmt::format("{}: {} on f16; convert to f32 first", field, name_of(node.op)));
    bool bits_only = node.op >= ScalarOp::kAnd && node.op <= ScalarOp::kMulHi;
    if (bits_only && is_float(type)) return wrong(fmt::format("{}: {} on a float", field, name_of(node.op)));
    bool float_only = node.op == ScalarOp::kSqrt || (is_math(node.op) && node.op != ScalarOp::kPowInt);
    if (float_only && !is_float(type))
      return wrong(fmt::format("{}: {} on an integer", field, name_of(node.op)));
    return {};
  }

  Status check_load(std::string_view field, const ExprNode& node) {
    bool is_input = node.target.kind == LoadTarget::Kind::kInput;
    int count = is_input ? static_cast<int>(kernel_.inputs.size()) : current_;
    std::string target = fmt::format("{}{}", is_input ? "in" : "stage", node.target.index);
    if (node.target.index < 0 || node.target.index >= count) {
      return wrong(fmt::format("{} loads {}, which {}", field, target,
                               is_input ? "does not exist" : "is not an earlier stage"));
    }
    auto number = static_cast<size_t>(node.target.index);
    DType type = is_input ? kernel_.inputs[number].type : kernel_.stages[number].type;
    size_t rank = is_input ? kernel_.inputs[number].extents.size() : kernel_.stages[number].extents.size();
    if (type != node.type) {
      return wrong(fmt::format("{} loads {} as {}, but it holds {}", field, target, short_name(node.type),
                               short_name(type)));
    }
    if (rank != node.args.size()) {
      return wrong(fmt::format("{} loads {} with {} indices, but it has {} axes", field, target,
                               node.args.size(), rank));
    }
    return {};
  }

  Status check_output(const KernelOutput& output) {
    if (output.stage < 0 || static_cast<size_t>(output.stage) >= kernel_.stages.size())
      return wrong("no such stage");
    size_t rank = kernel_.stages[static_cast<size_t>(output.stage)].extents.size();
    std::vector<bool> seen(rank, false);
    for (int axis : output.axis_of) {
      if (axis < 0 || static_cast<size_t>(axis) >= rank || seen[static_cast<size_t>(axis)]) {
        return wrong("the order of axes is not a permutation");
      }
      seen[static_cast<size_t>(axis)] = true;
    }
    if (output.axis_of.size() != rank) return wrong("the order of axes is not a permutation");
    return check_dense(output.dense_axes, rank);
  }

  const Kernel& kernel_;
  int current_ = 0;
  std::string where_;
  Span span_;
};

}  // namespace

Status verify(const Kernel& kernel) { return KernelVerifier(kernel).run(); }

}  // namespace galatea::kernel
