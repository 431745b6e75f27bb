// cuda_kernel: a kernel of the user's own, CUDA text that runs on a GPU or, compiled for it, on the CPU.
//
// Comes in: any inputs, the text, and what the user says of it: inputs, outputs, launch. Goes out: what the
// text writes. `galatea.cuda_kernel(…)` of the language makes calls of it (dsl/eval_cuda_kernel.cpp).
//
// Everything that can be known without a compiler of CUDA is checked by the type rule: whether the function
// is there, how many parameters it has, and whether their types are those of the inputs and outputs.
#include <algorithm>
#include <map>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/user/kernel_declaration.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMostExtent = (int64_t{1} << 31) - 1, kMostGridSide = 65535;

/// A call's declaration, read.
struct OwnKernel {
  KernelFunction function;
  std::vector<KernelPort> inputs, outputs;
  KernelLaunch launch;
  bool has_launch = false;
};

std::vector<std::string> strings_of(const ir::Attr& attr) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&attr)) return *list;
  if (const auto* one = std::get_if<std::string>(&attr)) return {*one};
  return {};
}

/// A place in the text, for people.
std::string place_in_text(const std::string& file, int64_t first_line, uint32_t line) {
  return fmt::format("{}:{}", file, first_line + line - 1);
}

/// Reads what the call says. `Context`: a type rule's or a definition's; the latter reads what was checked.
template <typename Context>
std::expected<OwnKernel, Fault> read_own_kernel(const Context& ctx) {
  const std::string text = ctx.text("source"), name = ctx.text("name");
  OwnKernel out;
  const std::vector<KernelFunction> functions = find_kernel_functions(text);
  const auto found = std::ranges::find(functions, name, &KernelFunction::name);
  if (found == functions.end()) {
    std::string names;
    for (const KernelFunction& function : functions)
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", function.name);
    return std::unexpected(
        Fault{fmt::format("{} has no function `__global__ void {}(…)`", ctx.text("file"), name),
              functions.empty() ? "it has none that is marked `__global__`"
                                : fmt::format("functions marked `__global__` there: {}", names)});
  }
  out.function = *found;
  for (const std::string& port : strings_of(ctx.attr("inputs"))) {
    auto read = read_kernel_port(port, false);
    if (!read) return std::unexpected(Fault{read.error().message, read.error().help, "inputs"});
    out.inputs.push_back(std::move(*read));
  }
  for (const std::string& port : strings_of(ctx.attr("outputs"))) {
    auto read = read_kernel_port(port, true);
    if (!read) return std::unexpected(Fault{read.error().message, read.error().help, "outputs"});
    out.outputs.push_back(std::move(*read));
  }
  out.has_launch = !ctx.text("launch").empty();
  if (out.has_launch) {
    auto launch = read_kernel_launch(ctx.text("launch"));
    if (!launch) return std::unexpected(Fault{launch.error().message, launch.error().help, "launch"});
    out.launch = std::move(*launch);
    return out;
  }
  // One thread for each element of the first output.
  constexpr int kThreads = 256;
  std::string elements = "1";
  if (!out.outputs.empty())
    for (const ExtentText& extent : out.outputs[0].extents) elements += fmt::format(" * ({})", extent.text());
  auto blocks = ExtentText::parse(fmt::format("ceil_div({}, {})", elements, kThreads));
  if (!blocks) return std::unexpected(Fault{blocks.error(), ""});
  out.launch.grid = {std::move(*blocks), ExtentText::number(1), ExtentText::number(1)};
  out.launch.block = {kThreads, 1, 1};
  return out;
}

// ---- types

using KnownExtents = std::map<std::string, int64_t>;

