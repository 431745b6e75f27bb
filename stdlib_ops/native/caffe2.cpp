// TensorProtos of Caffe2: what their tensors become (see caffe.h).
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "runtime/memory_gate.h"
#include "stdlib_ops/native/caffe.h"
#include "stdlib_ops/native/lmdb.h"
#include "stdlib_ops/native/paths.h"
#include "stdlib_ops/native/protobuf.h"

namespace galatea::native {
namespace {

using Wire = ProtobufReader::Wire;

/// Types of a TensorProto that readers take (caffe2.proto, TensorProto.DataType).
enum TensorProtoType : uint64_t {
  kProtoFloat = 1,
  kProtoInt32 = 2,
  kProtoByte = 3,
  kProtoString = 4,
  kProtoInt64 = 10
};

/// One tensor of a record. Its numbers are read where they are wanted.
struct TensorProto {
  std::span<const uint8_t> message;
  uint64_t type = kProtoFloat;
  std::vector<int64_t> dims;
  std::span<const uint8_t> byte_data;
  std::optional<std::span<const uint8_t>> text;  ///< the first of its texts
};

std::optional<DType> dtype_of_numbers(uint64_t type) {
  switch (type) {
    case kProtoFloat:
      return DType::kF32;
    case kProtoInt32:
      return DType::kI32;
    case kProtoInt64:
      return DType::kI64;
    default:
      return std::nullopt;
  }
}

/// A record's tensors; `tensors` empty or less than wanted is for callers to tell.
Result<std::vector<TensorProto>> parse_tensors(std::span<const uint8_t> record, const std::string& name) {
  std::vector<TensorProto> tensors;
  bool whole = true;
  ProtobufReader reader(record);
  while (const auto one = reader.next()) {
    if (one->number != 1 || one->wire != Wire::kBytes) continue;
    TensorProto tensor;
    tensor.message = one->bytes;
    ProtobufReader fields(one->bytes);
    while (const auto field = fields.next()) {
      if (field->number == 1)
        whole = each_number(*field, Wire::kVarint,
                            [&](uint64_t extent) { tensor.dims.push_back(static_cast<int64_t>(extent)); }) &&
                whole;
      if (field->number == 2 && field->wire == Wire::kVarint) tensor.type = field->value;
      if (field->number == 5 && field->wire == Wire::kBytes) tensor.byte_data = field->bytes;
      if (field->number == 6 && field->wire == Wire::kBytes && !tensor.text) tensor.text = field->bytes;
    }
    whole = whole && !fields.is_damaged();
    tensors.push_back(std::move(tensor));
  }
  if (!whole || reader.is_damaged())
    return bad_record(name, "holds no whole TensorProtos of Caffe2", "make the record again");
  return tensors;
}

/// Calls for each number of a tensor, with its bits; false where they are damaged.
template <typename Call>
bool each_element(const TensorProto& tensor, DType dtype, Call call) {
  const uint32_t number = dtype == DType::kF32 ? 3 : dtype == DType::kI32 ? 4 : 10;
  ProtobufReader fields(tensor.message);
  while (const auto field = fields.next())
    if (field->number == number &&
        !each_number(*field, dtype == DType::kF32 ? Wire::kFixed32 : Wire::kVarint, call))
      return false;
  return true;
}

/// One record on its way to the outputs.
class TensorDelivery {
 public:
  TensorDelivery(const std::vector<TensorProto>& tensors, const std::string& record,
                 const TensorProtosLayout& layout, const runtime::AllocateOutput& allocate,
                 const RecordBytes* from)
      : tensors_(tensors), record_(record), layout_(layout), allocate_(allocate), from_(from) {}

  Status operator()() {
    if (layout_.image) GALATEA_TRY(image());
    if (layout_.label != LabelKind::kNone) GALATEA_TRY(label());
    for (int64_t k = 0; k < layout_.additional; ++k) GALATEA_TRY(numbers("an additional input"));
    if (!layout_.bbox) return {};
    GALATEA_ASSIGN(const TensorProto* box, next("the bounding box"));
    if (box->type != kProtoInt32) return wrong("has a bounding box that is not INT32");
    return elements(*box, DType::kI32, "the bounding box", 4);
  }

