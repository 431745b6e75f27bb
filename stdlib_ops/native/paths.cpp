#include "stdlib_ops/native/paths.h"

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {
namespace {

constexpr int kMostBraces = 8;  // pairs in one path
constexpr size_t kMostPaths = 10'000'000;

/// What stands between two braces: its parts, where commas divide it.
struct Braces {
  size_t begin = 0, end = 0;  ///< of the first and behind the last brace
  std::vector<std::string> parts;
};

/// The first pair of braces from `from` on, whatever is within it.
std::optional<Braces> find_braces(std::string_view text, size_t from) {
  for (size_t begin = text.find('{', from); begin != std::string_view::npos;
       begin = text.find('{', begin + 1)) {
    Braces braces{.begin = begin, .end = 0, .parts = {""}};
    int depth = 0;
    for (size_t at = begin; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '}' && --depth == 0) {
        braces.end = at + 1;
        return braces;
      }
      if (c == ',' && depth == 1)
        braces.parts.emplace_back();
      else if (at > begin)
        braces.parts.back() += c;
      if (c == '{') ++depth;
    }
  }
  return std::nullopt;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.size() > 12 || end.ec != std::errc() || end.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// "08..11", "0..90..10": the numbers; nothing where it is no range.
Result<std::optional<std::vector<std::string>>> range_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0;;) {
    const size_t end = text.find("..", at);
    words.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) break;
    at = end + 2;
  }
  if (words.size() != 2 && words.size() != 3) return std::nullopt;
  const auto first = whole_number(words[0]), last = whole_number(words[1]),
             by = words.size() == 3 ? whole_number(words[2]) : std::optional<int64_t>(1);
  if (!first || !last || !by) return std::nullopt;
  const int64_t step = std::max<int64_t>(1, *by < 0 ? -*by : *by);
  const uint64_t count = static_cast<uint64_t>(std::abs(*last - *first) / step) + 1;
  if (count > kMostPaths)
    return unusable(fmt::format("{{{}}} stands for {} names", text, count), "write a shorter range");
  auto is_padded = [](std::string_view word) {
    word.remove_prefix(word.starts_with('-') ? 1 : 0);
    return word.size() > 1 && word.starts_with('0');
  };
  const size_t width =
      is_padded(words[0]) || is_padded(words[1]) ? std::max(words[0].size(), words[1].size()) : 0;
  std::vector<std::string> numbers;
  for (uint64_t k = 0; k < count; ++k) {
    const int64_t number = *first + (*last < *first ? -1 : 1) * static_cast<int64_t>(k) * step;
    numbers.push_back(fmt::format("{:0{}}", number, width));
  }
  return numbers;
}

Status expand_into(const std::string& text, size_t from, int depth, std::vector<std::string>& out) {
  const std::optional<Braces> braces = find_braces(text, from);
  if (!braces) {
    if (out.size() >= kMostPaths)
      return unusable(fmt::format("braces stand for more than {} names", kMostPaths), "write shorter ranges");
    out.push_back(text);
    return {};
  }
  if (depth >= kMostBraces)
    return unusable(fmt::format("more than {} pairs of braces in {:.60}", kMostBraces, text),
                    "write several paths");
  std::vector<std::string> parts = braces->parts;
  if (parts.size() == 1) {
    GALATEA_ASSIGN(const auto numbers, range_of(parts.front()));
    if (!numbers) return expand_into(text, braces->begin + 1, depth + 1, out);
    parts = *numbers;
  }
  // Of alternatives, the braces within them are next; a part is never as long as what it stands in.
  for (const std::string& part : parts)
    GALATEA_TRY(expand_into(text.substr(0, braces->begin) + part + text.substr(braces->end), braces->begin,
                            depth + 1, out));
  return {};
}

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

Status match_into(const std::string& pattern, std::vector<std::string>& out) {
  glob_t found = {};
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_NOESCAPE, nullptr, &found);
  std::vector<std::string> names(found.gl_pathv, found.gl_pathv + (status == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  if (status == GLOB_NOSPACE) return unusable(fmt::format("too many files match {}", pattern));
  if (names.empty())
    return unusable(fmt::format("no file matches {}", pattern), "check the pattern and the folder");
  std::ranges::sort(names);
  out.insert(out.end(), names.begin(), names.end());
  return {};
}

bool has_wildcards(std::string_view name) { return name.find_first_of("*?[") != std::string_view::npos; }

/// A pattern that matches this text alone.
std::string as_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) pattern += has_wildcards({&c, 1}) ? fmt::format("[{}]", c) : std::string(1, c);
  return pattern;
}

}  // namespace

Result<std::vector<std::string>> expand_braces(const std::string& text) {
  std::vector<std::string> out;
  GALATEA_TRY(expand_into(text, 0, 0, out));
  return out;
}

Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& written : paths) {
    const std::string path(far::path_of_address(written));
    if (exists(path)) {
      out.push_back(path);
      continue;
    }
    GALATEA_ASSIGN(const std::vector<std::string> names, expand_braces(path));
    for (const std::string& name : names) {
      if (far::is_far(name) || !has_wildcards(name) || exists(name)) {
        out.push_back(name);
      } else {
        GALATEA_TRY(match_into(name, out));
      }
    }
  }
  return out;
}

Result<std::vector<std::string>> paths_of(const nlohmann::json& config, const char* key) {
  return expand_paths(texts_of(config, key));
}

Result<std::vector<std::string>> expand_name(const std::string& folder, const std::string& written) {
  const std::string name(far::path_of_address(written));
  if (!has_patterns({name}) || exists(far::join(folder, name))) return std::vector{name};
  std::vector<std::string> out;
  GALATEA_ASSIGN(const std::vector<std::string> names, expand_braces(name));
  for (const std::string& one : names) {
    const std::string path = far::join(folder, one);
    if (far::is_far(path) || !has_wildcards(one) || exists(path)) {
      out.push_back(one);
      continue;
    }
    const size_t before = path.size() - one.size(), first = out.size();
    GALATEA_TRY(match_into(as_pattern(path.substr(0, before)) + one, out));
    for (size_t k = first; k < out.size(); ++k) out[k].erase(0, before);
  }
  return out;
}

bool has_patterns(const std::vector<std::string>& paths) {
  return std::ranges::any_of(
      paths, [](const std::string& path) { return path.find_first_of("*?[{") != std::string::npos; });
}

}  // namespace galatea::native
