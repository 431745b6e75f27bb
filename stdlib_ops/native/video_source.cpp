#include "stdlib_ops/native/video_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "base/json.h"
#include "runtime/memory_gate.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/folder.h"
#include "stdlib_ops/native/video/paint.h"
#include "stdlib_ops/native/video_functions.h"

namespace galatea::native {
namespace {

using video::FilmIndex;
using video::FilmLibrary;
using video::kFilled;
using video::Padding;

std::vector<std::string> film_filters() {
  return {"*.mp4", "*.m4v", "*.mov", "*.3gp", "*.mkv", "*.webm", "*.avi", "*.ts", "*.m2ts", "*.mts", "*.ogv"};
}

std::unexpected<Error> bad_line(const std::string& place, std::string_view line) {
  return unusable(
      fmt::format("{}: expected \"path label [start [end]]\", found \"{}\"", place, line),
      "write the film's path, its label (a whole number from 0), and which part of it is meant, if not "
      "all, with spaces between");
}

template <typename Number>
bool parse_whole(std::string_view text, Number& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

/// The folders of a folder number the classes.
Result<std::vector<FilmRange>> films_in(const std::string& root) {
  std::vector<FilmRange> out;
  GALATEA_ASSIGN(const std::vector<FolderEntry> entries, entries_of(root));
  std::vector<std::string> folders;
  for (const FolderEntry& entry : entries)
    if (entry.is_folder) folders.push_back(far::join(root, entry.name));
  GALATEA_TRY(visit_folders(folders, [&](size_t label, const std::vector<FolderEntry>& files) -> Status {
    for (const FolderEntry& file : files)
      if (!file.is_folder && matches(file.name, film_filters(), false))
        out.push_back({.path = far::join(folders[label], file.name), .label = static_cast<int32_t>(label)});
    return {};
  }));
  if (out.empty())
    return unusable(
        fmt::format("no films in the sub-folders of {}", root),
        "file_root holds a folder a class, with films (.mp4, .mkv, .webm, .avi, …) in it; or name them "
        "in filenames=");
  return out;
}

Result<std::vector<FilmRange>> list_films(const nlohmann::json& json) {
  if (const std::string root = json.value("file_root", ""); !root.empty()) return films_in(root);
  if (const std::string list = json.value("file_list", ""); !list.empty()) {
    GALATEA_ASSIGN(const std::string text, text_of(list, "file list"));
    return parse_film_list(text, far::shown(list));
  }
  std::vector<FilmRange> out;
  for (const std::string& name : json.value("filenames", std::vector<std::string>{}))
    out.push_back({.path = name});
  const auto labels = json.value("labels", std::vector<int32_t>{});
  for (size_t k = 0; k < std::min(labels.size(), out.size()); ++k) out[k].label = labels[k];
  return out;
}

/// A clip, or a film that cannot be read: its sample says so.
struct ClipPlace {
  uint32_t film = 0;
  bool is_broken = false;
  int64_t start = 0, end = 0;  ///< its first frame; behind the last one that its range has
};

struct ClipOptions {
  int64_t length = 1, stride = 1, step = 1;
  Padding padding = Padding::kNone;
  bool is_spread = false, counts_frames = false, numbers_each = false;
  Rounding start = Rounding::kDown, end = Rounding::kUp;
  video::Look look;
};

ClipOptions options_of(const nlohmann::json& json) {
  ClipOptions out;
  out.length = json.at("sequence_length");
  out.stride = json.value("stride", int64_t{1});
  out.step = json.value("step", int64_t{1});
  const auto padding = video::padding_of(json.value("pad_mode", "none"));
  GALATEA_CHECK(padding.has_value(), "readers.video_clips: unknown pad_mode");
  out.padding = *padding;
  out.is_spread = json.value("uniform_sample", false);
  out.counts_frames = json.value("file_list_format", "timestamps") == "frames";
  out.numbers_each = json.value("enable_frame_num", "none") == "sequence";
  const std::string rounding = json.value("file_list_rounding", "start_down_end_up");
  out.start = rounding == "start_up_end_down" || rounding == "all_up" ? Rounding::kUp : Rounding::kDown;
  out.end = rounding == "start_up_end_down" || rounding == "all_down" ? Rounding::kDown : Rounding::kUp;
  out.look.is_turned = json.value("adjust_orientation", false);
  return out;
}

/// The frames of a film with the moment at which the last one ends: n + 1 moments of n frames.
class Moments {
 public:
  explicit Moments(const FilmIndex& index) : index_(index), frames_(index.num_frames()) {}

  /// The first moment that is not before `seconds`, or the last that is not behind.
  int64_t at(double seconds, Rounding rounding) const {
    int64_t low = 0, high = frames_ + 1;  // the first moment that is later, or not earlier
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      const bool is_before =
          rounding == Rounding::kUp ? seconds_of(middle) < seconds : seconds_of(middle) <= seconds;
      (is_before ? low : high) = is_before ? middle + 1 : middle;
    }
    return std::clamp<int64_t>(rounding == Rounding::kUp ? low : low - 1, 0, frames_);
  }
  double end() const { return seconds_of(frames_); }

 private:
  double seconds_of(int64_t moment) const {
    if (moment < frames_) return index_.seconds_of(moment);
    const double last = index_.seconds_of(frames_ - 1);
    return frames_ > 1 ? 2 * last - index_.seconds_of(frames_ - 2) : last + 1;
  }

  const FilmIndex& index_;
  int64_t frames_;
};

/// Frames [first, second) of what a list says.
std::pair<int64_t, int64_t> frames_of(const FilmRange& range, const FilmIndex& index,
                                      const ClipOptions& options) {
  const int64_t frames = index.num_frames();
  const Moments moments(index);
  const auto frame_of = [&](double value, Rounding rounding) -> int64_t {
    if (!options.counts_frames) return moments.at(value < 0 ? moments.end() + value : value, rounding);
    if (value < 0) value += static_cast<double>(frames);
    value = rounding == Rounding::kUp ? std::ceil(value) : std::floor(value);
    return static_cast<int64_t>(std::clamp(value, 0.0, static_cast<double>(frames)));
  };
  const int64_t start = range.start == 0 ? 0 : frame_of(range.start, options.start);
  return {start, range.has_end ? frame_of(range.end, options.end) : frames};
}

class VideoClips final : public runtime::SampleSource {
 public:
  VideoClips(std::vector<FilmRange> films, std::vector<ClipPlace> places, const ClipOptions& options)
      : films_(std::move(films)), places_(std::move(places)), options_(options) {}

