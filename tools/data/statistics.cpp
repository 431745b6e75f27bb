#include "tools/data/statistics.h"

#include <algorithm>

#include <fmt/core.h>

#include "tools/data/data_tools.h"
#include "tools/save.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kThumbnail = 128;  ///< pixels of its longer side

/// A number for a position that looks like chance, the same in every run (splitmix64, Steele et al. 2014).
uint64_t spread(uint64_t position) {
  uint64_t z = position + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

/// The mean of the pixels that fall into each of a smaller picture.
Pixels shrunk(const std::vector<uint8_t>& pixels, int64_t height, int64_t width) {
  const double scale =
      std::max(1.0, static_cast<double>(std::max(height, width)) / static_cast<double>(kThumbnail));
  const auto rows = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(height) / scale));
  const auto columns = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(width) / scale));
  Pixels out{static_cast<int>(columns), static_cast<int>(rows), 3, {}};
  out.bytes.reserve(static_cast<size_t>(rows * columns * 3));
  for (int64_t y = 0; y < rows; ++y) {
    const int64_t y0 = y * height / rows, y1 = std::max(y0 + 1, (y + 1) * height / rows);
    for (int64_t x = 0; x < columns; ++x) {
      const int64_t x0 = x * width / columns, x1 = std::max(x0 + 1, (x + 1) * width / columns);
      int64_t sums[3] = {};
      for (int64_t v = y0; v < y1; ++v)
        for (int64_t u = x0; u < x1; ++u)
          for (int64_t c = 0; c < 3; ++c) sums[c] += pixels[static_cast<size_t>((v * width + u) * 3 + c)];
      const int64_t area = (y1 - y0) * (x1 - x0);
      for (const int64_t sum : sums) out.bytes.push_back(static_cast<uint8_t>((sum + area / 2) / area));
    }
  }
  return out;
}

Result<std::vector<uint8_t>> thumbnail_of(native::Bytes bytes, DataScratch& scratch) {
  GALATEA_ASSIGN(const native::ImageHeader header, native::read_header(bytes));
  native::DecodeOptions options;
  const bool turned = native::swaps_axes(header.orientation);
  int64_t height = turned ? header.width : header.height, width = turned ? header.height : header.width;
  // A large JPEG is decoded at a smaller size, which costs less of everything.
  const int least = native::least_eighths(header, header.orientation);
  while (options.eighths > least && std::max(height, width) * options.eighths / 16 >= 2 * kThumbnail)
    options.eighths /= 2;
  auto scaled = [&](int64_t extent) { return (extent * options.eighths + 7) / 8; };
  height = scaled(height);
  width = scaled(width);
  std::vector<uint8_t> pixels(static_cast<size_t>(height * width * 3));
  GALATEA_TRY(native::decode_window(bytes, header, {0, 0, height, width}, options, scratch, pixels.data()));
  return to_jpg(shrunk(pixels, height, width), 80);
}

class Gatherer {
 public:
  Gatherer(DataStatistics& found, size_t thumbnails) : found_(found), most_thumbnails_(thumbnails) {}

  void add(const native::DataSample& sample, const native::DataPlace& place) {
    ++found_.samples;
    add_label(sample);
    for (const native::DataPart& part : sample.parts) {
      if (found_.parts.size() < DataStatistics::kMostKept || found_.parts.contains(part.extension))
        found_.parts[part.extension].add(static_cast<int64_t>(part.bytes.size()));
      bool was_looked_at = false;
      if (native::detect_format(part.bytes) != native::ImageFormat::kUnknown) {
        if (const Status status = add_picture(part.bytes); !status)
          broken(place, sample.name, status.error());
      } else if (const Status status = check_part(part, scratch_, was_looked_at); !status) {
        broken(place, sample.name, status.error());
      }
    }
    choose(sample);
  }

  void broken(const native::DataPlace& place, const std::string& name, const Error& error) {
    if (++found_.broken_count <= static_cast<int64_t>(DataStatistics::kMostKept))
      found_.broken.push_back({place, name, error.message()});
  }

  void finish() {
    for (auto& [position, chosen] : by_position()) found_.thumbnails.push_back(std::move(chosen));
  }

