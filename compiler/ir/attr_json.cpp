#include "compiler/ir/attr_json.h"

namespace galatea::ir {
namespace {

struct JsonWriter {
  nlohmann::json operator()(None) const { return nullptr; }
  nlohmann::json operator()(DType dtype) const { return std::string(short_name(dtype)); }
  nlohmann::json operator()(const AttrList& list) const {
    auto out = nlohmann::json::array();
    for (const Attr& item : list.items) out.push_back(attr_json(item));
    return out;
  }
  nlohmann::json operator()(const AttrDict& dict) const {
    auto out = nlohmann::json::object();
    for (const auto& [name, value] : dict.entries) out[name] = attr_json(value);
    return out;
  }
  template <typename T>
  nlohmann::json operator()(const T& value) const {
    return value;
  }
};

}  // namespace

nlohmann::json attr_json(const Attr& attr) { return std::visit(JsonWriter{}, attr); }

}  // namespace galatea::ir
