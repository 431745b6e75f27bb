#include "tools/policy/over_pictures.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/core.h>
#include <unistd.h>

#include "policy/writer.h"
#include "tools/policy/policy_tools.h"

namespace galatea::tools {
namespace fs = std::filesystem;
namespace {

/// A file that goes with its owner.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Up to the line in which the columns begin.
std::string text_before_columns(const std::string& policy, const Pictures& pictures) {
  return fmt::format(
      "from galatea import fn, pipeline_def, types\n"
      "from galatea.auto_aug import policy\n"
      "\n"
      "@pipeline_def(batch_size={}, num_threads=2, seed={})\n"
      "def pictures():\n"
      "    encoded, label = fn.readers.file(file_root={}{})\n"
      "    image = fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[{}, {}])\n"
      "    augment = policy.load({})\n"
      "    outputs = [\n"
      "        image,\n",
      pictures.batch_size, pictures.seed, language_text(pictures.data),
      pictures.shuffled ? ", random_shuffle=True" : "", pictures.size, pictures.size, language_text(policy));
}

uint32_t first_line_behind(const std::string& text) {
  return 1 + static_cast<uint32_t>(std::ranges::count(text, '\n'));
}

/// Stages the text; of what is said only errors are passed on: what load_policy() has said of a document is
/// not said again. Nor are the errors `but`.
dsl::FrontendResult stage_text(const PipelineHost& host, const dsl::FrontendOptions& frontend,
                               const std::string& file, const std::string& before, const std::string& columns,
                               Reporter& reporter, const std::vector<std::string_view>& but = {}) {
  dsl::FrontendResult staged =
      dsl::stage_pipeline(file, before + columns + "\n    ]\n    return tuple(outputs)\n", frontend,
                          host.registry(), reporter.sources());
  std::erase_if(staged.diagnostics, [&](const Diagnostic& diagnostic) {
    return diagnostic.severity != Severity::kError || std::ranges::find(but, diagnostic.code) != but.end();
  });
  if (!but.empty()) staged.ok = staged.diagnostics.empty();
  reporter.report(std::move(staged.diagnostics));
  return staged;
}

}  // namespace

std::string PictureOptions::arguments() const {
  std::string text = fmt::format("shape=[{0}, {0}]", size);
  for (const std::string& extra : extras) text += ", " + extra;
  return text;
}

void add_policy_argument(CLI::App* app, std::string& policy) {
  add_option(app, "policy", policy, {"POLICY", "", "a JSON file or a spelling", "policy.json"}).required();
}

void add_picture_options(CLI::App* app, PictureOptions& options) {
  add_option(app, "--data", options.data, {"FOLDER", "", "a folder of folders of pictures", "--data photos"})
      .required();
  // The default as the command has it.
  add_option(
      app, "--size", options.size,
      {"PIXELS", std::to_string(options.size).c_str(), "height and width of the pictures", "--size 224"})
      .between(8, 2048);
  add_option(app, "--seed", options.seed, {"N", "0", "other draws", "--seed 7"})
      .between(uint64_t{0}, uint64_t{INT64_MAX});
  add_option(app, "--extra", options.extras,
             {"NAME=VALUE", "", "an argument for the policy's operations, as in the language; repeatable",
              "--extra fill_value=0"});
}

std::string language_text(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + "\"";
}

StagedPictures stage_over_pictures(const PipelineHost& host, const policy::Document& document,
                                   const std::string& policy, const Pictures& pictures,
                                   const std::string& columns, bool observed, Reporter& reporter) {
  StagedPictures out;
  // A spelling becomes a file for as long as the pipeline is made.
  std::optional<TemporaryFile> written;
  std::error_code error;
  fs::path file = fs::absolute(policy, error);
  if (!fs::exists(file, error)) {
    written.emplace(fs::temp_directory_path(error) / fmt::format("galatea-policy-{}.json", ::getpid()));
    write_result(written->path().string(), policy::to_json(document), reporter);
    if (reporter.status() != kFine) return out;
    file = written->path();
  }
  dsl::FrontendOptions frontend;
  frontend.import_root = file.parent_path().string();
  frontend.observe_runs = observed;
  const std::string before = text_before_columns(file.filename().string(), pictures);
  out.columns_line = first_line_behind(before);
  dsl::FrontendResult staged = stage_text(host, frontend, (file.parent_path() / "pictures.dali-dsl").string(),
                                          before, columns, reporter);
  if (!staged.ok || staged.graphs.empty()) return out;
  out.graph = std::move(staged.graphs[0]);
  out.runs = std::move(staged.runs);
  return out;
}

bool check_in_pipeline(const PipelineHost& host, const std::string& policy, Reporter& reporter) {
  // An argument that is missing; bounds of the language, which a pipeline's options raise.
  const std::vector<std::string_view> not_the_policys = {"G0656", "G0706", "G0707", "G0708"};
  std::error_code error;
  const fs::path file = fs::absolute(policy, error);
  dsl::FrontendOptions frontend;
  frontend.import_root = file.parent_path().string();
  return stage_text(host, frontend, (file.parent_path() / "pictures.dali-dsl").string(),
                    text_before_columns(file.filename().string(), {"photos"}),
                    "augment(image, shape=[160, 160])", reporter, not_the_policys)
      .ok;
}

StagedPictures stage_several_over_pictures(const PipelineHost& host,
                                           const std::vector<dsl::PolicyText>& policies,
                                           const Pictures& pictures, const std::string& columns,
                                           Reporter& reporter) {
  StagedPictures out;
  dsl::FrontendOptions frontend;
  frontend.policies = policies;
  const std::string before = text_before_columns("", pictures);
  out.columns_line = first_line_behind(before);
  dsl::FrontendResult staged = stage_text(host, frontend, "pictures.dali-dsl", before, columns, reporter);
  if (staged.ok && !staged.graphs.empty()) out.graph = std::move(staged.graphs[0]);
  return out;
}

}  // namespace galatea::tools
