#include "stdlib_ops/native/image_sequence.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/json.h"
#include "runtime/memory_gate.h"
#include "stdlib_ops/native/file_source.h"
#include "stdlib_ops/native/image.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {
namespace {

/// Memory of a codec for one frame, as aligned as that of a sample's calls.
class FrameScratch final : public Scratch {
 public:
  Result<uint8_t*> bytes(int64_t size) override {
    constexpr size_t kAlignment = 64;
    uint8_t* const memory =
        blocks_
            .emplace_back(std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(size) + kAlignment))
            .get();
    return memory + (kAlignment - reinterpret_cast<uintptr_t>(memory) % kAlignment) % kAlignment;
  }

 private:
  std::vector<std::unique_ptr<uint8_t[]>> blocks_;
};

/// What a frame becomes.
struct FrameShape {
  int64_t height = 0, width = 0, channels = 0;
  explicit FrameShape(const ImageHeader& header, ImageType type)
      : height(header.height), width(header.width), channels(decoded_channels(header, type)) {
    if (swaps_axes(header.orientation)) std::swap(height, width);
  }
  int64_t bytes() const { return height * width * channels; }
  std::string text() const { return fmt::format("{} x {} x {}", height, width, channels); }
  friend bool operator==(const FrameShape&, const FrameShape&) = default;
};

class ImageSequences final : public runtime::SampleSource {
 public:
  ImageSequences(std::vector<std::vector<std::string>> folders, std::vector<SequencePlace> places,
                 int64_t length, int64_t stride, ImageType type)
      : folders_(std::move(folders)),
        places_(std::move(places)),
        length_(length),
        stride_(stride),
        options_{.type = type} {}

  int64_t size() const override { return static_cast<int64_t>(places_.size()); }
  std::string describe(int64_t index) const override { return frame(index, 0); }

  int64_t bytes(int64_t index) const override {
    const auto content = content_of(frame(index, 0));
    const auto header = content ? read_header(content->bytes()) : std::unexpected(content.error());
    if (!header) return 0;  // reading will fail
    // All frames, and one of them while it is decoded.
    return runtime::claimed_bytes(length_ * FrameShape(*header, options_.type).bytes()) +
           runtime::claimed_bytes(static_cast<int64_t>(content->bytes().size())) +
           decode_working_bytes(content->bytes());
  }

  void will_read(int64_t index) const override {
    for (int64_t k = 0; k < length_; ++k) will_open(frame(index, k));
  }

  Status read(int64_t index, const AllocateOutput& allocate) const override {
    std::optional<FrameShape> first;
    uint8_t* to = nullptr;
    for (int64_t k = 0; k < length_; ++k) {
      const std::string path = frame(index, k);
      GALATEA_ASSIGN(const RecordBytes content, content_of(path));
      const Bytes encoded = content.bytes();
      const auto header = read_header(encoded);
      if (!header) return of_frame(path, header.error());
      const FrameShape shape(*header, options_.type);
      if (!first) {
        first = shape;
        GALATEA_ASSIGN(runtime::Tensor * out,
                       allocate(0, DType::kU8, {length_, shape.height, shape.width, shape.channels}));
        to = out->data;
      } else if (shape != *first) {
        return make_error(ErrorKind::kUser, "G0802",
                          fmt::format("{} is {}, but the first frame of its sequence, {}, is {}", path,
                                      shape.text(), frame(index, 0), first->text()),
                          "all frames of a folder must have one size; on_error=\"skip\" goes on without the "
                          "sequence");
      }
      FrameScratch scratch;
      const Window whole{.y0 = 0, .x0 = 0, .y1 = shape.height, .x1 = shape.width};
      const Status decoded = decode_window(encoded, *header, whole, options_, scratch, to);
      if (!decoded) return of_frame(path, decoded.error());
      to += shape.bytes();
    }
    return {};
  }

 private:
  const std::string& frame(int64_t index, int64_t k) const {
    const SequencePlace& place = places_[static_cast<size_t>(index)];
    return folders_[place.folder][place.first + static_cast<size_t>(k * stride_)];
  }
  static Result<RecordBytes> content_of(const std::string& path) {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(path));
    return read_record(*file, {0, file->size()});
  }
  /// An error of a codec, which does not know the file.
  static std::unexpected<Error> of_frame(const std::string& path, Error error) {
    if (!error.diagnostics.empty())
      error.diagnostics.front().message = fmt::format("{}: {}", path, error.diagnostics.front().message);
    return std::unexpected(std::move(error));
  }

  std::vector<std::vector<std::string>> folders_;
  std::vector<SequencePlace> places_;
  int64_t length_, stride_;
  DecodeOptions options_;
};

}  // namespace

std::vector<SequencePlace> sequences_in(const std::vector<size_t>& frames, int64_t length, int64_t step,
                                        int64_t stride) {
  std::vector<SequencePlace> places;
  // Behind the first frame; numbers that no folder has are all the same.
  constexpr int64_t kMany = int64_t{1} << 40;
  const auto reach =
      static_cast<size_t>(length - 1 > kMany / stride ? kMany : std::min(kMany, (length - 1) * stride));
  for (size_t folder = 0; folder < frames.size(); ++folder)
    for (size_t first = 0; first + reach < frames[folder]; first += static_cast<size_t>(step))
      places.push_back({folder, first});
  return places;
}

Result<std::unique_ptr<runtime::SampleSource>> open_image_sequences(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  const std::string root = json["file_root"];
  const int64_t length = json["sequence_length"], step = json.value("step", int64_t{1}),
                stride = json.value("stride", int64_t{1});
  GALATEA_ASSIGN(std::vector<std::vector<std::string>> folders, list_image_folders(root));
  std::vector<size_t> frames;
  size_t longest = 0;
  for (const std::vector<std::string>& folder : folders) {
    frames.push_back(folder.size());
    longest = std::max(longest, folder.size());
  }
  std::vector<SequencePlace> places = sequences_in(frames, length, step, stride);
  if (places.empty())
    return unusable(fmt::format("no sequence of {} frames in the folders of {}, the longest of which has {}",
                                length, root, longest),
                    "file_root must hold one folder a recording, with an image a frame; or take a shorter "
                    "sequence_length or stride");
  return std::make_unique<ImageSequences>(std::move(folders), std::move(places), length, stride,
                                          static_cast<ImageType>(json.value("image_type", 0)));
}

}  // namespace galatea::native
