// timm's configuration strings: "rand-m9-mstd0.5-inc1" is a family and sections of letters and a value.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "policy/families.h"
#include "policy/messages.h"
#include "policy/spelling.h"
#include "policy/trim.h"

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
    std::vector<std::string> seen;
    for (const auto& [key, value] : sections_.values) {
      if (key.empty() && value.empty())
        return bad(text_, "there is nothing between two dashes, or after the last", "").error();
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        return bad(text_, fmt::format("`{}` has no section `{}`", sections_.family, key + value), help(key))
            .error();
      // timm takes the last of some and the first of others.
      if (std::find(seen.begin(), seen.end(), key) != seen.end())
        return bad(text_, fmt::format("`{}` is given twice", key), "").error();
      seen.push_back(key);
    }
    return std::nullopt;
  }

 private:
  std::string help(const std::string& key) const {
    const bool has_noise = std::find(known_.begin(), known_.end(), "mstd") != known_.end();
    // timm passes over what has no digit.
    if (key == "mstdinf" && has_noise)
      return sections_.family == "rand" ? "`mstd101`, or any number above 100, draws levels uniformly"
                                        : "leave it out: levels are drawn uniformly without `mstd`";
    if (key == "w" && sections_.family == "rand")
      return "timm has no `w` any more; `tweights` draws operations by weights";
    return "its sections are " + listed(known_);
  }

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

/// What decides the ranges of a set's rows.
struct Ranges {
  bool increasing = false;  ///< a greater level is a stronger change
  bool beyond = false;      ///< levels above 10 occur
  double translate = 0.45;
};

Augmentation solarize(const Ranges& ranges) {
  // A threshold from 0 to 256.
  const bool inc = ranges.increasing;
  Augmentation entry = augmentation("solarize", inc ? std::pair(256.0, 0.0) : std::pair(0.0, 256.0), false,
                                    "identity", "", inc ? Quantize::kCeil : Quantize::kFloor);
  if (!ranges.beyond) return entry;
  return inc ? clamped(entry, 0, {}) : clamped(entry, {}, 256);
}

Augmentation posterize(bool increasing) {
  return increasing ? augmentation("posterize", {4, 0}, false, "posterize_mask0", "", Quantize::kCeil)
                    : augmentation("posterize", {0, 4}, false, "posterize_mask0", "", Quantize::kFloor);
}

Augmentation enhancement(const char* name, const Ranges& ranges) {
  const bool is_kernel = std::string_view(name) == "sharpness";
  if (!ranges.increasing)
    return augmentation(name, {0.1, 1.9}, false, is_kernel ? "sharpness_kernel_shifted" : "identity");
  Augmentation entry = augmentation(name, {0, 0.9}, true, is_kernel ? "sharpness_kernel" : "one_plus");
  // A factor of at least 0.1. Levels up to 10 do not take a kernel, which is 1 less, below that.
  if (is_kernel) return ranges.beyond ? clamped(entry, -0.9, {}) : entry;
  return clamped(entry, 0.1, {});
}

Augmentation row(const std::string& name, const Ranges& ranges) {
  const char* along = name.ends_with("_x") ? "vec_x" : "vec_y";
  if (name == "rotate") return augmentation(name, {0, 30}, true);
  if (name.starts_with("shear")) return augmentation(name, {0, 0.3}, true, along);
  if (name.starts_with("translate")) return augmentation(name, {0, ranges.translate}, true, along);
  if (name == "posterize") return posterize(ranges.increasing);
  if (name == "solarize") return solarize(ranges);
  if (name == "solarize_add") {
    Augmentation add = augmentation(name, {0, 110}, false, "identity", "", Quantize::kFloor);
    return ranges.beyond ? clamped(add, {}, 128) : add;
  }
  if (name == "desaturate") {
    Augmentation entry = augmentation(name, {0.5, 0}, false, "identity", "color");
    return ranges.beyond ? clamped(entry, 0, {}) : entry;
  }
  if (name == "gaussian_blur") {
    Augmentation entry = augmentation(name, {0.1, 2}, false);
    return ranges.beyond ? clamped(entry, {}, 2) : entry;
  }
  for (const char* each : {"color", "contrast", "brightness", "sharpness"})
    if (name == each) return enhancement(each, ranges);
  return augmentation(name);
}

