// Values whose unit is plainly another one: shares where pixels are counted, percent where shares are, radians
// where degrees are. In: a static argument of an operator. Out: a warning.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/evaluator.h"
#include "dsl/units.h"

namespace galatea::dsl {

std::optional<std::vector<double>> numbers_of(const Value& value) {
  if (value.is_number() && !value.is(ValueKind::kBool)) return std::vector{value.as_double()};
  if (!value.is_sequence() || value.elements().empty()) return std::nullopt;
  std::vector<double> out;
  for (const Value& element : value.elements()) {
    if (!element.is_number() || element.is(ValueKind::kBool)) return std::nullopt;
    out.push_back(element.as_double());
  }
  return out;
}

namespace {

bool counts_pixels(std::string_view argument) {
  constexpr std::string_view kNames[] = {"crop",     "crop_h",   "crop_w",         "crop_d",       "size",
                                         "resize_x", "resize_y", "resize_shorter", "resize_longer"};
  return std::ranges::find(kNames, argument) != std::end(kNames);
}

/// A multiple of a twelfth of pi that somebody wrote down: 0.785398, 3.14159.
bool is_radians(double angle) {
  const double twelfths = angle / (std::numbers::pi / 12);
  return angle != 0 && std::abs(twelfths) < 24.5 && std::abs(twelfths - std::round(twelfths)) < 1e-3 &&
         std::abs(angle - std::round(angle * 100) / 100) > 1e-9;
}

}  // namespace

// What shells make of a path, readers do not: `~` and `$HOME` are names like others to them, and so is `*` but
// where several files are named.
void Evaluator::check_path(const op::Operator& op, const CallArguments::Keyword& keyword) {
  constexpr std::string_view kPaths[] = {"file_root", "file_list",  "files",       "paths",
                                         "path",      "index_path", "index_paths", "annotations_file",
                                         "filenames", "root"};
  constexpr std::string_view kPatterns[] = {"files", "paths", "path", "index_path", "index_paths"};
  if (std::ranges::find(kPaths, keyword.name) == std::end(kPaths) || !op.name.starts_with("readers.")) return;
  // The first array says what all are, so that a file that is not there is an error.
  if (op.name == "readers.numpy") return;
  const bool takes_patterns = std::ranges::find(kPatterns, keyword.name) != std::end(kPatterns);
  const bool is_list = keyword.value.is_sequence();
  if (!is_list && !keyword.value.is(ValueKind::kString)) return;
  const std::vector<Value> values = is_list ? keyword.value.elements() : std::vector<Value>{keyword.value};
  for (const Value& value : values) {
    if (!value.is(ValueKind::kString)) continue;
    const std::string& path = value.text();
    const bool is_home = path == "~" || path.starts_with("~/");
    const bool is_variable = path.starts_with("$") || path.contains("${");
    const bool is_pattern = path.contains('*') && !takes_patterns;
    if (!is_home && !is_variable && !is_pattern) continue;
    const std::string sign = is_home       ? "~"
                             : is_variable ? path.substr(path.find('$'), path.find('/') - path.find('$'))
                                           : "*";
    std::string help =
        "write the whole path, or make it a parameter of the pipeline: `--set data=\"$HOME/photos\"`";
    if (is_pattern && !is_home && !is_variable)
      help = op.find_arg("file_filters")
                 ? "name the folder, `file_root=`, and choose by `file_filters=[\"*.jpg\"]`"
                 : "list the files one by one, or make the list a parameter of the pipeline";
    report(diagnose(Message::kPathAsWritten, keyword.span,
                    {sign, repr(value), "fn." + op.name, std::move(help)}));
    return;  // of the others the same is meant
  }
}

void Evaluator::check_unit(const op::Operator& op, const CallArguments::Keyword& keyword) {
  if (in_library(keyword.span)) return;
  check_path(op, keyword);
  const auto numbers = numbers_of(keyword.value);
  if (!numbers) return;
  const auto all = [&](auto holds) { return std::ranges::all_of(*numbers, holds); };
  const auto any = [&](auto holds) { return std::ranges::any_of(*numbers, holds); };
  const auto warn = [&](const char* what, std::string help) {
    report(diagnose(Message::kUnlikelyUnit, keyword.span,
                    {keyword.name, repr(keyword.value), "fn." + op.name, what, std::move(help)}));
  };
  if (counts_pixels(keyword.name) && all([](double x) { return x > 0 && x < 1; }))
    return warn(
        "is less than one pixel",
        keyword.name.starts_with("crop")
            ? "it counts pixels; `fn.slice(x, rel_start=[0.1, 0.1], rel_shape=[0.8, 0.8], axis_names=\"HW\")` "
              "cuts a share"
            : fmt::format("it counts pixels, as in `{}=224`", keyword.name));
  const bool sizes = counts_pixels(keyword.name) && !keyword.name.starts_with("crop");
  if (sizes && any([](double x) { return x < 0; }))
    return warn("mirrors the image",
                "an extent below 0 is one of a mirrored image; 0 keeps the aspect ratio");
  // Ranges of hues are in full turns, as torchvision's are.
  const op::ArgSpec* schema = op.find_arg(keyword.name);
  const bool is_angle = keyword.name == "hue" && schema && schema->kind == op::ArgKind::kFloat;
  if (is_angle && all([](double x) { return x != 0 && std::abs(x) < 0.5; }))
    return warn(
        "is less than a degree",
        fmt::format("it is in degrees, 360 for the whole circle: write `hue={:g}`", 360 * (*numbers)[0]));
  if (op.name == "jpeg_compression_distortion" && keyword.name == "quality" && keyword.value.is_integral() &&
      any([](double x) { return x < 1 || x > 100; }))
    return warn("lies outside 1 … 100", "it is taken as the nearest one of them");
  if (keyword.name == "random_area" && any([](double x) { return x > 1; }))
    return warn("is more than the whole image",
                "it is a share of the image's area, as in `random_area=[0.08, 1.0]`");
  const bool turns = op.name == "rotate" || op.name == "transforms.rotation";
  if (keyword.name == "angle" && turns && all(is_radians))
    return warn("looks like radians", fmt::format("it is in degrees: write `angle={:g}`",
                                                  std::round((*numbers)[0] * 180 / std::numbers::pi)));
}

// What a share is, another argument of the call says.
void Evaluator::check_shares(const op::Operator& op, const CallArguments& arguments) {
  const auto given = [&](std::string_view name) {
    return std::ranges::find(arguments.keywords, name, &CallArguments::Keyword::name) !=
           arguments.keywords.end();
  };
  for (const CallArguments::Keyword& keyword : arguments.keywords) {
    const auto numbers = in_library(keyword.span) ? std::nullopt : numbers_of(keyword.value);
    if (!numbers) continue;
    const auto warn = [&](const char* what, const char* help) {
      report(diagnose(Message::kUnlikelyUnit, keyword.span,
                      {keyword.name, repr(keyword.value), "fn." + op.name, what, help}));
    };
    const bool outside = std::ranges::any_of(*numbers, [](double x) { return x < 0 || x > 1; });
    if (op.name == "slice" && keyword.name.starts_with("rel_") && outside && !given("out_of_bounds_policy"))
      warn("reaches outside the input",
           "shares lie between 0 and 1; for more choose `out_of_bounds_policy=\"pad\"`");
    const bool below_one = std::ranges::all_of(*numbers, [](double x) { return x > 0 && x < 1; });
    if (op.name == "erase" && keyword.name == "shape" && below_one && !given("normalized") &&
        !given("normalized_shape"))
      warn("is less than one pixel", "of shares write `normalized=True` beside it");
  }
}

// Bytes run from 0 to 255: a mean and a deviation of pixels in 0 … 1 are those of another library's input.
void Evaluator::check_pixel_unit(const op::Operator& op, const CallArguments& arguments, DType pixels) {
  if (pixels != DType::kU8 || (op.name != "crop_mirror_normalize" && op.name != "normalize")) return;
  for (const CallArguments::Keyword& keyword : arguments.keywords) {
    if (keyword.name != "mean" && keyword.name != "std" && keyword.name != "stddev") continue;
    const auto numbers = numbers_of(keyword.value);
    const bool of_one = numbers && !in_library(keyword.span) &&
                        std::ranges::all_of(*numbers, [](double x) { return x > 0 && x < 1; });
    if (!of_one) continue;
    std::vector<std::string> scaled;
    for (const double x : *numbers) scaled.push_back(fmt::format("{:.6g}", 255 * x));
    const std::string list = fmt::format("[{}]", fmt::join(scaled, ", "));
    report(diagnose(Message::kUnlikelyUnit, keyword.span,
                    {keyword.name, repr(keyword.value), "fn." + op.name, "looks like that of pixels in 0 … 1",
                     fmt::format("the pixels are bytes, 0 … 255: write `{}={}`", keyword.name,
                                 keyword.value.is_sequence() ? list : scaled[0])}));
    return;  // of the other one the same is meant
  }
}

namespace {

/// `image / 255`, as far as the text says so.
bool is_divided_by_255(const ir::Graph& graph, ir::ValueId value) {
  const ir::Node* node = graph.defining_node(value);
  if (node == nullptr || node->op == nullptr || node->op->name != "arith.div" || node->inputs.size() != 2)
    return false;
  const ir::Node* divisor = graph.defining_node(node->inputs[1]);
  if (divisor == nullptr || divisor->op == nullptr || divisor->op->name != "constant") return false;
  for (const ir::Arg& arg : divisor->args) {
    if (arg.name != "value" || arg.is_value()) continue;
    const auto* whole = std::get_if<std::vector<int64_t>>(&arg.as_attr());
    const auto* real = std::get_if<std::vector<double>>(&arg.as_attr());
    return (whole && *whole == std::vector<int64_t>{255}) || (real && *real == std::vector<double>{255});
  }
  return false;
}

}  // namespace

// A mean of bytes, of pixels that were divided by 255.
void Evaluator::check_scaled_unit(const op::Operator& op, const CallArguments& arguments,
                                  ir::ValueId pixels) {
  if ((op.name != "crop_mirror_normalize" && op.name != "normalize") || !is_divided_by_255(*graph_, pixels))
    return;
  for (const CallArguments::Keyword& keyword : arguments.keywords) {
    const auto numbers = keyword.name == "mean" ? numbers_of(keyword.value) : std::nullopt;
    if (!numbers || std::ranges::any_of(*numbers, [](double x) { return x < 2; })) continue;
    report(diagnose(Message::kUnlikelyUnit, keyword.span,
                    {keyword.name, repr(keyword.value), "fn." + op.name, "looks like that of bytes, 0 … 255",
                     "the pixels were divided by 255: leave that out, or divide these numbers, too"}));
    return;
  }
}

// More coefficients than bands there are: the transform gives as many as there are.
void Evaluator::check_coefficients(const op::Operator& op, const CallArguments& arguments,
                                   const ir::Type& bands) {
  if (op.name != "mfcc") return;
  const auto given = [&](std::string_view name) {
    return std::ranges::find(arguments.keywords, name, &CallArguments::Keyword::name);
  };
  const auto count = given("n_mfcc"), axis = given("axis");
  if (count == arguments.keywords.end() || !count->value.is_integral()) return;
  const bool has_axis = axis != arguments.keywords.end() && axis->value.is_integral();
  const auto along = static_cast<size_t>(has_axis ? axis->value.as_int() : 0);
  if (along >= bands.extents.size() || bands.extents[along] < 0) return;
  const int64_t extent = bands.extents[along];
  if (count->value.as_int() > extent)
    report(diagnose(
        Message::kUnlikelyUnit, count->span,
        {"n_mfcc", repr(count->value), "fn.mfcc", fmt::format("is more than the {} bands", extent),
         fmt::format("there are as many coefficients as bands: write `n_mfcc={}`, or make more bands",
                     extent)}));
}

}  // namespace galatea::dsl