/// Whether the inputs are those that were declared; collects what is known of named extents.
Status check_own_inputs(const TypeContext& ctx, const OwnKernel& own, KnownExtents& known) {
  if (static_cast<int>(own.inputs.size()) != ctx.num_inputs())
    return ctx.error(fmt::format("`{}` declares {} inputs, and the call gives {}", own.function.name,
                                 own.inputs.size(), ctx.num_inputs()),
                     "declare each in `inputs=`, in the order of the call");
  for (size_t k = 0; k < own.inputs.size(); ++k) {
    const KernelPort& port = own.inputs[k];
    const ir::Type& type = ctx.input(static_cast<int>(k));
    const std::string got =
        fmt::format("the input `{}` of `{}` is {}", port.name, own.function.name, describe(type));
    if (type.dtype == DType::kF16)
      return ctx.error(got + ", and kernels of one's own have no halves",
                       "convert it by fn.cast before the call");
    const auto rank = static_cast<int>(port.extents.size());
    if (type.ndim != rank)
      return ctx.error(fmt::format("{}, and is declared to have {} dimensions", got, rank),
                       port.is_number
                           ? "one number per sample goes there; a tensor is declared with its extents"
                           : "declare as many extents as it has");
    if (port.is_number) {
      known.try_emplace(port.name, is_integral(type.dtype) ? -1 : -2);
      continue;
    }
    if (type.dtype != port.dtype)
      return ctx.error(fmt::format("{}, and is declared to be of {}", got, short_name(port.dtype)),
                       "declare the type that it has, or convert it by fn.cast");
    if (!port.layout.empty() && !type.layout.empty() && !(port.layout == type.layout))
      return ctx.error(fmt::format("{}, and is declared to have the layout {}", got, port.layout.str()),
                       "declare the layout that it has, or turn it by fn.transpose");
    for (size_t d = 0; d < port.extents.size(); ++d) {
      const ExtentText& extent = port.extents[d];
      const int64_t has = type.extents[d];
      if (extent.names().empty()) {
        const int64_t wanted = extent.evaluate({});
        if (wanted >= 0 && has >= 0 && wanted != has)
          return ctx.error(fmt::format("{}, and is declared to have an extent of {} there", got, wanted));
        continue;
      }
      int64_t& before = known.try_emplace(extent.text(), -1).first->second;
      if (before >= 0 && has >= 0 && before != has)
        return ctx.error(fmt::format("{}, and `{}` is {} elsewhere", got, extent.text(), before),
                         "extents of one name are equal; give them different names");
      before = std::max(before, has);
    }
  }
  return {};
}

/// Whether every name stands for an extent or an integer of the inputs.
Status check_names(const TypeContext& ctx, const ExtentText& extent, const KnownExtents& known,
                   std::string_view argument) {
  for (const std::string& name : extent.names()) {
    const auto found = known.find(name);
    if (found == known.end())
      return ctx.error(fmt::format("`{}` in `{}` is no extent of an input", name, extent.text()),
                       "names are those of extents in `inputs=`, and of integers there", argument);
    if (found->second == -2)
      return ctx.error(fmt::format("`{}` in `{}` is no integer", name, extent.text()),
                       "give an integer, or convert it by fn.cast", argument);
  }
  return {};
}

/// Whether the function's parameters are what it will be called with.
Status check_parameters(const TypeContext& ctx, const OwnKernel& own) {
  const std::string at = place_in_text(ctx.text("file"), ctx.integer("line"), own.function.line);
  const size_t count = own.inputs.size() + own.outputs.size();
  if (own.function.parameters.size() != count)
    return ctx.error(fmt::format("`{}` at {} has {} parameters, and is called with {} inputs and {} outputs",
                                 own.function.name, at, own.function.parameters.size(), own.inputs.size(),
                                 own.outputs.size()),
                     "its parameters are the inputs in their order, then the outputs", "name");
  for (size_t k = 0; k < count; ++k) {
    const bool is_output = k >= own.inputs.size();
    const KernelPort& port = is_output ? own.outputs[k - own.inputs.size()] : own.inputs[k];
    const std::string& parameter = own.function.parameters[k];
    const auto tensor = read_tensor_parameter(parameter);
    const std::string wanted = port.is_number
                                   ? std::string(op::c_name(port.dtype))
                                   : fmt::format("galatea::Tensor<{}{}, {}>", is_output ? "" : "const ",
                                                 op::c_name(port.dtype), port.extents.size());
    const bool fits =
        port.is_number ? !tensor && parameter.find('*') == std::string::npos
        : !tensor      ? parameter.find('*') == std::string::npos
                       : (!tensor->type || *tensor->type == port.dtype) && tensor->is_const == !is_output &&
                        (tensor->rank < 0 || tensor->rank == static_cast<int>(port.extents.size()));
    if (!fits)
      return ctx.error(
          fmt::format("parameter {} of `{}` at {} is `{}`, but the {} `{}` is a `{}`", k + 1,
                      own.function.name, at, parameter, is_output ? "output" : "input", port.name, wanted),
          fmt::format("declare it as `{} {}`", wanted, port.name), "name");
  }
  return {};
}

