#include "stdlib_ops/native/video_functions.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/json.h"
#include "base/scalar_op.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/fed_file.h"
#include "stdlib_ops/native/video/paint.h"

namespace galatea::native {
namespace {

using video::FilmFile;
using video::FilmIndex;
using video::FilmLibrary;

constexpr size_t kWindowScalars = 6;

class VideoState final : public runtime::NativeState {
 public:
  video::Look look;
  video::Padding padding = video::Padding::kConstant;
  std::vector<std::string> given;  ///< arguments whose values are the scalars
  size_t num_frames = 0;           ///< that `frames` names
  bool is_fed = false;             ///< the film is of several samples, which share what is known of it
};

Result<std::shared_ptr<runtime::NativeState>> prepare_video(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  auto state = std::make_shared<VideoState>();
  state->look.colours = {.pixels = static_cast<video::Pixels>(json.value("image_type", 0)),
                         .is_tagged = json.value("color_space", "bt601") == "tagged"};
  state->look.is_turned = json.value("adjust_orientation", false);
  const auto fill = json.value("fill_value", std::vector<uint8_t>{0});
  for (size_t k = 0; k < state->look.fill.size(); ++k) state->look.fill[k] = fill[fill.size() == 1 ? 0 : k];
  const auto padding = video::padding_of(json.value("pad_mode", "constant"));
  GALATEA_CHECK(padding.has_value(), "video: unknown pad_mode");
  state->padding = *padding;
  state->given = json.value("given", std::vector<std::string>{});
  state->num_frames = json.value("num_frames", size_t{0});
  state->is_fed = json.value("is_fed", false);
  return state;
}

const VideoState& video_state_of(const runtime::NativeContext& context) {
  return *static_cast<const VideoState*>(context.state);
}

int64_t scalar(const runtime::NativeContext& context, size_t k) {
  return cell_to_int(DType::kI64, context.scalars[k]);
}

/// Of the clip that is wanted: along F, H, W.
struct ClipWindow {
  int64_t begin[3] = {}, end[3] = {};
  video::Box box() const { return {begin[1], begin[2], end[1], end[2]}; }
};
ClipWindow window_of(const runtime::NativeContext& context) {
  ClipWindow out;
  const size_t first = context.scalars.size() - kWindowScalars;
  for (size_t d = 0; d < 3; ++d) {
    out.begin[d] = scalar(context, first + d);
    out.end[d] = scalar(context, first + 3 + d);
  }
  return out;
}

Status paint(runtime::NativeContext& context, const FilmFile& file, const FilmIndex& index,
             std::span<const int64_t> frames, const video::Box& box) {
  return video::paint_clip(
      FilmLibrary::of_process(), file, index, frames, video_state_of(context).look, box,
      [&] { return context.cancelled(); }, context.output->data);
}

// ---- from bytes

/// Valid as long as the bytes.
FilmFile film_in(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {.name = "the film",
          .identity = fmt::format("bytes {} {:016x}", bytes.size(), checksum(text)),
          .open = [bytes] { return bytes_elsewhere("the film", bytes); }};
}

/// As long as the tensor's memory lives, its index and decoders are there for whoever comes next.
FilmFile fed_film(const runtime::Tensor& encoded, std::span<const uint8_t> bytes) {
  return {.name = "the film",
          .identity = fmt::format("fed {} {}", fmt::ptr(bytes.data()), bytes.size()),
          .lasting = video::Lasting::kProcess,
          .owner = encoded.buffer,
          .open = [bytes] { return bytes_elsewhere("the film", bytes); }};
}

/// `copy`: of a tensor with gaps; has to live as long as the film, of which nothing is kept then.
FilmFile fed_film_of(const runtime::Tensor& encoded, std::vector<uint8_t>& copy) {
  const std::span<const uint8_t> bytes = bytes_of_input(encoded, copy);
  return encoded.buffer && copy.empty() ? fed_film(encoded, bytes) : film_in(bytes);
}

FilmFile film_of(const runtime::Tensor& encoded, const VideoState& state, std::vector<uint8_t>& copy) {
  return state.is_fed ? fed_film_of(encoded, copy) : film_in(bytes_of_input(encoded, copy));
}

/// Which frames of a film the arguments ask for: `count` of them, `stride` apart, or a list.
class WantedFrames {
 public:
  static Result<WantedFrames> of(const runtime::NativeContext& context, int64_t frames) {
    WantedFrames out(video_state_of(context).padding, frames);
    if (video_state_of(context).num_frames > 0) {
      for (size_t k = 0; k < video_state_of(context).num_frames; ++k) out.list_.push_back(scalar(context, k));
      out.count_ = static_cast<int64_t>(out.list_.size());
    } else {
      GALATEA_TRY(out.take_range(context));
    }
    if (out.padding_ == video::Padding::kNone) GALATEA_TRY(out.check_inside());
    return out;
  }

