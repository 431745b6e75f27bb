#include "stdlib_ops/user/kernel_declaration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace galatea::ops {

namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// At commas outside of brackets of any kind; an empty text has no parts.
std::vector<std::string_view> split_list(std::string_view text, bool has_angles = false) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[' || c == '{' || (has_angles && c == '<')) ++depth;
    if (c == ')' || c == ']' || c == '}' || (has_angles && c == '>')) --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    out.push_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (out.size() == 1 && out[0].empty()) out.clear();
  return out;
}

constexpr const char* kPortHelp =
    "write `\"NAME: TYPE[EXTENTS] LAYOUT\"`, as in `\"image: u8[h, w, 3] HWC\"`, or `\"strength: f32\"` for a "
    "number";

constexpr const char* kLaunchHelp =
    "write blocks and threads as in CUDA: `launch=\"<<<(ceil_div(w, 16), ceil_div(h, 16)), (16, 16)>>>\"`";

/// Up to three extents, in parentheses where there are several; `dim3(…)` is as good.
std::expected<std::vector<ExtentText>, Fault> read_triple(std::string_view text) {
  text = trim(text);
  if (text.starts_with("dim3")) text = trim(text.substr(4));
  std::vector<std::string_view> parts = {text};
  // One pair of parentheses around all of it makes a list.
  if (text.starts_with('(') && text.ends_with(')')) {
    int depth = 0;
    bool is_one = true;
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      is_one = is_one && depth > 0;
    }
    if (is_one) parts = split_list(text.substr(1, text.size() - 2));
  }
  if (parts.empty() || parts.size() > 3)
    return std::unexpected(Fault{fmt::format("launch: `{}` has no one to three parts", text), kLaunchHelp});
  std::vector<ExtentText> out;
  for (const std::string_view part : parts) {
    auto extent = ExtentText::parse(part);
    if (!extent)
      return std::unexpected(Fault{fmt::format("launch: `{}`: {}", part, extent.error()), kLaunchHelp});
    out.push_back(std::move(*extent));
  }
  return out;
}

/// The text with comments, strings and characters blank, and lines where they are.
std::string code_of(std::string_view text) {
  std::string out(text);
  const auto blank = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < std::min(end, out.size()); ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text.substr(i, 2) == "//") {
      end = std::min(text.find('\n', i), text.size());
      blank(i, end);
    } else if (text.substr(i, 2) == "/*") {
      const size_t close = text.find("*/", i + 2);
      end = close == std::string_view::npos ? text.size() : close + 2;
      blank(i, end);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {
      while (end < text.size() && text[end] != text[i] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      blank(i, end);
    }
    i = end;
  }
  return out;
}

