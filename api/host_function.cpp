#include "api/host_function.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/declare.h"
#include "api/guard.h"
#include "api/host_tensor.h"
#include "api/sized.h"
#include "compiler/kernel/expr.h"
#include "compiler/op/operator_json.h"
#include "compiler/op/recipe.h"
#include "runtime/messages.h"

/// One call, for one sample.
struct galatea_call {
  galatea::runtime::NativeContext* context = nullptr;
  std::vector<galatea::runtime::Tensor> inputs;  ///< row-major
  const galatea::Port* output = nullptr;
  std::vector<int64_t>* extents = nullptr;  ///< in `shape`: to be said
};

namespace galatea::api {

namespace message = runtime::message;

namespace {

/// What the library keeps of a function: shared by all that calls it, which ends with the last.
struct HostFunction {
  HostFunction(const galatea_function& declared, std::string its_name)
      : host(declared), name(std::move(its_name)) {}
  Declared<galatea_function> host;
  std::string name;
  std::vector<Port> inputs;
  Port output;
  std::vector<size_t> open_extents;  ///< dimensions of the output that `shape` says
};
using Function = std::shared_ptr<HostFunction>;

/// The host's state for one call in a pipeline.
class HostState final : public runtime::NativeState {
 public:
  HostState(Function function, void* state) : function_(std::move(function)), state_(state) {}
  ~HostState() override {
    if (state_ && function_->host->release) function_->host->release(state_);
  }
  HostState(const HostState&) = delete;
  HostState& operator=(const HostState&) = delete;
  void* get() const { return state_; }

