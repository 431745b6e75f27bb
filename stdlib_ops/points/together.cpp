// What the operators behind `galatea.together` share: see together.h.
#include "stdlib_ops/points/together.h"

namespace galatea::ops {
namespace {

/// Pixels from the picture's corner: further out no picture has places.
constexpr double kFarthest = 1e9;

}  // namespace

Corners box_of(RecipeBuilder& b, int input, const Expr& n) {
  const auto number = [&](int64_t k) { return to_f64(b.load(input, {n, i64(k)})); };
  return {number(0), number(1), number(2), number(3)};
}

Place moved(const Expr& x, const Expr& y, const std::array<Expr, 9>& m) {
  const Expr w = m[6] * x + m[7] * y + m[8];
  const Expr to_x = (m[0] * x + m[1] * y + m[2]) / w, to_y = (m[3] * x + m[4] * y + m[5]) / w;
  // Also false of what is no number.
  const Expr is_near = (absolute(to_x) <= f64(kFarthest)) & (absolute(to_y) <= f64(kFarthest));
  return {to_x, to_y, (w > f64(0)) & is_near};
}

Corners moved(const Corners& box, const std::array<Expr, 9>& map) {
  const Place a = moved(box.x0, box.y0, map), b = moved(box.x1, box.y0, map);
  const Place c = moved(box.x0, box.y1, map), d = moved(box.x1, box.y1, map);
  const auto least = [](const Expr& p, const Expr& q, const Expr& r, const Expr& s) {
    return kernel::min(kernel::min(p, q), kernel::min(r, s));
  };
  const auto most = [](const Expr& p, const Expr& q, const Expr& r, const Expr& s) {
    return max(max(p, q), max(r, s));
  };
  return {least(a.x, b.x, c.x, d.x), least(a.y, b.y, c.y, d.y), most(a.x, b.x, c.x, d.x),
          most(a.y, b.y, c.y, d.y), box.is_real & a.is_real & b.is_real & c.is_real & d.is_real};
}

Corners intersection(const Corners& a, const Corners& b) {
  return {max(a.x0, b.x0), max(a.y0, b.y0), kernel::min(a.x1, b.x1), kernel::min(a.y1, b.y1),
          a.is_real & b.is_real};
}

Expr area_of(const Corners& box) {
  const Expr width = box.x1 - box.x0, height = box.y1 - box.y0;
  const Expr is_box = box.is_real & (width > f64(0)) & (height > f64(0));
  return select(is_box, width * height, f64(0));
}

Expr number_of(const Corners& box, const Expr& k) {
  const Expr number = choose(k, {box.x0, box.y0, box.x1, box.y1});
  return to_f32(select(area_of(box) > f64(0), number, f64(0)));
}

std::array<Expr, 9> map_of(const RecipeBuilder& b, int input) {
  std::array<Expr, 9> map;
  for (size_t i = 0; i < map.size(); ++i) map[i] = b.element(input, static_cast<int64_t>(i));
  return map;
}

PictureSize size_of_picture(const RecipeBuilder& b, int input) {
  const ImageAxes at = image_axes(b.input_layout(input));
  return {b.extent(input, at.w), b.extent(input, at.h)};
}

Port picture_port() {
  return {.name = "image",
          .documentation = "the picture, of which only the extents are used",
          .axes = "^F",
          .any_device = true,
          .extents_only = true};
}

Port rows_port(std::string name, std::string documentation) {
  return {.name = std::move(name), .documentation = std::move(documentation), .axes = "^F"};
}

Port map_port(std::string name, std::string documentation) {
  Port port = rows_port(std::move(name), std::move(documentation));
  port.dtypes = {DType::kF64};
  return port;
}

Port boxes_port(std::string name) {
  Port port = rows_port(std::move(name), "boxes, FLOAT [n, 4]");
  port.dtypes = {DType::kF32};
  return port;
}

Port points_port() {
  Port port = rows_port("points", "points, FLOAT [..., 2]");
  port.dtypes = {DType::kF32};
  return port;
}

Expr unit_of(RecipeBuilder& b, int picture, const Expr& k) {
  if (!b.flag("relative")) return f32(1);
  const PictureSize size = size_of_picture(b, picture);
  return to_f32(select(equal(k % i64(2), i64(0)), size.width, size.height));
}

ArgSpec relative_arg(const std::string& of) {
  return {.name = "relative",
          .kind = ArgKind::kBool,
          .default_value = false,
          .documentation = "Whether " + of + " are fractions of the picture's extents."};
}

Operator together_operator(std::string name, std::string summary, std::vector<Port> inputs) {
  Operator op;
  op.name = "together." + name;
  op.summary = std::move(summary);
  op.documentation = "Made by galatea.together; docs/together.md has the formulas.";
  op.internal = true;
  op.places = op::Places::kNone;
  op.inputs = std::move(inputs);
  op.min_inputs = op.max_inputs = static_cast<int>(op.inputs.size());
  op.devices = {"cpu", "gpu"};
  op.cpu_outputs = true;
  return op;
}

}  // namespace galatea::ops
