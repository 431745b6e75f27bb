#include "stdlib_ops/native/webdataset.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/dtype.h"
#include "base/json.h"
#include "runtime/memory_gate.h"
#include "stdlib_ops/native/container_stream.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/paths.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {
namespace {

/// Where the extension of a member's name begins: behind the first point after the last slash.
size_t extension_begin(std::string_view name) {
  const size_t slash = name.rfind('/');
  const size_t point = name.find('.', slash == std::string_view::npos ? 0 : slash + 1);
  return point == std::string_view::npos ? name.size() : point + 1;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// What an index consists of: words between white space, on lines that count.
class IndexReader {
 public:
  IndexReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  bool next_line() {
    if (rest_.empty()) return false;
    line_ = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line_.size() + 1, rest_.size()));
    ++number_;
    return true;
  }
  /// Empty at the end of the line.
  std::string_view word() {
    line_.remove_prefix(std::min(line_.find_first_not_of(" \t\r"), line_.size()));
    const std::string_view found = line_.substr(0, line_.find_first_of(" \t\r"));
    line_.remove_prefix(found.size());
    return found;
  }
  std::optional<int64_t> number() {
    const std::string_view text = word();
    int64_t value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
  }
  std::unexpected<Error> error(const std::string& what) const {
    return unusable(fmt::format("{}:{}: {}", name_, number_, what),
                    "make the index again, or leave index_paths out: the archive is then looked through");
  }

 private:
  std::string_view rest_, line_;
  const std::string& name_;
  size_t number_ = 0;
};

/// Members of an archive lie one behind the other, so components of an index that share bytes are a mistake.
Status check_shared_bytes(std::span<const TarSample> samples, const std::string& index) {
  std::vector<RecordPlace> places;
  std::vector<std::pair<size_t, const TarPart*>> parts;  // the sample of each place, its part
  for (size_t n = 0; n < samples.size(); ++n)
    for (const TarPart& part : samples[n].parts) {
      places.push_back({part.offset, part.size});
      parts.emplace_back(n, &part);
    }
  const auto shared = shared_bytes(places);
  if (!shared) return {};
  const auto& [sample, part] = parts[shared->second];
  const auto& [sample_before, before] = parts[shared->first];
  return unusable(
      fmt::format("the index {} has \"{}\" of sample {} at {}, within \"{}\" of sample {}: {} bytes at {}",
                  index, part->extension, sample, part->offset, before->extension, sample_before,
                  before->size, before->offset),
      "make the index again, or leave index_paths out: the archive is then looked through");
}

enum class Missing : uint8_t { kEmpty, kSkip, kError };

/// An output: which extensions it takes, and what its elements are.
struct Output {
  std::vector<std::string> extensions;
  DType dtype = DType::kU8;
};

/// A component that was chosen: of no bytes where the sample lacks it.
struct Part {
  int64_t offset = 0, size = 0;
};
/// What outputs take of a sample.
struct ChosenSample {
  int64_t offset = 0;  ///< of its first part
  std::string name;    ///< of its first part
  std::vector<Part> parts;
};

/// What a reader wants of samples: the arguments, without the archives.
class Components {
 public:
  explicit Components(const nlohmann::json& config) {
    case_sensitive_ = config.value("case_sensitive_extensions", true);
    for (const std::string& entry : texts_of(config, "ext")) {
      Output output;
      for (size_t at = 0; at <= entry.size();) {
        const size_t end = std::min(entry.find(';', at), entry.size());
        const std::string extension = entry.substr(at, end - at);
        output.extensions.push_back(case_sensitive_ ? extension : lower(extension));
        at = end + 1;
      }
      outputs_.push_back(std::move(output));
    }
    const std::vector<std::string> dtypes = texts_of(config, "dtypes");
    for (size_t k = 0; k < dtypes.size(); ++k) outputs_[k].dtype = *dtype_from_short_name(dtypes[k]);
    const std::string behavior = lower(config.value("missing_component_behavior", ""));
    missing_ = behavior == "skip" ? Missing::kSkip : behavior == "error" ? Missing::kError : Missing::kEmpty;
  }

