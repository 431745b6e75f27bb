// get_property: the layout of a tensor, or where its sample comes from, as bytes.
//
// Comes in: any tensor, of which nothing is read. Goes out: u8[n], text in UTF-8.
#include <limits>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/sample_name.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr const char* kLayout = "layout";
constexpr const char* kSourceInfo = "source_info";

Types get_property_types(const TypeContext& ctx) {
  const std::string key = ctx.text("key");
  if (key != kLayout && key != kSourceInfo)
    return ctx.error(fmt::format("get_property: there is no property \"{}\"", key),
                     "there are \"layout\" and \"source_info\"", "key");
  const int64_t length = key == kLayout ? ctx.input(0).layout.size() : -1;
  return std::vector{ir::Type{
      .dtype = DType::kU8, .ndim = 1, .layout = {}, .device = ir::Device::kCpu, .extents = {length}}};
}

/// The source that `node` comes from, counted among those that name their samples as the program counts
/// them; -1: what a host feeds has no name.
int64_t named_source(const ir::Graph& graph, ir::NodeId node) {
  const int64_t source = op::counting_source(graph, node);
  if (source < 0) return -1;
  int64_t number = 0;
  for (ir::BlockId block : graph.topological_order()) {
    for (ir::NodeId id : graph.block(block).nodes) {
      const op::Operator& op = *graph.node(id).op;
      if (id == source) return op.is_fed() ? -1 : number;
      if (op.source && !op.is_fed()) ++number;
    }
  }
  return -1;
}

void output_text(RecipeBuilder& b, const std::string& text) {
  std::vector<Expr> letters;
  for (const char c : text) letters.push_back(kernel::const_int(static_cast<unsigned char>(c), DType::kU8));
  b.output_scalars(0, std::move(letters));
}

void define_get_property(RecipeBuilder& b) {
  if (b.text("key") == kLayout) return output_text(b, b.input_type(0).layout.str());
  const int64_t source = named_source(b.graph(), b.node_id());
  op::NativeOutput native;
  native.function = native::kSampleName;
  // A number past all sources stands for no name.
  native.config = std::to_string(source < 0 ? std::numeric_limits<int32_t>::max() : source);
  native.allocates = true;
  native.makes = "name";
  b.output_native(0, std::move(native), {Expr()});
}

}  // namespace

Operator make_get_property() {
  Operator op;
  op.name = "get_property";
  op.summary = "The layout of a tensor, or where its sample comes from, as bytes.";
  op.documentation =
      "A 1-D tensor of UINT8, the bytes of a text: the letters of the layout, or the name of the file that "
      "the sample was read from, relative to the reader's folder. Empty where there is neither: of a tensor "
      "without a layout, and of what the host feeds. The method forms are `x.property(key)` and "
      "`x.source_info()`.";
  op.inputs = {
      {.name = "data", .documentation = "any tensor; its elements are not read", .any_device = true}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "key",
              .kind = ArgKind::kString,
              .required = true,
              .documentation = "\"layout\" or \"source_info\"."}};
  op.devices = {"cpu", "gpu"};
  op.cpu_outputs = true;
  op.example = image_example("fn.get_property(image, key=\"source_info\"), label");
  op.type_rule = get_property_types;
  op.define = define_get_property;
  return op;
}

}  // namespace galatea::ops
