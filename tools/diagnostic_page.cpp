// Reading and printing the pages. See diagnostic_page.h.
#include "tools/diagnostic_page.h"

#include <algorithm>

#include <fmt/format.h>

namespace galatea::tools {

std::vector<std::pair<std::string_view, std::string_view>>
embedded_pages();  // made by cmake/embed_texts.cmake

namespace {

std::unexpected<Error> malformed(std::string_view code, std::string what) {
  return make_error(ErrorKind::kInternal, "", fmt::format("docs/diagnostics/{}.md: {}", code, what));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// What stands between the nth and the next backtick.
std::string quoted(const std::string& line, size_t nth) {
  size_t begin = 0;
  for (size_t i = 0; i < nth && begin != std::string::npos; ++i) begin = line.find('`', begin) + 1;
  const size_t end = line.find('`', begin);
  return end == std::string::npos ? "" : line.substr(begin, end - begin);
}

/// The lines from number `i` to an empty one, as one; `i` becomes the last of them.
std::string paragraph(const std::vector<std::string>& lines, size_t& i) {
  std::string out = lines[i];
  while (i + 1 < lines.size() && !lines[i + 1].empty()) out += " " + lines[++i];
  return out;
}

std::string indented(std::string_view text) {
  std::string out;
  for (const std::string& line : lines_of(text)) out += line.empty() ? "\n" : "    " + line + "\n";
  return out;
}

std::string example_for_terminal(const Example& example) {
  std::string out;
  for (const auto& [name, text] : example.files) out += fmt::format("  {}:\n\n{}\n", name, indented(text));
  return out + indented(example.text);
}

}  // namespace

std::string with_dots(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t close = text[i] == '{' ? text.find('}', i) : std::string_view::npos;
    if (close != std::string_view::npos) {
      out += "…";
      i = close;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

Result<PageText> parse_page(std::string_view code, std::string_view text) {
  PageText page;
  page.code = code;
  const std::vector<std::string> lines = lines_of(text);
  Example* example = nullptr;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.starts_with("# ")) {
      page.title = line.substr(2);
    } else if (line == "## Fails") {
      example = &page.fails;
    } else if (line == "## Passes") {
      example = &page.passes;
    } else if (line.starts_with("```")) {
      std::string content;
      size_t end = i + 1;
      for (; end < lines.size() && lines[end] != "```"; ++end) content += lines[end] + "\n";
      if (end == lines.size()) return malformed(code, "a fence is never closed");
      if (example == nullptr) return malformed(code, "an example before `## Fails`");
      i = end;
      if (line.starts_with("```python title=") || line.starts_with("```json title=")) {
        example->files.emplace_back(line.substr(line.find('=') + 1), std::move(content));
        continue;
      }
      if (example->kind != ExampleKind::kNone) return malformed(code, "two examples in one section");
      example->text = std::move(content);
      example->kind = line == "```python"    ? ExampleKind::kPipeline
                      : line == "```console" ? ExampleKind::kConsole
                      : line == "```c"       ? ExampleKind::kHost
                                             : ExampleKind::kNone;
      if (example->kind == ExampleKind::kNone) return malformed(code, "an example of no known kind: " + line);
    } else if (line.starts_with("Shown by the test ")) {
      const std::string shown = paragraph(lines, i);
      page.test = quoted(shown, 1);
      page.test_file = quoted(shown, 3);
    } else if (line.starts_with("No example: ")) {
      page.no_example = paragraph(lines, i).substr(12);
    } else if (example == nullptr) {
      page.meaning += line + "\n";
    } else if (!line.empty()) {
      return malformed(code, "text between the examples: " + line);
    }
  }
  const size_t begin = page.meaning.find_first_not_of('\n');
  if (page.title.empty() || begin == std::string::npos) return malformed(code, "no title, or no text");
  page.meaning = page.meaning.substr(begin, page.meaning.find_last_not_of('\n') - begin + 1) + "\n";
  if (page.fails.kind != page.passes.kind) return malformed(code, "the two examples are of different kinds");
  const bool needs_test = page.fails.kind == ExampleKind::kNone || page.fails.kind == ExampleKind::kHost;
  const bool is_shown =
      !page.test.empty() || (page.fails.kind == ExampleKind::kNone && !page.no_example.empty());
  if (needs_test != is_shown) return malformed(code, "an example that is run, or the name of a test");
  return page;
}

std::string_view page_markdown(std::string_view code) {
  const auto pages = embedded_pages();
  const auto page = std::ranges::find(pages, code, &std::pair<std::string_view, std::string_view>::first);
  return page == pages.end() ? std::string_view() : page->second;
}

const std::vector<PageText>& page_texts() {
  static const std::vector<PageText> pages = [] {
    std::vector<PageText> parsed;
    for (const auto& [code, text] : embedded_pages()) {
      Result<PageText> page = parse_page(code, text);
      GALATEA_CHECK(page.has_value(), page.error().message());
      parsed.push_back(std::move(*page));
    }
    return parsed;
  }();
  return pages;
}

std::string page_for_terminal(const PageText& page, const std::vector<DiagnosticPage>& wording) {
  std::string out = fmt::format("{}: {}\n", page.code, page.title);
  for (const DiagnosticPage& entry : wording) {
    if (entry.code != page.code) continue;
    // A wording that is all filled in says nothing here.
    if (std::string text = with_dots(entry.text); text.find_first_not_of("…: ") != std::string::npos)
      out += fmt::format("  message: {}\n", text);
    if (std::string help = with_dots(entry.help); help.find_first_not_of("…: ") != std::string::npos)
      out += fmt::format("  help:    {}\n", help);
  }
  out += "\n" + page.meaning;
  if (page.fails.kind != ExampleKind::kNone) {
    out += "\nThis fails:\n\n" + example_for_terminal(page.fails);
    out += "\nThis passes:\n\n" + example_for_terminal(page.passes);
  }
  return out;
}

std::string example_markdown(const Example& example) {
  std::string out;
  for (const auto& [name, text] : example.files)
    out += fmt::format("`{}`:\n```{}\n{}```\n", name, name.ends_with(".json") ? "json" : "python", text);
  const char* fence = example.kind == ExampleKind::kConsole ? "console"
                      : example.kind == ExampleKind::kHost  ? "c"
                                                            : "python";
  return out + fmt::format("```{}\n{}```\n", fence, example.text);
}

}  // namespace galatea::tools