  size_t size() const { return outputs_.size(); }

  /// The parts of a sample that outputs take: the first that fits each. None where the sample is left out.
  Result<std::optional<ChosenSample>> choose(const TarSample& sample, const std::string& archive) const {
    ChosenSample chosen;
    chosen.parts.resize(outputs_.size());
    std::vector<bool> found(outputs_.size());
    const TarPart* first = nullptr;
    for (const TarPart& part : sample.parts) {
      const std::string extension = case_sensitive_ ? part.extension : lower(part.extension);
      for (size_t k = 0; k < outputs_.size(); ++k) {
        if (found[k] || std::ranges::find(outputs_[k].extensions, extension) == outputs_[k].extensions.end())
          continue;
        chosen.parts[k] = {part.offset, part.size};
        found[k] = true;
        if (!first) first = &part;
      }
    }
    if (sample.parts.empty()) return std::nullopt;
    const TarPart& named = first ? *first : sample.parts.front();
    chosen.offset = named.offset;
    chosen.name = named.name;
    if (std::ranges::find(found, false) != found.end()) {
      if (missing_ == Missing::kSkip) return std::nullopt;
      if (missing_ == Missing::kError)
        return unusable(fmt::format("{}: the sample of {} at byte {} has no component for every output",
                                    archive, named.name, named.offset),
                        "missing_component_behavior=\"empty\" gives empty tensors for what is missing, "
                        "\"skip\" leaves the sample out");
    }
    return chosen;
  }

  /// `name` is the sample's, for messages.
  Status read(const ByteSource& archive, std::span<const Part> parts, const std::string& name,
              const runtime::AllocateOutput& allocate) const {
    std::vector<BytesPart> wanted;
    wanted.reserve(parts.size());
    int output = 0;
    for (const Part& part : parts) {
      const DType dtype = outputs_[static_cast<size_t>(output)].dtype;
      const auto element = static_cast<int64_t>(size_of(dtype));
      if (part.size % element != 0)
        return make_error(
            ErrorKind::kUser, "G0802",
            fmt::format("{}: the component of output {} has {} bytes, which are no whole number "
                        "of {}",
                        name, output, part.size, short_name(dtype)),
            "give dtypes what the components hold; on_error=\"skip\" goes on without the sample");
      GALATEA_ASSIGN(runtime::Tensor * out, allocate(output, dtype, {part.size / element}));
      if (part.size > 0) wanted.push_back({part.offset, {out->data, static_cast<size_t>(part.size)}});
      ++output;
    }
    std::ranges::sort(wanted, {}, &BytesPart::offset);
    return archive.read_parts(wanted);
  }

 private:
  std::vector<Output> outputs_;
  Missing missing_ = Missing::kEmpty;
  bool case_sensitive_ = true;
};

/// "train.tar:1024:000/cat.jpg", as DALI names it.
std::string name_of_sample(const ByteSource& archive, int64_t offset, const std::string& name) {
  return fmt::format("{}:{}:{}", archive.name(), offset, name);
}

int64_t claimed_by(std::span<const Part> parts) {
  int64_t sum = 0;
  for (const Part& part : parts) sum += runtime::claimed_bytes(part.size);
  return sum;
}

void will_read_parts(const ByteSource& archive, std::span<const Part> parts) {
  for (const Part& part : parts)
    if (part.size > 0) archive.will_read(part.offset, part.size);
}

class WebDatasetSource final : public runtime::SampleSource {
 public:
  explicit WebDatasetSource(Components components) : components_(std::move(components)) {}