 private:
  void add_label(const native::DataSample& sample) {
    found_.unlabelled += sample.labels.empty() ? 1 : 0;
    for (const double label : sample.labels) {
      if (found_.labels.size() >= DataStatistics::kMostKept && !found_.labels.contains(label)) {
        ++found_.other_labels;
        continue;
      }
      if (++found_.labels[label] == 1 && sample.labels.size() == 1)
        found_.label_names[label] = native::folder_of(sample.name);
    }
  }

  Status add_picture(native::Bytes bytes) {
    GALATEA_ASSIGN(const native::ImageHeader header, native::read_header(bytes));
    ++found_.pictures[std::string(native::format_name(header.format))];
    ++found_.channels[header.channels];
    const bool turned = native::swaps_axes(header.orientation);
    found_.height.add(turned ? header.width : header.height);
    found_.width.add(turned ? header.height : header.width);
    return {};
  }

  /// Keeps the samples whose numbers are the least: every sample has the same chance.
  void choose(const native::DataSample& sample) {
    const auto position = static_cast<uint64_t>(found_.samples);
    const uint64_t number = spread(position);
    if (most_thumbnails_ == 0 || (chosen_.size() == most_thumbnails_ && chosen_.rbegin()->first < number))
      return;
    const std::optional<size_t> main = native::main_part(sample);
    if (!main) return;
    auto jpg = thumbnail_of(sample.parts[*main].bytes, scratch_);
    if (!jpg) return;  // what is broken is said by verify
    const auto header = native::read_header(sample.parts[*main].bytes);
    std::string words = header ? fmt::format("{} x {}", header->width, header->height) : std::string();
    for (const double label : sample.labels) words += fmt::format(", {}", label);
    chosen_[number] = {position, {sample.name, std::move(words), std::move(*jpg)}};
    if (chosen_.size() > most_thumbnails_) chosen_.erase(std::prev(chosen_.end()));
  }

  std::map<uint64_t, Thumbnail> by_position() {
    std::map<uint64_t, Thumbnail> sorted;
    for (auto& [number, chosen] : chosen_) sorted[chosen.first] = std::move(chosen.second);
    return sorted;
  }

  DataStatistics& found_;
  size_t most_thumbnails_;
  DataScratch scratch_;
  std::map<uint64_t, std::pair<uint64_t, Thumbnail>> chosen_;
};

Json range_json(const Range& range) {
  return {{"count", range.count}, {"least", range.least}, {"most", range.most}, {"mean", range.mean()}};
}

}  // namespace

void Range::add(int64_t value) {
  least = count == 0 ? value : std::min(least, value);
  most = count == 0 ? value : std::max(most, value);
  ++count;
  sum += static_cast<double>(value);
}

DataStatistics gather_data_statistics(native::DataSet& data, size_t thumbnails,
                                      const std::function<bool(int64_t samples)>& progress) {
  DataStatistics found;
  found.format = native::name_of(data.source().format);
  found.containers = static_cast<int64_t>(data.source().paths.size());
  for (const int64_t size : data.source().sizes) found.container_bytes += size;
  Gatherer gatherer(found, thumbnails);
  native::DataSample sample;
  for (;;) {
    if (!progress(found.samples)) {
      found.is_complete = false;
      break;
    }
    const Result<bool> more = data.next();
    if (!more) {
      gatherer.broken({}, "", more.error());
      continue;
    }
    if (!*more) break;
    if (const Status status = data.read(sample)) {
      gatherer.add(sample, data.place());
    } else {
      ++found.samples;
      gatherer.broken(data.place(), "", status.error());
    }
  }
  gatherer.finish();
  found.passed_over = data.passed_over();
  return found;
}

