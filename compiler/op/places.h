// `NAME.places`: the operator that tells where an operator which moves its picture takes the places of it.
//
// Comes in: an operator that declares Places::kMoved. Goes out: an internal operator of the same inputs and
// arguments, so that a node of it made of another node's inputs, arguments and key has that node's draws. Its
// output is define_places', the matrix of the map, FLOAT64 [3, 3], on the CPU. Of a sequence it is one for all
// frames, unless an argument is given per frame: then there is one for each, [F, 3, 3].
#pragma once

#include "compiler/op/operator.h"

namespace galatea::op {

inline constexpr int64_t kPlacesRank = 3;  ///< rows and columns of the matrix

inline constexpr std::string_view kPlacesSuffix = ".places";

Operator places_operator(const Operator& moving);
/// As it is registered.
std::string places_name(const Operator& moving);

}  // namespace galatea::op
