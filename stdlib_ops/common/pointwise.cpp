// Broadcasting and element-wise outputs: see pointwise.h.
#include "stdlib_ops/common/pointwise.h"

#include <algorithm>
#include <map>

namespace galatea::ops {
namespace {

constexpr int kMaxRootDepth = 64;

class RootFinder {
 public:
  explicit RootFinder(const ir::Graph& graph) : graph_(graph) {}

  ExtentRoot find(ir::ValueId value, int dim, int depth = 0) {
    const auto key = std::pair{value, dim};
    if (auto at = known_.find(key); at != known_.end()) return at->second;
    const ExtentRoot root = depth > kMaxRootDepth ? ExtentRoot{value, dim} : look(value, dim, depth);
    known_[key] = root;
    return root;
  }

 private:
  ExtentRoot look(ir::ValueId value, int dim, int depth) {
    const ExtentRoot own{value, dim};
    const ir::Node* node = graph_.defining_node(value);
    if (node == nullptr) return look_merge(value, dim, depth);
    if (node->op == nullptr || node->inputs.empty()) return own;
    const ir::Type& type = graph_.type(value);
    if (node->op->output_extents == OutputExtents::kLikeFirstInput)
      return find(node->inputs[0], dim, depth + 1);
    if (node->op->output_extents != OutputExtents::kBroadcast) return own;
    // Broadcast: known if all inputs that can stretch this dimension agree.
    ExtentRoot common;
    for (ir::ValueId input : node->inputs) {
      const ir::Type& in = graph_.type(input);
      const int d = dim - (type.ndim - in.ndim);
      if (d < 0 || in.extents[static_cast<size_t>(d)] == 1) continue;
      const ExtentRoot root = find(input, d, depth + 1);
      if (common.value == ir::kNoId) common = root;
      if (common != root) return own;
    }
    return common.value == ir::kNoId ? own : common;
  }

  ExtentRoot look_merge(ir::ValueId value, int dim, int depth) {
    const ExtentRoot own{value, dim};
    const ir::Value& v = graph_.value(value);
    const auto& merges = graph_.block(v.block).merges;
    if (v.index >= merges.size() || merges[v.index].operands.empty()) return own;
    ExtentRoot common;
    for (ir::ValueId operand : merges[v.index].operands) {
      const ExtentRoot root = find(operand, dim, depth + 1);
      if (common.value == ir::kNoId) common = root;
      if (common != root) return own;
    }
    return common;
  }

