// Polygons and vertices of some masks: see select_masks.h.
#include "stdlib_ops/native/select_masks.h"

#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "base/json.h"

namespace galatea::native {
namespace {

class MasksState final : public runtime::NativeState {
 public:
  bool reindex = false;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_select_masks(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "select_masks: configuration is not a JSON object");
  auto state = std::make_shared<MasksState>();
  state->reindex = json.value("reindex", false);
  return state;
}

int32_t number_of(const runtime::Tensor& tensor, int64_t row, int64_t column = 0) {
  int32_t value = 0;
  const int64_t at = row * tensor.strides[0] + (tensor.ndim == 2 ? column * tensor.strides[1] : 0);
  std::memcpy(&value, tensor.data + at * static_cast<int64_t>(sizeof(value)), sizeof(value));
  return value;
}

std::unexpected<Error> masks_error(std::string message, std::string help) {
  return make_error(ErrorKind::kUser, "G0910", std::move(message), std::move(help));
}

struct Polygon {
  int32_t id = 0;    ///< of its mask, as it was given
  int32_t mask = 0;  ///< and as it goes out
  int64_t first = 0, end = 0;
};

/// The polygons of the masks, mask by mask as the ids are given. Nothing is known of ranges of vertices yet.
Result<std::vector<Polygon>> selected_polygons(const runtime::NativeContext& context) {
  const runtime::Tensor &ids = context.inputs[0], &polygons = context.inputs[1];
  const bool reindex = static_cast<const MasksState*>(context.state)->reindex;
  std::unordered_map<int32_t, std::vector<Polygon>> of_mask;
  for (int64_t row = 0; row < ids.extents[0]; ++row)
    if (const int32_t id = number_of(ids, row); !of_mask.try_emplace(id).second)
      return masks_error(fmt::format("mask {} is selected twice", id), "give each id of mask_ids once");
  for (int64_t row = 0; row < polygons.extents[0]; ++row) {
    const int32_t id = number_of(polygons, row);
    if (const auto found = of_mask.find(id); found != of_mask.end())
      found->second.push_back({id, id, number_of(polygons, row, 1), number_of(polygons, row, 2)});
  }
  std::vector<Polygon> selected;
  for (int64_t row = 0; row < ids.extents[0]; ++row) {
    const int32_t id = number_of(ids, row);
    const std::vector<Polygon>& own = of_mask.at(id);
    if (own.empty())
      return masks_error(fmt::format("mask {} is selected, and no polygon is of it", id),
                         "the first column of polygons holds the ids there are");
    for (Polygon polygon : own) {
      if (reindex) polygon.mask = static_cast<int32_t>(row);
      selected.push_back(polygon);
    }
  }
  return selected;
}

Status count_masks(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const std::vector<Polygon> selected, selected_polygons(context));
  const int64_t there = context.inputs[2].extents[0];
  int64_t vertices = 0;
  for (const Polygon& polygon : selected) {
    if (polygon.first < 0 || polygon.end < polygon.first || polygon.end > there)
      return masks_error(fmt::format("a polygon of mask {} has the vertices {} to {}, there are {}",
                                     polygon.id, polygon.first, polygon.end, there),
                         "polygons are rows of mask id, first vertex, and the one behind the last");
    vertices += polygon.end - polygon.first;
  }
  if (vertices > INT32_MAX)
    return masks_error(fmt::format("the masks have {} vertices", vertices),
                       "fewer than 2^31 can be numbered");
  context.scalar_results[0] = cell_from_int(DType::kI64, static_cast<int64_t>(selected.size()));
  context.scalar_results[1] = cell_from_int(DType::kI64, vertices);
  return {};
}

Status make_polygons(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const std::vector<Polygon> selected, selected_polygons(context));
  GALATEA_CHECK(static_cast<int64_t>(selected.size()) == context.output->extents[0],
                "another number of polygons is selected than was counted");
  auto* out = reinterpret_cast<int32_t*>(context.output->data);
  int64_t at = 0;
  for (const Polygon& polygon : selected) {
    const int64_t end = at + polygon.end - polygon.first;
    *out++ = polygon.mask;
    *out++ = static_cast<int32_t>(at);
    *out++ = static_cast<int32_t>(end);
    at = end;
  }
  return {};
}

Status make_vertices(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const std::vector<Polygon> selected, selected_polygons(context));
  const runtime::Tensor& vertices = context.inputs[2];
  const size_t size = static_cast<size_t>(size_of(vertices.dtype));
  uint8_t* out = context.output->data;
  int64_t left = context.output->extents[0];
  for (const Polygon& polygon : selected) {
    left -= polygon.end - polygon.first;
    GALATEA_CHECK(left >= 0, "more vertices are selected than were counted");
    for (int64_t row = polygon.first; row < polygon.end; ++row)
      for (int64_t column = 0; column < vertices.extents[1]; ++column, out += size)
        std::memcpy(out,
                    vertices.data + (row * vertices.strides[0] + column * vertices.strides[1]) *
                                        static_cast<int64_t>(size),
                    size);
  }
  return {};
}

}  // namespace

std::vector<runtime::NativeFunction> select_masks_functions() {
  const auto function = [](const char* name, Status (*call)(runtime::NativeContext&)) {
    runtime::NativeFunction made;
    made.name = name;
    made.category = "compute";
    made.prepare = prepare_select_masks;
    made.call = call;
    return made;
  };
  return {function(kMasksCount, count_masks), function(kMasksPolygons, make_polygons),
          function(kMasksVertices, make_vertices)};
}

}  // namespace galatea::native