 private:
  Function function_;
  void* state_;
};

Status status_of(galatea_error* error) {
  if (!error) return {};
  return std::unexpected(take_error(error));
}

auto prepare_of(const Function& function) {
  return [function](const std::string& config) -> Result<std::shared_ptr<runtime::NativeState>> {
    void* state = nullptr;
    const auto& host = function->host;
    if (host->prepare) GALATEA_TRY(status_of(host->prepare(host->context, config.c_str(), &state)));
    return std::make_shared<HostState>(function, state);
  };
}

void* state_of(const runtime::NativeContext& context) {
  return static_cast<const HostState*>(context.state)->get();
}

/// Row-major inputs: those of which a pipeline shows a part lie in the midst of more.
Result<std::vector<runtime::Tensor>> dense_inputs(runtime::NativeContext& context) {
  std::vector<runtime::Tensor> inputs(context.inputs.begin(), context.inputs.end());
  for (runtime::Tensor& input : inputs) {
    if (input.is_dense() || input.volume() == 0) continue;
    GALATEA_ASSIGN(uint8_t* const copy, context.scratch(input.num_bytes()));
    copy_dense(input, copy);
    input.set_dense(input.dtype, std::vector<int64_t>(input.extents, input.extents + input.ndim));
    input.data = copy;
  }
  return inputs;
}

runtime::NativeFunction run_of(const Function& function) {
  runtime::NativeFunction native;
  native.name = function->name;
  native.category = "compute";
  native.prepare = prepare_of(function);
  native.call = [function](runtime::NativeContext& context) -> Status {
    GALATEA_ASSIGN(auto inputs, dense_inputs(context));
    galatea_call call{&context, std::move(inputs), &function->output, nullptr};
    return status_of(function->host->run(function->host->context, state_of(context), &call));
  };
  return native;
}

/// Where the first input has an extent of this name: input and dimension.
std::optional<std::pair<int, int>> find_extent(const std::vector<Port>& inputs, const std::string& name) {
  for (size_t k = 0; k < inputs.size() && !name.empty(); ++k)
    for (size_t d = 0; d < inputs[k].extents.size(); ++d)
      if (inputs[k].extents[d].name() == name) return std::pair(static_cast<int>(k), static_cast<int>(d));
  return std::nullopt;
}

runtime::NativeFunction shape_of(const Function& function) {
  runtime::NativeFunction native;
  native.name = function->name + ".shape";
  native.category = "compute";
  native.prepare = prepare_of(function);
  native.call = [function](runtime::NativeContext& context) -> Status {
    std::vector<int64_t> extents;
    GALATEA_ASSIGN(auto inputs, dense_inputs(context));
    galatea_call call{&context, std::move(inputs), &function->output, &extents};
    GALATEA_TRY(status_of(function->host->shape(function->host->context, state_of(context), &call)));
    const auto refuse = [&](std::string why) {
      return runtime::make_error(message::kHostError, fmt::format("{}: {}", function->name, why));
    };
    if (extents.size() != static_cast<size_t>(function->output.rank()))
      return refuse("its shape was not said by galatea_call_set_extents()");
    for (size_t d = 0; d < extents.size(); ++d) {
      const Extent& stated = function->output.extents[d];
      const auto from = find_extent(function->inputs, stated.name());
      if (stated.is_late() || (stated.is_symbolic() && !from)) continue;
      const int64_t is =
          from ? context.inputs[static_cast<size_t>(from->first)].extents[from->second] : stated.number();
      if (extents[d] != is)
        return refuse(fmt::format("extent {} of its output is {}, and its shape said {}", d, is, extents[d]));
    }
    for (size_t k = 0; k < function->open_extents.size(); ++k) {
      const int64_t extent = extents[function->open_extents[k]];
      context.scalar_results[k] = Cell{static_cast<uint64_t>(extent)};
    }
    return {};
  };
  return native;
}

/// In the order of the operator's arguments, defaults filled in.
std::string config_of(const op::RecipeBuilder& b, const op::Operator& op) {
  auto json = nlohmann::ordered_json::object();
  for (const op::ArgSpec& arg : op.args) json[arg.name] = op::to_json(b.attr(arg.name));
  return json_text(json);
}

Result<std::vector<ir::Type>> types_of_call(const HostFunction& function, const op::TypeContext& ctx) {
  for (int k = 0; k < ctx.num_inputs(); ++k) {
    const Port& port = function.inputs[static_cast<size_t>(k)];
    const ir::Type& type = ctx.input(k);
    if (!accepts(port, type.dtype, type.extents))
      return ctx.error(fmt::format("{}: {} is {}, not {}", function.name,
                                   port_text("input", static_cast<size_t>(k), port.name), to_text(type),
                                   to_text(port)));
  }
  const Port& output = function.output;
  ir::Type type;
  type.ndim = output.rank();
  const bool is_like_first = output.dtypes.size() != 1;
  type.dtype = is_like_first ? ctx.input(0).dtype : output.dtypes.front();
  if (is_like_first && !output.dtypes.empty() &&
      std::ranges::find(output.dtypes, type.dtype) == output.dtypes.end())
    return ctx.error(fmt::format("{}: its output has the type of its first input, which must be one of {}",
                                 function.name, to_text(output)));
  if (output.layouts.size() == 1)
    type.layout = Layout(output.layouts.front());
  else if (ctx.num_inputs() > 0 && ctx.input(0).ndim == type.ndim)
    type.layout = ctx.input(0).layout;
  for (const Extent& extent : output.extents) {
    const auto from = find_extent(function.inputs, extent.name());
    type.extents.push_back(extent.is_symbolic() && from
                               ? ctx.input(from->first).extents[static_cast<size_t>(from->second)]
                               : extent.number());
  }
  return std::vector{type};
}

void define(const HostFunction& function, const op::Operator& op, op::RecipeBuilder& b) {
  // Extents of one name are equal.
  std::map<std::string, std::pair<int, int>> first;
  for (size_t k = 0; k < function.inputs.size(); ++k) {
    const Port& port = function.inputs[k];
    for (size_t d = 0; d < port.extents.size(); ++d) {
      const std::pair<int, int> here{static_cast<int>(k), static_cast<int>(d)};
      const kernel::Expr extent = b.extent(here.first, here.second);
      const Extent& stated = port.extents[d];
      if (stated.is_static())
        b.check(kernel::equal(extent, kernel::const_int(stated.number())),
                fmt::format("{}: {} has {{}} elements along dimension {}, not {}", function.name,
                            port_text("input", k, port.name), d, stated.number()),
                {extent});
      if (!stated.is_symbolic()) continue;
      const auto [at, is_new] = first.emplace(stated.name(), here);
      if (is_new) continue;
      const kernel::Expr other = b.extent(at->second.first, at->second.second);
      b.check(kernel::equal(extent, other),
              fmt::format("{}: `{}` is {{}} in {} and {{}} in {}", function.name, stated.name(),
                          port_text("input", static_cast<size_t>(at->second.first), {}),
                          port_text("input", k, {})),
              {other, extent});
    }
  }
  std::vector<int> inputs;
  for (int k = 0; k < b.num_inputs(); ++k) inputs.push_back(k);
  const std::string config = config_of(b, op);
  std::vector<kernel::Expr> said;
  if (!function.open_extents.empty()) {
    const size_t count = function.open_extents.size();
    constexpr int64_t kMostElements = int64_t{1} << 40;
    said =
        b.native_scalars(function.name + ".shape", inputs, {}, config, std::vector<DType>(count, DType::kI64),
                         std::vector<std::pair<int64_t, int64_t>>(count, {0, kMostElements}));
  }
  std::vector<kernel::Expr> extents;
  for (size_t d = 0, next = 0; d < function.output.extents.size(); ++d) {
    const Extent& extent = function.output.extents[d];
    const auto from = find_extent(function.inputs, extent.name());
    if (extent.is_static())
      extents.push_back(kernel::const_int(extent.number()));
    else if (extent.is_symbolic() && from)
      extents.push_back(b.extent(from->first, from->second));
    else
      extents.push_back(said[next++]);
  }
  op::NativeOutput native;
  native.function = function.name;
  native.inputs = inputs;
  native.config = config;
  b.output_native(0, std::move(native), std::move(extents));
}

}  // namespace

Status register_function(Library& library, const galatea_function& host) {
  const std::string name = host.name ? host.name : "";
  const auto refuse = [&](const std::string& why) {
    return runtime::make_error(message::kRegistration, name, why);
  };
  if (const std::string why = why_no_name(name, library.operators); !why.empty()) return refuse(why);
  if (library.natives.find_function(name)) return refuse("there is a native function of this name");
  if (!host.run) return refuse("`run` is NULL: nothing can fill its output");
  if (!host.output) return refuse("`output` is NULL: it needs one");
  auto function = std::make_shared<HostFunction>(host, name);
  GALATEA_ASSIGN(function->inputs, parse_ports(host.inputs));
  GALATEA_ASSIGN(function->output, parse_port(host.output));
  if (function->output.rank() < 0) return refuse("its output needs a number of dimensions");
  if (function->output.dtypes.size() != 1 && function->inputs.empty())
    return refuse("its output needs one element type: there is no input whose type it could have");
  for (size_t d = 0; d < function->output.extents.size(); ++d) {
    const Extent& extent = function->output.extents[d];
    if (extent.is_static() || (extent.is_symbolic() && find_extent(function->inputs, extent.name())))
      continue;
    function->open_extents.push_back(d);
  }
  if (!function->open_extents.empty() && !host.shape)
    return refuse(fmt::format("`shape` is NULL, and nothing says extent {} of its output",
                              function->open_extents.front()));
  op::Operator op;
  op.name = name;
  set_documentation(op, host.documentation, "An operator of the host.");
  op.kind = op::OperatorKind::kNative;
  op.inputs = function->inputs;
  op.min_inputs = op.max_inputs = static_cast<int>(op.inputs.size());
  op.outputs = {function->output};
  GALATEA_ASSIGN(op.args, parse_arguments(host.arguments));
  op.type_rule = [function](const op::TypeContext& ctx) { return types_of_call(*function, ctx); };
  op.define = [function, declared = op](op::RecipeBuilder& b) { define(*function, declared, b); };
  library.natives.add(run_of(function));
  if (!function->open_extents.empty()) library.natives.add(shape_of(function));
  library.operators.add(std::move(op));
  function->host.take();
  return {};
}

}  // namespace galatea::api

