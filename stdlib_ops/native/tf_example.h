// tf.train.Example: features by name, each a list of texts, floats or integers (TensorFlow, core/example/
// feature.proto).
//
// Comes in: a message's bytes. Goes out: its features, as parts of these bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "stdlib_ops/native/protobuf.h"

namespace galatea::native {

/// Values of one feature.
struct FeatureValues {
  /// Number of Feature's field: 1 texts, 2 floats, 3 integers; 0: the example lacks it.
  uint32_t kind = 0;
  std::span<const uint8_t> list;
};

/// Calls `call(name, values)` for each feature; false where the example is damaged. Of the lists that a
/// feature has the last counts: they exclude each other.
template <typename Call>
bool each_feature(std::span<const uint8_t> example, Call call) {
  using Wire = ProtobufReader::Wire;
  bool is_whole = true;
  ProtobufReader reader(example);
  while (const auto all = reader.next()) {
    if (all->number != 1 || all->wire != Wire::kBytes) continue;
    ProtobufReader entries(all->bytes);
    while (const auto entry = entries.next()) {
      if (entry->number != 1 || entry->wire != Wire::kBytes) continue;
      std::span<const uint8_t> key, value;
      ProtobufReader fields(entry->bytes);
      while (const auto field = fields.next())
        if (field->wire == Wire::kBytes) (field->number == 1 ? key : value) = field->bytes;
      FeatureValues values;
      ProtobufReader lists(value);
      while (const auto list = lists.next())
        if (list->wire == Wire::kBytes && list->number >= 1 && list->number <= 3)
          values = {list->number, list->bytes};
      is_whole = is_whole && !fields.is_damaged() && !lists.is_damaged();
      call(std::string_view(reinterpret_cast<const char*>(key.data()), key.size()), values);
    }
    is_whole = is_whole && !entries.is_damaged();
  }
  return is_whole && !reader.is_damaged();
}

/// Calls for each value of a FloatList or an Int64List; false where it is damaged.
template <typename Call>
bool each_feature_number(const FeatureValues& values, Call call) {
  using Wire = ProtobufReader::Wire;
  ProtobufReader reader(values.list);
  while (const auto field = reader.next())
    if (field->number == 1 && !each_number(*field, values.kind == 2 ? Wire::kFixed32 : Wire::kVarint, call))
      return false;
  return !reader.is_damaged();
}

}  // namespace galatea::native