  const ir::Graph& graph_;
  std::map<std::pair<ir::ValueId, int>, ExtentRoot> known_;
};

/// One output dimension: its extent, and per input the factor on the axis (0 where the input is stretched).
struct BroadcastDim {
  Expr extent;
  std::vector<Expr> factor;
};

bool is_one(const Expr& e) { return kernel::is_const_int(e, 1); }

BroadcastDim broadcast_dim(RecipeBuilder& b, RootFinder& roots, int rank, int dim) {
  const ir::Node& node = b.node();
  BroadcastDim out{i64(1), {}};
  ExtentRoot root;
  for (int k = 0; k < b.num_inputs(); ++k) {
    const int d = dim - (rank - b.input_type(k).ndim);
    if (d < 0) continue;
    const Expr e = b.extent(k, d);
    if (is_one(e)) continue;
    const ExtentRoot here = roots.find(node.inputs[static_cast<size_t>(k)], d);
    if (is_one(out.extent)) {
      out.extent = e;
      root = here;
    } else if (here == root || same(e, out.extent)) {
      continue;
    } else {
      b.check(equal(e, out.extent) | equal(e, i64(1)) | equal(out.extent, i64(1)),
              "operands of extents {} and {} along axis " + std::to_string(dim) + " do not broadcast",
              {out.extent, e}, "extents must be equal, or one of them 1");
      out.extent = kernel::is_const(e)            ? e
                   : kernel::is_const(out.extent) ? out.extent
                                                  : select(equal(out.extent, i64(1)), e, out.extent);
      root = {};
    }
  }
  for (int k = 0; k < b.num_inputs(); ++k) {
    const int d = dim - (rank - b.input_type(k).ndim);
    if (d < 0) {
      out.factor.push_back(i64(0));
      continue;
    }
    const Expr e = b.extent(k, d);
    const bool equal_root =
        root.value != ir::kNoId && roots.find(node.inputs[static_cast<size_t>(k)], d) == root;
    if (is_one(e))
      out.factor.push_back(i64(0));
    else if (equal_root || same(e, out.extent) || kernel::is_const(e))
      out.factor.push_back(i64(1));
    else
      out.factor.push_back(select(equal(e, i64(1)), i64(0), i64(1)));
  }
  return out;
}

void pointwise_scalars(RecipeBuilder& b, const std::function<Expr(const std::vector<Expr>&)>& f) {
  const ir::Type& out = b.output_type(0);
  std::vector<Expr> elements;
  for (int64_t n = 0; n < out.static_volume(); ++n) {
    const auto at = unflatten(n, out.extents);
    std::vector<Expr> values;
    for (int k = 0; k < b.num_inputs(); ++k) {
      const auto& extents = b.input_type(k).extents;
      const auto strides = static_strides(extents);
      int64_t flat = 0;
      for (size_t d = 0; d < extents.size(); ++d)
        if (extents[d] != 1) flat += strides[d] * at[at.size() - extents.size() + d];
      values.push_back(b.element(k, flat));
    }
    elements.push_back(f(values));
  }
  b.output_scalars(0, std::move(elements));
}

}  // namespace

ExtentRoot extent_root(const ir::Graph& graph, ir::ValueId value, int dim) {
  return RootFinder(graph).find(value, dim);
}

std::vector<int64_t> static_strides(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

std::vector<int64_t> unflatten(int64_t flat, const std::vector<int64_t>& extents) {
  std::vector<int64_t> at(extents.size());
  for (size_t d = extents.size(); d-- > 0;) {
    at[d] = flat % extents[d];
    flat /= extents[d];
  }
  return at;
}

void copy_view(RecipeBuilder& b, int k, int input) {
  const auto ndim = static_cast<size_t>(b.input_type(input).ndim);
  std::vector<int> dims;
  for (size_t d = 0; d < ndim; ++d) dims.push_back(static_cast<int>(d));
  b.output_view(k, input, b.extents(input), dims, std::vector<Expr>(ndim, i64(0)),
                std::vector<Expr>(ndim, i64(1)));
}

Result<ir::Type> broadcast_type(const TypeContext& ctx, DType dtype) {
  ir::Type out = with_dtype(ctx.input(0), dtype);
  for (int k = 1; k < ctx.num_inputs(); ++k) {
    const ir::Type& in = ctx.input(k);
    const ir::Type& wide = in.ndim > out.ndim ? in : out;
    std::vector<int64_t> extents(static_cast<size_t>(wide.ndim), 1);
    for (int d = 0; d < wide.ndim; ++d) {
      auto extent_of = [&](const ir::Type& t) {
        const int at = d - (wide.ndim - t.ndim);
        return at < 0 ? int64_t{1} : t.extents[static_cast<size_t>(at)];
      };
      const int64_t a = extent_of(out), b = extent_of(in);
      if (a >= 0 && b >= 0 && a != b && a != 1 && b != 1)
        return ctx.error(fmt::format("operands of extents {} and {} along axis {} do not broadcast", a, b, d),
                         "extents must be equal, or one of them 1");
      extents[static_cast<size_t>(d)] = a == 1 ? b : b == 1 ? a : std::max(a, b);
    }
    Layout layout = out.layout.size() >= in.layout.size() ? out.layout : in.layout;
    const Layout& shorter = out.layout.size() >= in.layout.size() ? in.layout : out.layout;
    if (!shorter.empty() && !layout.str().ends_with(shorter.str()))
      return ctx.error(
          fmt::format("operands of layouts {} and {} do not match", out.layout.str(), in.layout.str()),
          "one layout must end in the other; use fn.transpose, or fn.reshape(x, layout=…)");
    const int ndim = wide.ndim;
    out.device = out.device == ir::Device::kGpu ? out.device : in.device;
    out.ndim = ndim;
    out.extents = std::move(extents);
    out.layout = std::move(layout);
  }
  if (out.layout.size() != out.ndim) out.layout = Layout();
  return out;
}

bool fits_scalars(const RecipeBuilder& b) {
  const int64_t volume = b.output_type(0).static_volume();
  if (volume < 0 || volume > kMaxScalarElements) return false;
  for (int k = 0; k < b.num_inputs(); ++k)
    if (b.input_type(k).static_volume() < 0) return false;
  return true;
}

void pointwise(RecipeBuilder& b, const std::string& name,
               const std::function<Expr(const std::vector<Expr>&)>& f) {
  if (fits_scalars(b)) return pointwise_scalars(b, f);
  const int rank = b.output_type(0).ndim;
  RootFinder roots(b.graph());
  std::vector<BroadcastDim> dims;
  std::vector<Expr> extents;
  for (int d = 0; d < rank; ++d) {
    dims.push_back(broadcast_dim(b, roots, rank, d));
    extents.push_back(dims.back().extent);
  }
  const StageRef stage = b.map(name, b.output_type(0).dtype, extents, [&](const Axes& at) {
    std::vector<Expr> values;
    for (int k = 0; k < b.num_inputs(); ++k) {
      const int ndim = b.input_type(k).ndim;
      if (b.input_type(k).static_volume() == 1) {
        values.push_back(b.element(k, 0));
        continue;
      }
      std::vector<Expr> index;
      for (size_t d = static_cast<size_t>(rank - ndim); d < static_cast<size_t>(rank); ++d) {
        const Expr& factor = dims[d].factor[static_cast<size_t>(k)];
        index.push_back(kernel::is_const_int(factor, 0) ? i64(0) : at[d] * factor);
      }
      values.push_back(b.load(k, std::move(index)));
    }
    return f(values);
  });
  b.output_stage(0, stage);
}

}  // namespace galatea::ops