std::string statistics_text(const DataStatistics& found) {
  std::string text = fmt::format("{} in {} {} of form {}{}\n", samples_text(found.samples), found.containers,
                                 found.containers == 1 ? "container" : "containers", found.format,
                                 found.is_complete ? "" : " (interrupted: a part of it)");
  int64_t bytes = 0;
  for (const auto& [extension, range] : found.parts) bytes += static_cast<int64_t>(range.sum);
  text +=
      fmt::format("{} of content{}\n", bytes_text(bytes),
                  found.container_bytes > 0 ? fmt::format(" in {}", bytes_text(found.container_bytes)) : "");
  text += "\nparts\n";
  for (const auto& [extension, range] : found.parts)
    text += fmt::format("  {:<16}  {:>9}  {} to {}, {} on average\n", printable(extension), range.count,
                        bytes_text(range.least), bytes_text(range.most),
                        bytes_text(static_cast<int64_t>(range.mean())));
  if (found.height.count > 0) {
    text += "\npictures\n";
    for (const auto& [format, count] : found.pictures)
      text += fmt::format("  {:<16}  {:>9}\n", format, count);
    for (const auto& [channels, count] : found.channels)
      text += fmt::format("  {:<16}  {:>9}\n",
                          fmt::format("{} channel{}", channels, channels == 1 ? "" : "s"), count);
    text += fmt::format("  height {} to {}, {:.0f} on average; width {} to {}, {:.0f} on average\n",
                        found.height.least, found.height.most, found.height.mean(), found.width.least,
                        found.width.most, found.width.mean());
  }
  if (!found.labels.empty()) {
    text += fmt::format("\nlabels: {}{}\n", found.labels.size(), found.other_labels > 0 ? " and more" : "");
    constexpr size_t kMostLines = 40;
    const int64_t most =
        std::ranges::max_element(found.labels, {}, [](const auto& l) { return l.second; })->second;
    size_t lines = 0;
    for (const auto& [label, count] : found.labels) {
      if (lines++ == kMostLines) {
        text += fmt::format("  … and {} more: --json has {}\n", found.labels.size() - kMostLines,
                            found.other_labels > 0 ? "ten thousand of them" : "all");
        break;
      }
      const auto name = found.label_names.find(label);
      const auto bar = static_cast<size_t>(30 * count / std::max<int64_t>(1, most));
      text += fmt::format("  {:>8}  {:<20}  {:>9}  {}\n", label,
                          name == found.label_names.end() ? "" : printable(name->second), count,
                          std::string(bar, '='));
    }
  }
  if (found.unlabelled > 0) text += fmt::format("\n{} without a label\n", samples_text(found.unlabelled));
  if (!found.passed_over.empty()) text += "\n" + passed_over_text(found.passed_over);
  text += fmt::format("\nbroken: {}\n", found.broken_count);
  constexpr size_t kMostBroken = 20;
  for (size_t k = 0; k < std::min(found.broken.size(), kMostBroken); ++k) {
    const BrokenSample& broken = found.broken[k];
    const bool is_named =
        broken.place.file.empty() || broken.message.find(broken.place.file) != std::string::npos;
    text += fmt::format(
        "  {}\n", printable(is_named ? broken.message
                                     : fmt::format("{}: {}", place_text(broken.place), broken.message)));
  }
  if (found.broken.size() > kMostBroken) text += "  … `galatea data verify` lists all\n";
  return text;
}

nlohmann::ordered_json data_statistics_json(const DataStatistics& found) {
  Json parts = Json::object(), pictures = Json::object(), channels = Json::object(), labels = Json::array(),
       broken = Json::array();
  for (const auto& [extension, range] : found.parts) parts[extension] = range_json(range);
  for (const auto& [format, count] : found.pictures) pictures[format] = count;
  for (const auto& [number, count] : found.channels) channels[std::to_string(number)] = count;
  for (const auto& [label, count] : found.labels) {
    Json entry = {{"label", label}, {"name", nullptr}, {"samples", count}};
    if (const auto name = found.label_names.find(label);
        name != found.label_names.end() && !name->second.empty())
      entry["name"] = name->second;
    labels.push_back(std::move(entry));
  }
  for (const BrokenSample& each : found.broken)
    broken.push_back({{"file", each.place.file},
                      {"offset", each.place.offset},
                      {"sample", each.name},
                      {"message", each.message}});
  return {{"format", found.format},
          {"containers", found.containers},
          {"container_bytes", found.container_bytes},
          {"samples", found.samples},
          {"complete", found.is_complete},
          {"parts", std::move(parts)},
          {"pictures", std::move(pictures)},
          {"channels", std::move(channels)},
          {"height", range_json(found.height)},
          {"width", range_json(found.width)},
          {"labels", std::move(labels)},
          {"other_labels", found.other_labels},
          {"unlabelled", found.unlabelled},
          {"passed_over", found.passed_over},
          {"broken_count", found.broken_count},
          {"broken", std::move(broken)}};
}

}  // namespace galatea::tools
