#include "stdlib_ops/native/record_source.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/fault.h"
#include "runtime/memory_gate.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/protobuf.h"

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

/// Memory of small records between two of them. One of a thread's own would end the process where there is no
/// memory to note that the thread's end has something to free: glibc stops there.
class IdleScratch {
 public:
  /// Never destroyed: threads may outlive what is static.
  static IdleScratch& of_process() {
    static IdleScratch* const kIdle = new IdleScratch;
    return *kIdle;
  }
  RecordScratch take(size_t size) {
    if (size > kKeptScratch) return RecordScratch(new uint8_t[size], {.is_kept = false});
    {
      const std::lock_guard lock(mutex_);
      if (count_ > 0) return RecordScratch(memory_[--count_].release(), {.is_kept = true});
    }
    return RecordScratch(new uint8_t[kKeptScratch], {.is_kept = true});
  }
  void give(std::unique_ptr<uint8_t[]> memory) {
    const std::lock_guard lock(mutex_);
    if (count_ < memory_.size()) memory_[count_++] = std::move(memory);
  }

 private:
  std::mutex mutex_;
  std::array<std::unique_ptr<uint8_t[]>, 32> memory_;
  size_t count_ = 0;
};

/// Goes through a message in a file, and over its texts.
class TextFinder {
 public:
  explicit TextFinder(const ByteSource& file) : file_(file), window_(kWindow) {}
  std::vector<RecordPlace> found;

  /// False where it is no whole message.
  bool walk(int64_t at, int64_t end, std::span<const uint32_t> path) {
    using Wire = ProtobufReader::Wire;
    while (at < end) {
      const auto key = varint(at);
      if (!key || !ProtobufReader::is_key(*key)) return false;
      std::optional<uint64_t> size = 0;
      const auto wire = static_cast<Wire>(*key & 7);
      if (wire == Wire::kVarint || wire == Wire::kBytes) size = varint(at);
      if (!size) return false;
      if (wire == Wire::kVarint) continue;
      if (wire != Wire::kBytes) size = wire == Wire::kFixed64 ? 8 : wire == Wire::kFixed32 ? 4 : ~uint64_t{0};
      if (at > end || *size > static_cast<uint64_t>(end - at)) return false;
      const auto bytes = static_cast<int64_t>(*size);
      if (wire == Wire::kBytes && *size >= kLargeText && *key >> 3 == path.front()) {
        if (path.size() == 1) found.push_back({at, bytes});
        if (path.size() > 1 && !walk(at, at + bytes, path.subspan(1))) return false;
      }
      at += bytes;
    }
    return at == end;
  }

 private:
  static constexpr int64_t kWindow = int64_t{4} << 10;

  std::optional<uint64_t> varint(int64_t& at) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at < window_at_ || at >= window_end_) {
        window_at_ = at;
        window_end_ = std::min(at + kWindow, file_.size());
        if (window_end_ <= at) return std::nullopt;
        const auto size = static_cast<size_t>(window_end_ - at);
        if (!file_.read(at, std::span(window_).first(size))) return std::nullopt;
      }
      const uint8_t byte = window_[static_cast<size_t>(at++ - window_at_)];
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  const ByteSource& file_;
  std::vector<uint8_t> window_;
  int64_t window_at_ = 0, window_end_ = 0;
};

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

void GiveBackScratch::operator()(uint8_t* memory) const {
  std::unique_ptr<uint8_t[]> ended(memory);
  if (is_kept) IdleScratch::of_process().give(std::move(ended));
}

Status RecordBytes::copy(std::span<const uint8_t> part, uint8_t* to) const {
  if (part.empty()) return {};
  const int64_t begin = offset_ + (part.data() - bytes_.data());
  for (const RecordPlace& text : left_out_)
    if (begin >= text.offset && begin < text.offset + text.size) return file_->read(begin, {to, part.size()});
  std::memcpy(to, part.data(), part.size());
  return {};
}

Result<RecordBytes> read_record(const ByteSource& file, const RecordPlace& place,
                                std::vector<RecordPlace> left_out) {
  // A size from an index is checked before memory is taken for it.
  if (place.size > file.size() - place.offset)
    return damaged(file.name(), place.offset,
                   fmt::format("a record of {} bytes begins there, but the file ends after {}", place.size,
                               file.size() - place.offset));
  const auto size = static_cast<size_t>(place.size);
  RecordScratch scratch = IdleScratch::of_process().take(size);
  std::vector<BytesPart> parts;
  int64_t at = place.offset;
  const auto add = [&](int64_t end) {
    parts.push_back({at, {scratch.get() + (at - place.offset), static_cast<size_t>(end - at)}});
  };
  for (const RecordPlace& text : left_out) {
    add(text.offset);
    at = text.offset + text.size;
  }
  add(place.offset + place.size);
  RecordBytes record(std::move(scratch), file, place, std::move(left_out));
  GALATEA_TRY(file.read_parts(parts));
  return record;
}

std::vector<RecordPlace> large_texts(const ByteSource& file, const RecordPlace& message,
                                     std::span<const uint32_t> path) {
  if (message.size < static_cast<int64_t>(kLargeText)) return {};
  TextFinder finder(file);
  const bool is_whole = finder.walk(message.offset, message.offset + message.size, path);
  return is_whole ? std::move(finder.found) : std::vector<RecordPlace>();
}

/// Memory that nobody writes to is none.
int64_t scratch_bytes(const RecordPlace& place, std::span<const RecordPlace> left_out) {
  int64_t bytes = place.size;
  for (const RecordPlace& text : left_out) bytes -= text.size;
  return runtime::claimed_bytes(bytes);
}

void will_open_containers(const std::vector<std::string>& paths, const std::vector<std::string>& indices) {
  for (const std::string& path : paths)
    if (far::is_far(path)) will_open(path);
  for (const std::string& path : indices) will_open(path);
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