Status check_launch(const TypeContext& ctx, const OwnKernel& own, const KnownExtents& known) {
  const auto value_of = [&](const std::string& name) { return known.at(name); };
  int64_t blocks = 1;
  for (size_t i = 0; i < 3; ++i) {
    GALATEA_TRY(check_names(ctx, own.launch.grid[i], known, own.has_launch ? "launch" : "outputs"));
    const int64_t count = own.launch.grid[i].evaluate(value_of);
    if (own.has_launch && count == 0)
      return ctx.error(fmt::format("a grid of no blocks: `{}` is 0", own.launch.grid[i].text()),
                       "write `max(1, …)` where there may be nothing to do", "launch");
    if (count > (i == 0 ? kMostExtent : kMostGridSide))
      return ctx.error(fmt::format("a grid of {} blocks along {} is too large", count, "xyz"[i]),
                       "a grid has at most 2147483647 blocks along x, and 65535 along y and z", "launch");
    blocks = count < 0 || blocks < 0 ? -1 : blocks * count;
  }
  if (blocks > kMostExtent)
    return ctx.error(fmt::format("a grid of {} blocks is too large", blocks),
                     "a sample has at most 2147483647", "launch");
  return {};
}

Types cuda_kernel_types(const TypeContext& ctx) {
  const auto own = read_own_kernel(ctx);
  if (!own) return ctx.error(own.error().message, own.error().help, own.error().argument);
  if (own->outputs.empty())
    return ctx.error(fmt::format("`{}` has no outputs", own->function.name),
                     "describe each, as in `outputs=[\"out: u8[h, w, 3] HWC\"]`", "outputs");
  if (const uint32_t line = find_unsized_shared(ctx.text("source")); line > 0)
    return ctx.error(fmt::format("shared memory without a size, at {}",
                                 place_in_text(ctx.text("file"), ctx.integer("line"), line)),
                     "write its size: `__shared__ float rows[256];`", "source");
  if (const uint32_t line = find_include(ctx.text("source")); line > 0)
    return ctx.error(
        fmt::format("a kernel has no headers, and {} includes one",
                    place_in_text(ctx.text("file"), ctx.integer("line"), line)),
        "leave it out: `uint8_t` and its like and the functions of <math.h> are there; other functions go "
        "into the text",
        "source");
  if (const uint32_t line = find_taken_name(ctx.text("source")); line > 0)
    return ctx.error(fmt::format("a name at {} belongs to galatea",
                                 place_in_text(ctx.text("file"), ctx.integer("line"), line)),
                     "choose one that does not begin with `galatea_` or `GALATEA_`", "source");
  KnownExtents known;
  GALATEA_TRY(check_own_inputs(ctx, *own, known));
  GALATEA_TRY(check_parameters(ctx, *own));
  std::vector<ir::Type> out;
  for (const KernelPort& port : own->outputs) {
    ir::Type type;
    type.dtype = port.dtype;
    type.ndim = static_cast<int>(port.extents.size());
    type.layout = port.layout;
    if (ctx.num_inputs() > 0) type.device = ctx.input(0).device;
    for (const ExtentText& extent : port.extents) {
      GALATEA_TRY(check_names(ctx, extent, known, "outputs"));
      const int64_t value = extent.evaluate([&](const std::string& name) { return known.at(name); });
      if (value > kMostExtent)
        return ctx.error(fmt::format("the output `{}` would have an extent of {}", port.name, value),
                         "an extent is at most 2147483647", "outputs");
      type.extents.push_back(value);
    }
    out.push_back(std::move(type));
  }
  GALATEA_TRY(check_launch(ctx, *own, known));
  return out;
}

// ---- meaning

/// What names stand for, and checks that extents of one name are equal.
std::map<std::string, Expr> named_extents(RecipeBuilder& b, const OwnKernel& own) {
  std::map<std::string, Expr> out;
  for (size_t k = 0; k < own.inputs.size(); ++k) {
    const KernelPort& port = own.inputs[k];
    const auto input = static_cast<int>(k);
    if (port.is_number) {
      if (is_integral(b.input_type(input).dtype)) out.try_emplace(port.name, to_i64(b.element(input, 0)));
      continue;
    }
    for (size_t d = 0; d < port.extents.size(); ++d) {
      const ExtentText& extent = port.extents[d];
      const Expr has = b.extent(input, static_cast<int>(d));
      if (extent.names().empty()) {
        const int64_t wanted = extent.evaluate({});
        if (wanted >= 0)
          b.check(equal(has, i64(wanted)),
                  fmt::format(
                      "the input `{}` of `{}` has an extent of {{}} along dimension {}, and is declared to "
                      "have {}",
                      port.name, own.function.name, d, wanted),
                  {has});
        continue;
      }
      const auto [known, is_new] = out.try_emplace(extent.text(), has);
      if (!is_new)
        b.check(
            equal(has, known->second),
            fmt::format("the input `{}` of `{}` has an extent of {{}} along dimension {}, and `{}` is {{}}",
                        port.name, own.function.name, d, extent.text()),
            {has, known->second}, "extents of one name are equal; give them different names");
    }
  }
  return out;
}