 private:
  std::unexpected<Error> wrong(const std::string& what) const {
    return bad_record(record_, what, "make the record again, or ask the reader for what is in it");
  }
  Result<runtime::Tensor*> output(DType dtype, const std::vector<int64_t>& extents) {
    return allocate_as(layout_.ports, output_++, dtype, extents, record_, allocate_);
  }
  Result<const TensorProto*> next(const char* what) {
    if (at_ >= tensors_.size())
      return wrong(fmt::format("has {} tensors, and none that is {}", tensors_.size(), what));
    return &tensors_[at_++];
  }

  Status image() {
    GALATEA_ASSIGN(const TensorProto* tensor, next("an image"));
    std::span<const uint8_t> bytes;
    std::vector<int64_t> extents;
    if (tensor->type == kProtoString) {
      if (!tensor->text) return wrong("has an image without bytes");
      bytes = *tensor->text;
      extents = {static_cast<int64_t>(bytes.size())};
    } else if (tensor->type == kProtoByte) {
      bytes = tensor->byte_data;
      const std::vector<int64_t>& dims = tensor->dims;
      if (dims.size() < 2) return wrong(fmt::format("has an image of {} dims", dims.size()));
      extents = {dims[0], dims[1], dims.size() == 3 ? dims[2] : 1};
      if (!holds_all(extents, bytes.size()))
        return wrong(fmt::format("has {} bytes for an image of {}", bytes.size(), fmt::join(extents, " x ")));
    } else {
      return wrong(
          fmt::format("has an image of data type {}, which is neither BYTE nor STRING", tensor->type));
    }
    GALATEA_ASSIGN(runtime::Tensor * out, output(DType::kU8, extents));
    if (from_) return from_->copy(bytes, out->data);
    if (!bytes.empty()) std::memcpy(out->data, bytes.data(), bytes.size());
    return {};
  }

  /// All numbers of a tensor; as many as `wanted`, if that is not negative.
  Status elements(const TensorProto& tensor, DType dtype, const char* what, int64_t wanted = -1) {
    int64_t count = 0;
    if (!each_element(tensor, dtype, [&](uint64_t) { ++count; }))
      return wrong(fmt::format("is damaged in {}", what));
    if (wanted >= 0 && count != wanted)
      return wrong(fmt::format("has {} numbers for {}, not {}", count, what, wanted));
    GALATEA_ASSIGN(runtime::Tensor * out, output(dtype, {count}));
    uint8_t* to = out->data;
    each_element(tensor, dtype, [&](uint64_t bits) {
      std::memcpy(to, &bits, size_of(dtype));
      to += size_of(dtype);
    });
    return {};
  }

  Status numbers(const char* what) {
    GALATEA_ASSIGN(const TensorProto* tensor, next(what));
    const auto dtype = dtype_of_numbers(tensor->type);
    if (!dtype) return wrong(fmt::format("has {} of data type {}", what, tensor->type));
    return elements(*tensor, *dtype, what);
  }

  Status label() {
    GALATEA_ASSIGN(const TensorProto* tensor, next("a label"));
    const auto dtype = dtype_of_numbers(tensor->type);
    if (!dtype || dtype == DType::kI64)
      return wrong(
          fmt::format("has a label of data type {}, which is neither FLOAT nor INT32", tensor->type));
    if (layout_.label == LabelKind::kSingle) return elements(*tensor, *dtype, "a single label", 1);
    if (layout_.label == LabelKind::kDense) return elements(*tensor, *dtype, "a label");
    return sparse_label(*tensor, *dtype);
  }