  int64_t count() const { return count_; }
  int64_t frame(int64_t k) const { return *video::padded(asked(k), frames_, padding_); }

 private:
  WantedFrames(video::Padding padding, int64_t frames) : padding_(padding), frames_(frames) {}

  int64_t asked(int64_t k) const {
    return list_.empty() ? start_ + k * stride_ : list_[static_cast<size_t>(k)];
  }

  Status take_range(const runtime::NativeContext& context) {
    std::map<std::string_view, int64_t> given;
    for (size_t k = 0; k < video_state_of(context).given.size(); ++k)
      given.emplace(video_state_of(context).given[k], scalar(context, k));
    const auto value = [&](std::string_view name, int64_t otherwise) {
      return given.contains(name) ? given.at(name) : otherwise;
    };
    start_ = value("start_frame", 0);
    stride_ = value("stride", 1);
    if (start_ >= frames_)
      return make_error(ErrorKind::kUser, "G0802",
                        fmt::format("start_frame is {}, but the film has {} frames", start_, frames_),
                        "begin earlier; on_error=\"skip\" goes on without films that are too short");
    const auto frames_up_to = [&](int64_t end) { return (end - start_ + stride_ - 1) / stride_; };
    const bool only_inside = padding_ == video::Padding::kNone;
    const int64_t end = value("end_frame", frames_);
    if (end <= start_)
      return make_error(ErrorKind::kUser, "G0802",
                        fmt::format("end_frame is {}, and start_frame {}", end, start_),
                        "end_frame is the frame behind the last one: give a larger number");
    count_ = value("sequence_length", frames_up_to(only_inside ? std::min(end, frames_) : end));
    if (only_inside) count_ = std::min(count_, frames_up_to(frames_));
    return {};
  }

  Status check_inside() const {
    for (int64_t k = 0; k < count_; ++k)
      if (asked(k) < 0 || asked(k) >= frames_)
        return make_error(ErrorKind::kUser, "G0802",
                          fmt::format("there is no frame {} in a film of {}", asked(k), frames_),
                          "pad_mode= says what stands in place of frames that are not there");
    return {};
  }

