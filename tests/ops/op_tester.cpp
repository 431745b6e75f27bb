// The test harness of operators: see op_tester.h.
#include "tests/ops/op_tester.h"

#include <cmath>
#include <cstring>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/kernel/interpreter.h"
#include "compiler/kernel/loops.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/schedule.h"
#include "runtime/kernel_abi.h"
#include "stdlib_ops/register_all.h"

namespace galatea::ops_test {

using kernel::Expr;
using kernel::ExprKind;

namespace {

std::set<std::string>& run_operators() {
  static std::set<std::string> names;
  return names;
}

/// Operators of which a sample alone says little: by the program that tests them.
const std::set<std::string> kTestedElsewhere = {
    "cuda_kernel",  // own_kernels_test
    "bundle",
    "decoded_sound",
    "decoders.audio",
    "decoders.inflate",
    "decoders.numpy",
    "experimental.readers.fits",
    "inflate_chunks",
    "io.file.read",
    "numpy_part",
    "rate_of_sound",
    "readers.caffe",
    "readers.caffe2",
    "readers.coco",
    "readers.mxnet",
    "readers.nemo_asr",
    "readers.numpy",
    "readers.numpy_names",
    "readers.sequence",
    "decoders.video",
    "experimental.readers.video",
    "readers.video",
    "readers.video_clips",
    "readers.video_resize",
    "inputs.video",
    "inputs.video.film",
    "inputs.video.sequence",
    "video_clip",
    "video_sample",  // video_test
    "readers.tfrecord",
    "readers.webdataset",  // readers_test
    "sound_at_rate",
    "galatea.mosaic",
    "mosaic.partners",
    "mosaic.tiles",                  // dali_test, pipelines_test
    "segmentation.object_of_lists",  // dali_test, pipelines_test
    "together.anywhere",
    "together.frames",  // together_test
};

/// Fails the program if an operator was never run (unless only some tests were asked for).
class EveryOperatorIsTested : public ::testing::Environment {
 public:
  void TearDown() override {
    if (GTEST_FLAG_GET(filter) != "*") return;
    for (const auto& op : registry().all())
      if (!run_operators().count(op->name) && !kTestedElsewhere.contains(op->name))
        ADD_FAILURE() << "no test runs the operator " << op->name;
  }
};
[[maybe_unused]] const ::testing::Environment* const kEnvironment =
    ::testing::AddGlobalTestEnvironment(new EveryOperatorIsTested);

int64_t volume(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (int64_t e : extents) product *= e;
  return product;
}

/// Evaluates scalar expressions: no axes, no loads.
class Evaluator {
 public:
  std::function<Cell(const kernel::ExprNode&)> symbol;
  std::function<Cell(int)> param;
  std::unordered_map<const kernel::ExprNode*, Cell> done;

  Cell operator()(const Expr& e) {
    if (auto at = done.find(e.get()); at != done.end()) return at->second;
    const Cell value = compute(e);
    done[e.get()] = value;
    return value;
  }