  /// Zeros, and what stands at the places that the tensor names: 1, or their weights, which are a tensor of
  /// their own behind it.
  Status sparse_label(const TensorProto& places, DType dtype) {
    const bool weighted = layout_.label == LabelKind::kWeightedSparse;
    std::vector<uint64_t> weights;
    if (weighted) {
      GALATEA_ASSIGN(const TensorProto* tensor, next("the weights of labels"));
      if (!each_element(*tensor, DType::kF32, [&](uint64_t bits) { weights.push_back(bits); }))
        return wrong("is damaged in the weights of labels");
    }
    const DType out_dtype = weighted ? DType::kF32 : dtype;
    GALATEA_ASSIGN(runtime::Tensor * out, output(out_dtype, {layout_.num_labels}));
    std::memset(out->data, 0, static_cast<size_t>(layout_.num_labels) * 4);
    size_t count = 0;
    std::string objection;
    const bool whole = each_element(places, dtype, [&](uint64_t bits) {
      double place = static_cast<int32_t>(bits);
      if (dtype == DType::kF32) {
        float number = 0;
        std::memcpy(&number, &bits, sizeof number);
        place = number;
      }
      // A place between two is that before it.
      if (!(place > -1 && place < static_cast<double>(layout_.num_labels))) {
        objection = fmt::format("has the label {}, where num_labels is {}", place, layout_.num_labels);
      } else if (weighted && count >= weights.size()) {
        objection = fmt::format("has weights for only {} of its labels", weights.size());
      } else {
        const float one = 1;
        const int32_t whole_one = 1;
        uint8_t* const to = out->data + 4 * static_cast<int64_t>(place);
        if (weighted) {
          std::memcpy(to, &weights[count], 4);
        } else if (dtype == DType::kF32) {
          std::memcpy(to, &one, 4);
        } else {
          std::memcpy(to, &whole_one, 4);
        }
      }
      ++count;
    });
    if (!whole) return wrong("is damaged in a label");
    if (!objection.empty()) return wrong(objection);
    return {};
  }

  const std::vector<TensorProto>& tensors_;
  const std::string& record_;
  const TensorProtosLayout& layout_;
  const runtime::AllocateOutput& allocate_;
  const RecordBytes* from_;
  size_t at_ = 0;      ///< the next tensor
  size_t output_ = 0;  ///< the next output
};

/// What the first record's tensors are: of the image its rank, of the others their numbers.
struct FirstTypes {
  bool encoded = true;
  std::vector<DType> dtypes;
};

Result<FirstTypes> look_at_first(const nlohmann::json& config, const TensorProtosLayout& layout) {
  GALATEA_ASSIGN(const std::vector<std::string> paths, paths_of(config, "path"));
  GALATEA_ASSIGN(const std::vector<uint8_t> value, first_value(paths));
  const std::string record = "the first record of " + shown_paths(paths);
  GALATEA_ASSIGN(const std::vector<TensorProto> tensors, parse_tensors(value, record));
  FirstTypes first;
  size_t at = 0;
  auto numbers = [&](const char* what) -> Status {
    const auto dtype = at < tensors.size() ? dtype_of_numbers(tensors[at].type) : std::nullopt;
    if (!dtype)
      return bad_record(record, fmt::format("has no numbers that are {}", what),
                        "look at what the records hold");
    first.dtypes.push_back(*dtype);
    ++at;
    return {};
  };
  if (layout.image) {
    first.encoded = tensors.empty() || tensors.front().type != kProtoByte;
    first.dtypes.push_back(DType::kU8);
    ++at;
  }
  if (layout.label != LabelKind::kNone) {
    GALATEA_TRY(numbers("a label"));
    if (layout.label == LabelKind::kWeightedSparse) {
      first.dtypes.back() = DType::kF32;
      ++at;
    }
  }
  for (int64_t k = 0; k < layout.additional; ++k) GALATEA_TRY(numbers("an additional input"));
  if (layout.bbox) first.dtypes.push_back(DType::kI32);
  return first;
}

class Caffe2Source final : public LmdbSource {
 public:
  explicit Caffe2Source(TensorProtosLayout layout) : layout_(std::move(layout)) {}