void define_cuda_kernel(RecipeBuilder& b) {
  const auto own = read_own_kernel(b);
  GALATEA_CHECK(own.has_value(), "the type rule has read the declaration");
  const std::map<std::string, Expr> named = named_extents(b, *own);
  const auto value_of = [&](const std::string& name) { return named.at(name); };
  const auto express = [&](const ExtentText& extent, const char* argument) {
    std::vector<Expr> divisors;
    Expr out = extent.expression(value_of, divisors);
    for (const Expr& divisor : divisors)
      b.check(kernel::not_equal(divisor, i64(0)), fmt::format("`{}` divides by zero", extent.text()), {}, {},
              argument);
    return out;
  };
  op::TextCall call;
  op::TextKernel& text = call.kernel;
  text.function = own->function.name;
  text.text = b.text("source");
  text.text.replace(own->function.word, std::string_view("__global__").size(), "__device__");
  text.file = b.text("file");
  text.line = static_cast<uint32_t>(b.integer("line"));
  text.block = own->launch.block;
  for (size_t k = 0; k < own->inputs.size(); ++k) {
    const ir::Type& type = b.input_type(static_cast<int>(k));
    text.inputs.push_back({type.dtype, type.ndim, own->inputs[k].is_number});
  }
  std::vector<std::vector<Expr>> extents;
  for (const KernelPort& port : own->outputs) {
    text.outputs.push_back({port.dtype, static_cast<int>(port.extents.size()), false});
    std::vector<Expr>& own_extents = extents.emplace_back();
    for (const ExtentText& extent : port.extents) {
      const Expr value = express(extent, "outputs");
      b.check((value >= i64(0)) & (value <= i64(kMostExtent)),
              fmt::format("the output `{}` would have an extent of {{}} (`{}`)", port.name, extent.text()),
              {value}, "an extent is 0 to 2147483647", "outputs");
      own_extents.push_back(value);
    }
  }
  for (size_t i = 0; i < 3; ++i) {
    const Expr blocks = express(own->launch.grid[i], "launch");
    // An empty output takes no blocks, unless the user says otherwise.
    b.check((blocks >= i64(own->has_launch ? 1 : 0)) & (blocks <= i64(i == 0 ? kMostExtent : kMostGridSide)),
            fmt::format("a grid of {{}} blocks along {} (`{}`)", "xyz"[i], own -> launch.grid[i].text()),
            {blocks}, "a grid has at least 1 block, at most 2147483647 along x, and 65535 along y and z",
            "launch");
    call.grid[i] = blocks;
  }
  const Expr blocks = call.grid[0] * call.grid[1] * call.grid[2];
  b.check(blocks <= i64(kMostExtent), "a grid of {} blocks is too large", {blocks},
          "a sample has at most 2147483647", "launch");
  b.output_text(std::move(call), std::move(extents));
}

}  // namespace

Operator make_cuda_kernel() {
  Operator op;
  op.name = "cuda_kernel";
  op.summary = "A kernel of one's own in CUDA, made by galatea.cuda_kernel.";
  op.documentation =
      "Runs a function of a CUDA text on every sample. What the text may use, how inputs and outputs are "
      "described and what the kernel must not do is in docs/custom-kernels.md.";
  op.internal = true;
  op.inputs = {{.name = "data", .documentation = "a tensor, or one number per sample", .any_device = true}};
  op.min_inputs = 0;
  op.max_inputs = 64;
  op.args = {
      {.name = "source", .kind = ArgKind::kString, .required = true, .documentation = "The text, CUDA C++."},
      {.name = "name",
       .kind = ArgKind::kString,
       .required = true,
       .documentation = "The function of the text that is marked `__global__`."},
      {.name = "file",
       .kind = ArgKind::kString,
       .default_value = std::string("the text"),
       .documentation = "Where the text stands, for messages."},
      {.name = "line",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1},
       .documentation = "The line of that file on which the text begins."},
      {.name = "inputs",
       .kind = ArgKind::kStringList,
       .documentation = "A description of each input, `\"image: u8[h, w, 3] HWC\"`."},
      {.name = "outputs",
       .kind = ArgKind::kStringList,
       .required = true,
       .documentation = "The same of each output; extents are expressions over those of the inputs."},
      {.name = "launch",
       .kind = ArgKind::kString,
       .default_value = std::string(),
       .documentation = "Blocks and threads, `\"<<<(ceil_div(w, 16), h), (16, 16)>>>\"`; by default a thread "
                        "for each element of the first output, 256 a block."}};
  op.devices = {"cpu", "gpu"};
  op.type_rule = cuda_kernel_types;
  op.define = define_cuda_kernel;
  return op;
}

}  // namespace galatea::ops
