#include "compiler/passes/compose_resizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "compiler/op/schema.h"
#include "compiler/passes/composing.h"

namespace galatea::passes {

using namespace ir;
using kernel::Expr;

namespace {

constexpr const char* kComposedResize = "composed_resize";
constexpr std::array<size_t, 2> kColumns = {0, 2}, kRows = {4, 5};  ///< scale and offset in a map

std::optional<double> known(const Expr& e) {
  if (!kernel::is_const(e)) return std::nullopt;
  return cell_to_double(DType::kF64, e->value);
}

class ResizeComposer {
 public:
  ResizeComposer(Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), composed_(context.registry.find(kComposedResize)) {}

  bool run() {
    if (composed_ == nullptr) return false;
    return compose_from_the_end(graph_, [this](NodeId id) { return compose_from(id); });
  }

 private:
  std::string name_of(const Step& step) const { return op::shown_name(graph_.node(step.node)); }

  /// Whether the reader is known to enlarge along an axis what the maker is not known to have left large.
  static bool enlarges_again(const Step& reader, const Step& maker) {
    for (const auto& [scale, axis] : {std::pair{kColumns[0], size_t{0}}, std::pair{kRows[0], size_t{1}}}) {
      const auto reads = known(reader.view.map[scale]), span = known(maker.view.span[axis]);
      const bool enlarges = reads && std::abs(*reads) * kNearlyMagnifies < 1;
      if (enlarges && !(span && *span <= kNearlyMagnifies)) return true;
    }
    return false;
  }

  /// Why the resize `reader` and what it reads, over moves perhaps, are not one resize; empty: they are.
  std::string why_not(const Step& reader, const Step& maker) const {
    if (graph_.node(reader.node).op->random || graph_.node(maker.node).op->random)
      return fmt::format("{} draws what it shows",
                         name_of(graph_.node(maker.node).op->random ? maker : reader));
    if (reader.view.filter != maker.view.filter) return "they filter differently";
    if (!reader.view.within) return name_of(reader) + " may read outside of an image that would not be made";
    if (enlarges_again(reader, maker))
      return fmt::format("{} enlarges again what {} may make small", name_of(reader), name_of(maker));
    return {};
  }

  /// Follows what a resize reads as far as it goes.
  bool compose_from(NodeId id) {
    auto last = step_of(graph_, id);
    if (!last || !last->resamples() || graph_.count_uses()[graph_.node(id).outputs[0]] == 0) return false;
    std::vector<Step> chain = {std::move(*last)};
    size_t complete = 1;  // the chain ends with a resize
    while (chain.size() < kMaxComposedMaps) {
      auto maker = maker_of(graph_, chain.back());
      if (!maker || (!maker->moves_pixels && !maker->resamples())) break;
      std::string objection = why_not_through(graph_, chain.back(), *maker);
      if (objection.empty() && maker->resamples()) objection = why_not(chain[complete - 1], *maker);
      if (!objection.empty()) {
        if (maker->resamples())
          context_.remark(fmt::format("{} and {} stay two resizes: {}", name_of(*maker),
                                      name_of(chain[complete - 1]), objection),
                          graph_.node(id).span);
        break;
      }
      chain.push_back(std::move(*maker));
      if (chain.back().resamples()) complete = chain.size();
    }
    chain.resize(complete);
    return complete > 1 && replace(chain);
  }

  /// The interval, the extent and the filter's span along one axis, in pixels of the chain's first image.
  static std::array<Expr, 4> interval(const std::vector<Step>& chain, const std::array<size_t, 2>& at,
                                      size_t axis, const Expr& extent) {
    Expr scale = kernel::const_float(1, DType::kF64), offset = kernel::const_float(0, DType::kF64);
    for (const Step& step : chain) {  // from the output inwards
      scale = step.view.map[at[0]] * scale;
      offset = step.view.map[at[0]] * offset + step.view.map[at[1]];
    }
    Expr pixel = kernel::const_float(1, DType::kF64), span = pixel;
    for (size_t k = chain.size(); k-- > 0;) {  // from the image outwards
      if (chain[k].resamples()) span = kernel::max(span, pixel * chain[k].view.span[axis]);
      pixel = pixel * kernel::unary(ScalarOp::kAbs, chain[k].view.map[at[0]]);
    }
    return {offset, scale * kernel::convert(extent, DType::kF64) + offset, extent, span};
  }

  bool replace(const std::vector<Step>& chain) {
    const op::AffineView& view = chain.front().view;
    const std::vector<Expr>& extents = chain.front().extents;
    ChainTexts text(graph_, chain);
    std::vector<std::string> intervals;
    for (const Expr& e : interval(chain, kRows, 1, extents[static_cast<size_t>(view.h)]))
      intervals.push_back(text(e));
    for (const Expr& e : interval(chain, kColumns, 0, extents[static_cast<size_t>(view.w)]))
      intervals.push_back(text(e));
    return replace_chain(
        graph_, context_, *composed_, chain, text,
        {{"intervals", Attr(intervals), {}}, {"interp_type", Attr(static_cast<int64_t>(view.filter)), {}}},
        "resize");
  }

  Graph& graph_;
  const PassContext& context_;
  const op::Operator* composed_;
};

}  // namespace

bool compose_resizes(Graph& graph, const PassContext& context) {
  return !graph.options.exact && ResizeComposer(graph, context).run();
}

}  // namespace galatea::passes
