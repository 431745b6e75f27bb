// From calls to documents: the functions of the library and torchvision's transforms, their arguments and
// defaults.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "policy/check_policy.h"
#include "policy/families.h"
#include "policy/fields.h"
#include "policy/messages.h"
#include "policy/published.h"
#include "policy/spelling.h"
#include "policy/trim.h"

namespace galatea::policy {
namespace {

using JsonKind = JsonValue::Kind;

/// Of translations, in pixels or in images.
constexpr double kGreatestLimit = 1e6;

/// The arguments of one call, taken one after the other; the first mistake is kept.
class Arguments {
 public:
  Arguments(const Call& call, std::string_view text, std::vector<std::string> parameters, bool takes_images)
      : call_(call), text_(text), parameters_(std::move(parameters)) {
    size_t place = 0;
    for (const CallArgument& argument : call.arguments) {
      if (takes_images && is_images(argument)) continue;
      if (!argument.name.empty()) {
        if (std::find(parameters_.begin(), parameters_.end(), argument.name) == parameters_.end())
          fail(fmt::format("`{}` has no argument `{}`", call.name, argument.name), hint(argument.name));
        add(argument.name, argument.value);
      } else if (place < parameters_.size()) {
        add(parameters_[place++], argument.value);
      } else {
        fail(fmt::format("`{}` has {} arguments", call.name, parameters_.size()), "");
      }
    }
  }

  bool is_given(const std::string& name) const { return find(name) != nullptr; }
  bool is_none(const std::string& name) const {
    return std::any_of(values_.begin(), values_.end(), [&](const auto& given) {
      return given.first == name && given.second->kind == JsonKind::kNull;
    });
  }

  int64_t integer(const std::string& name, int64_t missing, int64_t least, int64_t most) {
    const JsonValue* value = find(name);
    if (!value) return missing;
    if (value->kind == JsonKind::kInteger && value->integer >= least && value->integer <= most)
      return value->integer;
    fail(fmt::format("`{}` is a whole number from {} to {}, found {}", name, least, most, describe(*value)),
         "");
    return missing;
  }
  int64_t needed_integer(const std::string& name, int64_t least, int64_t most) {
    if (!is_given(name))
      fail(fmt::format("`{}` needs `{}`", call_.name, name), fmt::format("write {}=…", name));
    return integer(name, least, least, most);
  }
  double number(const std::string& name, double missing, double least) {
    const JsonValue* value = find(name);
    if (!value) return missing;
    if (value->is_number() && value->number >= least && value->number < 1e6) return value->number;
    fail(fmt::format("`{}` is a number of at least {}, found {}", name, least, describe(*value)), "");
    return missing;
  }
  bool boolean(const std::string& name, bool missing) {
    const JsonValue* value = find(name);
    if (!value) return missing;
    if (value->kind == JsonKind::kBool) return value->boolean;
    fail(fmt::format("`{}` is True or False, found {}", name, describe(*value)), "");
    return missing;
  }
  std::string word(const std::string& name, const std::string& missing) {
    const JsonValue* value = find(name);
    if (!value) return missing;
    if (value->kind == JsonKind::kString) return value->text;
    fail(fmt::format("`{}` is a string, found {}", name, describe(*value)), "");
    return missing;
  }
  std::vector<std::string> words(const std::string& name) {
    std::vector<std::string> found;
    const JsonValue* value = find(name);
    if (!value) return found;
    if (value->kind != JsonKind::kArray) fail(fmt::format("`{}` is a list of names", name), "");
    for (const JsonValue& item : value->items) {
      if (item.kind != JsonKind::kString) fail(fmt::format("`{}` is a list of names", name), "");
      found.push_back(item.text);
    }
    return found;
  }
  /// One number for both axes, or (of y, of x) as the library has it: gives (x, y).
  std::pair<double, double> axes(const std::string& name, double missing) {
    const JsonValue* value = find(name);
    if (!value) return {missing, missing};
    const auto fits = [](const JsonValue& limit) {
      return limit.is_number() && std::abs(limit.number) <= kGreatestLimit;
    };
    if (fits(*value)) return {value->number, value->number};
    if (value->kind == JsonKind::kArray && value->items.size() == 2 && fits(value->items[0]) &&
        fits(value->items[1]))
      return {value->items[1].number, value->items[0].number};
    fail(fmt::format("`{}` is a number or two, for y and x, found {}", name, describe(*value)), "");
    return {missing, missing};
  }
  void copy_extra(const std::string& name, std::vector<Extra>& extras, const std::string& as = "") {
    const JsonValue* value = find(name);
    if (!value) return;
    std::erase_if(extras, [&](const Extra& each) { return each.name == (as.empty() ? name : as); });
    extras.push_back({as.empty() ? name : as, *value, {}});
  }

  void fail(const std::string& what, const std::string& help) {
    if (!problem_)
      problem_ = policy_error(Message::kBadSpelling, {}, {std::string(text_), what, help}).error();
  }
  const std::optional<Error>& problem() const { return problem_; }

