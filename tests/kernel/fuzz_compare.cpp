// Running a fuzz case on the stage interpreter and a backend, and shrinking what differs.
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "base/result.h"
#include "compiler/kernel/element_program.h"
#include "compiler/kernel/interpreter.h"
#include "tests/kernel/fuzz_kernel.h"

namespace galatea::testing {
namespace {

using namespace galatea::kernel;  // NOLINT

class ParamLeaves : public LeafSource {
 public:
  explicit ParamLeaves(const std::vector<uint64_t>& params) : params_(params) {}
  Cell leaf(const ExprNode& node, const Cell*) override {
    GALATEA_CHECK(node.kind == ExprKind::kParam, "an extent may use parameters only");
    return {params_[static_cast<size_t>(node.index)]};
  }

 private:
  const std::vector<uint64_t>& params_;
};

std::vector<int64_t> extents_of(const std::vector<Expr>& exprs, const std::vector<uint64_t>& params) {
  ParamLeaves leaves(params);
  std::vector<int64_t> out;
  for (const Expr& e : exprs) {
    uint32_t flags = 0;
    ElementProgram program(e);
    out.push_back(std::max<int64_t>(0, static_cast<int64_t>(program.run(leaves, &flags).bits)));
  }
  return out;
}

/// A tensor in guarded bytes whose outer axes may have gaps between their rows.
struct Storage {
  DType type;
  std::vector<uint8_t> bytes;
  runtime::KernelTensor view;

