#include "tests/pipelines/shrink.h"

#include <cctype>
#include <optional>

namespace galatea::testing {
namespace {

using Lines = std::vector<PipelineLine>;

/// The end of the block that line `head` opens.
size_t end_of_block(const Lines& lines, size_t head) {
  size_t end = head + 1;
  while (end < lines.size() && lines[end].indent > lines[head].indent) ++end;
  return end;
}

/// An `if` gives way to one of its arms.
Lines keep_arm(const Lines& lines, size_t head, bool first) {
  const size_t otherwise = end_of_block(lines, head), end = end_of_block(lines, otherwise);
  Lines out(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(head));
  for (size_t i = first ? head + 1 : otherwise + 1; i < (first ? otherwise : end); ++i) {
    out.push_back(lines[i]);
    --out.back().indent;
  }
  out.insert(out.end(), lines.begin() + static_cast<std::ptrdiff_t>(end), lines.end());
  return out;
}

bool is_assignment(const PipelineLine& line) {
  return line.indent > 0 && line.text.find(" = ") != std::string::npos;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// `a = b`, or nothing.
std::optional<std::pair<std::string, std::string>> alias(const PipelineLine& line) {
  if (!is_assignment(line)) return std::nullopt;
  const size_t at = line.text.find(" = ");
  const std::string name = line.text.substr(0, at), value = line.text.substr(at + 3);
  for (const std::string& part : {name, value})
    for (char c : part)
      if (!is_word(c)) return std::nullopt;
  if (std::isdigit(static_cast<unsigned char>(value[0]))) return std::nullopt;
  return std::pair{name, value};
}

/// What is changed at line `i`: nothing, or smaller texts.
std::vector<Lines> smaller(const Lines& lines, size_t i) {
  std::vector<Lines> out;
  if (lines[i].text.starts_with("if ")) {
    out.push_back(keep_arm(lines, i, true));
    out.push_back(keep_arm(lines, i, false));
    return out;
  }
  if (is_assignment(lines[i])) {
    out.push_back(lines);
    out.back().erase(out.back().begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (auto pair = alias(lines[i])) {
    // Later readers take the other name.
    Lines renamed = lines;
    renamed.erase(renamed.begin() + static_cast<std::ptrdiff_t>(i));
    for (size_t k = i; k < renamed.size(); ++k) {
      for (std::string* text : {&renamed[k].text, &renamed[k].shorter}) {
        for (size_t at = 0; (at = text->find(pair->first, at)) != std::string::npos;) {
          const size_t end = at + pair->first.size();
          const bool whole =
              (at == 0 || !is_word((*text)[at - 1])) && (end == text->size() || !is_word((*text)[end]));
          if (whole) text->replace(at, pair->first.size(), pair->second);
          at += whole ? pair->second.size() : 1;
        }
      }
    }
    out.push_back(std::move(renamed));
  }
  if (!lines[i].shorter.empty() && lines[i].shorter != lines[i].text) {
    out.push_back(lines);
    out.back()[i].text = lines[i].shorter;
  }
  return out;
}

}  // namespace

GeneratedPipeline shrink(GeneratedPipeline pipeline, const std::function<bool(const std::string&)>& fails,
                         int tries) {
  for (bool changed = true; changed && tries > 0;) {
    changed = false;
    for (size_t i = pipeline.lines.size(); i-- > 0 && tries > 0;) {
      if (i >= pipeline.lines.size()) continue;
      for (Lines& candidate : smaller(pipeline.lines, i)) {
        if (--tries < 0) break;
        GeneratedPipeline next{std::move(candidate)};
        if (!fails(next.text())) continue;
        pipeline = std::move(next);
        changed = true;
        break;
      }
    }
  }
  return pipeline;
}

}  // namespace galatea::testing