/// A set of operations, with the weights by which they are drawn; 0 in all: as often as each other.
struct OperationSet {
  std::vector<std::pair<const char*, double>> rows;
  bool always_increasing = false;
};

const OperationSet& default_set() {
  static const OperationSet set = {{{"auto_contrast", 0.25},
                                    {"equalize", 0.05},
                                    {"invert", 0.05},
                                    {"rotate", 3},
                                    {"posterize", 0.05},
                                    {"solarize", 0.05},
                                    {"solarize_add", 0.05},
                                    {"color", 0.25},
                                    {"contrast", 0.05},
                                    {"brightness", 0.05},
                                    {"sharpness", 0.25},
                                    {"shear_x", 2},
                                    {"shear_y", 2},
                                    {"translate_x", 1},
                                    {"translate_y", 1}},
                                   false};
  return set;
}

/// The three of 3-Augment, with the weights that they have among others.
const OperationSet& three_set() {
  static const OperationSet set = {{{"solarize", 6}, {"desaturate", 6}, {"gaussian_blur", 6}}, true};
  return set;
}

const OperationSet& three_and_others_set() {
  static const OperationSet set = {{{"solarize", 6},
                                    {"desaturate", 6},
                                    {"gaussian_blur", 6},
                                    {"rotate", 3},
                                    {"shear_x", 2},
                                    {"shear_y", 2},
                                    {"posterize", 1},
                                    {"auto_contrast", 1},
                                    {"color", 1},
                                    {"sharpness", 1},
                                    {"contrast", 1},
                                    {"brightness", 1},
                                    {"equalize", 1},
                                    {"invert", 1}},
                                   true};
  return set;
}

const OperationSet& mixing_set() {
  static const OperationSet set = {{{"auto_contrast", 0},
                                    {"equalize", 0},
                                    {"rotate", 0},
                                    {"posterize", 0},
                                    {"solarize", 0},
                                    {"color", 0},
                                    {"contrast", 0},
                                    {"brightness", 0},
                                    {"sharpness", 0},
                                    {"shear_x", 0},
                                    {"shear_y", 0},
                                    {"translate_x", 0},
                                    {"translate_y", 0}},
                                   true};
  return set;
}

void append(Document& document, const OperationSet& set, const Ranges& ranges) {
  for (const auto& [name, weight] : set.rows) document.augmentations.push_back(row(name, ranges));
}

/// A level of each draw: uniform from 0, or with normal noise; limited to `most` where it could be greater.
Magnitude drawn_level(double level, std::optional<double> deviation, double most) {
  Magnitude magnitude;
  if (!deviation) {
    magnitude.kind = Magnitude::Kind::kUniformLevel;
    magnitude.last_level = level;
    if (level > most || most != 10) magnitude.clip = {0, most};
    return magnitude;
  }
  magnitude.kind = Magnitude::Kind::kLevel;
  magnitude.level = level;
  magnitude.deviation = *deviation;
  magnitude.clip = {0, most};
  return magnitude;
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
  const double probability = numbers.get("p", 0.5), deviation = numbers.get("mstd", 0);
  const auto level = static_cast<double>(numbers.integer("m", 10));
  const int64_t mmax = numbers.integer("mmax", 10);
  const double most = mmax == 0 ? 10 : static_cast<double>(mmax);  // 0 is as good as nothing there
  const int64_t count = numbers.integer("n", 2);
  const bool increasing = numbers.integer("inc", 0) != 0;
  numbers.also("t");
  if (auto problem = numbers.problem()) return std::unexpected(std::move(*problem));
  if (probability > 1) return bad(text, "a probability is at most 1", "");
  if (count > kMostOperations)
    return bad(text, fmt::format("at most {} operations follow each other", kMostOperations), "");
  const OperationSet* set = &default_set();
  bool is_weighted = false;
  if (const std::string* name = sections.find("t")) {
    is_weighted = *name == "weights" || *name == "3aw";
    if (*name == "3aw") set = &three_and_others_set();
    if (*name == "3a") set = &three_set();
    if (!is_weighted && *name != "3a")
      return bad(text, fmt::format("there is no set of operations `{}`", *name),
                 "there are `tweights`, `t3a` and `t3aw`");
  }
  if (is_weighted && count > std::ssize(set->rows))
    return bad(text, fmt::format("of {} operations with weights none is drawn twice", set->rows.size()),
               fmt::format("write n{} or less", set->rows.size()));
  Document document = new_document(text);
  append(document, *set, {increasing || is_weighted || set->always_increasing, most > 10, 0.45});
  Node& policy = document.policy;
  policy.kind = Node::Kind::kChoose;
  policy.least = policy.most = count;
  policy.from_all = true;
  policy.replace = !is_weighted;
  if (is_weighted)
    for (const auto& [name, weight] : set->rows) policy.weights.by_name.emplace_back(name, weight);
  policy.each.probability = probability;
  // More than 100 stands for levels that are drawn uniformly.
  policy.each.magnitude = drawn_level(level, deviation > 100 ? std::nullopt : std::optional(deviation), most);
  return trimmed(document);  // without warps nothing takes their arguments
}

