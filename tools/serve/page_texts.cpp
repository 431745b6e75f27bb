#include "tools/serve/page_texts.h"

#include <utility>
#include <vector>

namespace galatea::tools::serve {

// Made by CMake, one function an ending; names come without it.
using Texts = std::vector<std::pair<std::string_view, std::string_view>>;
Texts page_html();
Texts page_css();
Texts page_js();

std::string_view page_text(std::string_view name) {
  constexpr std::pair<std::string_view, Texts (*)()> kEndings[] = {
      {".html", page_html}, {".css", page_css}, {".js", page_js}};
  for (const auto& [ending, texts] : kEndings) {
    if (!name.ends_with(ending)) continue;
    for (const auto& [stem, text] : texts())
      if (name.substr(0, name.size() - ending.size()) == stem) return text;
  }
  return {};
}

}  // namespace galatea::tools::serve
