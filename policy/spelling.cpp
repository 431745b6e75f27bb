// Which spelling a text is, and the way back from documents.
#include "policy/spelling.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include <fmt/format.h>

#include "policy/difference.h"
#include "policy/messages.h"
#include "policy/published.h"

namespace galatea::policy {
namespace {

bool is_timm(const std::string& text) {
  const std::string family = text.substr(0, text.find('-'));
  for (const char* name : {"rand", "augmix", "v0", "v0r", "original", "originalr", "3a"})
    if (family == name) return true;
  return false;
}

const Node& chain_of(const Node& policy) {
  return policy.kind == Node::Kind::kMix && !policy.children.empty() ? policy.children[0] : policy;
}

/// A value as it is written in a call: lists with their elements.
std::string value_text(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::kArray) return describe(value);
  std::string list;
  for (const JsonValue& item : value.items) list += (list.empty() ? "" : ", ") + describe(item);
  return "[" + list + "]";
}

/// Without an exponent, whose sign would end the section of a string of timm's.
std::string plain_number(double value) {
  std::array<char, 400> text;  // the greatest double has 309 digits
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return std::string(text.data(), end);
}

/// Arguments of warps that a call states, where they are not the default: translations by at most
/// `default_abs` pixels, or by `default_rel` of the image.
std::string dali_warps(const Document& document, double default_abs, double default_rel) {
  std::string text;
  for (const Extra& extra : document.extras) {
    std::string value = value_text(extra.value);
    if (extra.name == "fill_value" && value == "128") continue;
    if (value == "null") value = "None";
    if (extra.name == "fill_value" || extra.name == "interp_type")
      text += fmt::format(", {}={}", extra.name, value);
  }
  const Augmentation* x = document.find("translate_x");
  const Augmentation* y = document.find("translate_y");
  const Augmentation* any = x ? x : y;
  if (!any || !any->range) return text;
  const bool uses_shape = any->op == any->name;
  const double of_x = (x && x->range ? x : any)->range->second,
               of_y = (y && y->range ? y : any)->range->second;
  if (uses_shape) text += ", shape=shape";
  const double missing = uses_shape ? default_rel : default_abs;
  if (of_x == missing && of_y == missing) return text;
  const std::string limit =
      of_x == of_y ? number_text(of_x) : fmt::format("({}, {})", number_text(of_y), number_text(of_x));
  return text + fmt::format(", max_translate_{}={}", uses_shape ? "rel" : "abs", limit);
}

std::vector<std::string> call_candidates(const Document& document) {
  const Node& policy = document.policy;
  std::vector<std::string> texts;
  for (const PublishedPolicy& published : published_policies())
    texts.push_back(
        fmt::format("auto_augment(policy_name=\"{}\"{})", published.name, dali_warps(document, 250, 1)));
  const std::string bins = document.bins == 31 ? "" : fmt::format(", num_magnitude_bins={}", document.bins);
  std::string missing;
  for (const char* name :
       {"translate_x", "translate_y", "shear_x", "shear_y", "rotate", "brightness", "contrast", "color",
        "sharpness", "posterize", "solarize", "equalize", "auto_contrast", "identity"})
    if (!document.find(name)) missing += fmt::format("{}\"{}\"", missing.empty() ? "" : ", ", name);
  const std::string excluded = missing.empty() ? "" : fmt::format(", excluded=[{}]", missing);
  for (const char* monotonic : {"", ", monotonic_mag=False"})
    texts.push_back(fmt::format("rand_augment(n={}, m={}{}{}{}{})", policy.least, policy.each.magnitude.bin,
                                bins, dali_warps(document, 100, 100.0 / 224.0), monotonic, excluded));
  const std::string trivial = bins + dali_warps(document, 32, 1) + excluded;
  texts.push_back(fmt::format("trivial_augment_wide({})", trivial.empty() ? "" : trivial.substr(2)));
  return texts;
}

std::vector<std::string> torchvision_candidates(const Document& document) {
  const Node& chain = chain_of(document.policy);
  std::string fill, interpolation = "NEAREST";
  for (const Extra& extra : document.extras) {
    const std::string value = describe(extra.value);
    if (extra.name == "fill_value" && value != "0") fill = ", fill=" + value_text(extra.value);
    if (extra.name == "interp_type" && value == "\"linear\"") interpolation = "BILINEAR";
    if (extra.name == "interp_type" && value == "\"cubic\"") interpolation = "BICUBIC";
  }
  auto warps = [&](const char* default_interpolation) {
    return (interpolation == default_interpolation ? "" : ", interpolation=" + interpolation) + fill;
  };
  const std::string common = warps("NEAREST");
  const std::string bins = document.bins == 31 ? "" : fmt::format(", num_magnitude_bins={}", document.bins);
  auto call = [](const std::string& name, const std::string& arguments) {
    return fmt::format("{}({})", name, arguments.starts_with(", ") ? arguments.substr(2) : arguments);
  };
  std::vector<std::string> texts;
  for (const char* policy : {"IMAGENET", "CIFAR10", "SVHN"})
    texts.push_back(call("AutoAugment", fmt::format("policy=AutoAugmentPolicy.{}{}", policy, common)));
  texts.push_back(call("RandAugment", fmt::format("num_ops={}, magnitude={}{}{}", chain.least,
                                                  chain.each.magnitude.bin, bins, common)));
  texts.push_back(call("TrivialAugmentWide", bins + common));
  const std::string depth = chain.least == chain.most ? fmt::format(", chain_depth={}", chain.least) : "";
  for (const char* ops : {"", ", all_ops=False"}) {
    texts.push_back(
        call("AugMix", fmt::format("severity={}, mixture_width={}{}, alpha={}{}{}",
                                   chain.each.magnitude.last_bin + 1, document.policy.chains, depth,
                                   number_text(document.policy.alpha), ops, warps("BILINEAR"))));
  }
  return texts;
}

std::vector<std::string> timm_candidates(const Document& document) {
  const Node& chain = chain_of(document.policy);
  const Magnitude& magnitude = chain.each.magnitude;
  const bool uniform = magnitude.kind == Magnitude::Kind::kUniformLevel;
  const double level = uniform ? magnitude.last_level : magnitude.level;
  std::string deviation;
  if (uniform) deviation = "-mstd101";
  if (magnitude.deviation > 0) deviation = "-mstd" + plain_number(magnitude.deviation);
  const std::string most =
      magnitude.clip && magnitude.clip->second != 10 ? "-mmax" + plain_number(magnitude.clip->second) : "";
  std::vector<std::string> texts;
  for (const char* increasing : {"", "-inc1"}) {
    for (const char* set : {"", "-tweights", "-t3a", "-t3aw"}) {
      texts.push_back(
          fmt::format("rand-m{}{}{}{}{}{}{}", plain_number(level),
                      chain.least == 2 ? "" : fmt::format("-n{}", chain.least),
                      chain.each.probability == 0.5 ? "" : "-p" + plain_number(chain.each.probability),
                      deviation, most, increasing, set));
    }
  }
  const std::string depth = chain.least == chain.most ? fmt::format("-d{}", chain.least) : "";
  const std::string alpha = document.policy.alpha == 1 ? "" : "-a" + plain_number(document.policy.alpha);
  texts.push_back(fmt::format("augmix-m{}-w{}{}{}{}", plain_number(level), document.policy.chains, depth,
                              alpha,
                              uniform                   ? ""
                              : magnitude.deviation > 0 ? deviation
                                                        : "-mstd0"));
  double step_deviation = 0;
  for (const PoolItem& item : document.policy.pool)
    for (const Node& sequence : item.node)
      for (const Node& step : sequence.kind == Node::Kind::kSequence ? sequence.children : item.node)
        step_deviation = std::max(step_deviation, step.magnitude.deviation);
  for (const char* name : {"v0", "v0r", "original", "originalr", "3a"})
    texts.push_back(name + (step_deviation > 0 ? "-mstd" + plain_number(step_deviation) : ""));
  return texts;
}

/// Policies of other kinds, or of other operations, have little to compare, and so few differences.
size_t distance_of_kind(const Document& one, const Document& other) {
  constexpr size_t kOtherKind = 1000;
  size_t distance = 0;
  if (one.policy.kind != other.policy.kind || one.policy.from_all != other.policy.from_all)
    distance += kOtherKind;
  for (const Augmentation& entry : one.augmentations) distance += other.find(entry.name) == nullptr;
  for (const Augmentation& entry : other.augmentations) distance += one.find(entry.name) == nullptr;
  return distance;
}

const char* name_of(Target target) {
  switch (target) {
    case Target::kCall:
      return "a call of the library";
    case Target::kTorchvision:
      return "a transform of torchvision";
    case Target::kTimm:
      return "a string of timm";
  }
  return "";
}

}  // namespace