  int64_t size() const override { return static_cast<int64_t>(places_.size()); }
  std::string describe(int64_t index) const override {
    const ClipPlace& place = at(index);
    return fmt::format("{} at frame {}", far::shown(films_[place.film].path), place.start);
  }
  void will_read(int64_t index) const override { will_open(films_[at(index).film].path); }
  int64_t bytes(int64_t index) const override {
    const auto path = static_cast<int64_t>(films_[at(index).film].path.size());
    const int64_t numbers = options_.numbers_each ? options_.length : 1;
    return runtime::claimed_bytes(path) + 2 * runtime::claimed_bytes(8 * options_.length) +
           runtime::claimed_bytes(16) + runtime::claimed_bytes(4) + runtime::claimed_bytes(4 * numbers);
  }

  Status read(int64_t index, const AllocateOutput& allocate) const override {
    const ClipPlace& place = at(index);
    const FilmRange& film = films_[place.film];
    GALATEA_ASSIGN(const auto film_index, FilmLibrary::of_process().index_of(film_at(film.path)));
    // A film that could not be read when the clips were listed, and now can, would be another data set.
    if (place.is_broken)
      return unusable(fmt::format("{} could not be read when the reader started", far::shown(film.path)),
                      "do not change films while they are in use");
    const std::vector<int64_t> frames = frames_at(place);
    for (const int64_t frame : frames)
      if (frame >= film_index->num_frames())
        return unusable(fmt::format("{} has fewer frames than before", far::shown(film.path)),
                        "do not change films while they are in use");
    const video::FrameSize size = video::frame_size(film_index->stream(), options_.look);
    GALATEA_TRY(give<char>(allocate, 0, DType::kU8, film.path));
    GALATEA_TRY(give<int64_t>(allocate, 1, DType::kI64, frames));
    const int64_t extents[] = {size.height, size.width};
    GALATEA_TRY(give<int64_t>(allocate, 2, DType::kI64, extents));
    GALATEA_TRY(give<int32_t>(allocate, 3, DType::kI32, {&film.label, 1}));
    std::vector<int32_t> numbers(frames.begin(), options_.numbers_each ? frames.end() : frames.begin() + 1);
    GALATEA_TRY(give<int32_t>(allocate, 4, DType::kI32, numbers));
    std::vector<double> times;
    for (const int64_t frame : frames)
      times.push_back(frame == kFilled ? -1 : film_index->seconds_since_first(frame));
    return give<double>(allocate, 5, DType::kF64, times);
  }