 private:
  Cell compute(const Expr& e) {
    std::vector<Cell> args;
    for (const Expr& arg : e->args) args.push_back((*this)(arg));
    switch (e->kind) {
      case ExprKind::kConst:
        return e->value;
      case ExprKind::kSymbol:
        return symbol(*e);
      case ExprKind::kParam:
        return param(e->index);
      case ExprKind::kPhilox:
        return {philox(args[0].bits, args[1].bits, args[2].bits, e->index)};
      case ExprKind::kOp: {
        const DType from = e->args[0].type();
        uint32_t flags = 0;
        return evaluate(e->op, is_comparison(e->op) ? from : e->type, from, args.data(), &flags);
      }
      default:
        throw std::logic_error("not a scalar expression: " + to_text(e));
    }
  }
};

struct Memory {
  std::vector<uint8_t> bytes;
  runtime::KernelTensor tensor;
};

Memory make_memory(DType dtype, const std::vector<int64_t>& extents) {
  Memory m;
  m.bytes.assign(
      static_cast<size_t>(std::max<int64_t>(volume(extents), 0) * size_of(dtype) + runtime::kBufferPadding),
      0);
  m.tensor.data = m.bytes.data();
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    m.tensor.extents[d] = extents[d];
    m.tensor.strides[d] = stride;
    stride *= extents[d];
  }
  return m;
}

/// The loops of a kernel after its passes. Samples differ in parameters, not in their kernel: what was lowered
/// before is not lowered again.
const kernel::LoopKernel& loops_of(const kernel::Kernel& k) {
  static std::unordered_map<std::string, kernel::LoopKernel> known;
  const auto [place, is_new] = known.try_emplace(to_text(k));
  if (!is_new) return place->second;
  const kernel::Kernel improved = kernel::run_kernel_passes(k);
  const kernel::ScheduleOptions options;
  place->second = kernel::lower(improved, kernel::make_schedule(improved, options), options);
  const Status legal = kernel::verify(place->second);
  EXPECT_TRUE(legal.has_value()) << legal.error().message() << "\n" << to_text(place->second);
  return place->second;
}

}  // namespace

std::vector<double> Tensor::numbers() const {
  std::vector<double> out;
  for (size_t n = 0; n < size(); ++n) out.push_back((*this)[n]);
  return out;
}

Tensor tensor(DType dtype, std::vector<int64_t> extents, const std::vector<double>& elements, Layout layout) {
  Tensor t{dtype, std::move(extents), std::move(layout), {}};
  for (double e : elements)
    t.cells.push_back(is_integral(dtype) && !is_bool(dtype) ? cell_from_int(dtype, static_cast<int64_t>(e))
                                                            : cell_from_double(dtype, e));
  EXPECT_EQ(static_cast<int64_t>(t.size()), volume(t.extents));
  return t;
}

Tensor scalar(DType dtype, double value) { return tensor(dtype, {}, {value}); }

Tensor random_tensor(DType dtype, std::vector<int64_t> extents, Layout layout, uint32_t seed) {
  std::vector<double> elements;
  uint64_t state = seed * 2654435761u + 12345;
  for (int64_t n = 0; n < volume(extents); ++n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const double unit = static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
    if (dtype == DType::kBool)
      elements.push_back(unit < 0.5 ? 0 : 1);
    else if (dtype == DType::kU8)
      elements.push_back(std::floor(unit * 256));
    else if (dtype == DType::kI8)
      elements.push_back(std::floor(unit * 256) - 128);
    else if (is_float(dtype))
      elements.push_back(unit * 4 - 2);
    else
      elements.push_back(std::floor(unit * 60000) - (is_signed_int(dtype) ? 30000 : 0));
  }
  return tensor(dtype, std::move(extents), elements, std::move(layout));
}

const op::Registry& registry() {
  static const std::unique_ptr<op::Registry> filled = [] {
    auto r = std::make_unique<op::Registry>();
    ops::register_all(*r);
    return r;
  }();
  return *filled;
}

OpRun::OpRun(std::string name) : name_(std::move(name)) {}

OpRun& OpRun::input(Tensor value, std::vector<bool> known) {
  inputs_.push_back({std::move(value), std::move(known)});
  return *this;
}

OpRun& OpRun::fixed(Tensor value) {
  const size_t rank = value.extents.size();
  return input(std::move(value), std::vector<bool>(rank, true));
}

OpRun& OpRun::arg(std::string name, ir::Attr value) {
  attrs_.emplace_back(std::move(name), std::move(value));
  return *this;
}

OpRun& OpRun::arg(std::string name, Tensor per_sample) {
  const size_t rank = per_sample.extents.size();
  values_.emplace_back(std::move(name), Given{std::move(per_sample), std::vector<bool>(rank, true)});
  return *this;
}

OpRun& OpRun::fed_arg(std::string name, Tensor per_sample) {
  values_.emplace_back(std::move(name), Given{std::move(per_sample), {}});
  return *this;
}

