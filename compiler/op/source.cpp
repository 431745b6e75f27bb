#include "compiler/op/source.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/attr_json.h"
#include "compiler/messages/messages.h"
#include "runtime/kernel_abi.h"
#include "runtime/reader_loop.h"

namespace galatea::op {
namespace {

ArgSpec without_effect(std::string name, ArgKind kind, ir::Attr default_value, std::string documentation) {
  return {.name = std::move(name),
          .kind = kind,
          .default_value = std::move(default_value),
          .documentation = std::move(documentation),
          .no_effect = true};
}

/// The arguments that all readers share, as the runtime will read them.
std::string common_config(const TypeContext& ctx) {
  nlohmann::json config = nlohmann::json::object();
  for (const ArgSpec& arg : common_reader_args())
    if (!arg.no_effect && arg.refused.empty()) config[arg.name] = ir::attr_json(ctx.attr(arg.name));
  return json_text(config);
}

Result<std::vector<Port>> ports_of(const SourceDeclaration& declaration, const TypeContext& ctx) {
  if (!declaration.outputs_of) return declaration.outputs;
  GALATEA_ASSIGN(std::vector<Port> ports, declaration.outputs_of(ctx));
  std::set<std::string> names;
  for (const Port& port : ports) {
    const std::string what = port_text("output", names.size(), port.name);
    if (!port.is_concrete() || port.rank() > runtime::kMaxRank)
      return ctx.error(fmt::format("{} would be {}, which is no type", what, to_text(port)));
    if (declaration.gives_dictionary && !names.insert(port.name).second)
      return ctx.error(fmt::format("{} has the name of another", what));
  }
  if (ports.empty()) return ctx.error("with these arguments it has no output");
  return ports;
}

/// Arguments become a configuration in JSON, which has finite numbers alone.
Status check_finite(const TypeContext& ctx) {
  for (const ArgSpec& arg : ctx.op().args) {
    const bool has_numbers = arg.kind == ArgKind::kFloat || arg.kind == ArgKind::kFloatList;
    if (!has_numbers || !ctx.given(arg.name) || ctx.is_per_sample(arg.name)) continue;
    for (const double value : ctx.numbers(arg.name))
      if (!std::isfinite(value))
        return ctx.error(fmt::format("{}: {} must be finite, not {}", ctx.op().name, arg.name, value), {},
                         arg.name);
  }
  return {};
}

/// A list of files that is there and holds none.
Status check_lists_of_files(const TypeContext& ctx) {
  for (const std::string_view name : {"files", "path", "paths"}) {
    const ArgSpec* spec = ctx.op().find_arg(name);
    if (spec && spec->kind == ArgKind::kStringList && ctx.given(name) && ctx.texts(name).empty())
      return ctx.error(
          fmt::format("{}: {} is an empty list, so that there is nothing to read", ctx.op().name, name),
          "name one file at least", name);
  }
  return {};
}

/// Arguments that have no effect here, and that DALI refuses: a text that runs here runs there.
Status check_without_effect(const TypeContext& ctx) {
  if (ctx.integer("prefetch_queue_depth") < 1)
    return ctx.error(fmt::format("{}: prefetch_queue_depth must be at least 1, not {}", ctx.op().name,
                                 ctx.integer("prefetch_queue_depth")),
                     "leave it out: reading ahead is the runtime's", "prefetch_queue_depth");
  if (ctx.integer("tensor_init_bytes") < 0)
    return ctx.error(fmt::format("{}: tensor_init_bytes must not be negative", ctx.op().name),
                     "leave it out: it is a hint", "tensor_init_bytes");
  const ArgSpec* direct = ctx.op().find_arg("use_o_direct");
  if (direct && ctx.flag("use_o_direct") && !ctx.flag("dont_use_mmap"))
    return ctx.error(fmt::format("{}: use_o_direct needs dont_use_mmap=True", ctx.op().name),
                     "leave use_o_direct out: it has no effect here", "use_o_direct");
  return {};
}

Result<std::vector<ir::Type>> reader_types(const SourceDeclaration& declaration, const TypeContext& ctx) {
  GALATEA_TRY(check_finite(ctx));
  GALATEA_TRY(check_lists_of_files(ctx));
  GALATEA_TRY(check_without_effect(ctx));
  if (declaration.check) GALATEA_TRY(declaration.check(ctx));
  runtime::ReaderOptions options;
  if (const auto objection = runtime::read_reader_options(common_config(ctx), options))
    return ctx.error(objection->why, objection->help, objection->arg);
  GALATEA_ASSIGN(const std::vector<Port> ports, ports_of(declaration, ctx));
  return types_of(ports);
}

bool is_word(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::ranges::all_of(text, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

/// "readers.flat": words with points between them.
bool is_operator_name(std::string_view name) {
  for (;;) {
    const size_t point = name.find('.');
    if (!is_word(name.substr(0, point))) return false;
    if (point == std::string_view::npos) return true;
    name.remove_prefix(point + 1);
  }
}

/// Letters, then digits, and not one of galatea's.
bool is_own_code(std::string_view code) {
  const size_t digits = code.find_first_of("0123456789");
  if (digits == std::string_view::npos || digits < 2 || code.size() > 16) return false;
  return std::ranges::all_of(code.substr(0, digits), [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         code.find_first_not_of("0123456789", digits) == std::string_view::npos;
}

std::string objection_to_names(const SourceDeclaration& declaration, const Registry& registry,
                               const runtime::NativeTable& natives) {
  std::vector<std::string> names = declaration.aliases;
  names.insert(names.begin(), declaration.name);
  for (const std::string& name : names) {
    if (!is_operator_name(name)) return fmt::format("\"{}\" is not a name such as \"readers.flat\"", name);
    if (registry.find(name)) return fmt::format("there is an operator {} already", name);
  }
  if (natives.find_source(declaration.name))
    return fmt::format("there is a source {} already", declaration.name);
  std::set<std::string> taken = {"device", "name", "preserve", "bytes_per_sample_hint"};
  for (const ArgSpec& arg : common_reader_args()) taken.insert(arg.name);
  for (const ArgSpec& arg : declaration.args) {
    if (!is_word(arg.name)) return fmt::format("\"{}\" is not a name of an argument", arg.name);
    if (!taken.insert(arg.name).second)
      return fmt::format("the argument {} is there twice, or every reader has it", arg.name);
    if (arg.per_sample)
      return fmt::format("the argument {} is per sample, but a reader has no sample before it reads",
                         arg.name);
  }
  for (const runtime::OwnCode& own : declaration.codes) {
    if (!is_own_code(own.code))
      return fmt::format("the code \"{}\" is not two letters or more and digits, as FLAT001 is", own.code);
    if (natives.find_code(own.code)) return fmt::format("another source has the code {}", own.code);
  }
  return {};
}

std::string objection_to_ports(const SourceDeclaration& declaration) {
  if (declaration.outputs.empty() && !declaration.outputs_of) return "it declares no output";
  if (!declaration.outputs.empty() && declaration.outputs_of)
    return "it declares outputs twice: those that are always the same, and those that arguments decide";
  std::set<std::string> names;
  for (const Port& port : declaration.outputs) {
    const std::string what = port_text("output", names.size(), port.name);
    if (!port.is_concrete() || port.rank() > runtime::kMaxRank)
      return fmt::format("{} is {}; it needs one element type, a rank of at most {} and one layout or none",
                         what, to_text(port), runtime::kMaxRank);
    const bool has_late =
        port.extents.empty() ? port.rank() > 0 : std::ranges::any_of(port.extents, &Extent::is_late);
    if (port.optional && !has_late)
      return fmt::format("{} is optional, so one of its extents must be open: it is 0 where it is left out",
                         what);
    if (!is_word(port.name) || !names.insert(port.name).second)
      return fmt::format("{} needs a name of its own", what);
  }
  return {};
}

}  // namespace

std::vector<ArgSpec> common_reader_args() {
  return {
      {.name = "random_shuffle",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Shuffles through a window of initial_fill samples."},
      {.name = "initial_fill",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1024},
       .documentation = "Samples in the shuffling window."},
      {.name = "shuffle_after_epoch",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Permutes the whole data set for every epoch."},
      {.name = "shuffle_after_epoch_seed",
       .kind = ArgKind::kInt,
       .documentation = "Seed of that permutation."},
      {.name = "num_shards",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1},
       .documentation = "Into how many parts the data set is divided."},
      {.name = "shard_id",
       .kind = ArgKind::kInt,
       .default_value = int64_t{0},
       .documentation = "Which part is read."},
      {.name = "stick_to_shard",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Reads the same part in every epoch, instead of the next one."},
      {.name = "pad_last_batch",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Fills the last batch by repeating the last sample."},
      {.name = "seed",
       .kind = ArgKind::kInt,
       .default_value = int64_t{-1},
       .documentation = "Seed of the shuffling; the pipeline's if negative."},
      without_effect("skip_cached_images", ArgKind::kBool, false, "Decoders keep no images."),
      without_effect("prefetch_queue_depth", ArgKind::kInt, int64_t{1}, "Reading ahead is the runtime's."),
      without_effect("read_ahead", ArgKind::kBool, false, "Files are read whole."),
      without_effect("dont_use_mmap", ArgKind::kBool, false, "Files are read, not mapped."),
      without_effect("lazy_init", ArgKind::kBool, false, "The folder is scanned when the pipeline starts."),
      without_effect("tensor_init_bytes", ArgKind::kInt, int64_t{1048576}, "A hint; not needed here."),
  };
}

Operator reader_operator(const SourceDeclaration& declaration) {
  auto shared = std::make_shared<const SourceDeclaration>(declaration);
  Operator op;
  op.name = declaration.name;
  op.summary = declaration.summary;
  op.documentation = declaration.documentation;
  op.kind = OperatorKind::kNative;
  op.source = true;
  op.args = declaration.args;
  for (ArgSpec& arg : common_reader_args()) op.args.push_back(std::move(arg));
  op.outputs = declaration.outputs;
  if (declaration.outputs_of)
    op.outputs_of = [shared](const TypeContext& ctx) { return ports_of(*shared, ctx); };
  op.gives_dictionary = declaration.gives_dictionary;
  op.outputs_argument = declaration.outputs_argument;
  op.output_needs = declaration.output_needs;
  op.types_declared_by = declaration.types_declared_by;
  op.aliases = declaration.aliases;
  op.example = declaration.example;
  op.type_rule = [shared](const TypeContext& ctx) { return reader_types(*shared, ctx); };
  return op;
}

runtime::SourceFactory reader_factory(const SourceDeclaration& declaration) {
  return {declaration.name, declaration.open, declaration.outputs, declaration.codes};
}

Status register_source(Registry& registry, runtime::NativeTable& natives, SourceDeclaration declaration) {
  std::string objection = objection_to_names(declaration, registry, natives);
  if (objection.empty()) objection = objection_to_ports(declaration);
  if (objection.empty() && !declaration.open) objection = "it has no function that opens it";
  if (!objection.empty())
    return compiler::user_error(compiler::Message::kBadSource, Span{}, declaration.name, objection);
  registry.add(reader_operator(declaration));
  natives.add(reader_factory(declaration));
  return {};
}

}  // namespace galatea::op
