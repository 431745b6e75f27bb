// The box around an object of a mask by chance: see object_bbox.h.
#include "stdlib_ops/native/object_bbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/json.h"
#include "stdlib_ops/native/draws.h"
#include "stdlib_ops/native/mask_objects.h"

namespace galatea::native {
namespace {

class ObjectBboxState final : public runtime::NativeState {
 public:
  ObjectBboxOptions options;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_object_bbox(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "random_object_bbox: configuration is not a JSON object");
  auto state = std::make_shared<ObjectBboxState>();
  ObjectBboxOptions& options = state->options;
  options.ignore_class = json.value("ignore_class", false);
  options.has_background = json.value("has_background", false);
  options.k_largest = json.value("k_largest", int64_t{0});
  if (json.contains("classes")) options.classes = json["classes"].get<std::vector<int64_t>>();
  if (json.contains("weights")) options.weights = json["weights"].get<std::vector<double>>();
  options.fed_classes = json.value("fed_classes", false);
  options.fed_weights = json.value("fed_weights", false);
  return state;
}

std::unexpected<Error> object_error(std::string message, std::string help) {
  return make_error(ErrorKind::kUser, "G0910", std::move(message), std::move(help));
}

/// A label that may be chosen.
struct Candidate {
  int32_t label;
  double weight;
};

/// What a call is about, of the text or of the sample.
struct Choice {
  std::optional<std::vector<Candidate>> candidates;  ///< none: every label but the background
  int32_t background = 0;

