#include "policy/families.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "policy/published.h"

namespace galatea::policy {
namespace {

using Range = std::pair<double, double>;

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (size_t at; (at = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(at + separator.size()))
    parts.push_back(text.substr(0, at));
  parts.push_back(text);
  return parts;
}

double number_of(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Node step(std::string_view text, bool levels, double deviation) {
  const auto words = split(text, " ");
  Node node;
  node.kind = Node::Kind::kApply;
  node.name = words[0];
  node.probability = number_of(words[1]);
  if (words[2] == "-") return node;
  Magnitude& magnitude = node.magnitude;
  magnitude.kind = levels ? Magnitude::Kind::kLevel : Magnitude::Kind::kBin;
  magnitude.level = number_of(words[2]);
  magnitude.bin = magnitude.last_bin = static_cast<int64_t>(magnitude.level);
  if (levels && deviation > 0) {
    magnitude.deviation = deviation;
    magnitude.clip = {0, 10};
  }
  return node;
}

void append_translations(Document& document, const DaliOptions& options) {
  const std::string suffix = options.uses_shape ? "" : "_no_shape";
  document.augmentations.push_back(
      augmentation("translate_x", {0, options.max_translate_x}, true, "vec_x", "translate_x" + suffix));
  document.augmentations.push_back(
      augmentation("translate_y", {0, options.max_translate_y}, true, "vec_y", "translate_y" + suffix));
}

void append_shears(Document& document, double most) {
  document.augmentations.push_back(augmentation("shear_x", {0, most}, true, "vec_x"));
  document.augmentations.push_back(augmentation("shear_y", {0, most}, true, "vec_y"));
}

void append_enhancements(Document& document, Range range, bool negate, const char* param,
                         const char* kernel) {
  for (const char* name : {"brightness", "contrast", "color"})
    document.augmentations.push_back(augmentation(name, range, negate, param));
  document.augmentations.push_back(augmentation("sharpness", range, negate, kernel));
}

void append_plain(Document& document, std::initializer_list<const char*> names) {
  for (const char* name : names) document.augmentations.push_back(augmentation(name));
}

void exclude(Document& document, const std::vector<std::string>& names) {
  std::erase_if(document.augmentations, [&](const Augmentation& entry) {
    return std::find(names.begin(), names.end(), entry.name) != names.end();
  });
}

Node choose_all(int64_t least, int64_t most, Magnitude::Kind kind, int64_t bin, int64_t last_bin) {
  Node node;
  node.kind = Node::Kind::kChoose;
  node.least = least;
  node.most = most;
  node.from_all = true;
  node.each.magnitude.kind = kind;
  node.each.magnitude.bin = bin;
  node.each.magnitude.last_bin = last_bin;
  return node;
}

Document torchvision_document(std::string name, int64_t bins, std::vector<Extra> extras) {
  Document document;
  document.name = std::move(name);
  document.bins = bins;
  document.extras = std::move(extras);
  return document;
}

void append_torchvision_warps(Document& document, Range shear, Range x,
                              const std::string& translate_op_suffix, Range rotate) {
  append_shears(document, shear.second);
  for (const char* axis : {"x", "y"}) {
    const std::string name = fmt::format("translate_{}", axis);
    Augmentation entry = augmentation(name, x, true, fmt::format("vec_{}", axis), name + translate_op_suffix);
    // The offset is cut to whole pixels there.
    entry.extras.push_back(extra("pixel_round", "trunc"));
    document.augmentations.push_back(std::move(entry));
  }
  document.augmentations.push_back(augmentation("rotate", rotate, true));
}

}  // namespace

Augmentation augmentation(std::string name, std::string op) {
  Augmentation entry;
  entry.op = op.empty() ? name : std::move(op);
  entry.name = std::move(name);
  return entry;
}

Augmentation augmentation(std::string name, Range range, bool negate, std::string param, std::string op,
                          Quantize quantize) {
  Augmentation entry = augmentation(std::move(name), std::move(op));
  entry.range = range;
  entry.negate = negate;
  entry.param = std::move(param);
  entry.quantize = quantize;
  return entry;
}

Extra extra(std::string name, double value) {
  Extra made{std::move(name), {}, {}};
  made.value.kind = JsonValue::Kind::kInteger;
  made.value.integer = static_cast<int64_t>(value);
  made.value.number = value;
  if (static_cast<double>(made.value.integer) != value) made.value.kind = JsonValue::Kind::kNumber;
  return made;
}

Extra extra(std::string name, std::string value) {
  Extra made{std::move(name), {}, {}};
  made.value.kind = JsonValue::Kind::kString;
  made.value.text = std::move(value);
  return made;
}

Node published_choice(const std::string& published, bool levels, double deviation) {
  Node choice;
  choice.kind = Node::Kind::kChoose;
  for (std::string_view row : find_published(published)->sub_policies) {
    Node sequence;
    sequence.kind = Node::Kind::kSequence;
    for (std::string_view text : split(row, "; ")) sequence.children.push_back(step(text, levels, deviation));
    choice.pool.push_back({"", {std::move(sequence)}, {}});
  }
  return choice;
}

void keep_used(Document& document) {
  std::set<std::string> used;
  auto visit = [&](auto&& self, const Node& node) -> void {
    if (node.kind == Node::Kind::kApply) used.insert(node.name);
    for (const Node& child : node.children) self(self, child);
    for (const PoolItem& item : node.pool) {
      if (!item.name.empty()) used.insert(item.name);
      for (const Node& child : item.node) self(self, child);
    }
  };
  visit(visit, document.policy);
  std::erase_if(document.augmentations,
                [&](const Augmentation& entry) { return !used.contains(entry.name); });
}

Document dali_rand_augment(int64_t n, int64_t m, bool monotonic, const DaliOptions& options) {
  Document document;
  document.name = fmt::format("rand_augment_n{}_m{}", n, m);
  document.bins = options.bins;
  document.extras = options.extras;
  append_translations(document, options);
  append_shears(document, 0.3);
  document.augmentations.push_back(augmentation("rotate", {0, 30}, true));
  if (monotonic)
    append_enhancements(document, {0, 0.9}, true, "one_plus", "sharpness_kernel");
  else
    append_enhancements(document, {0.1, 1.9}, false, "identity", "sharpness_kernel_shifted");
  document.augmentations.push_back(
      augmentation("posterize", monotonic ? Range{8, 4} : Range{0, 4}, false, "posterize_mask"));
  document.augmentations.push_back(
      augmentation("solarize", monotonic ? Range{256, 0} : Range{0, 256}, false));
  append_plain(document, {"equalize", "auto_contrast", "identity"});
  exclude(document, options.excluded);
  document.policy = choose_all(n, n, Magnitude::Kind::kBin, m, m);
  return document;
}

Document dali_trivial_augment_wide(const DaliOptions& options) {
  Document document;
  document.name = "trivial_augment_wide";
  document.bins = options.bins;
  document.extras = options.extras;
  append_translations(document, options);
  append_shears(document, 0.99);
  document.augmentations.push_back(augmentation("rotate", {0, 135}, true));
  append_enhancements(document, {0.01, 0.99}, true, "one_plus", "sharpness_kernel");
  document.augmentations.push_back(augmentation("posterize", {8, 2}, false, "posterize_mask"));
  document.augmentations.push_back(augmentation("solarize", {256, 0}, false));
  append_plain(document, {"equalize", "auto_contrast", "identity"});
  exclude(document, options.excluded);
  document.policy = choose_all(1, 1, Magnitude::Kind::kUniformBin, 0, options.bins - 1);
  return document;
}

Document dali_auto_augment(const std::string& published, const DaliOptions& options) {
  Document document;
  document.name = "auto_augment_" + published;
  document.bins = 11;
  append_shears(document, 0.3);
  append_translations(document, options);
  document.augmentations.push_back(augmentation("rotate", {0, 30}, true));
  append_enhancements(document, {0.1, 1.9}, false, "identity", "sharpness_kernel_shifted");
  document.augmentations.push_back(augmentation("posterize", {0, 4}, false, "posterize_mask"));
  document.augmentations.push_back(augmentation("solarize", {0, 256}, false));
  document.augmentations.push_back(
      augmentation("solarize_add", {0, 110}, false, "identity", "", Quantize::kFloor));
  append_plain(document, {"invert", "equalize", "auto_contrast"});
  document.policy = published_choice(published, false, 0);
  document.extras = options.extras;
  keep_used(document);
  return document;
}

Document torchvision_auto_augment(const std::string& published, std::vector<Extra> extras) {
  Document document = torchvision_document("torchvision_auto_augment_" + published, 10, std::move(extras));
  append_torchvision_warps(document, {0, 0.3}, {0, 150.0 / 331.0}, "", {0, 30});
  append_enhancements(document, {0, 0.9}, true, "one_plus", "sharpness_kernel");
  document.augmentations.push_back(augmentation("posterize", {8, 4}, false, "posterize_mask"));
  document.augmentations.push_back(augmentation("solarize", {255, 0}, false));
  append_plain(document, {"auto_contrast", "equalize", "invert"});
  document.policy = published_choice(published, false, 0);
  keep_used(document);
  return document;
}

Document torchvision_rand_augment(int64_t n, int64_t magnitude, int64_t bins, std::vector<Extra> extras) {
  Document document = torchvision_document(fmt::format("torchvision_rand_augment_n{}_m{}", n, magnitude),
                                           bins, std::move(extras));
  append_plain(document, {"identity"});
  append_torchvision_warps(document, {0, 0.3}, {0, 150.0 / 331.0}, "", {0, 30});
  append_enhancements(document, {0, 0.9}, true, "one_plus", "sharpness_kernel");
  document.augmentations.push_back(augmentation("posterize", {8, 4}, false, "posterize_mask"));
  document.augmentations.push_back(augmentation("solarize", {255, 0}, false));
  append_plain(document, {"auto_contrast", "equalize"});
  document.policy = choose_all(n, n, Magnitude::Kind::kBin, magnitude, magnitude);
  return document;
}

Document torchvision_trivial_augment_wide(int64_t bins, std::vector<Extra> extras) {
  Document document = torchvision_document("torchvision_trivial_augment_wide", bins, std::move(extras));
  append_plain(document, {"identity"});
  append_torchvision_warps(document, {0, 0.99}, {0, 32}, "_no_shape", {0, 135});
  append_enhancements(document, {0, 0.99}, true, "one_plus", "sharpness_kernel");
  document.augmentations.push_back(augmentation("posterize", {8, 2}, false, "posterize_mask"));
  document.augmentations.push_back(augmentation("solarize", {255, 0}, false));
  append_plain(document, {"auto_contrast", "equalize"});
  document.policy = choose_all(1, 1, Magnitude::Kind::kUniformBin, 0, bins - 1);
  return document;
}

Document torchvision_augmix(const AugMixOptions& options, std::vector<Extra> extras) {
  Document document = torchvision_document(fmt::format("augmix_s{}_w{}", options.severity, options.width), 10,
                                           std::move(extras));
  append_torchvision_warps(document, {0, 0.3}, {0, 1.0 / 3.0}, "", {0, 30});
  document.augmentations.push_back(augmentation("posterize", {4, 0}, false, "posterize_mask0"));
  document.augmentations.push_back(augmentation("solarize", {255, 0}, false));
  append_plain(document, {"auto_contrast", "equalize"});
  if (options.all_ops) append_enhancements(document, {0, 0.9}, true, "one_plus", "sharpness_kernel");
  const bool any_depth = options.depth <= 0;
  Node chain = choose_all(any_depth ? 1 : options.depth, any_depth ? 3 : options.depth,
                          Magnitude::Kind::kUniformBin, 0, options.severity - 1);
  document.policy.kind = Node::Kind::kMix;
  document.policy.chains = options.width;
  document.policy.alpha = options.alpha;
  document.policy.children.push_back(std::move(chain));
  return document;
}

}  // namespace galatea::policy
