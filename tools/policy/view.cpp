// galatea policy view POLICY --data FOLDER -o sheet.png: what a policy does to pictures.
#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "policy/operation.h"
#include "tools/gather_sheet.h"
#include "tools/policy/over_pictures.h"
#include "tools/policy/policy_tools.h"

namespace galatea::tools {
namespace {

struct PolicyViewOptions {
  std::string policy;
  PictureOptions pictures;
  std::string output;
  int samples = 4, draws = 6, magnitudes = 3;
  bool operations = false;
};

/// The sheet's letters have no degree sign.
std::string plain(std::string label) {
  if (const size_t at = label.find("°"); at != std::string::npos) label.replace(at, 2, " deg");
  return label;
}

/// The bins that the columns of one augmentation show.
std::vector<int64_t> shown_bins(int64_t bins, int count) {
  std::vector<int64_t> shown;
  for (int64_t i = 1; i <= count; ++i) {
    const int64_t bin = count == 1 ? bins - 1 : (bins - 1) * i / count;
    if (shown.empty() || shown.back() != bin) shown.push_back(bin);
  }
  return shown;
}

struct Columns {
  std::string expressions;  ///< a list's elements, in the language
  std::vector<std::string> labels;
};

Columns draws(const PolicyViewOptions& options, const std::string& extras) {
  Columns columns;
  columns.expressions = fmt::format("*[augment(image, {}) for _ in range({})]", extras, options.draws);
  for (int i = 0; i < options.draws; ++i) columns.labels.push_back(fmt::format("draw {}", i));
  return columns;
}

Columns operations(const policy::Document& document, const PolicyViewOptions& options,
                   const std::string& extras) {
  Columns columns;
  for (const policy::Augmentation& entry : document.augmentations) {
    const bool has_bins = entry.has_magnitude();
    for (int64_t bin : has_bins ? shown_bins(document.bins, options.magnitudes) : std::vector<int64_t>{0}) {
      columns.expressions +=
          fmt::format("augment.one({}, image, {}, {}), ", language_text(entry.name), bin, extras);
      policy::Augmentation positive = entry;
      positive.negate = false;
      columns.labels.push_back(
          has_bins ? fmt::format("{} {}", entry.name,
                                 policy::parameter_text(positive,
                                                        policy::magnitude_of_bin(entry, bin, document.bins)))
                   : entry.name);
      columns.labels.back() = plain(columns.labels.back());
    }
  }
  return columns;
}

int view(const PolicyViewOptions& options, Reporter& reporter) {
  const auto document = load_policy(options.policy, reporter);
  if (!document) return reporter.status();
  const std::string extras = options.pictures.arguments();
  const Columns columns =
      options.operations ? operations(*document, options, extras) : draws(options, extras);
  const PipelineHost host;
  const auto graph = stage_over_pictures(host, *document, options.policy,
                                         options.pictures.pictures(std::min(options.samples, 8)),
                                         columns.expressions, false, reporter)
                         .graph;
  if (graph == nullptr) return reporter.status();
  ContactSheet sheet;
  sheet.column_labels = columns.labels;
  sheet.column_labels.insert(sheet.column_labels.begin(), "image");
  if (!gather(host, *graph, CompileChoice{}, static_cast<size_t>(options.samples), "", sheet, reporter))
    return reporter.status();
  return finish_sheet(sheet, options.output, reporter);
}

}  // namespace

Command add_policy_view(CLI::App& parent) {
  auto options = std::make_shared<PolicyViewOptions>();
  CLI::App* app = add_subcommand(
      parent, "view",
      "A contact sheet: samples in rows, random draws of the policy (or its operations) in columns");
  add_policy_argument(app, options->policy);
  add_picture_options(app, options->pictures);
  add_option(app, "-o,--output", options->output, {"PNG", "", "where the sheet goes", "-o sheet.png"})
      .required()
      .png();
  add_option(app, "--samples", options->samples, {"N", "4", "how many samples", "--samples 8"})
      .between(1, 200);
  add_option(app, "--draws", options->draws, {"N", "6", "how many draws of the policy", "--draws 10"})
      .between(1, 64);
  add_flag(app, "--operations", options->operations,
           "a column for each augmentation and some of its magnitudes, instead of draws "
           "(default: off; example: --operations)");
  add_option(app, "--magnitudes", options->magnitudes,
             {"N", "3", "how many magnitudes of an augmentation --operations shows", "--magnitudes 5"})
      .between(1, 31);
  return {app, [options](Reporter& reporter) { return view(*options, reporter); }};
}

}  // namespace galatea::tools
