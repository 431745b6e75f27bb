// What the operators behind `galatea.together` share: boxes as corners in pixels, maps of places, pictures.
//
// Comes in: boxes FLOAT [n, 4] with x0, y0, x1, y1 in pixels of a picture; a map of places FLOAT64 [3, 3]
// (common/places.h). Goes out: expressions of them, f64. A box without area stays one: it is (0, 0, 0, 0).
#pragma once

#include <array>
#include <string>

#include "stdlib_ops/common/points.h"

namespace galatea::ops {

/// A box, or where its corners went.
struct Corners {
  Expr x0, y0, x1, y1;
  Expr is_real = truth(true);  ///< no corner went behind a horizon, or nowhere
};

/// Row `n` of boxes that are an input.
Corners box_of(RecipeBuilder& b, int input, const Expr& n);
/// Its smallest box with edges along the axes, after the map.
Corners moved(const Corners& box, const std::array<Expr, 9>& map);
Corners intersection(const Corners& a, const Corners& b);
/// Not negative; 0 of what is no box.
Expr area_of(const Corners& box);
/// Number k of the four, f32; 0 where it has no area.
Expr number_of(const Corners& box, const Expr& k);

/// Where a point goes.
struct Place {
  Expr x, y, is_real;
};
Place moved(const Expr& x, const Expr& y, const std::array<Expr, 9>& map);
/// The map that is an input.
std::array<Expr, 9> map_of(const RecipeBuilder& b, int input);

/// Columns and rows of the picture that is an input, i64.
struct PictureSize {
  Expr width, height;
};
PictureSize size_of_picture(const RecipeBuilder& b, int input);

/// Where rows are given per frame, it must have as many frames.
Port picture_port();
/// Of one frame, as all rows here: what has frames lifts the operator over them.
Port map_port(std::string name = "map", std::string documentation = "a map of places, FLOAT64 [3, 3]");
Port rows_port(std::string name, std::string documentation);
Port boxes_port(std::string name);
Port points_port();
/// What coordinate number k (0, 2: of columns) of the picture's boxes or points is counted in, f32.
Expr unit_of(RecipeBuilder& b, int picture, const Expr& k);
ArgSpec relative_arg(const std::string& of);
/// One of the operators: internal, on the CPU, each example is that of `galatea.together`.
Operator together_operator(std::string name, std::string summary, std::vector<Port> inputs);

}  // namespace galatea::ops
