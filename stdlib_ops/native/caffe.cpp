#include "stdlib_ops/native/caffe.h"

#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "runtime/memory_gate.h"
#include "stdlib_ops/native/lmdb.h"
#include "stdlib_ops/native/paths.h"
#include "stdlib_ops/native/protobuf.h"

namespace galatea::native {
namespace {

/// The fields of a Datum that a reader looks at.
struct Datum {
  int64_t channels = 0, height = 0, width = 0;
  std::span<const uint8_t> data;
  std::optional<int32_t> label;
  bool has_floats = false;
  bool encoded = true;  ///< where it does not say, as DALI takes it
};

Result<Datum> parse_datum(std::span<const uint8_t> message, const std::string& record) {
  using Wire = ProtobufReader::Wire;
  Datum datum;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    const bool is_number = field->wire == Wire::kVarint;
    const auto number = static_cast<int32_t>(field->value);  // an int32 is written as an int64
    if (field->number == 1 && is_number) datum.channels = number;
    if (field->number == 2 && is_number) datum.height = number;
    if (field->number == 3 && is_number) datum.width = number;
    if (field->number == 4 && field->wire == Wire::kBytes) datum.data = field->bytes;
    if (field->number == 5 && is_number) datum.label = number;
    if (field->number == 6) datum.has_floats = true;
    if (field->number == 7 && is_number) datum.encoded = field->value != 0;
  }
  if (reader.is_damaged())
    return bad_record(record, "holds no whole Datum of Caffe", "make the record again");
  return datum;
}

class CaffeSource final : public LmdbSource {
 public:
  explicit CaffeSource(std::vector<Port> ports) : ports_(std::move(ports)) {}

  int64_t bytes(int64_t index) const override {
    // The record where it is read to, its image, its label.
    return value_bytes(index, kTexts) + runtime::claimed_bytes(record(index).place.size) +
           runtime::claimed_bytes(sizeof(int32_t));
  }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    GALATEA_ASSIGN(const Value datum, value(index, kTexts));
    return deliver_datum(datum.bytes, describe(index), ports_, allocate, &datum.record);
  }

 private:
  static constexpr uint32_t kTexts[] = {4};  // its data
  std::vector<Port> ports_;
};

}  // namespace

bool holds_all(const std::vector<int64_t>& extents, size_t bytes) {
  auto left = static_cast<int64_t>(bytes);  // for the axes that are left: no product can overflow
  bool is_empty = false, divides = true;
  for (const int64_t extent : extents) {
    is_empty = is_empty || extent == 0;
    divides = divides && extent >= 0 && (extent == 0 || left % extent == 0);
    if (extent > 0) left /= extent;
  }
  return divides && (is_empty ? bytes == 0 : left == 1);
}

std::unexpected<Error> bad_record(const std::string& record, const std::string& what,
                                  const std::string& help) {
  return make_error(ErrorKind::kUser, "G0802", fmt::format("{} {}", record, what),
                    help + "; on_error=\"skip\" goes on without the record");
}

Result<runtime::Tensor*> allocate_as(const std::vector<Port>& ports, size_t k, DType dtype,
                                     const std::vector<int64_t>& extents, const std::string& record,
                                     const runtime::AllocateOutput& allocate) {
  const Port& port = ports[k];
  if (dtype != port.dtype() || static_cast<int>(extents.size()) != port.rank())
    return bad_record(record,
                      fmt::format("has {}[{}] for {}, which is {} in this reader", short_name(dtype),
                                  fmt::join(extents, ","), port.name, to_text(port)),
                      "all records of a reader have the same types: those of the first, or what encoded= and "
                      "dtypes= say");
  return allocate(static_cast<int>(k), dtype, extents);
}

Result<std::vector<Port>> caffe_ports(const nlohmann::json& config) {
  std::vector<Port> ports;
  if (config.value("image_available", true)) {
    bool encoded = true;
    if (config.contains("encoded") && !config["encoded"].is_null()) {
      encoded = config["encoded"];
    } else {
      GALATEA_ASSIGN(const std::vector<std::string> paths, paths_of(config, "path"));
      GALATEA_ASSIGN(const std::vector<uint8_t> first, first_value(paths));
      GALATEA_ASSIGN(const Datum datum, parse_datum(first, "the first record of " + shown_paths(paths)));
      encoded = datum.encoded;
    }
    ports.push_back(encoded ? make_port("image", DType::kU8, 1)
                            : make_port("image", DType::kU8, 3, Layout("HWC")));
  }
  if (config.value("label_available", true)) ports.push_back(make_port("label", DType::kI32, 1));
  return ports;
}

Status deliver_datum(std::span<const uint8_t> message, const std::string& record,
                     const std::vector<Port>& ports, const runtime::AllocateOutput& allocate,
                     const RecordBytes* from) {
  GALATEA_ASSIGN(const Datum datum, parse_datum(message, record));
  for (size_t k = 0; k < ports.size(); ++k) {
    if (ports[k].name == "label") {
      GALATEA_ASSIGN(runtime::Tensor * out,
                     allocate_as(ports, k, DType::kI32, {datum.label ? 1 : 0}, record, allocate));
      if (datum.label) std::memcpy(out->data, &*datum.label, sizeof *datum.label);
      continue;
    }
    const auto size = static_cast<int64_t>(datum.data.size());
    if (size == 0 && datum.has_floats)
      return bad_record(record, "holds its image as float_data, which no reader takes",
                        "write the pixels as bytes");
    std::vector<int64_t> extents = {size};
    if (!datum.encoded) {
      extents = {datum.height, datum.width, datum.channels};
      if (!holds_all(extents, datum.data.size()))
        return bad_record(record,
                          fmt::format("has {} bytes for an image of {} x {} with {} channels", size,
                                      datum.height, datum.width, datum.channels),
                          "make the record again");
    }
    GALATEA_ASSIGN(runtime::Tensor * out, allocate_as(ports, k, DType::kU8, extents, record, allocate));
    if (from) GALATEA_TRY(from->copy(datum.data, out->data));
    if (!from && size > 0) std::memcpy(out->data, datum.data.data(), datum.data.size());
  }
  return {};
}

Result<std::unique_ptr<runtime::SampleSource>> open_caffe(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_ASSIGN(std::vector<Port> ports, caffe_ports(json));
  auto source = std::make_unique<CaffeSource>(std::move(ports));
  GALATEA_ASSIGN(const std::vector<std::string> paths, paths_of(json, "path"));
  for (const std::string& path : paths) GALATEA_TRY(source->add_database(path));
  if (source->size() == 0)
    return unusable(fmt::format("no records in {}", fmt::join(paths, ", ")),
                    "name databases that hold records");
  return source;
}

}  // namespace galatea::native
