#include "base/port_json.h"

namespace galatea {

nlohmann::ordered_json port_json(const Port& port) {
  using Json = nlohmann::ordered_json;
  Json dtypes = Json::array(), extents = nullptr;
  for (DType dtype : port.dtypes) dtypes.push_back(short_name(dtype));
  for (const Extent& extent : port.extents)
    extents.push_back(extent.is_static()     ? Json(extent.number())
                      : extent.is_symbolic() ? Json(extent.name())
                                             : Json(nullptr));
  const int rank = port.rank();
  return {{"name", port.name},
          {"documentation", port.documentation},
          {"dtypes", std::move(dtypes)},
          {"layouts", port.layouts},
          {"ndim", rank < 0 ? Json(nullptr) : Json(rank)},
          {"extents", std::move(extents)},
          {"optional", port.optional}};
}

}  // namespace galatea
