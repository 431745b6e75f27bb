// The HTML page of `galatea data inspect`.
#include <algorithm>

#include <fmt/core.h>

#include "tools/data/data_tools.h"
#include "tools/data/statistics.h"

namespace galatea::tools {
namespace {

constexpr const char* kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { padding: .1rem .8rem .1rem 0; text-align: left; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
td.bar { width: 20rem; } td.bar div { background: #5b8bd0; height: .8rem; }
.shots { display: flex; flex-wrap: wrap; gap: .8rem; } figure { margin: 0; width: 132px; }
figcaption { font-size: 11px; line-height: 1.3; overflow-wrap: anywhere; }
.broken { color: #a33; font-family: monospace; font-size: 13px; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } .broken { color: #f88; } }
)";

/// Text as text, in elements and in attributes: names come from anybody. Control characters show as such.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') {
          out += "&#xFFFD;";
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string base64(const std::vector<uint8_t>& bytes) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t there = std::min<size_t>(3, bytes.size() - at);
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (k < there ? bytes[at + k] : 0U);
    for (size_t k = 0; k < 4; ++k) out += k <= there ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string row(const std::string& name, const std::string& value) {
  return fmt::format("<tr><td>{}</td><td class=\"n\">{}</td></tr>\n", escaped(name), escaped(value));
}

std::string label_rows(const DataStatistics& found) {
  constexpr size_t kMostRows = 200;
  std::string out;
  const int64_t most =
      std::ranges::max_element(found.labels, {}, [](const auto& l) { return l.second; })->second;
  size_t rows = 0;
  for (const auto& [label, count] : found.labels) {
    if (rows++ == kMostRows) {
      out += row(fmt::format("… and {} more", found.labels.size() - kMostRows), "");
      break;
    }
    const auto name = found.label_names.find(label);
    out += fmt::format(
        "<tr><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"bar\"><div "
        "style=\"width:{:.1f}%\"></div></td></tr>\n",
        label, name == found.label_names.end() ? std::string() : escaped(name->second), count,
        100 * static_cast<double>(count) / static_cast<double>(std::max<int64_t>(1, most)));
  }
  return out;
}

}  // namespace

std::string statistics_page(const DataStatistics& found, const std::string& title) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n"
      "<body>\n<h1>{0}</h1>\n<table>\n",
      escaped(title), kStyle);
  page += row("samples", std::to_string(found.samples) + (found.is_complete ? "" : " (interrupted)"));
  page += row("form", found.format);
  page += row("containers", std::to_string(found.containers));
  for (const auto& [format, count] : found.pictures) page += row(format + " pictures", std::to_string(count));
  if (found.height.count > 0) {
    page += row("height", fmt::format("{} to {}, mean {:.0f}", found.height.least, found.height.most,
                                      found.height.mean()));
    page += row("width", fmt::format("{} to {}, mean {:.0f}", found.width.least, found.width.most,
                                     found.width.mean()));
  }
  for (const auto& [extension, range] : found.parts)
    page += row("*." + extension,
                fmt::format("{}, {} to {}", range.count, bytes_text(range.least), bytes_text(range.most)));
  page += row("without a label", std::to_string(found.unlabelled));
  if (!found.passed_over.empty()) page += row("passed over", words_of(found.passed_over));
  page += row("broken", std::to_string(found.broken_count));
  page += "</table>\n";
  if (!found.thumbnails.empty()) {
    page += "<h2>Samples</h2>\n<div class=\"shots\">\n";
    for (const Thumbnail& each : found.thumbnails)
      page += fmt::format(
          "<figure><img src=\"data:image/jpeg;base64,{}\" alt=\"\"><figcaption>{}<br>{}</figcaption></figure>\n",
          base64(each.jpg), escaped(each.name), escaped(each.words));
    page += "</div>\n";
  }
  if (!found.labels.empty())
    page += fmt::format("<h2>Labels: {}{}</h2>\n<table>\n{}</table>\n", found.labels.size(),
                        found.other_labels > 0 ? " and more" : "", label_rows(found));
  if (!found.broken.empty()) {
    constexpr size_t kMostShown = 1000;
    page += "<h2>Broken</h2>\n";
    for (size_t k = 0; k < std::min(kMostShown, found.broken.size()); ++k) {
      const BrokenSample& each = found.broken[k];
      page += fmt::format("<p class=\"broken\">{} {}: {}</p>\n", escaped(place_text(each.place)),
                          escaped(each.name), escaped(each.message));
    }
  }
  return page + "</body>\n</html>\n";
}

}  // namespace galatea::tools