  video::Padding padding_;
  int64_t frames_;
  int64_t start_ = 0, stride_ = 1, count_ = 0;
  std::vector<int64_t> list_;
};

Status video_peek(runtime::NativeContext& context) {
  std::vector<uint8_t> copy;
  const FilmFile file = film_of(context.inputs[0], video_state_of(context), copy);
  GALATEA_ASSIGN(const auto index, FilmLibrary::of_process().index_of(file));
  GALATEA_ASSIGN(const WantedFrames wanted, WantedFrames::of(context, index->num_frames()));
  const video::FrameSize size = video::frame_size(index->stream(), video_state_of(context).look);
  const int64_t results[] = {wanted.count(), size.height, size.width};
  for (size_t k = 0; k < 3; ++k) context.scalar_results[k] = cell_from_int(DType::kI64, results[k]);
  return {};
}

Status video_decode(runtime::NativeContext& context) {
  std::vector<uint8_t> copy;
  const FilmFile file = film_of(context.inputs[0], video_state_of(context), copy);
  GALATEA_ASSIGN(const auto index, FilmLibrary::of_process().index_of(file));
  GALATEA_ASSIGN(const WantedFrames wanted, WantedFrames::of(context, index->num_frames()));
  const ClipWindow window = window_of(context);
  std::vector<int64_t> frames;
  for (int64_t k = window.begin[0]; k < window.end[0]; ++k) frames.push_back(wanted.frame(k));
  return paint(context, file, *index, frames, window.box());
}

// ---- fed films, a sequence of frames a sample

class SequencesState final : public runtime::NativeState {
 public:
  int64_t length = 1;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_sequences(const std::string& config) {
  auto state = std::make_shared<SequencesState>();
  state->length = parse_json(config).at("sequence_length").get<int64_t>();
  return state;
}

Status count_sequences(runtime::NativeContext& context) {
  std::vector<uint8_t> copy;
  const runtime::Tensor& encoded = context.inputs[0];
  const FilmFile file = fed_film_of(encoded, copy);
  GALATEA_ASSIGN(const auto index, FilmLibrary::of_process().index_of(file));
  const int64_t length = static_cast<const SequencesState*>(context.state)->length;
  context.scalar_results[0] = cell_from_int(DType::kI64, (index->num_frames() + length - 1) / length);
  return {};
}

// ---- from files

Status video_clip(runtime::NativeContext& context) {
  std::vector<uint8_t> copy, numbers_copy;
  const std::span<const uint8_t> name = bytes_of_input(context.inputs[0], copy);
  const FilmFile file = film_at(std::string(name.begin(), name.end()));
  GALATEA_ASSIGN(const auto index, FilmLibrary::of_process().index_of(file));
  const runtime::Tensor& numbers = context.inputs[1];
  const ClipWindow window = window_of(context);
  std::vector<int64_t> frames;
  for (int64_t k = window.begin[0]; k < window.end[0]; ++k)
    frames.push_back(reinterpret_cast<const int64_t*>(numbers.data)[k * numbers.strides[0]]);
  return paint(context, file, *index, frames, window.box());
}

// ---- what a limit of memory is asked for

/// Nothing of a film that cannot be read: the call says why.
int64_t bytes_of_film(const FilmFile& file) {
  const auto index = FilmLibrary::of_process().index_of(file);
  return index ? video::decoder_bytes((*index)->stream()) : 0;
}

/// A copy of the input where it has gaps, and the decoder.
int64_t bytes_of_encoded(std::span<const runtime::Tensor> inputs, std::span<const Cell>,
                         const runtime::NativeState* state) {
  std::vector<uint8_t> copy;
  return bytes_of_copy(inputs[0]) +
         bytes_of_film(film_of(inputs[0], *static_cast<const VideoState*>(state), copy));
}

int64_t bytes_of_clip(std::span<const runtime::Tensor> inputs, std::span<const Cell>,
                      const runtime::NativeState*) {
  std::vector<uint8_t> copy;
  const std::span<const uint8_t> name = bytes_of_input(inputs[0], copy);
  return bytes_of_film(film_at(std::string(name.begin(), name.end())));
}

}  // namespace

FilmFile film_at(const std::string& path) {
  FilmFile file{.name = far::shown(path), .identity = path, .open = [path] { return open_file(path); }};
  struct stat status = {};
  if (far::is_far(path)) {
    file.lasting = video::Lasting::kProcess;
  } else if (::stat(path.c_str(), &status) == 0) {
    file.lasting = video::Lasting::kAlways;
    file.identity = fmt::format("file {}:{} {} {}.{}", status.st_dev, status.st_ino, status.st_size,
                                status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return file;
}

std::vector<runtime::NativeFunction> video_functions() {
  const auto function = [](const char* name, Status (*call)(runtime::NativeContext&), auto working_bytes) {
    return runtime::NativeFunction{.name = name,
                                   .category = "decode",
                                   .prepare = prepare_video,
                                   .call = call,
                                   .working_bytes = working_bytes};
  };
  return {
      function(kVideoPeek, video_peek, bytes_of_encoded),
      function(kVideoDecode, video_decode, bytes_of_encoded),
      function(kVideoClip, video_clip, bytes_of_clip),
      {.name = kVideoSequences, .category = "decode", .prepare = prepare_sequences, .call = count_sequences}};
}

}  // namespace galatea::native