  bool counts(int32_t label) const {
    if (!candidates) return label != background;
    return std::ranges::any_of(*candidates, [&](const Candidate& candidate) {
      return candidate.label == label && candidate.weight > 0;
    });
  }
};

/// The elements of a vector or of a number.
template <typename T, typename Read>
std::vector<T> elements_of(const runtime::Tensor& tensor, const Read& read) {
  std::vector<T> elements;
  const int64_t stride = tensor.ndim == 0 ? 0 : tensor.strides[0];
  for (int64_t n = 0; n < tensor.volume(); ++n)
    elements.push_back(read(
        tensor.dtype,
        load_cell(tensor.dtype, tensor.data + n * stride * static_cast<int64_t>(size_of(tensor.dtype)))));
  return elements;
}

bool is_label(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
}

/// A label that is none of the classes.
int32_t other_label(const std::vector<int64_t>& classes) {
  const auto is_class = [&](int32_t label) { return std::ranges::find(classes, label) != classes.end(); };
  if (!is_class(0)) return 0;
  auto label = static_cast<uint32_t>(*std::ranges::min_element(classes));
  do --label;  // the largest one is before the least
  while (is_class(static_cast<int32_t>(label)));
  return static_cast<int32_t>(label);
}

Result<Choice> choice_of(const ObjectBboxOptions& options, std::span<const runtime::Tensor> inputs,
                         int64_t background) {
  std::optional<std::vector<int64_t>> classes = options.classes;
  std::optional<std::vector<double>> weights = options.weights;
  size_t next = 1;
  if (options.fed_classes) classes = elements_of<int64_t>(inputs[next++], cell_to_int);
  if (options.fed_weights) weights = elements_of<double>(inputs[next++], cell_to_double);
  Choice choice;
  choice.background = static_cast<int32_t>(options.has_background ? background : 0);
  if (classes) {
    for (const int64_t label : *classes) {
      if (!is_label(label))
        return object_error(fmt::format("class {} is no label of 32 bits", label),
                            "a mask has no such label");
      if (options.has_background && label == background)
        return object_error(fmt::format("class {} is the background", label),
                            "choose another background, or leave it out of classes");
    }
    if (!options.has_background) choice.background = other_label(*classes);
  }
  if (weights) {
    for (const double weight : *weights)
      if (!(weight >= 0 && std::isfinite(weight)))
        return object_error(fmt::format("a class weight is {}", weight), "weights are finite, and 0 or more");
    if (classes && classes->size() != weights->size())
      return object_error(
          fmt::format("there are {} class weights for {} classes", weights->size(), classes->size()),
          "give one for each class");
  }
  if (!classes && !weights) return choice;
  choice.candidates.emplace();
  const size_t count = classes ? classes->size() : weights->size();
  for (size_t n = 0; n < count; ++n) {
    // Labels that are not said are 0, 1, 2, …, without the background.
    const auto skipped = static_cast<int64_t>(n);
    const int64_t label = classes                                                  ? (*classes)[n]
                          : choice.background >= 0 && skipped >= choice.background ? skipped + 1
                                                                                   : skipped;
    choice.candidates->push_back({static_cast<int32_t>(label), weights ? (*weights)[n] : 1});
  }
  return choice;
}

/// Objects that may be taken, by class; all under one number where the class plays no part.
using ObjectsByClass = std::map<int32_t, std::vector<size_t>>;

/// The class that bits, uniform in [0, 1), choose of those that have objects.
const std::vector<size_t>* chosen_class(const ObjectsByClass& objects, const Choice& choice, double unit) {
  std::vector<std::pair<const std::vector<size_t>*, double>> likely;
  if (choice.candidates) {
    for (const Candidate& candidate : *choice.candidates)
      if (const auto found = objects.find(candidate.label); found != objects.end() && candidate.weight > 0)
        likely.emplace_back(&found->second, candidate.weight);
  } else {
    for (const auto& [label, numbers] : objects) likely.emplace_back(&numbers, 1);
  }
  // Weights are compared with the largest: sums of what is next to the largest f64 are none.
  double largest = 0, total = 0;
  for (const auto& [numbers, weight] : likely) largest = std::max(largest, weight);
  for (const auto& [numbers, weight] : likely) total += weight / largest;
  double before = unit * total;
  for (const auto& [numbers, weight] : likely) {
    before -= weight / largest;
    if (before < 0) return numbers;
  }
  return likely.empty() ? nullptr : likely.back().first;
}

Status object_bbox(runtime::NativeContext& context) {
  const ObjectBboxOptions& options = static_cast<const ObjectBboxState*>(context.state)->options;
  const runtime::Tensor& mask = context.inputs[0];
  const auto ndim = static_cast<size_t>(mask.ndim);
  const auto number = [&](size_t n) { return cell_to_int(DType::kI64, context.scalars[n]); };
  const auto bits = [&](size_t n) {
    return static_cast<uint64_t>(number(n)) << 32 | static_cast<uint64_t>(number(n + 1));
  };
  for (size_t d = 0; d < ndim; ++d)
    if (!is_label(mask.extents[d]))
      return object_error(fmt::format("the mask has {} pixels along axis {}", mask.extents[d], d),
                          "boxes are INT32: an extent is below 2^31");
  if (mask.volume() > int64_t{std::numeric_limits<uint32_t>::max()})
    return object_error(fmt::format("the mask has {} pixels", mask.volume()), "2^32 - 1 are the most");
  GALATEA_ASSIGN(const Choice choice, choice_of(options, context.inputs, number(5)));
  const auto say = [&](int32_t label, const auto& begin, const auto& end) {
    for (size_t d = 0; d < ndim; ++d) {
      context.scalar_results[d] = cell_from_int(DType::kI64, begin(d));
      context.scalar_results[ndim + d] = cell_from_int(DType::kI64, end(d));
    }
    context.scalar_results[2 * ndim] = cell_from_int(DType::kI64, label);
  };
  const auto say_whole = [&] {
    say(choice.background, [](size_t) { return 0; }, [&](size_t d) { return mask.extents[d]; });
    return Status{};
  };
  if (number(4) == 0) return say_whole();

  const auto found = MaskObjects::find(
      mask, [&](int32_t label) { return choice.counts(label); }, [&] { return context.cancelled(); });
  if (!found) return {};  // nobody waits for it
  ObjectsByClass objects;
  for (size_t n = 0; n < found->size(); ++n) {
    bool large = true;
    for (size_t d = 0; d < ndim; ++d) {
      const int axis = static_cast<int>(d);
      large &= found->end(n, axis) - found->begin(n, axis) >= number(6 + d);
    }
    if (large) objects[options.ignore_class ? 0 : found->label(n)].push_back(n);
  }
  const std::vector<size_t>* of_class =
      chosen_class(objects, choice, static_cast<double>(bits(2) >> 11) * 0x1p-53);
  if (of_class == nullptr) return say_whole();
  std::vector<size_t> numbers = *of_class;
  if (options.k_largest > 0 && static_cast<int64_t>(numbers.size()) > options.k_largest) {
    std::ranges::stable_sort(numbers,
                             [&](size_t a, size_t b) { return found->volume(a) > found->volume(b); });
    numbers.resize(static_cast<size_t>(options.k_largest));
  }
  const size_t taken = numbers[static_cast<size_t>(below(bits(0), static_cast<int64_t>(numbers.size())))];
  say(
      found->label(taken), [&](size_t d) { return found->begin(taken, static_cast<int>(d)); },
      [&](size_t d) { return found->end(taken, static_cast<int>(d)); });
  return {};
}

}  // namespace

std::string to_json(const ObjectBboxOptions& options) {
  nlohmann::ordered_json json;
  json["ignore_class"] = options.ignore_class;
  json["has_background"] = options.has_background;
  json["k_largest"] = options.k_largest;
  if (options.classes) json["classes"] = *options.classes;
  if (options.weights) json["weights"] = *options.weights;
  json["fed_classes"] = options.fed_classes;
  json["fed_weights"] = options.fed_weights;
  return json.dump();
}

runtime::NativeFunction object_bbox_function() {
  runtime::NativeFunction made;
  made.name = kMaskObjectBbox;
  made.category = "compute";
  made.prepare = prepare_object_bbox;
  made.call = object_bbox;
  made.working_bytes = [](std::span<const runtime::Tensor> inputs, std::span<const Cell>,
                          const runtime::NativeState*) { return MaskObjects::most_bytes(inputs[0]); };
  return made;
}

}  // namespace galatea::native