using galatea::api::guard;
using galatea::api::misuse;

extern "C" {

void galatea_function_init_sized(galatea_function* function, size_t function_size) {
  if (!function) return;
  galatea_function defaults{};
  defaults.size = static_cast<int32_t>(function_size);
  galatea::api::write_struct(defaults, function, function_size);
}

galatea_error* galatea_call_input_borrow_sized(const galatea_call* call, int32_t index,
                                               galatea_tensor* tensor, size_t tensor_size) {
  return guard([&]() -> galatea_error* {
    if (!call || !tensor) return misuse("call or tensor is NULL");
    const auto& inputs = call->inputs;
    if (index < 0 || static_cast<size_t>(index) >= inputs.size())
      return misuse(fmt::format("input {} does not exist; there are {}", index, inputs.size()));
    return galatea::api::give_tensor(inputs[static_cast<size_t>(index)], "", 0, tensor, tensor_size);
  });
}

galatea_error* galatea_call_output_borrow_sized(const galatea_call* call, galatea_tensor* tensor,
                                                size_t tensor_size) {
  return guard([&]() -> galatea_error* {
    if (!call || !tensor) return misuse("call or tensor is NULL");
    if (!call->context->output || call->extents)
      return misuse("there is no output while its shape is asked for");
    return galatea::api::give_tensor(*call->context->output, "", 0, tensor, tensor_size);
  });
}

galatea_error* galatea_call_set_extents(galatea_call* call, int32_t ndim, const int64_t* extents) {
  return guard([&]() -> galatea_error* {
    if (!call || (ndim > 0 && !extents)) return misuse("call or extents is NULL");
    if (!call->extents) return misuse("the shape is not asked for: the output has one already");
    if (ndim != call->output->rank())
      return misuse(
          fmt::format("{} extents were given, and the output has {} dimensions", ndim, call->output->rank()));
    call->extents->assign(extents, extents + ndim);
    return nullptr;
  });
}

galatea_error* galatea_call_scratch_borrow(galatea_call* call, int64_t bytes, void** memory) {
  if (memory) *memory = nullptr;
  return guard([&]() -> galatea_error* {
    if (!call || !memory) return misuse("call or memory is NULL");
    if (bytes < 0) return misuse(fmt::format("bytes is {}; it must be 0 or more", bytes));
    auto scratch = call->context->scratch(bytes);
    if (!scratch) return galatea::api::make_api_error(scratch.error());
    *memory = *scratch;
    return nullptr;
  });
}

int galatea_call_is_cancelled(const galatea_call* call) { return call && call->context->cancelled() ? 1 : 0; }

}  // extern "C"