Result<Document> augmix(const std::string& text, const Sections& sections) {
  Numbers numbers(text, sections);
  const double alpha = numbers.get("a", 1), deviation = numbers.get("mstd", -1);
  const auto level = static_cast<double>(numbers.integer("m", 3));
  const int64_t width = numbers.integer("w", 3);
  numbers.integer("b", 0);  // another way to compute the same mixture
  const int64_t depth = numbers.integer("d", -1);
  if (auto problem = numbers.problem()) return std::unexpected(std::move(*problem));
  if (width < 1 || width > 16) return bad(text, "a mixture has from 1 to 16 chains", "");
  if (depth > kMostOperations)
    return bad(text, fmt::format("at most {} operations follow each other", kMostOperations), "");
  if (alpha <= 0) return bad(text, "alpha is more than 0", "");
  Document document = new_document(text);
  append(document, mixing_set(), {true, false, 0.3});
  Node chain;
  chain.kind = Node::Kind::kChoose;
  chain.least = depth > 0 ? depth : 1;
  chain.most = depth > 0 ? depth : 3;
  chain.from_all = true;
  chain.each.magnitude = drawn_level(level, deviation < 0 ? std::nullopt : std::optional(deviation), 10);
  document.policy.kind = Node::Kind::kMix;
  document.policy.chains = width;
  document.policy.alpha = alpha;
  document.policy.children.push_back(std::move(chain));
  return document;
}

/// One of three: Solarize of level 5, Desaturate of 10, a blur of any strength. With noise on these levels
/// the blur is as strong as any below a level that is drawn: its sigma is uniform from 0.1 to a fifth of
/// that.
Document three_augment(const std::string& text, double deviation) {
  Document document = new_document(text);
  append(document, three_set(), {});
  document.policy.kind = Node::Kind::kChoose;
  for (const auto& [name, level] :
       {std::pair{"solarize", 5.0}, {"desaturate", 10.0}, {"gaussian_blur", 0.0}}) {
    Node step;
    step.kind = Node::Kind::kApply;
    step.name = name;
    step.magnitude.kind = level > 0 ? Magnitude::Kind::kLevel : Magnitude::Kind::kUniformLevel;
    step.magnitude.level = level;
    step.magnitude.last_level = 10;
    if (deviation > 0) {
      step.magnitude.deviation = deviation;
      step.magnitude.clip = {0, 10};
    }
    document.policy.pool.push_back({"", {std::move(step)}, {}});
  }
  if (deviation > 0) {
    document.augmentations.back().range = {0, 2};
    document.policy.pool.back().node[0].magnitude.level = 0.5;
  }
  return trimmed(document);  // without warps nothing takes their arguments
}

Result<Document> auto_augment(const std::string& text, const Sections& sections) {
  Numbers numbers(text, sections);
  const double deviation = numbers.get("mstd", 0);
  if (auto problem = numbers.problem()) return std::unexpected(std::move(*problem));
  if (sections.family == "3a") return three_augment(text, deviation);
  Document document = new_document(text);
  append(document, default_set(), {});
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
             "there are `rand`, `augmix`, `v0`, `v0r`, `original`, `originalr` and `3a`");
}

}  // namespace galatea::policy