ir::ValueId OpRun::add_value(op::GraphBuilder& builder, const Given& given) {
  ir::Type type;
  type.dtype = given.tensor.dtype;
  type.ndim = static_cast<int>(given.tensor.extents.size());
  type.layout = given.tensor.layout;
  for (size_t d = 0; d < given.tensor.extents.size(); ++d)
    type.extents.push_back(d < given.known.size() && given.known[d] ? given.tensor.extents[d] : -1);
  auto source = std::make_shared<op::Operator>();
  source->name = "test.input";
  source->source = true;
  source->type_rule = [type](const op::TypeContext&) -> Result<std::vector<ir::Type>> {
    return std::vector{type};
  };
  sources_.push_back(std::move(source));
  auto node = builder.add_node({.op = sources_.back().get()});
  EXPECT_TRUE(node.has_value());
  const ir::ValueId value = builder.graph().node(*node).outputs[0];
  tensors_[value] = given.tensor;
  return value;
}

namespace {

/// Everything that a run needs after its node stands in the graph.
class Runner {
 public:
  Runner(const ir::Graph& graph, ir::NodeId node, const std::map<ir::ValueId, Tensor>& tensors,
         OpRun::Outcome& outcome)
      : node_(graph.node(node)),
        tensors_(tensors),
        outcome_(outcome),
        lowering_(op::lower_node(graph, node)) {}

  Evaluator evaluate;
  const op::Lowering& lowering() const { return lowering_; }

  void run() {
    outcome_.num_stages = lowering_.stages.size();
    for (const op::Check& check : lowering_.checks) {
      if (evaluate(check.condition).bits != 0) continue;
      outcome_.failed_check = fill(check);
      return;
    }
    run_stages();
    for (size_t k = 0; k < lowering_.outputs.size(); ++k) collect(k);
  }

 private:
  std::string fill(const op::Check& check) {
    std::string text;
    size_t next = 0;
    for (size_t i = 0; i < check.message.size(); ++i) {
      if (check.message.compare(i, 2, "{}") != 0) {
        text += check.message[i];
        continue;
      }
      EXPECT_LT(next, check.values.size()) << check.message;
      if (next < check.values.size())
        text += fmt::format("{}", cell_to_double(check.values[next].type(), evaluate(check.values[next])));
      ++next;
      ++i;
    }
    EXPECT_EQ(next, check.values.size()) << check.message;
    return text;
  }

  /// As the plan does it: the largest subexpressions that do not vary within a kernel become its parameters.
  Expr known(const Expr& e) {
    if (!e) return e;
    return kernel::rewrite(e, [&](const Expr& n) {
      if (kernel::is_const(n)) return n;
      for (ExprKind kind :
           {ExprKind::kAxis, ExprKind::kReduceAxis, ExprKind::kTap, ExprKind::kAcc, ExprKind::kLoad})
        if (kernel::contains(n, kind)) return Expr();
      for (size_t p = 0; p < parameters_.size(); ++p)
        if (same(parameters_[p], n)) return kernel::param(static_cast<int>(p), n->type);
      parameters_.push_back(n);
      values_.push_back(evaluate(n).bits);
      return kernel::param(static_cast<int>(parameters_.size()) - 1, n->type);
    });
  }
  std::vector<Expr> known(std::vector<Expr> list) {
    for (Expr& e : list) e = known(e);
    return list;
  }
  std::vector<int64_t> integers(const std::vector<Expr>& list) {
    std::vector<int64_t> out;
    for (const Expr& e : list) out.push_back(cell_to_int(DType::kI64, evaluate(e)));
    return out;
  }