 private:
  const ClipPlace& at(int64_t index) const { return places_[static_cast<size_t>(index)]; }

  std::vector<int64_t> frames_at(const ClipPlace& place) const {
    if (options_.is_spread) return video::spread_frames(place.start, place.end, options_.length);
    std::vector<int64_t> out;
    for (int64_t k = 0; k < options_.length; ++k)
      out.push_back(
          video::padded(place.start + k * options_.stride, place.end, options_.padding).value_or(kFilled));
    return out;
  }

  template <typename T>
  static Status give(const AllocateOutput& allocate, int k, DType dtype, std::span<const T> values) {
    GALATEA_ASSIGN(runtime::Tensor * out, allocate(k, dtype, {static_cast<int64_t>(values.size())}));
    std::memcpy(out->data, values.data(), values.size_bytes());
    return {};
  }

  std::vector<FilmRange> films_;
  std::vector<ClipPlace> places_;
  ClipOptions options_;
};

/// The frames that are meant, from which the clips were taken.
int64_t append_places(const FilmIndex& index, const FilmRange& film, uint32_t number,
                      const ClipOptions& options, std::vector<ClipPlace>& places) {
  const auto [start, end] = frames_of(film, index, options);
  if (start >= end) return 0;
  if (options.is_spread) {
    places.push_back({.film = number, .start = start, .end = end});
    return end - start;
  }
  for (const int64_t first :
       video::clip_starts(start, end, options.length, options.stride, options.step, options.padding))
    places.push_back({.film = number, .start = first, .end = end});
  return end - start;
}

}  // namespace

Result<std::vector<FilmRange>> parse_film_list(const std::string& text, const std::string& list) {
  std::vector<FilmRange> out;
  std::istringstream in(text);
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    const std::string place = fmt::format("{}:{}", list, number);
    std::istringstream words(line);
    std::vector<std::string> fields;
    for (std::string word; words >> word;) fields.push_back(word);
    if (fields.empty()) continue;
    FilmRange range;
    if (fields.size() < 2 || fields.size() > 4 || !parse_whole(fields[1], range.label) || range.label < 0)
      return bad_line(place, line);
    if (fields.size() > 2 && (!parse_whole(fields[2], range.start) || !std::isfinite(range.start)))
      return bad_line(place, line);
    range.has_end = fields.size() > 3;
    if (range.has_end && (!parse_whole(fields[3], range.end) || !std::isfinite(range.end)))
      return bad_line(place, line);
    range.path = fields[0];
    out.push_back(std::move(range));
  }
  if (out.empty())
    return unusable(fmt::format("the file list {} names no films", list), "write one \"path label\" a line");
  return out;
}

Result<std::unique_ptr<runtime::SampleSource>> open_video_clips(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  const ClipOptions options = options_of(json);
  GALATEA_ASSIGN(std::vector<FilmRange> films, list_films(json));
  std::vector<ClipPlace> places;
  int64_t longest = 0;  // of the parts that are meant
  for (uint32_t k = 0; k < films.size(); ++k) {
    const auto index = FilmLibrary::of_process().index_of(film_at(films[k].path));
    if (!index && index.error().kind != ErrorKind::kUser) return std::unexpected(index.error());
    if (index) {
      longest = std::max(longest, append_places(**index, films[k], k, options, places));
    } else {
      places.push_back({.film = k, .is_broken = true});
    }
  }
  if (places.empty() && longest == 0)
    return unusable(
        fmt::format("no frame lies in what is meant of {} films", films.size()),
        "start and end of a file list are seconds by the film's own clock, which need not begin at 0, "
        "or frames (file_list_format=\"frames\"); the end is behind the last one");
  if (places.empty())
    return unusable(
        fmt::format("no clip of {} frames, {} apart, in {} films, the longest of which has {} frames",
                    options.length, options.stride, films.size(), longest),
        "take a shorter sequence_length or stride, or fill clips up: pad_mode=\"constant\" (of "
        "readers.video: pad_sequences=True)");
  return std::make_unique<VideoClips>(std::move(films), std::move(places), options);
}

}  // namespace galatea::native