  Status add(const std::string& path, const std::string* index) {
    GALATEA_ASSIGN(std::shared_ptr<const ByteSource> archive, open_file(path));
    std::vector<TarSample> samples;
    if (index) {
      GALATEA_ASSIGN(const std::string text, text_of(*index, "index"));
      GALATEA_ASSIGN(samples, parse_webdataset_index(text, far::shown(*index), archive->size()));
    } else {
      GALATEA_ASSIGN(samples, scan_webdataset(*archive));
    }
    archives_.push_back(std::move(archive));
    for (const TarSample& sample : samples) {
      GALATEA_ASSIGN(std::optional<ChosenSample> chosen,
                     components_.choose(sample, archives_.back()->name()));
      if (!chosen) continue;
      samples_.push_back(
          {static_cast<uint32_t>(archives_.size() - 1), chosen->offset, std::move(chosen->name)});
      parts_.insert(parts_.end(), chosen->parts.begin(), chosen->parts.end());
    }
    return {};
  }

  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  std::string describe(int64_t index) const override {
    return name_of_sample(archive_of(index), at(index).offset, at(index).name);
  }
  int64_t bytes(int64_t index) const override { return claimed_by(parts_of(index)); }
  void will_read(int64_t index) const override { will_read_parts(archive_of(index), parts_of(index)); }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    return components_.read(archive_of(index), parts_of(index), describe(index), allocate);
  }

 private:
  struct Sample {
    uint32_t archive = 0;
    int64_t offset = 0;  ///< of its first part
    std::string name;    ///< of its first part
  };

  const Sample& at(int64_t index) const { return samples_[static_cast<size_t>(index)]; }
  const ByteSource& archive_of(int64_t index) const { return *archives_[at(index).archive]; }
  std::span<const Part> parts_of(int64_t index) const {
    const size_t count = components_.size();
    return std::span(parts_).subspan(static_cast<size_t>(index) * count, count);
  }

  Components components_;
  std::vector<std::shared_ptr<const ByteSource>> archives_;
  std::vector<Sample> samples_;
  std::vector<Part> parts_;  ///< one an output, for sample after sample
};

/// A sample of a stream: nothing but its places.
class StreamedSample final : public IndexedSample {
 public:
  StreamedSample(int64_t index, std::shared_ptr<const ByteSource> archive, ChosenSample chosen,
                 std::shared_ptr<const Components> components)
      : IndexedSample(index),
        archive_(std::move(archive)),
        chosen_(std::move(chosen)),
        components_(std::move(components)) {}
  std::string describe() const override { return name_of_sample(*archive_, chosen_.offset, chosen_.name); }
  int64_t bytes() const override { return claimed_by(chosen_.parts); }
  Status read(const runtime::AllocateOutput& allocate) const override {
    return components_->read(*archive_, chosen_.parts, describe(), allocate);
  }

 private:
  std::shared_ptr<const ByteSource> archive_;
  ChosenSample chosen_;
  std::shared_ptr<const Components> components_;
};

class ArchivePass final : public ContainerPass {
 public:
  ArchivePass(std::shared_ptr<const ByteSource> archive, std::shared_ptr<const Components> components)
      : archive_(std::move(archive)), components_(std::move(components)), scanner_(*archive_) {}
  Result<std::shared_ptr<const runtime::StreamSample>> next(int64_t index) override {
    for (;;) {
      GALATEA_ASSIGN(const std::optional<TarSample> sample, scanner_.next());
      if (!sample) return nullptr;
      GALATEA_ASSIGN(std::optional<ChosenSample> chosen, components_->choose(*sample, archive_->name()));
      if (!chosen) continue;
      will_read_parts(*archive_, chosen->parts);
      return std::make_shared<StreamedSample>(index, archive_, std::move(*chosen), components_);
    }
  }

 private:
  std::shared_ptr<const ByteSource> archive_;
  std::shared_ptr<const Components> components_;
  WebDatasetScanner scanner_;
};

}  // namespace

std::string_view webdataset_base(std::string_view name) {
  const size_t begin = extension_begin(name);
  return begin == name.size() && !name.ends_with('.') ? name : name.substr(0, begin - 1);
}