  void run_stages() {
    kernel::Kernel k;
    k.name = node_.op->name;
    for (kernel::KernelInput input : lowering_.inputs) {
      input.extents = known(input.extents);
      k.inputs.push_back(input);
    }
    for (kernel::Stage stage : lowering_.stages) {
      stage.extents = known(stage.extents);
      stage.reduce_extents = known(stage.reduce_extents);
      for (Expr* e : {&stage.body, &stage.first, &stage.taps, &stage.weight, &stage.source, &stage.finish})
        *e = known(*e);
      k.stages.push_back(stage);
    }
    std::vector<Memory> memory;
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      const Tensor& t = tensors_.at(node_.inputs[i]);
      memory.push_back(make_memory(t.dtype, t.extents));
      for (size_t n = 0; n < t.size(); ++n)
        store_cell(t.dtype, memory.back().bytes.data() + n * static_cast<size_t>(size_of(t.dtype)),
                   t.cells[n]);
    }
    for (const auto& constant : lowering_.constants) {
      memory.push_back(make_memory(constant->type(), constant->extents()));
      std::memcpy(memory.back().bytes.data(), constant->data(), static_cast<size_t>(constant->size()));
    }
    for (size_t o = 0; o < lowering_.outputs.size(); ++o) {
      const op::LoweredOutput& out = lowering_.outputs[o];
      if (out.kind != op::LoweredOutput::Kind::kStage) continue;
      k.outputs.push_back({.stage = out.stage, .axis_of = out.axis_of});
      memory.push_back(make_memory(outcome_.types[o].dtype, integers(out.extents)));
    }
    if (k.outputs.empty()) return;
    for (size_t p = 0; p < parameters_.size(); ++p)
      k.params.push_back({"p" + std::to_string(p), parameters_[p].type()});
    const Status legal = kernel::verify(k);
    ASSERT_TRUE(legal.has_value()) << legal.error().message() << "\n" << to_text(k);
    std::vector<runtime::KernelTensor> tensors;
    for (Memory& m : memory) {
      m.tensor.data = m.bytes.data();
      tensors.push_back(m.tensor);
    }
    uint32_t status = 0;
    const runtime::KernelCall call{tensors.data(), values_.data(), nullptr, &status};
    kernel::interpret_stages(k, call);
    if (status & kFlagDivisionByZero) outcome_.failed_check = "integer division by zero (flag)";
    expect_loops_agree(k, memory, tensors);
    stage_outputs_.assign(
        std::make_move_iterator(memory.begin() + static_cast<std::ptrdiff_t>(lowering_.inputs.size())),
        std::make_move_iterator(memory.end()));
  }

  /// The same kernel after its passes, lowered to loops, gives the same bytes.
  void expect_loops_agree(const kernel::Kernel& k, std::vector<Memory>& memory,
                          std::vector<runtime::KernelTensor> tensors) {
    const kernel::LoopKernel& loops = loops_of(k);
    Evaluator size;
    size.param = [&](int index) { return Cell{values_[static_cast<size_t>(index)]}; };
    const auto bytes = static_cast<int64_t>(size(kernel::layout_scratch(loops).bytes).bits);
    std::vector<uint64_t> scratch(static_cast<size_t>(bytes / 8 + 64), 0xA5A5A5A5A5A5A5A5u);
    const auto address = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~uintptr_t{63};
    std::vector<std::vector<uint8_t>> again;
    for (size_t t = lowering_.inputs.size(); t < memory.size(); ++t) {
      again.emplace_back(memory[t].bytes.size(), uint8_t{0});
      tensors[t].data = again.back().data();
    }
    uint32_t status = 0;
    kernel::interpret_loops(loops,
                            {tensors.data(), values_.data(), reinterpret_cast<uint8_t*>(address), &status});
    for (size_t t = 0; t < again.size(); ++t)
      EXPECT_TRUE(again[t] == memory[lowering_.inputs.size() + t].bytes)
          << node_.op->name << ": loops differ from stages\n"
          << to_text(k) << "\n"
          << to_text(loops);
  }

  /// In a batch of one sample: what it hands over comes back.
  void collect_of_batch(const op::NativeOutput& native) {
    if (native.of_place) {
      EXPECT_EQ(integers(native.scalars), std::vector<int64_t>{0}) << "its only place";
    }
    outcome_.outputs.push_back(tensors_.at(node_.inputs[static_cast<size_t>(native.inputs[0])]));
  }

