#include "policy/pipeline_text.h"

#include <fmt/format.h>

#include "policy/writer.h"

namespace galatea::policy {
namespace {

/// JSON as the language has it: three words differ.
std::string literal(const std::string& json) {
  std::string out;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted && c == '\\') {
      out += c;
      out += json[++i];
      continue;
    }
    if (c == '"') quoted = !quoted;
    const auto is = [&](const char* word) { return !quoted && json.compare(i, 4, word) == 0; };
    if (is("true")) {
      out += "True";
      i += 3;
    } else if (is("null")) {
      out += "None";
      i += 3;
    } else if (is("fals")) {
      out += "False";
      i += 4;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string pipeline_around(const std::string& expression) {
  return fmt::format(
      "from galatea import fn, pipeline_def\n"
      "from galatea.auto_aug import policy\n"
      "\n"
      "augment = {}\n"
      "\n"
      "\n"
      "@pipeline_def(batch_size=64, seed=42)\n"
      "def train(data: str = \"photos\"):\n"
      "    encoded, label = fn.readers.file(file_root=data, random_shuffle=True)\n"
      "    image = fn.decoders.image_random_crop(encoded)\n"
      "    image = fn.resize(image, size=[224, 224])\n"
      "    return augment(image, shape=[224, 224]), label\n",
      expression);
}

std::string pipeline_of(const Document& document) {
  std::string text = literal(to_json(document));
  while (text.ends_with('\n')) text.pop_back();
  return pipeline_around("policy.define(" + text + ")");
}

}  // namespace galatea::policy