Result<std::optional<TarSample>> WebDatasetScanner::next() {
  std::optional<TarSample> whole;
  for (;;) {
    if (damage_) return std::unexpected(*damage_);
    auto member = reader_.next();
    if (!member) damage_ = std::move(member.error());
    if (!member && begun_) return std::exchange(begun_, std::nullopt);
    if (!member) continue;
    if (!*member) return std::exchange(begun_, std::nullopt);
    const std::string_view base = webdataset_base((*member)->name);
    if (base.empty()) continue;
    if (begun_ && webdataset_base(begun_->parts.front().name) != base) whole = std::move(begun_);
    if (whole || !begun_) begun_.emplace();
    begun_->parts.push_back({.extension = (*member)->name.substr(extension_begin((*member)->name)),
                             .name = (*member)->name,
                             .offset = (*member)->offset,
                             .size = (*member)->size});
    if (whole) return whole;
  }
}

Result<std::vector<TarSample>> scan_webdataset(const ByteSource& archive) {
  std::vector<TarSample> samples;
  for (WebDatasetScanner scanner(archive);;) {
    GALATEA_ASSIGN(std::optional<TarSample> sample, scanner.next());
    if (!sample) return samples;
    samples.push_back(std::move(*sample));
  }
}

Result<std::vector<TarSample>> parse_webdataset_index(std::string_view text, const std::string& name,
                                                      int64_t archive_size) {
  IndexReader reader(text, name);
  if (!reader.next_line()) return unusable(fmt::format("the index {} is empty", name), "make it again");
  const std::string_view version = reader.word();
  if (version != "v1.1" && version != "v1.2")
    return reader.error(fmt::format("expected \"v1.2\" or \"v1.1\", found \"{}\"", version));
  const auto count = reader.number();
  if (!count || *count == 0) return reader.error("expected the number of samples");
  std::vector<TarSample> samples;
  while (reader.next_line()) {
    TarSample sample;
    for (std::string_view extension = reader.word(); !extension.empty(); extension = reader.word()) {
      TarPart part;
      part.extension = extension;
      const auto offset = reader.number(), size = offset ? reader.number() : std::nullopt;
      if (version == "v1.2") part.name = reader.word();
      if (!size || (version == "v1.2" && part.name.empty()))
        return reader.error(fmt::format("expected offset, size{} of \"{}\"",
                                        version == "v1.2" ? " and name" : "", extension));
      if (*offset % 512 != 0)
        return reader.error(fmt::format("the offset {} is no multiple of 512", *offset));
      if (*size > archive_size || *offset > archive_size - *size)
        return reader.error(fmt::format("\"{}\" would lie at {} and have {} bytes, but the archive has {}",
                                        extension, *offset, *size, archive_size));
      part.offset = *offset;
      part.size = *size;
      sample.parts.push_back(std::move(part));
    }
    if (sample.parts.empty()) return reader.error("a sample without components");
    samples.push_back(std::move(sample));
  }
  if (static_cast<int64_t>(samples.size()) != *count)
    return unusable(
        fmt::format("the index {} says that it has {} samples, and has {}", name, *count, samples.size()),
        "make the index again");
  GALATEA_TRY(check_shared_bytes(samples, name));
  return samples;
}

Result<std::unique_ptr<runtime::SampleSource>> open_webdataset(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_ASSIGN(std::vector<std::string> paths, paths_of(json, "paths"));
  if (json.value("stream", false)) {
    auto components = std::make_shared<const Components>(json);
    return stream_of_containers(std::move(paths), container_stream_options(json),
                                [components](std::shared_ptr<const ByteSource> archive) {
                                  return std::make_unique<ArchivePass>(std::move(archive), components);
                                });
  }
  GALATEA_ASSIGN(const std::vector<std::string> indices, paths_of(json, "index_paths"));
  if (!indices.empty() && indices.size() != paths.size())
    return unusable(
        fmt::format("readers.webdataset has {} archives and {} indices", paths.size(), indices.size()),
        "give one index for each archive, in the same order, or none");
  will_open_containers(paths, indices);
  auto source = std::make_unique<WebDatasetSource>(Components(json));
  for (size_t i = 0; i < paths.size(); ++i)
    GALATEA_TRY(source->add(paths[i], indices.empty() ? nullptr : &indices[i]));
  if (source->size() == 0)
    return unusable(fmt::format("no samples in {}", shown_paths(paths)),
                    "name archives that hold samples with these extensions");
  return source;
}

}  // namespace galatea::native
