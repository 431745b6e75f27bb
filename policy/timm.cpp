// timm's configuration strings: "rand-m9-mstd0.5-inc1" is a family and sections of letters and a value.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "policy/families.h"
#include "policy/messages.h"
#include "policy/spelling.h"

namespace galatea::policy {
namespace {

constexpr int64_t kMostOperations = 64;

struct Sections {
  std::string family;
  std::vector<std::pair<std::string, std::string>> values;

  const std::string* find(std::string_view key) const {
    for (const auto& [name, value] : values)
      if (name == key) return &value;
    return nullptr;
  }
};

std::unexpected<Error> bad(const std::string& text, const std::string& what, const std::string& help) {
  return policy_error(Message::kBadSpelling, {}, {text, what, help});
}

Sections split(const std::string& text) {
  Sections sections;
  size_t begin = 0;
  for (bool first = true; begin <= text.size(); first = false) {
    const size_t end = std::min(text.find('-', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    if (first) {
      sections.family = part;
      continue;
    }
    const auto digit =
        std::find_if(part.begin(), part.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    // An operation set is a word: tweights, t3aw.
    const auto split_at = part.starts_with("t") ? part.begin() + 1 : digit;
    sections.values.emplace_back(std::string(part.begin(), split_at), std::string(split_at, part.end()));
  }
  return sections;
}

std::optional<double> to_number(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > 1e6)
    return std::nullopt;
  return number;
}

/// Numbers of the sections by key, with their defaults; a section that is not there or is not a number fails.
class Numbers {
 public:
  Numbers(const std::string& text, const Sections& sections) : text_(text), sections_(sections) {}
  double get(const char* key, double missing) {
    known_.emplace_back(key);
    const std::string* value = sections_.find(key);
    if (!value) return missing;
    const auto number = to_number(*value);
    if (!number && problem_.empty()) problem_ = fmt::format("`{}{}` has no number", key, *value);
    return number.value_or(missing);
  }
  int64_t integer(const char* key, int64_t missing) {
    const double number = get(key, static_cast<double>(missing));
    if (number != static_cast<double>(static_cast<int64_t>(number)) && problem_.empty())
      problem_ = fmt::format("`{}` takes a whole number", key);
    return static_cast<int64_t>(number);
  }
  void also(const char* key) { known_.emplace_back(key); }
  std::optional<Error> problem() const {
    if (!problem_.empty()) return bad(text_, problem_, "").error();
    for (const auto& [key, value] : sections_.values) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      return bad(text_, fmt::format("`{}` has no section `{}`", sections_.family, key + value),
                 "its sections are " + listed(known_))
          .error();
    }
    return std::nullopt;
  }

 private:
  const std::string& text_;
  const Sections& sections_;
  std::vector<std::string> known_;
  std::string problem_;
};

Augmentation clamped(Augmentation entry, std::optional<double> low, std::optional<double> high) {
  entry.clamp_low = low;
  entry.clamp_high = high;
  return entry;
}

Augmentation solarize(bool increasing, bool beyond) {
  Augmentation entry = increasing
                           ? augmentation("solarize", {256, 0}, false, "identity", "", Quantize::kCeil)
                           : augmentation("solarize", {0, 256}, false, "identity", "", Quantize::kFloor);
  return beyond && !increasing ? clamped(entry, {}, 256) : entry;
}

Augmentation posterize(bool increasing) {
  return increasing ? augmentation("posterize", {4, 0}, false, "posterize_mask0", "", Quantize::kCeil)
                    : augmentation("posterize", {0, 4}, false, "posterize_mask0", "", Quantize::kFloor);
}

Augmentation enhancement(const char* name, bool increasing) {
  const bool is_kernel = std::string_view(name) == "sharpness";
  if (!increasing)
    return augmentation(name, {0.1, 1.9}, false, is_kernel ? "sharpness_kernel_shifted" : "identity");
  Augmentation entry = augmentation(name, {0, 0.9}, true, is_kernel ? "sharpness_kernel" : "one_plus");
  return is_kernel ? entry : clamped(entry, 0.1, {});
}

void append_warps(Document& document, double translate) {
  document.augmentations.push_back(augmentation("shear_x", {0, 0.3}, true, "vec_x"));
  document.augmentations.push_back(augmentation("shear_y", {0, 0.3}, true, "vec_y"));
  document.augmentations.push_back(augmentation("translate_x", {0, translate}, true, "vec_x"));
  document.augmentations.push_back(augmentation("translate_y", {0, translate}, true, "vec_y"));
}

void append_default_set(Document& document, bool increasing, bool beyond) {
  auto& table = document.augmentations;
  for (const char* name : {"auto_contrast", "equalize", "invert"}) table.push_back(augmentation(name));
  table.push_back(augmentation("rotate", {0, 30}, true));
  table.push_back(posterize(increasing));
  table.push_back(solarize(increasing, beyond));
  Augmentation add = augmentation("solarize_add", {0, 110}, false, "identity", "", Quantize::kFloor);
  table.push_back(beyond ? clamped(add, {}, 128) : add);
  for (const char* name : {"color", "contrast", "brightness", "sharpness"})
    table.push_back(enhancement(name, increasing));
  append_warps(document, 0.45);
}

void append_mixing_set(Document& document) {
  auto& table = document.augmentations;
  for (const char* name : {"auto_contrast", "equalize"}) table.push_back(augmentation(name));
  table.push_back(augmentation("rotate", {0, 30}, true));
  table.push_back(posterize(true));
  table.push_back(solarize(true, false));
  for (const char* name : {"color", "contrast", "brightness", "sharpness"})
    table.push_back(enhancement(name, true));
  append_warps(document, 0.3);
}

Document new_document(const std::string& text) {
  Document document;
  document.name = text;
  document.bins = 11;
  // timm fills with the mean colour where its data configuration says one, which a string does not. It draws
  // how each warp interpolates; its cubic is Pillow's.
  document.extras = {extra("fill_value", 128), extra("interp_type", "random:linear,cubic"),
                     extra("cubic_a", -1)};
  return document;
}

Result<Document> rand_augment(const std::string& text, const Sections& sections) {
  Numbers numbers(text, sections);
  const double level = numbers.get("m", 10), probability = numbers.get("p", 0.5),
               deviation = numbers.get("mstd", 0), most = numbers.get("mmax", 10);
  const int64_t count = numbers.integer("n", 2);
  const bool increasing = sections.find("inc") != nullptr;
  numbers.also("inc");
  numbers.also("t");
  if (auto problem = numbers.problem()) return std::unexpected(std::move(*problem));
  if (probability > 1) return bad(text, "a probability is at most 1", "");
  if (count > kMostOperations)
    return bad(text, fmt::format("at most {} operations follow each other", kMostOperations), "");
  Document document = new_document(text);
  append_default_set(document, increasing, std::max(level, most) > 10);
  Node& policy = document.policy;
  policy.kind = Node::Kind::kChoose;
  policy.least = policy.most = count;
  policy.from_all = true;
  if (const std::string* set = sections.find("t")) {
    if (*set != "weights")
      return bad(text, fmt::format("the operation set `{}` is not here", *set), "only `weights` is");
    policy.replace = false;
    for (const Augmentation& entry : document.augmentations) {
      const std::string& name = entry.name;
      const double weight = name == "rotate"                                                    ? 3
                            : name.starts_with("shear")                                         ? 2
                            : name.starts_with("translate")                                     ? 1
                            : name == "color" || name == "sharpness" || name == "auto_contrast" ? 0.25
                                                                                                : 0.05;
      policy.weights.by_name.emplace_back(name, weight);
    }
  }
  policy.each.probability = probability;
  Magnitude& magnitude = policy.each.magnitude;
  if (deviation > 100) {
    magnitude.kind = Magnitude::Kind::kUniformLevel;
    magnitude.last_level = level;
    return document;
  }
  magnitude.kind = Magnitude::Kind::kLevel;
  magnitude.level = level;
  magnitude.deviation = deviation;
  magnitude.clip = {0, most};
  return document;
}

Result<Document> augmix(const std::string& text, const Sections& sections) {
  Numbers numbers(text, sections);
  const double level = numbers.get("m", 3), alpha = numbers.get("a", 1), deviation = numbers.get("mstd", -1);
  const int64_t width = numbers.integer("w", 3);
  numbers.get("b", 0);  // another way to compute the same mixture
  const int64_t depth = numbers.integer("d", -1);
  if (auto problem = numbers.problem()) return std::unexpected(std::move(*problem));
  if (width < 1 || width > 16) return bad(text, "a mixture has from 1 to 16 chains", "");
  if (depth > kMostOperations)
    return bad(text, fmt::format("at most {} operations follow each other", kMostOperations), "");
  if (alpha <= 0) return bad(text, "alpha is more than 0", "");
  Document document = new_document(text);
  append_mixing_set(document);
  Node chain;
  chain.kind = Node::Kind::kChoose;
  chain.least = depth > 0 ? depth : 1;
  chain.most = depth > 0 ? depth : 3;
  chain.from_all = true;
  Magnitude& magnitude = chain.each.magnitude;
  if (deviation < 0 || deviation > 100) {
    magnitude.kind = Magnitude::Kind::kUniformLevel;
    magnitude.last_level = level;
  } else {
    magnitude.kind = Magnitude::Kind::kLevel;
    magnitude.level = level;
    magnitude.deviation = deviation;
    magnitude.clip = {0, 10};
  }
  document.policy.kind = Node::Kind::kMix;
  document.policy.chains = width;
  document.policy.alpha = alpha;
  document.policy.children.push_back(std::move(chain));
  return document;
}

Result<Document> auto_augment(const std::string& text, const Sections& sections) {
  Numbers numbers(text, sections);
  const double deviation = numbers.get("mstd", 0);
  if (auto problem = numbers.problem()) return std::unexpected(std::move(*problem));
  if (sections.family == "3a")
    return bad(text, "its operations `desaturate` and `gaussian_blur` are not in the library",
               "write them in a .dali-dsl file and name it in the policy's `imports`");
  Document document = new_document(text);
  append_default_set(document, false, false);
  const bool is_original = sections.family.starts_with("original");
  const bool increasing = sections.family.ends_with("r");
  for (Augmentation& entry : document.augmentations) {
    if (entry.name != "posterize") continue;
    if (increasing)
      entry = posterize(true);
    else if (is_original)
      entry.range = {4, 8};
  }
  document.policy = published_choice(is_original ? "reduced_image_net" : "image_net", true, deviation);
  keep_used(document);
  return document;
}

}  // namespace

Result<Document> document_of_timm(const std::string& text) {
  const Sections sections = split(text);
  if (sections.family == "rand") return rand_augment(text, sections);
  if (sections.family == "augmix") return augmix(text, sections);
  for (const char* name : {"v0", "v0r", "original", "originalr", "3a"})
    if (sections.family == name) return auto_augment(text, sections);
  return bad(text, fmt::format("`{}` is no family of timm's", sections.family),
             "there are `rand`, `augmix`, `v0`, `v0r`, `original` and `originalr`");
}

}  // namespace galatea::policy