 private:
  /// The library's functions take the images first, or as `data`.
  bool is_images(const CallArgument& argument) const {
    if (!argument.is_variable) return false;
    if (!argument.name.empty()) return argument.name == "data";
    return &argument == call_.arguments.data() && !find_published(argument.value.text);
  }
  void add(const std::string& name, const JsonValue& value) {
    for (const auto& [given, other] : values_)
      if (given == name) fail(fmt::format("`{}` is given twice", name), "");
    values_.emplace_back(name, &value);
  }
  /// None is as good as nothing.
  const JsonValue* find(const std::string& name) const {
    for (const auto& [given, value] : values_)
      if (given == name) return value->kind == JsonKind::kNull ? nullptr : value;
    return nullptr;
  }
  std::string hint(const std::string& name) const {
    const std::string nearest = did_you_mean(name, parameters_);
    return nearest.empty() ? "it has " + listed(parameters_) : nearest;
  }

  const Call& call_;
  std::string_view text_;
  std::vector<std::string> parameters_;
  std::vector<std::pair<std::string, const JsonValue*>> values_;
  std::optional<Error> problem_;
};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

/// DALI's enumerator as the word of documents.
std::string interpolation_word(const std::string& how) {
  if (how == "INTERP_LINEAR") return "linear";
  if (how == "INTERP_NN") return "nearest";
  return how == "INTERP_CUBIC" ? "cubic" : how;
}

const std::vector<std::string> kDaliWarps = {
    "shape", "fill_value", "interp_type", "max_translate_abs", "max_translate_rel", "seed"};

std::vector<std::string> with_dali_warps(std::vector<std::string> first, std::vector<std::string> last = {}) {
  first.insert(first.end(), kDaliWarps.begin(), kDaliWarps.end());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

DaliOptions dali_options(Arguments& arguments, double default_abs, double default_rel) {
  DaliOptions options;
  options.uses_shape = arguments.is_given("shape");
  const bool abs = arguments.is_given("max_translate_abs"), rel = arguments.is_given("max_translate_rel");
  if (options.uses_shape && abs)
    arguments.fail("`max_translate_abs` is for calls without `shape`", "write max_translate_rel=…");
  if (!options.uses_shape && rel)
    arguments.fail("`max_translate_rel` is for calls with `shape`",
                   "write max_translate_abs=…, or add shape=shape");
  const auto [x, y] = options.uses_shape ? arguments.axes("max_translate_rel", default_rel)
                                         : arguments.axes("max_translate_abs", default_abs);
  options.max_translate_x = x;
  options.max_translate_y = y;
  options.extras = {extra("fill_value", 128)};
  arguments.copy_extra("fill_value", options.extras);
  // Here None is a value: the pixels of the border go on.
  if (arguments.is_none("fill_value")) options.extras[0].value = JsonValue();
  if (const std::string how = arguments.word("interp_type", ""); !how.empty())
    options.extras.push_back(extra("interp_type", interpolation_word(how)));
  return options;
}

void leave_out(Arguments& arguments, const Document& suite, DaliOptions& options) {
  options.excluded = arguments.words("excluded");
  std::vector<std::string> known;
  for (const Augmentation& entry : suite.augmentations) known.push_back(entry.name);
  for (const std::string& name : options.excluded) {
    if (suite.find(name)) continue;
    const std::string nearest = did_you_mean(name, known);
    arguments.fail(fmt::format("`excluded` names `{}`, which it does not have", name),
                   nearest.empty() ? "it has " + listed(known) : nearest);
  }
}

Document rand_augment(Arguments& arguments) {
  DaliOptions options = dali_options(arguments, 100, 100.0 / 224.0);
  options.bins = arguments.integer("num_magnitude_bins", 31, 1, kMostBins);
  const int64_t n = arguments.needed_integer("n", 0, kMostDraws);
  const int64_t m = arguments.needed_integer("m", 0, options.bins - 1);
  const bool monotonic = arguments.boolean("monotonic_mag", true);
  leave_out(arguments, dali_rand_augment(n, m, monotonic, options), options);
  return dali_rand_augment(n, m, monotonic, options);
}

Document trivial_augment(Arguments& arguments) {
  DaliOptions options = dali_options(arguments, 32, 1);
  options.bins = arguments.integer("num_magnitude_bins", 31, 1, kMostBins);
  leave_out(arguments, dali_trivial_augment_wide(options), options);
  return dali_trivial_augment_wide(options);
}

std::string published_name(Arguments& arguments, const std::string& name) {
  if (find_published(name)) return name;
  std::vector<std::string> known;
  for (const PublishedPolicy& policy : published_policies()) known.emplace_back(policy.name);
  const std::string nearest = did_you_mean(name, known);
  arguments.fail(fmt::format("there is no policy `{}`", name),
                 nearest.empty() ? "there are " + listed(known) : nearest);
  return "image_net";
}

Document auto_augment(Arguments& arguments, const std::string& name) {
  return dali_auto_augment(published_name(arguments, name), dali_options(arguments, 250, 1));
}

/// The published policy that `policy` names.
std::string torchvision_policy(Arguments& arguments) {
  const std::string name = lower_case(arguments.word("policy", "imagenet"));
  if (name == "svhn") return name;
  if (name == "cifar10") return "reduced_cifar10";
  if (name != "imagenet")
    arguments.fail(fmt::format("there is no policy `{}`", name), "there are IMAGENET, CIFAR10 and SVHN");
  return "reduced_image_net";  // the table that the paper prints
}

std::vector<Extra> torchvision_extras(Arguments& arguments, const char* interpolation) {
  std::vector<Extra> extras = {extra("fill_value", 0), extra("interp_type", interpolation)};
  const std::string how = lower_case(arguments.word("interpolation", ""));
  if (how == "bilinear") extras[1] = extra("interp_type", "linear");
  if (how == "nearest") extras[1] = extra("interp_type", "nearest");
  if (how == "bicubic") {
    extras[1] = extra("interp_type", "cubic");
    extras.push_back(extra("cubic_a", -1));  // Pillow's
  }
  if (!how.empty() && how != "bilinear" && how != "nearest" && how != "bicubic")
    arguments.fail(fmt::format("there is no interpolation `{}`", how),
                   "there are NEAREST, BILINEAR and BICUBIC");
  arguments.copy_extra("fill", extras, "fill_value");
  return extras;
}

struct Family {
  const char* name;
  std::vector<std::string> parameters;
  std::function<Document(Arguments&)> make;
  bool takes_images = true;  ///< as its first argument; transforms of torchvision are called with them later
};

const std::vector<Family>& families() {
  static const std::vector<Family> table = [] {
    std::vector<Family> made = {
        {"rand_augment",
         {"n", "m", "num_magnitude_bins", "shape", "fill_value", "interp_type", "max_translate_abs",
          "max_translate_rel", "seed", "monotonic_mag", "excluded"},
         rand_augment},
        {"trivial_augment_wide", with_dali_warps({"num_magnitude_bins"}, {"excluded"}), trivial_augment},
        {"auto_augment", with_dali_warps({"policy_name"}),
         [](Arguments& a) { return auto_augment(a, a.word("policy_name", "image_net")); }},
        {"AutoAugment",
         {"policy", "interpolation", "fill"},
         [](Arguments& a) {
           return torchvision_auto_augment(torchvision_policy(a), torchvision_extras(a, "nearest"));
         },
         false},
        {"RandAugment",
         {"num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill"},
         [](Arguments& a) {
           const int64_t bins = a.integer("num_magnitude_bins", 31, 1, kMostBins);
           return torchvision_rand_augment(a.integer("num_ops", 2, 0, kMostDraws),
                                           a.integer("magnitude", 9, 0, bins - 1), bins,
                                           torchvision_extras(a, "nearest"));
         },
         false},
        {"TrivialAugmentWide",
         {"num_magnitude_bins", "interpolation", "fill"},
         [](Arguments& a) {
           return torchvision_trivial_augment_wide(a.integer("num_magnitude_bins", 31, 1, kMostBins),
                                                   torchvision_extras(a, "nearest"));
         },
         false},
        {"AugMix",
         {"severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation", "fill"},
         [](Arguments& a) {
           AugMixOptions options;
           options.severity = a.integer("severity", 3, 1, 10);
           options.width = a.integer("mixture_width", 3, 1, 16);
           options.depth = a.integer("chain_depth", -1, -kMostDraws, kMostDraws);
           options.alpha = a.number("alpha", 1, 1e-6);
           options.all_ops = a.boolean("all_ops", true);
           return torchvision_augmix(options, torchvision_extras(a, "linear"));
         },
         false},
    };
    for (const PublishedPolicy& policy : published_policies()) {
      const std::string name(policy.name);
      made.push_back(
          {policy.name.data(), with_dali_warps({}), [name](Arguments& a) { return auto_augment(a, name); }});
    }
    return made;
  }();
  return table;
}

/// Arguments that are handed on to operations are what a document may have.
void check(const Document& document, Arguments& arguments) {
  DiagnosticSink sink;
  Fields fields(sink);
  check_policy(document, fields);
  for (const Diagnostic& found : sink.diagnostics())
    if (found.severity == Severity::kError) arguments.fail(found.message, found.help);
}

}  // namespace

Result<Document> document_of_call(const Call& call, std::string_view text) {
  std::vector<std::string> names;
  for (const Family& family : families()) {
    names.emplace_back(family.name);
    if (call.name != family.name) continue;
    Arguments arguments(call, text, family.parameters, family.takes_images);
    Document document = family.make(arguments);
    if (!arguments.problem() && document.augmentations.empty())
      arguments.fail("`excluded` leaves nothing", "");
    document = trimmed(document);  // `excluded` may leave no warp
    if (!arguments.problem()) check(document, arguments);
    if (arguments.problem()) return std::unexpected(*arguments.problem());
    return document;
  }
  const std::string nearest = did_you_mean(call.name, names);
  return policy_error(
      Message::kUnknownPolicy, {},
      {std::string(text), "", nearest.empty() ? "`galatea policy list` has the policies" : nearest});
}

}  // namespace galatea::policy
