#include "compiler/op/places.h"

namespace galatea::op {

std::string places_name(const Operator& moving) { return moving.name + std::string(kPlacesSuffix); }

Operator places_operator(const Operator& moving) {
  Operator op = moving;
  op.name = places_name(moving);
  op.summary = "Where fn." + moving.name + " takes the places of its picture.";
  op.documentation = "The matrix of the map, FLOAT64 [3, 3]; see docs/together.md.";
  op.internal = true;
  op.cpu_outputs = true;
  for (Port& input : op.inputs) input.any_device = true;
  op.inputs[0].extents_only = true;
  op.places = Places::kNone;
  op.places_of = nullptr;
  op.output_extents = OutputExtents::kOwn;
  op.outputs.clear();
  op.outputs_of = nullptr;
  op.expand = nullptr;
  op.sees_batch = nullptr;
  op.aliases.clear();
  op.example.clear();
  op.define = moving.define_places;
  op.define_places = nullptr;
  // Its type rule is asked of nodes whose picture has been made: what is wrong with them has been said.
  op.type_rule = [](const TypeContext&) -> Result<std::vector<ir::Type>> {
    return std::vector{ir::Type{.dtype = DType::kF64,
                                .ndim = 2,
                                .layout = {},
                                .device = ir::Device::kCpu,
                                .extents = {kPlacesRank, kPlacesRank}}};
  };
  return op;
}

}  // namespace galatea::op
