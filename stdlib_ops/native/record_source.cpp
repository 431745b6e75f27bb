#include "stdlib_ops/native/record_source.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/fault.h"
#include "stdlib_ops/native/far/address.h"

namespace galatea::native {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

/// The next whole number of a line, which becomes shorter by it.
std::optional<int64_t> take_number(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  int64_t number = 0;
  const auto end = std::from_chars(line.data(), line.data() + line.size(), number);
  if (end.ec != std::errc() || number < 0) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end.ptr - line.data()));
  return number;
}

}  // namespace

Result<std::vector<RecordPlace>> parse_number_pairs(std::string_view text, const std::string& name) {
  std::vector<RecordPlace> places;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    const auto first = take_number(line), second = first ? take_number(line) : std::nullopt;
    if (!second || line.find_first_not_of(kBlanks) != std::string_view::npos)
      return unusable(fmt::format("{}:{}: expected two whole numbers", name, number),
                      "make the index again from its file, or leave it out");
    places.push_back({*first, *second});
  }
  return places;
}

std::optional<SharedBytes> shared_bytes(std::span<const RecordPlace> places) {
  std::vector<size_t> order;
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i].size > 0) order.push_back(i);
  const auto begins_sooner = [&](size_t a, size_t b) {
    return std::pair(places[a].offset, places[a].size) < std::pair(places[b].offset, places[b].size);
  };
  if (!std::ranges::is_sorted(order, begins_sooner)) std::ranges::sort(order, begins_sooner);
  for (size_t i = 1; i < order.size(); ++i) {
    const RecordPlace &before = places[order[i - 1]], &place = places[order[i]];
    if (place.offset - before.offset < before.size && place != before)
      return SharedBytes{order[i - 1], order[i]};
  }
  return std::nullopt;
}

std::string RecordSource::describe(int64_t index) const {
  const Record& there = record(index);
  return name_of_record(file_of(there), there.place);
}

void RecordSource::will_read(int64_t index) const {
  const Record& there = record(index);
  file_of(there).will_read(there.place.offset, there.place.size);
}

void RecordSource::add(std::shared_ptr<const ByteSource> file, const std::vector<RecordPlace>& places) {
  const auto number = static_cast<uint32_t>(files_.size());
  files_.push_back(std::move(file));
  records_.reserve(records_.size() + places.size());
  for (const RecordPlace& place : places) records_.push_back({number, place});
}

std::string name_of_record(const ByteSource& file, const RecordPlace& place) {
  return fmt::format("{} at index {}", file.name(), place.offset);
}

void RecordBytes::GiveBack::operator()(RecordScratch* scratch) const {
  if (scratch->size > kKeptScratch) *scratch = {};
}

Result<RecordBytes> read_record(const ByteSource& file, const RecordPlace& place) {
  thread_local RecordScratch scratch;
  // A size from an index is checked before memory is taken for it.
  if (place.size > file.size() - place.offset)
    return damaged(file.name(), place.offset,
                   fmt::format("a record of {} bytes begins there, but the file ends after {}", place.size,
                               file.size() - place.offset));
  const auto size = static_cast<size_t>(place.size);
  if (scratch.size < size) {
    scratch = {};  // two at a time would be too many
    scratch = {.memory = std::make_unique_for_overwrite<uint8_t[]>(size), .size = size};
  }
  RecordBytes record(scratch, size);
  GALATEA_TRY(file.read(place.offset, record.mutable_bytes()));
  return record;
}

std::string shown_paths(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) out += fmt::format("{}{}", out.empty() ? "" : ", ", far::shown(path));
  return out;
}

std::vector<std::string> texts_of(const nlohmann::json& config, const char* key) {
  if (!config.contains(key) || config[key].is_null()) return {};
  if (config[key].is_string()) return {config[key].get<std::string>()};
  return config[key].get<std::vector<std::string>>();
}

}  // namespace galatea::native
