// element_extract: single frames of a sequence.
//
// Comes in: a sequence. Goes out: one view per frame that is asked for.
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types element_extract_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const std::vector<int64_t> frames = ctx.integers("element_map");
  if (in.ndim == 0 || (!in.layout.empty() && in.layout[0] != 'F'))
    return ctx.error(fmt::format("element_extract: {} is no sequence", describe(in)),
                     "its first axis must be F; fn.per_frame(x) says so of data without a layout");
  if (frames.empty())
    return ctx.error("element_extract: element_map is an empty list", "name the frames, as in [0, 2]",
                     "element_map");
  for (const int64_t frame : frames)
    if (frame < 0 || (in.extents[0] >= 0 && frame >= in.extents[0]))
      return ctx.error(in.extents[0] < 0 ? fmt::format("element_extract: there is no frame {}", frame)
                                         : fmt::format("element_extract: there is no frame {} among {}",
                                                       frame, in.extents[0]),
                       "frames are counted from 0", "element_map");
  ir::Type out = in;
  out.ndim -= 1;
  out.extents.erase(out.extents.begin());
  if (!in.layout.empty()) out.layout = Layout(in.layout.str().substr(1));
  return std::vector(frames.size(), out);
}

void define_element_extract(RecipeBuilder& b) {
  const std::vector<int64_t> frames = b.integers("element_map");
  const auto ndim = static_cast<size_t>(b.input_type(0).ndim);
  const std::vector<Expr> all = b.extents(0);
  std::vector<int> dims;
  for (size_t d = 1; d < ndim; ++d) dims.push_back(static_cast<int>(d));
  for (size_t k = 0; k < frames.size(); ++k) {
    const Expr frame = i64(frames[k]);
    b.check(frame < all[0], "there is no frame {} among {}", {frame, all[0]}, "frames are counted from 0",
            "element_map");
    if (fits_scalars(b)) {
      const int64_t volume = b.output_type(0).static_volume();
      std::vector<Expr> elements;
      for (int64_t n = 0; n < volume; ++n) elements.push_back(b.element(0, frames[k] * volume + n));
      b.output_scalars(static_cast<int>(k), std::move(elements));
      continue;
    }
    std::vector<Expr> start(ndim, i64(0));
    start[0] = frame;
    b.output_view(static_cast<int>(k), 0, {all.begin() + 1, all.end()}, dims, std::move(start),
                  std::vector<Expr>(ndim - 1, i64(1)));
  }
}

}  // namespace

Operator make_element_extract() {
  Operator op;
  op.name = "element_extract";
  op.summary = "Single frames of a sequence.";
  op.documentation =
      "One output per number of element_map: that frame, without the axis of frames. Nothing is copied: the "
      "results are views.";
  op.inputs = {{.name = "data", .documentation = "a sequence: its first axis counts frames"}};
  op.min_inputs = op.max_inputs = 1;
  op.outputs_argument = "element_map";
  op.args = {{.name = "element_map",
              .kind = ArgKind::kIntList,
              .required = true,
              .documentation = "The frames, counted from 0."}};
  op.devices = {"cpu", "gpu"};
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "image = fn.decoders.image(encoded)\n"
      "first, last = fn.element_extract(fn.stack(image, image, axis_name=\"F\"), element_map=[0, 1])\n"
      "return first, last, label\n";
  op.type_rule = element_extract_types;
  op.define = define_element_extract;
  return op;
}

}  // namespace galatea::ops