  void collect(size_t k) {
    const op::LoweredOutput& out = lowering_.outputs[k];
    const ir::Type& type = outcome_.types[k];
    if (out.kind == op::LoweredOutput::Kind::kNative)
      if (const op::NativeOutput& native = lowering_.natives.at(static_cast<size_t>(out.native));
          native.is_of_batch())
        return collect_of_batch(native);
    Tensor t{type.dtype, integers(out.extents), type.layout, {}};
    using OutputKind = op::LoweredOutput::Kind;
    outcome_.kinds.push_back(out.kind);
    if (out.kind == OutputKind::kScalars) {
      for (const Expr& e : out.elements) t.cells.push_back(evaluate(e));
      t.extents = type.extents;
    } else if (out.kind == OutputKind::kStage) {
      const Memory& m = stage_outputs_.at(next_stage_output_++);
      for (int64_t n = 0; n < volume(t.extents); ++n)
        t.cells.push_back(load_cell(t.dtype, m.bytes.data() + n * size_of(t.dtype)));
    } else if (out.kind == OutputKind::kView) {
      view(out, t);
    } else if (out.kind == OutputKind::kConstant) {
      for (int64_t n = 0; n < out.constant->volume(); ++n) t.cells.push_back(out.constant->element(n));
    } else {
      const op::NativeOutput& native = lowering_.natives.at(static_cast<size_t>(out.native));
      outcome_.natives.push_back(
          {native.function, native.config, integers(native.scalars), t.extents, !native.window.empty()});
    }
    ASSERT_EQ(t.extents.size(), static_cast<size_t>(type.ndim)) << node_.op->name;
    for (size_t d = 0; d < t.extents.size(); ++d)
      if (type.extents[d] >= 0) {
        EXPECT_EQ(t.extents[d], type.extents[d])
            << node_.op->name << ": the type rule promised " << to_text(type);
      }
    outcome_.outputs.push_back(std::move(t));
  }

  void view(const op::LoweredOutput& out, Tensor& t) {
    const Tensor& in = tensors_.at(node_.inputs[static_cast<size_t>(out.input)]);
    if (out.reshape) {
      t.cells = in.cells;
      EXPECT_EQ(volume(t.extents), volume(in.extents));
      return;
    }
    const auto start = integers(out.start), step = integers(out.step);
    std::vector<int64_t> strides(in.extents.size(), 1);
    for (size_t d = in.extents.size(); d-- > 1;) strides[d - 1] = strides[d] * in.extents[d];
    for (int64_t n = 0; n < volume(t.extents); ++n) {
      std::vector<int64_t> at = start;
      int64_t rest = n;
      for (size_t d = t.extents.size(); d-- > 0;) {
        const int64_t i = rest % t.extents[d];
        rest /= t.extents[d];
        if (out.input_dim[d] >= 0) at[static_cast<size_t>(out.input_dim[d])] += step[d] * i;
      }
      int64_t flat = 0;
      for (size_t d = 0; d < at.size(); ++d) {
        ASSERT_GE(at[d], 0);
        ASSERT_LT(at[d], in.extents[d]);
        flat += at[d] * strides[d];
      }
      t.cells.push_back(in.cells[static_cast<size_t>(flat)]);
    }
  }

  const ir::Node& node_;
  const std::map<ir::ValueId, Tensor>& tensors_;
  OpRun::Outcome& outcome_;
  op::Lowering lowering_;
  std::vector<Memory> stage_outputs_;
  std::vector<Expr> parameters_;
  std::vector<uint64_t> values_;
  size_t next_stage_output_ = 0;
};

}  // namespace