  int64_t bytes(int64_t index) const override {
    // The record where it is read to, and its image. What the other tensors become is known when the record was
    // read: numbers take up to eight bytes for one.
    return value_bytes(index, texts()) + runtime::claimed_bytes(record(index).place.size) +
           runtime::claimed_bytes(4 * layout_.num_labels) +
           (layout_.additional + 1) * runtime::claimed_bytes(1);
  }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    GALATEA_ASSIGN(const Value protos, value(index, texts()));
    return deliver_tensor_protos(protos.bytes, describe(index), layout_, allocate, &protos.record);
  }

 private:
  /// The image of its first tensor: a text of a file, or pixels.
  std::span<const uint32_t> texts() const {
    static constexpr uint32_t kEncoded[] = {1, 6}, kPixels[] = {1, 5};
    const bool is_encoded = layout_.image && layout_.ports.front().rank() == 1;
    return is_encoded ? kEncoded : kPixels;
  }

  TensorProtosLayout layout_;
};

}  // namespace

Result<TensorProtosLayout> tensor_protos_layout(const nlohmann::json& config) {
  TensorProtosLayout layout;
  layout.image = config.value("image_available", true);
  layout.bbox = config.value("bbox", false);
  layout.label = static_cast<LabelKind>(config.value("label_type", 0));
  layout.num_labels = config.value("num_labels", int64_t{1});
  layout.additional = config.value("additional_inputs", int64_t{0});
  FirstTypes types;
  const bool says_encoded = config.contains("encoded") && !config["encoded"].is_null();
  const bool says_dtypes =
      config.contains("dtypes") && !config["dtypes"].is_null() && !config["dtypes"].empty();
  if ((layout.image && !says_encoded) || !says_dtypes) {
    GALATEA_ASSIGN(types, look_at_first(config, layout));
  }
  if (says_encoded) types.encoded = config["encoded"];
  if (says_dtypes) {
    types.dtypes.clear();
    for (const std::string& name : texts_of(config, "dtypes"))
      types.dtypes.push_back(*dtype_from_short_name(name));
  }
  auto add = [&](const std::string& name, int rank, std::vector<int64_t> extents) {
    layout.ports.push_back(make_port(name, types.dtypes[layout.ports.size()], rank,
                                     rank == 3 ? Layout("HWC") : Layout(), extents));
  };
  if (layout.image) add("image", types.encoded ? 1 : 3, {});
  switch (layout.label) {
    case LabelKind::kSingle:
      add("label", 1, {1});
      break;
    case LabelKind::kSparse:
    case LabelKind::kWeightedSparse:
      add("label", 1, {layout.num_labels});
      break;
    case LabelKind::kDense:
      add("label", 1, {});
      break;
    case LabelKind::kNone:
      break;
  }
  for (int64_t k = 0; k < layout.additional; ++k) add(fmt::format("additional_{}", k), 1, {});
  if (layout.bbox) add("bbox", 1, {4});
  return layout;
}

Status deliver_tensor_protos(std::span<const uint8_t> protos, const std::string& record,
                             const TensorProtosLayout& layout, const runtime::AllocateOutput& allocate,
                             const RecordBytes* from) {
  GALATEA_ASSIGN(const std::vector<TensorProto> tensors, parse_tensors(protos, record));
  return TensorDelivery(tensors, record, layout, allocate, from)();
}

Result<std::unique_ptr<runtime::SampleSource>> open_caffe2(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_ASSIGN(TensorProtosLayout layout, tensor_protos_layout(json));
  auto source = std::make_unique<Caffe2Source>(std::move(layout));
  GALATEA_ASSIGN(const std::vector<std::string> paths, paths_of(json, "path"));
  for (const std::string& path : paths) GALATEA_TRY(source->add_database(path));
  if (source->size() == 0)
    return unusable(fmt::format("no records in {}", fmt::join(paths, ", ")),
                    "name databases that hold records");
  return source;
}

}  // namespace galatea::native