uint32_t line_at(std::string_view text, size_t at) {
  return 1 + static_cast<uint32_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// The place of a whole word at or behind `from`; npos: there is none.
size_t find_word(std::string_view text, std::string_view word, size_t from) {
  for (size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return at;
  }
  return std::string_view::npos;
}

/// Behind the bracket that closes the one at `open`.
size_t behind_bracket(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// Names of C for element types, beside those of <stdint.h>. Others (`long long`) are the compiler's to judge.
constexpr std::pair<std::string_view, DType> kOtherNames[] = {
    {"unsignedchar", DType::kU8}, {"signedchar", DType::kI8},
    {"short", DType::kI16},       {"unsignedshort", DType::kU16},
    {"unsignedint", DType::kU32}, {"unsigned", DType::kU32},
    {"int", DType::kI32}};

std::optional<DType> element_type_of_c(std::string_view name) {
  for (int k = 0; k < kNumDTypes; ++k)
    if (!name.empty() && op::c_name(static_cast<DType>(k)) == name) return static_cast<DType>(k);
  for (const auto& [known, type] : kOtherNames)
    if (known == name) return type;
  return std::nullopt;
}

}  // namespace

std::expected<KernelPort, Fault> read_kernel_port(std::string_view text, bool is_output) {
  const auto fail = [&](const std::string& why) {
    return std::unexpected(
        Fault{fmt::format("{} `{}`: {}", is_output ? "outputs" : "inputs", text, why), kPortHelp});
  };
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return fail("there is no `:` behind a name");
  KernelPort out;
  out.name = trim(text.substr(0, colon));
  if (out.name.empty() || is_digit(out.name[0]) || !std::ranges::all_of(out.name, is_word))
    return fail("no name stands before `:`");
  std::string_view rest = trim(text.substr(colon + 1));
  const size_t open = rest.find('[');
  const std::string_view type = trim(rest.substr(0, std::min(open, rest.size())));
  auto dtype = dtype_from_short_name(type);
  if (!dtype) dtype = dtype_from_types_name(type);
  if (!dtype) return fail(fmt::format("there is no element type `{}`", type));
  if (*dtype == DType::kF16)
    return fail("kernels of one's own have no halves; convert by fn.cast before and behind it");
  out.dtype = *dtype;
  if (open == std::string_view::npos) {
    if (is_output) return fail("an output has extents; one number is `f32[]`");
    out.is_number = true;
    return out;
  }
  const size_t close = rest.rfind(']');
  if (close == std::string_view::npos || close < open) return fail("`]` is missing");
  for (const std::string_view part : split_list(rest.substr(open + 1, close - open - 1))) {
    if (!is_output && part == "?") {
      out.extents.push_back(ExtentText::number(-1));
      continue;
    }
    auto extent = ExtentText::parse(part);
    if (!extent) return fail(fmt::format("the extent `{}`: {}", part, extent.error()));
    const bool is_plain = std::ranges::all_of(part, is_word);
    if (!is_output && !is_plain) return fail(fmt::format("the extent `{}` is no name, number or `?`", part));
    out.extents.push_back(std::move(*extent));
  }
  if (out.extents.size() > 8) return fail("a tensor has at most 8 dimensions");
  const std::string_view layout = trim(rest.substr(close + 1));
  if (!layout.empty() && layout.size() != out.extents.size())
    return fail(fmt::format("the layout {} is not one of {} dimensions", layout, out.extents.size()));
  out.layout = Layout(std::string(layout));
  return out;
}

std::expected<KernelLaunch, Fault> read_kernel_launch(std::string_view text) {
  const std::string_view whole = text;
  text = trim(text);
  if (!text.starts_with("<<<") || !text.ends_with(">>>") || text.size() < 6)
    return std::unexpected(
        Fault{fmt::format("launch: `{}` is no `<<<blocks, threads>>>`", whole), kLaunchHelp});
  const std::vector<std::string_view> parts = split_list(text.substr(3, text.size() - 6));
  if (parts.size() != 2)
    return std::unexpected(Fault{
        fmt::format("launch: `{}` has {} parts, not blocks and threads", whole, parts.size()), kLaunchHelp});
  auto grid = read_triple(parts[0]);
  if (!grid) return std::unexpected(grid.error());
  auto block = read_triple(parts[1]);
  if (!block) return std::unexpected(block.error());
  KernelLaunch out;
  out.grid = {ExtentText::number(1), ExtentText::number(1), ExtentText::number(1)};
  std::ranges::move(*grid, out.grid.begin());
  constexpr int64_t kMostThreads = 1024, kMostDeep = 64;
  int64_t threads = 1;
  for (size_t i = 0; i < block->size(); ++i) {
    const int64_t count = (*block)[i].evaluate([](const std::string&) { return int64_t{-1}; });
    if (count < 1 || !(*block)[i].names().empty())
      return std::unexpected(Fault{fmt::format("launch: `{}` is no number of threads", (*block)[i].text()),
                                   "threads of a block are numbers from 1: the text is compiled for them"});
    if (count > (i == 2 ? kMostDeep : kMostThreads) || (threads *= count) > kMostThreads)
      return std::unexpected(Fault{fmt::format("launch: a block of `{}` threads is too large", parts[1]),
                                   "a block has at most 1024 threads, and at most 64 along z"});
    out.block[i] = static_cast<int>(count);
  }
  return out;
}

std::vector<KernelFunction> find_kernel_functions(std::string_view text) {
  const std::string code = code_of(text);
  std::vector<KernelFunction> out;
  constexpr std::string_view kGlobal = "__global__";
  for (size_t at = find_word(code, kGlobal, 0); at != std::string::npos;
       at = find_word(code, kGlobal, at + 1)) {
    // `__launch_bounds__(256)` may stand before the name, as may attributes.
    size_t open = code.find('(', at);
    size_t name_end = 0, name_begin = 0;
    while (open != std::string::npos) {
      name_end = open;
      while (name_end > at && is_space(code[name_end - 1])) --name_end;
      name_begin = name_end;
      while (name_begin > at && is_word(code[name_begin - 1])) --name_begin;
      const std::string_view name = std::string_view(code).substr(name_begin, name_end - name_begin);
      if (!name.empty() && name != "__launch_bounds__" && name != "__align__" && name != "__attribute__")
        break;
      const size_t behind = behind_bracket(code, open);
      open = behind == std::string::npos ? behind : code.find('(', behind);
    }
    if (open == std::string::npos) continue;
    const size_t behind = behind_bracket(code, open);
    if (behind == std::string::npos) continue;
    KernelFunction function;
    function.name = code.substr(name_begin, name_end - name_begin);
    function.word = at;
    function.line = line_at(code, name_begin);
    for (const std::string_view part :
         split_list(std::string_view(code).substr(open + 1, behind - open - 2), true))
      function.parameters.emplace_back(part);
    if (function.parameters.size() == 1 && function.parameters[0] == "void") function.parameters.clear();
    out.push_back(std::move(function));
  }
  return out;
}

uint32_t find_unsized_shared(std::string_view text) {
  const std::string code = code_of(text);
  for (size_t at = find_word(code, "extern", 0); at != std::string::npos;
       at = find_word(code, "extern", at + 1)) {
    size_t next = at + 6;
    while (next < code.size() && is_space(code[next])) ++next;
    if (std::string_view(code).substr(next).starts_with("__shared__")) return line_at(code, at);
  }
  return 0;
}

uint32_t find_include(std::string_view text) {
  const std::string code = code_of(text);
  for (size_t at = find_word(code, "include", 0); at != std::string::npos;
       at = find_word(code, "include", at + 1)) {
    const size_t before = at == 0 ? std::string::npos : code.find_last_not_of(" \t", at - 1);
    if (before != std::string::npos && code[before] == '#') return line_at(code, at);
  }
  return 0;
}

uint32_t find_taken_name(std::string_view text) {
  const std::string code = code_of(text);
  for (const std::string_view directive : {"define", "undef"})
    for (size_t at = find_word(code, directive, 0); at != std::string::npos;
         at = find_word(code, directive, at + 1)) {
      const size_t before = at == 0 ? std::string::npos : code.find_last_not_of(" \t", at - 1);
      if (before == std::string::npos || code[before] != '#') continue;
      const std::string_view name = trim(std::string_view(code).substr(at + directive.size()));
      if (name.starts_with("galatea_") || name.starts_with("GALATEA_")) return line_at(code, at);
    }
  const size_t entry = find_word(code, "galatea_kernel", 0);
  return entry == std::string::npos ? 0 : line_at(code, entry);
}

std::optional<TensorParameter> read_tensor_parameter(std::string_view parameter) {
  const size_t open = parameter.find('<'), close = parameter.rfind('>');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  std::string_view head = trim(parameter.substr(0, open));
  for (const std::string_view word : {"const ", "::"})
    if (head.starts_with(word)) head = trim(head.substr(word.size()));
  if (head != "galatea::Tensor" && head != "Tensor") return std::nullopt;
  const std::vector<std::string_view> parts = split_list(parameter.substr(open + 1, close - open - 1), true);
  if (parts.size() != 2) return std::nullopt;
  TensorParameter out;
  std::string_view type = parts[0];
  if (type.starts_with("const ")) {
    out.is_const = true;
    type = trim(type.substr(6));
  } else if (type.ends_with(" const")) {
    out.is_const = true;
    type = trim(type.substr(0, type.size() - 6));
  }
  std::string joined;
  for (const char c : type)
    if (!is_space(c)) joined += c;
  if (joined.starts_with("std::")) joined = joined.substr(5);
  out.type = element_type_of_c(joined);
  const auto [end, error] = std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), out.rank);
  if (error != std::errc() || end != parts[1].data() + parts[1].size()) out.rank = -1;
  return out;
}

}  // namespace galatea::ops
