// Containers of records, and what lies within and beside them: the first byte chooses the format, the others are
// the file.
//
// Must hold: no crash; no more memory than the file is large; errors name the file.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "stdlib_ops/native/caffe.h"
#include "stdlib_ops/native/coco.h"
#include "stdlib_ops/native/fits.h"
#include "stdlib_ops/native/lmdb.h"
#include "stdlib_ops/native/lz4_inflate.h"
#include "stdlib_ops/native/nemo_source.h"
#include "stdlib_ops/native/npy.h"
#include "stdlib_ops/native/record_io.h"
#include "stdlib_ops/native/record_source.h"
#include "stdlib_ops/native/tfrecord.h"
#include "stdlib_ops/native/webdataset.h"
#include "tests/fuzz/target.h"
#include "tests/native/plain_call.h"

namespace galatea::fuzz::of_containers {
namespace {

using namespace galatea::native;

const std::string kName = "made.up";

/// Memory as the runtime gives it, of no more than a few times what the file has.
struct Outputs {
  size_t most;
  std::vector<std::vector<uint8_t>> memory = {};
  std::vector<std::unique_ptr<runtime::Tensor>> tensors = {};
  runtime::AllocateOutput allocate = [this](int, DType dtype,
                                            const std::vector<int64_t>& extents) -> Result<runtime::Tensor*> {
    tensors.push_back(std::make_unique<runtime::Tensor>());
    tensors.back()->set_dense(dtype, extents);
    require(static_cast<size_t>(tensors.back()->num_bytes()) <= most);
    memory.emplace_back(static_cast<size_t>(tensors.back()->num_bytes()) + 1);
    tensors.back()->data = memory.back().data();
    return tensors.back().get();
  };
};

Status read_tfrecord(const ByteSource& file) {
  static const std::map<std::string, TfFeature> kFeatures = {
      {"boxes", {.dtype = DType::kF32, .fixed = false, .shape = {4}}},
      {"image", {.dtype = DType::kU8, .fixed = true, .shape = {}}},
      {"label", {.dtype = DType::kI64, .fixed = true, .shape = {1}}}};
  GALATEA_ASSIGN(const std::vector<RecordPlace> places, scan_tfrecord(file));
  for (const RecordPlace& place : places) {
    std::vector<uint8_t> bytes(static_cast<size_t>(place.size));
    GALATEA_TRY(file.read(place.offset, bytes));
    Outputs outputs{.most = 8 * bytes.size()};
    GALATEA_TRY(
        deliver_example(std::span(bytes).subspan(12, bytes.size() - 16), kName, kFeatures, outputs.allocate));
  }
  return {};
}

Status read_example(const ByteSource& file) {
  static const std::map<std::string, TfFeature> kFeatures = {
      {"boxes", {.dtype = DType::kF32, .fixed = false, .shape = {}}},
      {"image", {.dtype = DType::kU8, .fixed = true, .shape = {}}},
      {"wide", {.dtype = DType::kI64, .fixed = false, .shape = {}}}};
  std::vector<uint8_t> bytes(static_cast<size_t>(file.size()));
  GALATEA_TRY(file.read(0, bytes));
  Outputs outputs{.most = 8 * bytes.size()};
  return deliver_example(bytes, kName, kFeatures, outputs.allocate);
}

Status read_record_io(const ByteSource& file) {
  GALATEA_ASSIGN(const std::vector<RecordPlace> places, scan_record_io(file));
  for (const RecordPlace& place : places) {
    std::vector<uint8_t> bytes(static_cast<size_t>(place.size));
    GALATEA_TRY(file.read(place.offset, bytes));
    GALATEA_ASSIGN(const std::span<uint8_t> joined, join_record_io(bytes, kName, place.offset));
    require(joined.size() <= bytes.size());
  }
  return {};
}

Status read_tar(const ByteSource& file) {
  GALATEA_ASSIGN(const std::vector<TarSample> samples, scan_webdataset(file));
  for (const TarSample& sample : samples)
    for (const TarPart& part : sample.parts)
      require(part.offset >= 0 && part.size >= 0 && part.size <= file.size() - part.offset);
  return {};
}

Status read_npy(const ByteSource& file) {
  GALATEA_ASSIGN(const NpyHeader header, read_npy_header(file));
  int64_t bytes = static_cast<int64_t>(size_of(header.dtype));
  for (const int64_t extent : header.shape) bytes *= extent;
  require(bytes <= file.size());
  std::vector<uint8_t> to(static_cast<size_t>(bytes) + 1);
  return read_npy_part(file, header, std::vector<int64_t>(header.shape.size()), header.shape, to.data());
}

Status read_fits(const ByteSource& file) {
  GALATEA_ASSIGN(const FitsImage image, find_fits_image(file, 2));
  int64_t bytes = size_of(image.dtype);
  for (const int64_t extent : image.shape) bytes *= extent;
  require(bytes / 4096 <= file.size());
  std::vector<uint8_t> to(static_cast<size_t>(bytes) + 1);
  return read_fits_image(file, image, to.data());
}

Status read_coco(const ByteSource& file) {
  std::string text(static_cast<size_t>(file.size()), '\0');
  GALATEA_TRY(file.read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  GALATEA_ASSIGN(const CocoFile coco, parse_coco(text, kName, true));
  std::vector<int32_t> pixels(16 * 16);
  size_t drawn = 0;
  for (const CocoFile::Polygon& polygon : coco.polygons)
    if (++drawn < 8 && polygon.end - polygon.begin < 16)
      fill_polygon(std::span(coco.coordinates).subspan(polygon.begin, polygon.end - polygon.begin), 16, 16, 1,
                   pixels.data());
  return {};
}

Status read_indices(const ByteSource& file) {
  std::string text(static_cast<size_t>(file.size()), '\0');
  GALATEA_TRY(file.read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  static_cast<void>(parse_number_pairs(text, kName));
  const auto samples = parse_webdataset_index(text, kName, 1 << 20);
  if (!samples) return std::unexpected(samples.error());
  for (const TarSample& sample : *samples)
    for (const TarPart& part : sample.parts) require(part.offset <= (1 << 20) - part.size);
  return {};
}

Status read_lmdb(const ByteSource& file) {
  GALATEA_ASSIGN(const std::vector<LmdbEntry> entries, scan_lmdb(file));
  size_t read = 0;
  for (const LmdbEntry& entry : entries) {
    require(entry.key.size <= file.size() - entry.key.offset);
    require(entry.value.size <= file.size() - entry.value.offset);
    if (++read > 16) continue;  // many may share the pages of one value
    std::vector<uint8_t> bytes(static_cast<size_t>(entry.value.size));
    GALATEA_TRY(file.read(entry.value.offset, bytes));
    GALATEA_TRY(value_of(entry, bytes, kName));
  }
  return {};
}

/// A record of Caffe, then the same bytes as one of Caffe2, with labels of every kind.
Status read_records(const ByteSource& file) {
  std::vector<uint8_t> bytes(static_cast<size_t>(file.size()));
  GALATEA_TRY(file.read(0, bytes));
  for (const bool encoded : {true, false}) {
    const auto ports = caffe_ports({{"encoded", encoded}});
    require(ports.has_value());
    Outputs outputs{.most = bytes.size() + 4};
    static_cast<void>(deliver_datum(bytes, kName, *ports, outputs.allocate));
    for (const int label_type : {0, 1, 2, 3, 4})
      for (const char* label : {"i32", "f32"}) {
        nlohmann::json config = {{"encoded", encoded}, {"label_type", label_type},
                                 {"num_labels", 8},    {"additional_inputs", 1},
                                 {"bbox", true},       {"dtypes", {"u8"}}};
        if (label_type != 4) config["dtypes"].push_back(label);
        config["dtypes"].push_back("i64");
        config["dtypes"].push_back("i32");
        const auto layout = tensor_protos_layout(config);
        require(layout.has_value());
        Outputs tensors{.most = 8 * bytes.size() + 32};
        static_cast<void>(deliver_tensor_protos(bytes, kName, *layout, tensors.allocate));
      }
  }
  return {};
}

Status read_manifest(const ByteSource& file) {
  std::string text(static_cast<size_t>(file.size()), '\0');
  GALATEA_TRY(file.read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  for (const auto& [least, most] : {std::pair{0.0, 0.0}, {0.5, 2.0}})
    for (const Utterance& utterance : parse_manifest(text, least, most)) {
      const FrameRange frames = frames_of(utterance, 1000, 16000);
      require(0 <= frames.begin && frames.begin <= frames.end && frames.end <= 1000);
    }
  return {};
}

/// Two chunks whose offsets and sizes, 8 bytes each, come first; then the tensor that they are of. An output has
/// 64 bytes a chunk.
Status read_chunks_of_lz4(const ByteSource& file) {
  constexpr int64_t kChunks = 2, kLists = 2 * kChunks * 8;
  std::vector<uint8_t> bytes(static_cast<size_t>(std::max(file.size(), kLists)));
  GALATEA_TRY(file.read(0, std::span(bytes).first(static_cast<size_t>(file.size()))));
  std::array<runtime::Tensor, 3> inputs;
  inputs[0].set_dense(DType::kU8, std::array{static_cast<int64_t>(bytes.size()) - kLists});
  inputs[0].data = bytes.data() + kLists;
  for (size_t list = 0; list < 2; ++list) {
    inputs[1 + list].set_dense(DType::kI64, std::array{kChunks});
    inputs[1 + list].data = bytes.data() + list * kChunks * 8;
  }
  std::vector<uint8_t> made(kChunks * 64);
  runtime::Tensor output;
  output.set_dense(DType::kU8, std::array<int64_t, 2>{kChunks, 64});
  output.data = made.data();
  const runtime::NativeFunction inflate = inflate_function();
  const auto state = inflate.prepare(R"({"chunked": true, "fed_offsets": true, "fed_sizes": true})");
  require(state.has_value());
  testing::PlainCall call;
  call.inputs = inputs;
  call.output = &output;
  call.state = state->get();
  const Status done = inflate.call(call);
  require(done || done.error().message().starts_with("chunk "));
  return {};
}

// New ones go to the end: the kept inputs choose them by number.
constexpr Status (*kReaders[])(const ByteSource&) = {
    read_tfrecord, read_example, read_record_io, read_tar,     read_npy,      read_coco,
    read_indices,  read_fits,    read_lmdb,      read_records, read_manifest, read_chunks_of_lz4};

}  // namespace

GALATEA_FUZZ_TARGET(containers, 1500)(const uint8_t* data, size_t size) {
  using namespace galatea::native;
  if (size == 0) return;
  const auto file = bytes_in_memory(kName, std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  const galatea::Status status = kReaders[data[0] % std::size(kReaders)](*file);
  if (!status) require(status.error().message().find(kName) != std::string::npos);
}

}  // namespace galatea::fuzz::of_containers