OpRun::Outcome OpRun::run() {
  run_operators().insert(name_);
  Outcome outcome;
  const op::Operator* op = registry().find(name_);
  if (op == nullptr) {
    ADD_FAILURE() << "no operator " << name_;
    return outcome;
  }
  run_operators().insert(op->name);
  tensors_.clear();
  sources_.clear();
  ir::Graph graph;
  op::GraphBuilder builder(graph);
  builder.set_insertion_block(builder.add_block());
  op::GraphBuilder::NodeSpec spec;
  spec.op = op;
  spec.key = key_;
  for (const Given& given : inputs_) spec.inputs.push_back(add_value(builder, given));
  for (const auto& [name, attr] : attrs_) spec.args.push_back({name, attr, {}});
  for (const auto& [name, given] : values_) spec.args.push_back({name, add_value(builder, given), {}});
  auto node = builder.add_node(std::move(spec));
  if (!node) {
    outcome.error = node.error().message();
    return outcome;
  }
  for (ir::ValueId v : graph.node(*node).outputs) outcome.types.push_back(graph.type(v));
  if (!op->define) return outcome;  // sources
  Runner runner(graph, *node, tensors_, outcome);
  std::map<int64_t, int64_t> locals;
  std::map<int64_t, std::pair<runtime::BatchOp, kernel::Expr>> of_batch;
  for (const op::NativeScalars& call : runner.lowering().native_scalars)
    for (size_t n = 0; n < call.locals.size(); ++n) {
      if (call.over_batch.empty())
        locals[call.locals[n]] = native_results_.at(n);
      else
        of_batch[call.locals[n]] = {call.over_batch[n], call.scalars[n]};
    }
  runner.evaluate.symbol = [&](const kernel::ExprNode& s) -> Cell {
    using kernel::SymbolKind;
    switch (s.symbol) {
      case SymbolKind::kExtent:
        return cell_from_int(DType::kI64,
                             tensors_.at(static_cast<ir::ValueId>(s.a)).extents.at(static_cast<size_t>(s.b)));
      case SymbolKind::kElement:
        if (const auto& cells = tensors_.at(static_cast<ir::ValueId>(s.a)).cells; !cells.empty())
          return cells.at(std::min(static_cast<size_t>(s.b), cells.size() - 1));
        return {};
      case SymbolKind::kSampleIndex:
        return {sample_};
      case SymbolKind::kNodeKey:
        return {key_};
      case SymbolKind::kBatchSlot:
        return {0};
      case SymbolKind::kLocal:
        // In a batch of one sample.
        if (const auto met = of_batch.find(s.a); met != of_batch.end())
          return met->second.first <= runtime::BatchOp::kMax ? runner.evaluate(met->second.second) : Cell{0};
        return cell_from_int(DType::kI64, locals.at(s.a));
    }
    return {};
  };
  runner.run();
  return outcome;
}

Tensor OpRun::result(size_t k) {
  Outcome outcome = run();
  EXPECT_TRUE(outcome.ok()) << name_ << ": " << outcome.error << outcome.failed_check;
  if (k < outcome.outputs.size()) return outcome.outputs[k];
  ADD_FAILURE() << name_ << " has no output " << k;
  return {};
}

std::string OpRun::failure() {
  Outcome outcome = run();
  EXPECT_FALSE(outcome.ok()) << name_ << " should have failed";
  return outcome.error + outcome.failed_check;
}

void expect_near(const Tensor& actual, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t n = 0; n < expected.size(); ++n) {
    const bool both_nan = std::isnan(actual[n]) && std::isnan(expected[n]);
    const bool equal = actual[n] == expected[n] || both_nan;
    ASSERT_TRUE(equal || std::abs(actual[n] - expected[n]) <= tolerance)
        << "element " << n << ": " << actual[n] << ", expected " << expected[n];
  }
}

double saturate(DType type, double value) {
  if (is_float(type)) return value;
  if (std::isnan(value)) return 0;
  const double low = static_cast<double>(min_int(type)),
               high = type == DType::kU64 ? 18446744073709551615.0 : static_cast<double>(max_int(type));
  return std::min(std::max(std::nearbyint(value), low), high);
}

}  // namespace galatea::ops_test
