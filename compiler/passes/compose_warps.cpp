#include "compiler/passes/compose_warps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/op/schema.h"
#include "compiler/passes/composing.h"

namespace galatea::passes {

using namespace ir;
using kernel::Expr;
using op::Filter;

namespace {

constexpr const char* kComposedWarp = "composed_warp";

class WarpComposer {
 public:
  WarpComposer(Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), composed_(context.registry.find(kComposedWarp)) {}

  bool run() {
    if (composed_ == nullptr) return false;
    return compose_from_the_end(graph_, [this](NodeId id) { return compose_from(id); });
  }

 private:
  std::string name_of(const Step& step) const { return op::shown_name(graph_.node(step.node)); }

  /// Why a step is not one interpolation, or empty.
  std::string why_alone(const Step& step) const {
    if (step.moves_pixels) return {};
    if (step.view.filter == Filter::kNearest) return name_of(step) + " takes nearest neighbours";
    if (step.view.filter != Filter::kLinear && step.view.filter != Filter::kCubic)
      return name_of(step) + " has a filter that warps do not have";
    if (!step.resamples()) return {};
    for (const Expr& span : step.view.span)
      if (!kernel::is_const(span) || cell_to_double(DType::kF64, span->value) > kNearlyMagnifies)
        return fmt::format("{} {} the image, which averages more pixels than a warp reads", name_of(step),
                           kernel::is_const(span) ? "shrinks" : "may shrink");
    return {};
  }

  /// Why the reader cannot look through what it reads, or empty. `last` is the chain's first step that
  /// interpolates.
  std::string why_not(const Step& last, const Step& reader, const Step& maker) const {
    if (std::string objection = why_not_through(graph_, reader, maker); !objection.empty()) return objection;
    for (const Step* step : {&reader, &maker})
      if (std::string objection = why_alone(*step); !objection.empty()) return objection;
    if (!maker.moves_pixels && !same_filter(last.view, maker.view))
      return fmt::format("{} and {} interpolate differently", name_of(maker), name_of(last));
    if (!reader.moves_pixels && reader.view.fill.empty() && !(reader.resamples() && reader.view.within))
      return fmt::format("{} repeats the edge of an image that would not be made (give fill_value)",
                         name_of(reader));
    const size_t fills = maker.view.fill.size(), others = last.view.fill.size();
    if (fills > 1 && others > 1 && fills != others)
      return fmt::format("{} and {} fill other numbers of channels", name_of(maker), name_of(last));
    return {};
  }

  static bool same_filter(const op::AffineView& a, const op::AffineView& b) {
    if (a.filter != b.filter) return false;
    return !a.cubic ||
           (kernel::is_const(a.cubic) && kernel::is_const(b.cubic) && kernel::same(a.cubic, b.cubic));
  }

  /// Follows what an interpolation reads as far as it goes.
  bool compose_from(NodeId id) {
    if (graph_.node(id).op == composed_) return false;
    auto last = step_of(graph_, id);
    if (!last || last->moves_pixels || graph_.count_uses()[graph_.node(id).outputs[0]] == 0) return false;
    std::vector<Step> chain = {std::move(*last)};
    size_t count = 1, complete = 1;  // the chain ends with an interpolation
    bool resized = chain[0].resamples();
    while (chain.size() < kMaxComposedMaps) {
      auto maker = maker_of(graph_, chain.back());
      if (!maker || graph_.node(maker->node).op == composed_) break;
      // Two resizes become one resize (compose_resizes) or none.
      if (resized && maker->resamples()) break;
      const std::string objection = why_not(chain[0], chain.back(), *maker);
      if (!objection.empty()) {
        if (!maker->moves_pixels)
          context_.remark(fmt::format("{} and {} stay two resamplings: {}", name_of(*maker),
                                      name_of(chain[0]), objection),
                          graph_.node(id).span);
        break;
      }
      chain.push_back(std::move(*maker));
      if (chain.back().moves_pixels) continue;
      resized = chain.back().resamples();
      ++count;
      complete = chain.size();
    }
    chain.resize(complete);
    return count > 1 && replace(chain);
  }

  bool replace(const std::vector<Step>& chain) {
    const Node& innermost = graph_.node(chain.back().node);
    ChainTexts text(graph_, chain);
    std::vector<std::string> maps, canvases, extents;
    size_t fills = 1;
    for (const Step& step : chain) fills = std::max(fills, step.view.fill.size());
    for (size_t k = 0; k < chain.size(); ++k) {
      const op::AffineView& view = chain[k].view;
      for (const Expr& element : view.map) maps.push_back(text(element));
      if (k + 1 == chain.size()) break;
      const std::vector<Expr>& canvas = chain[k + 1].extents;
      canvases.push_back(text(canvas[static_cast<size_t>(view.h)]));
      canvases.push_back(text(canvas[static_cast<size_t>(view.w)]));
      for (size_t f = 0; f < fills; ++f)
        canvases.push_back(
            view.fill.empty()
                ? ""
                : text(kernel::convert(view.fill[std::min(f, view.fill.size() - 1)], DType::kF32)));
    }
    const op::AffineView& view = chain.front().view;
    for (const int dim : {view.h, view.w})
      extents.push_back(text(chain.front().extents[static_cast<size_t>(dim)]));
    std::vector<Arg> args = {
        {"maps", Attr(maps), {}}, {"canvases", Attr(canvases), {}}, {"extents", Attr(extents), {}}};
    if (view.filter == Filter::kCubic) {
      args.push_back({"interp_type", Attr(static_cast<int64_t>(view.filter)), {}});
      args.push_back({"cubic_a", Attr(cell_to_double(DType::kF32, view.cubic->value)), {}});
    }
    if (const Arg* fill = innermost.find_arg("fill_value")) args.push_back(*fill);
    return replace_chain(graph_, context_, *composed_, chain, text, std::move(args), "interpolation");
  }

  Graph& graph_;
  const PassContext& context_;
  const op::Operator* composed_;
};

}  // namespace

bool compose_warps(Graph& graph, const PassContext& context) {
  return !graph.options.exact && WarpComposer(graph, context).run();
}

}  // namespace galatea::passes