  Storage(DType element, const std::vector<int64_t>& extents, int dense_axes) : type(element) {
    int64_t stride = 1;
    auto rank = extents.size();
    for (size_t d = rank; d-- > 0;) {
      // Axes outside the dense ones leave a gap of one or two elements.
      if (static_cast<int>(rank - d) > dense_axes) stride += 1 + static_cast<int64_t>(d % 2);
      view.extents[d] = extents[d];
      view.strides[d] = stride;
      stride *= std::max<int64_t>(1, extents[d]);
    }
    bytes.assign(static_cast<size_t>((stride + 1) * size_of(type)) + 2 * runtime::kBufferPadding, 0xCD);
    view.data = bytes.data() + runtime::kBufferPadding;
  }
  void rebase() { view.data = bytes.data() + runtime::kBufferPadding; }
  void fill(std::mt19937_64& random) {
    for (size_t i = 0; i + static_cast<size_t>(size_of(type)) <= bytes.size();
         i += static_cast<size_t>(size_of(type))) {
      Cell cell{random()};
      if (is_float(type)) {
        double value = std::normal_distribution<double>(20, 90)(random);
        uint64_t special = random() % 400;
        if (special == 0) value = NAN;
        if (special == 1) value = INFINITY;
        if (special == 2) value = -0.0;
        if (special == 3) value = 1e30;
        cell = cell_from_double(type, value);
      }
      store_cell(type, bytes.data() + i, cell);
    }
  }
};

struct Run {
  std::vector<Storage> tensors;
  uint32_t status = 0;
  std::string failure;
};

Run run_case(const FuzzCase& c, const std::function<void(const runtime::KernelCall&)>& run) {
  Run out;
  std::mt19937_64 random(c.seed);
  for (const KernelInput& input : c.kernel.inputs) {
    out.tensors.emplace_back(input.type, extents_of(input.extents, c.params), input.dense_axes).fill(random);
  }
  for (const KernelOutput& output : c.kernel.outputs) {
    const Stage& stage = c.kernel.stages[static_cast<size_t>(output.stage)];
    std::vector<int64_t> extents = extents_of(stage.extents, c.params);
    std::vector<int64_t> permuted;
    for (int axis : output.axis_of) permuted.push_back(extents[static_cast<size_t>(axis)]);
    out.tensors.emplace_back(stage.type, permuted, output.dense_axes);
  }
  std::vector<runtime::KernelTensor> views;
  for (Storage& storage : out.tensors) {
    storage.rebase();
    views.push_back(storage.view);
  }
  runtime::KernelCall call{views.data(), c.params.data(), nullptr, &out.status};
  if (c.seed % 2 == 1) call.stream_from = 1;  // tensors here are small: past the cache nonetheless
  try {
    run(call);
  } catch (const std::exception& e) {
    out.failure = e.what();
  }
  return out;
}

bool same_element(DType type, Cell a, Cell b) {
  if (a == b) return true;
  return is_float(type) && std::isnan(cell_to_double(type, a)) && std::isnan(cell_to_double(type, b));
}

std::optional<std::string> compare_bytes(const Storage& expected, const Storage& found, size_t output) {
  auto step = static_cast<size_t>(size_of(expected.type));
  for (size_t i = 0; i + step <= expected.bytes.size(); i += step) {
    Cell a = load_cell(expected.type, expected.bytes.data() + i);
    Cell b = load_cell(expected.type, found.bytes.data() + i);
    if (same_element(expected.type, a, b)) continue;
    auto element = (static_cast<int64_t>(i) - runtime::kBufferPadding) / static_cast<int64_t>(step);
    return fmt::format("output {}, element at offset {}: expected {} (0x{:x}), got {} (0x{:x})", output,
                       element, cell_to_double(expected.type, a), a.bits, cell_to_double(expected.type, b),
                       b.bits);
  }
  return std::nullopt;
}

/// The expression with its stage loads renumbered, nested ones too.
Expr renumber(const Expr& expr, const std::vector<int>& number) {
  return rewrite(expr, [&](const Expr& e) {
    if (e->kind != ExprKind::kLoad || e->target.kind != LoadTarget::Kind::kStage) return Expr();
    std::vector<Expr> args;
    for (const Expr& arg : e->args) args.push_back(renumber(arg, number));
    return load({e->target.kind, number[static_cast<size_t>(e->target.index)]}, e->type, args, e->border,
                e->fill);
  });
}

/// Keeps the stages that outputs need, renumbered.
Kernel without_dead_stages(const Kernel& kernel) {
  std::vector<bool> needed = needed_stages(kernel);
  auto parts = [](Stage& s) {
    return std::vector<Expr*>{&s.first, &s.weight, &s.source, &s.body, &s.finish};
  };
  Kernel out = kernel;
  out.stages.clear();
  std::vector<int> number(kernel.stages.size(), -1);
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    if (!needed[i]) continue;
    number[i] = static_cast<int>(out.stages.size());
    Stage stage = kernel.stages[i];
    for (Expr* part : parts(stage)) {
      if (!*part) continue;
      *part = renumber(*part, number);
    }
    out.stages.push_back(std::move(stage));
  }
  for (KernelOutput& output : out.outputs) output.stage = number[static_cast<size_t>(output.stage)];
  return out;
}

/// Smaller relatives of a case, the boldest first.
std::vector<FuzzCase> smaller(const FuzzCase& c) {
  std::vector<FuzzCase> out;
  auto with_kernel = [&](Kernel kernel) {
    FuzzCase next = c;
    next.kernel = without_dead_stages(kernel);
    out.push_back(std::move(next));
  };
  for (size_t i = 0; i < c.kernel.stages.size(); ++i) {
    if (c.kernel.outputs.size() == 1 && c.kernel.outputs[0].stage == static_cast<int>(i)) continue;
    Kernel kernel = c.kernel;
    KernelOutput only;
    only.stage = static_cast<int>(i);
    for (int d = 0; d < kernel.stages[i].rank(); ++d) only.axis_of.push_back(d);
    only.dense_axes = kernel.stages[i].rank();
    kernel.outputs = {only};
    with_kernel(std::move(kernel));
  }
  for (size_t i = 0; i < c.kernel.stages.size(); ++i) {
    if (!c.kernel.stages[i].finish) continue;
    Kernel kernel = c.kernel;
    kernel.stages[i].finish = {};
    with_kernel(std::move(kernel));
  }
  for (int number : c.extent_params) {
    uint64_t value = c.params[static_cast<size_t>(number)];
    for (uint64_t less : {value / 2, value - 1}) {
      if (value <= 1) continue;
      FuzzCase next = c;
      next.params[static_cast<size_t>(number)] = less;
      out.push_back(std::move(next));
    }
  }
  for (size_t i = 0; i < c.kernel.outputs.size(); ++i) {
    KernelOutput plain = c.kernel.outputs[i];
    for (size_t d = 0; d < plain.axis_of.size(); ++d) plain.axis_of[d] = static_cast<int>(d);
    if (plain.axis_of == c.kernel.outputs[i].axis_of) continue;
    FuzzCase next = c;
    next.kernel.outputs[i] = plain;
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace

std::optional<std::string> find_mismatch(const FuzzCase& c, const Backend& backend) {
  Run expected = run_case(c, [&](const runtime::KernelCall& call) { interpret_stages(c.kernel, call); });
  if (!expected.failure.empty()) return std::nullopt;  // not a legal case (shrinking can make such)
  Run found = run_case(c, [&](const runtime::KernelCall& call) { backend.run(c.kernel, call, c.seed); });
  if (!found.failure.empty()) return backend.name + " failed: " + found.failure;
  for (size_t i = 0; i < expected.tensors.size(); ++i) {
    size_t output = i - c.kernel.inputs.size();
    if (auto difference = compare_bytes(expected.tensors[i], found.tensors[i], output))
      return backend.name + ": " + *difference;
  }
  if (expected.status != found.status)
    return fmt::format("{}: status flags {} instead of {}", backend.name, found.status, expected.status);
  return std::nullopt;
}

FuzzCase shrink(FuzzCase c, const Backend& backend) {
  bool progress = true;
  for (int round = 0; progress && round < 100; ++round) {
    progress = false;
    for (FuzzCase& next : smaller(c)) {
      if (!verify(next.kernel) || !find_mismatch(next, backend)) continue;
      c = std::move(next);
      progress = true;
      break;
    }
  }
  return c;
}

std::string describe(const FuzzCase& c) {
  std::string out = fmt::format("seed {}\n{}", c.seed, to_text(c.kernel));
  for (size_t i = 0; i < c.params.size(); ++i) {
    DType type = c.kernel.params[i].type;
    if (is_float(type)) {
      out += fmt::format("p{} = {}\n", i, cell_to_double(type, {c.params[i]}));
    } else {
      out += fmt::format("p{} = {}\n", i, cell_to_int(type, {c.params[i]}));
    }
  }
  return out;
}

}  // namespace galatea::testing
