#include "tools/serve/policy_pictures.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include <fmt/format.h>

#include "base/fault.h"
#include "policy/operation.h"
#include "policy/writer.h"
#include "tools/draw_samples/picture.h"
#include "tools/draw_samples/scene.h"
#include "tools/gather_sheet.h"
#include "tools/interrupt.h"
#include "tools/policy/over_pictures.h"
#include "tools/policy/run_statistics.h"

namespace galatea::tools::serve {
namespace {

namespace fs = std::filesystem;

constexpr int kSide = 160;      // of the pictures that operations are applied to
constexpr int kMagnitudes = 5;  // columns of the grid
constexpr int kMeasured = 32;   // samples from which it is told what the policy takes
constexpr std::chrono::seconds kMostGridTime{30};
constexpr int kDrawnWidth = 320, kDrawnHeight = 240;
constexpr const char* kClass = "all";

Diagnostic no_room() {
  Diagnostic problem;
  problem.message = "there is no room for pictures in the folder for temporary files";
  problem.help = "make room there, or name another in TMPDIR";
  return problem;
}

std::string_view text_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_byte_picture(const ir::Type& type) {
  return type.dtype == DType::kU8 && type.ndim == 3 && (type.layout.empty() || type.layout.str() == "HWC");
}

bool is_of_library(const ir::Graph& graph, const SourceMap& sources, ir::ValueId value) {
  const ir::Node* node = graph.defining_node(value);
  const SourceFile* file = node ? sources.file(node->span.file) : nullptr;
  return !file || file->name().starts_with("galatea/");
}

/// What the first node of the library's policies reads.
std::optional<ir::ValueId> policy_input(const ir::Graph& graph, const SourceMap& sources) {
  const ir::BlockId exit = graph.exit_block();
  const auto can_be_seen = [&](ir::ValueId value) {
    return is_byte_picture(graph.type(value)) && !is_of_library(graph, sources, value) &&
           graph.dominates(graph.value(value).block, exit);
  };
  for (const ir::Node& node : graph.nodes) {
    const SourceFile* file = node.op ? sources.file(node.span.file) : nullptr;
    if (!file || !file->name().starts_with("galatea/auto_aug")) continue;
    for (const ir::ValueId input : node.inputs)
      if (can_be_seen(input)) return input;
  }
  for (ir::ValueId value = 0; value < graph.values.size(); ++value)
    if (!graph.value(value).variable.empty() && can_be_seen(value)) return value;
  return std::nullopt;
}

/// Gives batches to `take` until it has enough; false: an error was reported.
bool run_for_policy(const PipelineHost& host, const ir::Graph& graph, Reporter& reporter,
                    const std::function<bool(const runtime::Batch&)>& take) {
  CompileChoice choice;
  choice.outputs_on_cpu = true;
  const auto program = host.compile(graph, choice, nullptr, reporter);
  if (!program) return false;
  const auto session = host.open(program, nullptr, reporter);
  if (!session) return false;
  const auto end = std::chrono::steady_clock::now() + kMostGridTime;
  while (!is_interrupted() && std::chrono::steady_clock::now() < end) {
    auto next = session->next(std::chrono::milliseconds(50));
    if (!next) {
      if (!next.error().diagnostics.empty() && next.error().diagnostics[0].code == "G0901") continue;
      reporter.report(next.error());
      return false;
    }
    if (!next->has_value() || !take(***next)) return true;
  }
  Diagnostic diagnostic;
  diagnostic.message = "the samples did not come in time";
  diagnostic.help = "ask for an earlier sample";
  reporter.report(std::move(diagnostic));
  return false;
}

}  // namespace

PictureFolder::PictureFolder() {
  std::error_code failed;
  std::string name = (fs::temp_directory_path(failed) / "galatea-pictures-XXXXXX").string();
  if (::mkdtemp(name.data())) path_ = name;
}

PictureFolder::~PictureFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

bool PictureFolder::fill(const PipelineHost& host, const ir::Graph& staged, const SourceMap& sources,
                         int samples, Reporter& reporter) {
  const std::optional<ir::ValueId> input = policy_input(staged, sources);
  if (!input) {
    Diagnostic problem;
    problem.message = "the pipeline has no picture of bytes, u8 HWC, that every sample comes to";
    return reporter.report(std::move(problem)), false;
  }
  if (!make_class(reporter)) return false;
  ir::Graph graph = staged;
  graph.options.batch_size = 1;
  graph.options.prefetch_queue_depth = 1;
  graph.options.on_error = ir::OnError::kSkip;
  if (graph.options.seed < 0) graph.options.seed = 0;
  graph.blocks[graph.exit_block()].terminator.results = {*input};
  graph.output_names = {""};
  return run_for_policy(host, graph, reporter,
                        [&](const runtime::Batch& batch) {
                          const SheetCell cell =
                              cell_of(batch.outputs[0].samples[0], staged.type(*input).layout);
                          const auto png = to_png(*cell.picture);
                          return png && write(text_of(*png), "png") && count_ < samples;
                        }) &&
         count_ > 0;
}

bool PictureFolder::draw(int count, Reporter& reporter) {
  using samples::SceneKind;
  constexpr SceneKind kKinds[] = {SceneKind::kObjects, SceneKind::kBuildings, SceneKind::kFields};
  if (!make_class(reporter)) return false;
  for (int k = 0; k < count; ++k) {
    const samples::Picture scene =
        draw_scene(kKinds[k % 3], kDrawnWidth, kDrawnHeight, static_cast<uint32_t>(k + 1));
    if (!write(text_of(encode_jpeg(scene, {})), "jpg")) return reporter.report(no_room()), false;
  }
  return true;
}

bool PictureFolder::make_class(Reporter& reporter) {
  std::error_code failed;
  if (!path_.empty() && (fs::create_directory(path_ / kClass, failed) || !failed)) return true;
  return reporter.report(no_room()), false;
}

bool PictureFolder::write(std::string_view bytes, const char* ending) {
  const fs::path file = path_ / kClass / fmt::format("{:04}.{}", count_, ending);
  if (write_whole_file(file.string(), bytes) != 0) return false;
  ++count_;
  return true;
}

std::optional<PolicyGrid> make_grid(const PipelineHost& host, const PolicyText& policy,
                                    const policy::Document& document, const PictureFolder& folder, int sample,
                                    Reporter& reporter) {
  PolicyGrid grid;
  std::string columns;
  const std::string arguments = fmt::format("shape=[{0}, {0}]", kSide);
  for (const policy::Augmentation& row : document.augmentations) {
    PolicyGrid::Row& made = grid.rows.emplace_back();
    made.name = row.name;
    policy::Augmentation positive = row;
    positive.negate = false;
    for (const int64_t bin : bins_of(document, row, kMagnitudes)) {
      columns += fmt::format("augment.one({}, image, {}, {}),\n", language_text(row.name), bin, arguments);
      made.labels.push_back(
          row.has_magnitude()
              ? policy::parameter_text(positive, policy::magnitude_of_bin(row, bin, document.bins))
              : "");
    }
  }
  const Pictures pictures = {folder.path(), kSide, 1, 0, false};
  const auto staged = stage_several_over_pictures(host, {{policy.path, policy::to_json(document)}}, pictures,
                                                  columns, reporter);
  if (!staged.graph) return std::nullopt;
  int passed = 0;
  const bool good = run_for_policy(host, *staged.graph, reporter, [&](const runtime::Batch& batch) {
    if (passed++ < sample) return true;
    grid.original = batch.outputs[0].samples[0];
    size_t k = 1;
    for (PolicyGrid::Row& row : grid.rows)
      for (size_t column = 0; column < row.labels.size(); ++column)
        row.pictures.push_back(batch.outputs[k++].samples[0]);
    return false;
  });
  if (!good) return std::nullopt;
  // The text may not be saved. Where it imports nothing, a name that is no file stands for it.
  const std::string name = document.imports.empty() ? "the text of the page" : policy.path;
  const StatisticsOptions options = {name, {folder.path(), kSide, 8, 0, false}, kMeasured, arguments};
  const auto statistics = gather_statistics(host, document, options, reporter);
  if (!statistics) return std::nullopt;
  grid.microseconds = statistics->microseconds;
  for (PolicyGrid::Row& row : grid.rows)
    for (const OperationStatistics& operation : statistics->operations)
      if (operation.name == row.name) row.microseconds = operation.microseconds;
  return grid;
}

}  // namespace galatea::tools::serve