bool is_spelling(const std::string& text) {
  if (text.ends_with(".json")) return false;
  return is_timm(text) || text.ends_with(")") || (text.find('/') == std::string::npos && document_of(text));
}

Result<Document> document_of(const std::string& spelling) {
  if (is_timm(spelling)) return document_of_timm(spelling);
  GALATEA_ASSIGN(Call call, parse_call(spelling));
  return document_of_call(call, spelling);
}

Result<std::string> spelling_of(const Document& document, Target target) {
  const std::vector<std::string> candidates = target == Target::kCall ? call_candidates(document)
                                              : target == Target::kTorchvision
                                                  ? torchvision_candidates(document)
                                                  : timm_candidates(document);
  std::vector<Difference> nearest;
  std::string nearest_text;
  std::tuple<size_t, size_t> least;
  for (const std::string& text : candidates) {
    const Result<Document> made = document_of(text);
    if (!made) continue;
    std::vector<Difference> found = differences(document, *made);
    if (found.empty()) return text;
    const auto distance = std::tuple(distance_of_kind(document, *made), found.size());
    if (nearest_text.empty() || distance < least) {
      nearest = std::move(found);
      nearest_text = text;
      least = distance;
    }
  }
  const std::string name = document.name.empty() ? "this policy" : "`" + document.name + "`";
  if (nearest_text.empty())
    return policy_error(Message::kCannotExpress, {},
                        {name, name_of(target), "nothing of its kind is there", ""});
  const Difference& first = nearest[0];
  auto shown = [](const std::string& text) { return text.empty() ? std::string("absent") : text; };
  auto error = policy_error(Message::kCannotExpress, {},
                            {name, name_of(target),
                             fmt::format("{} is {}, and the nearest, {}, has it {}", first.path,
                                         shown(first.left), nearest_text, shown(first.right)),
                             "JSON says it: convert it to json"});
  for (size_t i = 1; i < nearest.size() && i < 8; ++i)
    error.error().diagnostics[0].notes.push_back(
        fmt::format("also {}: {}, not {}", nearest[i].path, shown(nearest[i].left), shown(nearest[i].right)));
  return error;
}

std::vector<KnownPolicy> known_policies() {
  std::vector<KnownPolicy> known;
  for (const PublishedPolicy& policy : published_policies())
    known.push_back({std::string(policy.name), std::string(policy.meaning)});
  known.push_back({"rand_augment(n=2, m=9)", "n operations of 14, each with the magnitude m of 31"});
  known.push_back({"trivial_augment_wide()", "one operation of 14 with any magnitude"});
  known.push_back({"AutoAugment(policy=AutoAugmentPolicy.IMAGENET)", "torchvision; also CIFAR10 and SVHN"});
  known.push_back({"RandAugment(num_ops=2, magnitude=9)", "torchvision"});
  known.push_back({"TrivialAugmentWide()", "torchvision"});
  known.push_back({"AugMix(severity=3, mixture_width=3)", "torchvision; chains mixed by random weights"});
  known.push_back({"rand-m9-mstd0.5-inc1", "timm; RandAugment of 15 operations with noise on the magnitude"});
  known.push_back({"augmix-m3-w3", "timm"});
  known.push_back({"original-mstd0.5", "timm; AutoAugment; also v0, v0r, originalr, 3a"});
  return known;
}

}  // namespace galatea::policy
