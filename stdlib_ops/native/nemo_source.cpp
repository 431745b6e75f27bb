#include "stdlib_ops/native/nemo_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/memory_gate.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/paths.h"
#include "stdlib_ops/native/sound/sound_file.h"

namespace galatea::native {
namespace {

/// Of a line that names no recording: nothing.
std::optional<Utterance> parse_line(std::string_view line) {
  const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
  if (!entry.is_object()) return std::nullopt;
  const auto find = [&](const char* key) { return entry.contains(key) ? entry[key] : nlohmann::json(); };
  Utterance utterance;
  if (const auto path = find("audio_filepath"); path.is_string()) utterance.path = path.get<std::string>();
  if (utterance.path.empty()) return std::nullopt;
  if (const auto offset = find("offset"); offset.is_number()) utterance.offset = offset.get<double>();
  if (const auto duration = find("duration"); duration.is_number())
    utterance.duration = duration.get<double>();
  if (const auto text = find("text"); text.is_string()) utterance.text = text.get<std::string>();
  return utterance;
}

class NemoSource final : public runtime::SampleSource {
 public:
  NemoSource(std::vector<Utterance> utterances, const nlohmann::json& config)
      : utterances_(std::move(utterances)),
        ports_(nemo_ports(config)),
        downmix_(config.value("downmix", true)) {}

  int64_t size() const override { return static_cast<int64_t>(utterances_.size()); }
  std::string describe(int64_t index) const override { return at(index).path; }
  void will_read(int64_t index) const override { will_open(at(index).path); }

  Status read(int64_t index, const AllocateOutput& allocate) const override {
    const Utterance& utterance = at(index);
    GALATEA_ASSIGN(std::shared_ptr<const ByteSource> bytes, open_file(utterance.path));
    GALATEA_ASSIGN(const auto file, SoundFile::open(std::move(bytes)));
    for (size_t k = 0; k < ports_.size(); ++k) {
      const auto output = static_cast<int>(k);
      const std::string& name = ports_[k].name;
      if (name == "audio") {
        GALATEA_TRY(read_sound(*file, utterance, allocate));
      } else if (name == "sample_rate") {
        GALATEA_ASSIGN(runtime::Tensor * rate, allocate(output, DType::kF32, {}));
        *reinterpret_cast<float*>(rate->data) = static_cast<float>(file->rate());
      } else if (name == "text") {
        const auto size = static_cast<int64_t>(utterance.text.size());
        GALATEA_ASSIGN(runtime::Tensor * text, allocate(output, DType::kU8, {size}));
        if (size > 0) std::memcpy(text->data, utterance.text.data(), utterance.text.size());
      } else {
        GALATEA_ASSIGN(runtime::Tensor * place, allocate(output, DType::kI64, {1}));
        *reinterpret_cast<int64_t*>(place->data) = utterance.index;
      }
    }
    return {};
  }

 private:
  const Utterance& at(int64_t index) const { return utterances_[static_cast<size_t>(index)]; }

  Status read_sound(SoundFile& file, const Utterance& utterance, const AllocateOutput& allocate) const {
    const FrameRange range = frames_of(utterance, file.frames(), file.rate());
    if (utterance.offset * static_cast<double>(file.rate()) > static_cast<double>(file.frames()))
      return sound_error(fmt::format("{} has {} frames at {} Hz, and the manifest's offset is {} s",
                                     utterance.path, file.frames(), file.rate(), utterance.offset),
                         "correct the manifest; on_error=\"skip\" goes on without the line");
    std::vector<int64_t> extents = {range.end - range.begin};
    if (!downmix_) extents.push_back(file.channels());
    GALATEA_ASSIGN(runtime::Tensor * sound, allocate(0, ports_[0].dtype(), extents));
    return downmix_ ? file.read_mono(range.begin, range.end, sound->dtype, sound->data)
                    : file.read(range.begin, range.end, sound->dtype, sound->data);
  }

  std::vector<Utterance> utterances_;
  std::vector<Port> ports_;
  bool downmix_;
};

}  // namespace

FrameRange frames_of(const Utterance& utterance, int64_t frames, int64_t rate) {
  const auto to_frames = [&](double seconds) {
    return static_cast<int64_t>(
        std::clamp(seconds * static_cast<double>(rate), 0.0, static_cast<double>(frames)));
  };
  const int64_t begin = to_frames(utterance.offset);
  if (utterance.duration < 0) return {begin, frames};
  return {begin, std::min(frames, begin + to_frames(utterance.duration))};
}

std::vector<Utterance> parse_manifest(std::string_view text, double least, double most) {
  std::vector<Utterance> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::optional<Utterance> utterance = parse_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!utterance || (least > 0 && utterance->duration < least) || (most > 0 && utterance->duration > most))
      continue;
    utterance->index = static_cast<int64_t>(out.size());
    out.push_back(std::move(*utterance));
  }
  return out;
}

std::vector<Port> nemo_ports(const nlohmann::json& config) {
  const auto dtype = dtype_from_short_name(config.value("dtype", std::string("f32")));
  std::vector<Port> ports = {{.name = "audio",
                              .documentation = "the recording, or its part",
                              .dtypes = {dtype.value_or(DType::kF32)},
                              .ndim = config.value("downmix", true) ? 1 : 2}};
  if (config.value("read_sample_rate", true))
    ports.push_back(
        {.name = "sample_rate", .documentation = "of the file, in Hz", .dtypes = {DType::kF32}, .ndim = 0});
  if (config.value("read_text", true))
    ports.push_back({.name = "text", .documentation = "in UTF-8", .dtypes = {DType::kU8}, .ndim = 1});
  if (config.value("read_idxs", false))
    ports.push_back({.name = "index",
                     .documentation = "of the line among those of its manifest",
                     .dtypes = {DType::kI64},
                     .ndim = 1,
                     .extents = {Extent(1)}});
  return ports;
}

namespace {

/// Relative names are as DALI takes them, from the working directory; where the first is not there but beside the
/// manifest, as NeMo has it, all of them are.
void find_recordings(std::vector<Utterance>& utterances, const std::string& manifest) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto is_relative = [](const Utterance& utterance) {
    return !utterance.path.starts_with('/') && !utterance.path.contains("://");
  };
  const auto first = std::ranges::find_if(utterances, is_relative);
  const fs::path folder = fs::path(manifest).parent_path();
  if (first == utterances.end() || fs::exists(first->path, ignored) ||
      !fs::exists(folder / first->path, ignored))
    return;
  for (Utterance& utterance : utterances)
    if (is_relative(utterance)) utterance.path = (folder / utterance.path).string();
}

}  // namespace

Result<std::unique_ptr<runtime::SampleSource>> open_nemo(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_ASSIGN(const std::vector<std::string> paths, paths_of(json, "manifest_filepaths"));
  // DALI has these in f32, and compares durations in f64.
  const double least = json.value("min_duration", 0.0F), most = json.value("max_duration", 0.0F);
  std::vector<Utterance> utterances;
  for (const std::string& path : paths) {
    GALATEA_ASSIGN(const std::string text, text_of(path, "manifest", size_t{1} << 32));
    std::vector<Utterance> more = parse_manifest(text, least, most);
    find_recordings(more, path);
    std::ranges::move(more, std::back_inserter(utterances));
  }
  if (utterances.empty())
    return unusable(
        fmt::format("no recordings in {}", fmt::join(paths, ", ")),
        "a manifest has an object of JSON a line with audio_filepath; min_duration and max_duration "
        "may leave none");
  return std::make_unique<NemoSource>(std::move(utterances), json);
}

}  // namespace galatea::native
