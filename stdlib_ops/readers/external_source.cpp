// external_source: tensors that the host program feeds.
//
// Comes in: a name and the declared type. Goes out: what the host feeds under that name; the runtime checks
// it against the type.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxRank = 16;

Types external_types(const TypeContext& ctx) {
  if (!ctx.given("dtype"))
    return ctx.error(
        "external_source: the element type is not declared",
        "add dtype=, for instance dtype=types.UINT8: the pipeline is compiled before it sees data");
  const bool has_rank = ctx.given("ndim"), has_layout = ctx.given("layout") && !ctx.text("layout").empty();
  const bool has_shape = ctx.given("shape");
  if (!has_rank && !has_layout && !has_shape)
    return ctx.error("external_source: the number of dimensions is not declared",
                     "add ndim= (0 for scalars) or layout=, for instance layout=\"HWC\"");
  const Layout layout = has_layout ? Layout(ctx.text("layout")) : Layout();
  const std::vector<int64_t> shape = has_shape ? ctx.integers("shape") : std::vector<int64_t>();
  const int64_t rank = has_rank     ? ctx.integer("ndim")
                       : has_layout ? layout.size()
                                    : static_cast<int64_t>(shape.size());
  if (rank < 0 || rank > kMaxRank)
    return ctx.error(fmt::format("external_source: ndim must be between 0 and {}, not {}", kMaxRank, rank),
                     {}, "ndim");
  if (has_layout && layout.size() != rank)
    return ctx.error(fmt::format("external_source: layout \"{}\" has {} letters, ndim is {}", layout.str(),
                                 layout.size(), rank),
                     {}, "layout");
  if (has_shape && static_cast<int64_t>(shape.size()) != rank)
    return ctx.error(
        fmt::format("external_source: shape has {} extents, a sample {} dimensions", shape.size(), rank),
        "give one for each dimension, -1 where samples differ", "shape");
  for (const int64_t extent : shape)
    if (extent < -1)
      return ctx.error(fmt::format("external_source: negative extent {} in shape", extent),
                       "-1 stands for extents that differ", "shape");
  ir::Type out;
  out.dtype = ctx.dtype("dtype", DType::kU8);
  out.ndim = static_cast<int>(rank);
  out.layout = layout;
  out.extents = has_shape ? shape : std::vector<int64_t>(static_cast<size_t>(rank), -1);
  return std::vector{out};
}

}  // namespace

Operator make_external_source() {
  const char* const by_host = "a pipeline file holds no host code: the host feeds the source by its name";
  const char* const feed =
      "leave it out, name the input, `fn.external_source(name=\"x\")`, and feed it from the host: "
      "`galatea_session_feed(session, \"x\", samples, n, NULL)`";
  Operator op;
  op.name = "external_source";
  op.summary = "Tensors fed by the host program, by name.";
  op.documentation =
      "The host feeds one tensor per sample under the name given by name=. With dtype, and ndim or layout, "
      "the pipeline is compiled and checked before it sees data; without them, when the first batch is fed. "
      "So it is where extents decide how many dimensions another result has, or how many numbers a list: "
      "declare them with shape=, or the first batch says what those of all others are.";
  op.kind = OperatorKind::kNative;
  op.source = true;
  op.typed_by_host = true;
  op.args = {
      {.name = "dtype",
       .kind = ArgKind::kDType,
       .documentation = "Element type; that of the first batch if not given."},
      {.name = "ndim",
       .kind = ArgKind::kInt,
       .documentation = "Number of dimensions of a sample; that of layout, else of the first batch."},
      {.name = "layout", .kind = ArgKind::kLayout, .documentation = "Layout of a sample."},
      {.name = "shape",
       .kind = ArgKind::kIntList,
       .documentation = "Extents of every sample, -1 where they differ. If not given, extents on which the "
                        "number of dimensions of another result depends are those of the first batch."},
      {.name = "repeat_last",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Repeats the last batch where none is fed.",
       .refused = "feed every batch"},
      ignored("cycle", ArgKind::kAny, ir::None{}, "The host says when its data ends, and feeds it again."),
      {.name = "num_outputs",
       .kind = ArgKind::kInt,
       .documentation = "Makes a list of so many inputs, fed as input_0, input_1, …; dtype, ndim and layout "
                        "may then be lists."},
      {.name = "source",
       .kind = ArgKind::kAny,
       .documentation = "A callable or iterable.",
       .refused = by_host,
       .refused_help = feed},
      ignored("parallel", ArgKind::kBool, ir::None{}, "The host feeds from as many processes as it likes."),
      ignored("batch_info", ArgKind::kBool, ir::None{}, "What a callable gets."),
      ignored("batch", ArgKind::kBool, ir::None{}, "The host feeds samples or batches as it likes."),
      ignored("blocking", ArgKind::kBool, ir::None{}, "The host decides how long it waits."),
      ignored("no_copy", ArgKind::kBool, ir::None{}, "Ownership is said when feeding."),
      ignored("cuda_stream", ArgKind::kAny, ir::None{}, "Said when feeding."),
      ignored("use_copy_kernel", ArgKind::kBool, ir::None{}, "Not needed here."),
      ignored("prefetch_queue_depth", ArgKind::kInt, ir::None{}, "The pipeline's depth holds."),
  };
  op.devices = {"cpu", "gpu"};
  op.example =
      "frame = fn.external_source(name=\"frame\", dtype=types.UINT8, layout=\"HWC\")\nreturn "
      "fn.flip(frame)\n";
  op.type_rule = external_types;
  return op;
}

}  // namespace galatea::ops
