#include "tools/policy/over_pictures.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include <fmt/core.h>
#include <unistd.h>

#include "policy/writer.h"
#include "tools/interrupt.h"
#include "tools/messages.h"
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

/// The lines that give `image`.
std::string text_of_samples(const Pictures& pictures, policy::DataKind data) {
  const std::string folder =
      language_text(pictures.data) + (pictures.shuffled ? ", random_shuffle=True" : "");
  if (data == policy::DataKind::kSound)
    return fmt::format(
        "    encoded, label = fn.readers.file(file_root={}, file_filters=[{}])\n"
        "    image, rate = fn.decoders.audio(encoded, downmix=True)\n",
        folder, R"("*.wav", "*.flac", "*.ogg", "*.opus", "*.mp3", "*.aiff", "*.au", "*.caf", "*.w64")");
  return fmt::format(
      "    encoded, label = fn.readers.file(file_root={})\n"
      "    image = fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[{}, {}])\n",
      folder, pictures.size, pictures.size);
}

/// Up to the line in which the columns begin.
std::string text_before_columns(const std::string& policy, const Pictures& pictures, policy::DataKind data) {
  return fmt::format(
      "from galatea import fn, pipeline_def, types\n"
      "from galatea.auto_aug import policy\n"
      "\n"
      "@pipeline_def(batch_size={}, num_threads=2, seed={})\n"
      "def pictures():\n"
      "{}"
      "    augment = policy.load({})\n"
      "    outputs = [\n"
      "        image,\n",
      pictures.batch_size, pictures.seed, text_of_samples(pictures, data), language_text(policy));
}

constexpr const char* kTextBehindColumns = "\n    ]\n    return tuple(outputs)\n";

uint32_t first_line_behind(const std::string& text) {
  return 1 + static_cast<uint32_t>(std::ranges::count(text, '\n'));
}

/// What is said of a pipeline that a command made of its arguments names these: the text is no file that the
/// user could look into, and has no options of a pipeline.
class ReportsOfArguments {
 public:
  /// `text` is what a file of this name is made of; `columns_line` is the one of its columns' first line.
  ReportsOfArguments(const SourceMap& sources, std::string text, uint32_t columns_line, std::string data)
      : sources_(&sources), text_(std::move(text)), columns_line_(columns_line), data_(std::move(data)) {}

  void operator()(Diagnostic& diagnostic) const {
    std::erase_if(diagnostic.calls, [this](const CallSite& call) { return is_made(call.span); });
    std::erase_if(diagnostic.labels, [this](const Label& label) { return is_made(label.span); });
    if (!is_made(diagnostic.span)) return;
    const SourceFile& file = *sources_->file(diagnostic.span.file);
    if (file.position(diagnostic.span.begin).line >= columns_line_)
      diagnostic.notes.push_back(fmt::format("the policy is called as `{}`, with what --extra gives",
                                             call_around(file.text(), diagnostic.span)));
    else
      diagnostic.notes.push_back(fmt::format("the files are those of --data {}", data_));
    if (diagnostic.help.find("on_error=") != std::string::npos)
      diagnostic.help = "repair the file, or take it out of the folder";
    diagnostic.span = {};
    diagnostic.span_text.clear();
    diagnostic.labels.clear();  // in the library
  }

 private:
  bool is_made(Span span) const {
    const SourceFile* file = sources_->file(span.file);
    return file != nullptr && file->text() == text_;
  }
  /// The call of `augment` that the place lies in, or the words at the place.
  static std::string call_around(const std::string& text, Span span) {
    const size_t begin = text.rfind("augment", span.begin);
    const size_t line = text.rfind('\n', span.begin) + 1;
    if (begin == std::string::npos || begin < line) return text.substr(span.begin, span.end - span.begin);
    int depth = 0;
    for (size_t at = begin; at < text.size() && text[at] != '\n'; ++at) {
      depth += text[at] == '(' || text[at] == '[';
      depth -= text[at] == ')' || text[at] == ']';
      if (text[at] == ')' && depth == 0) return text.substr(begin, at + 1 - begin);
    }
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  const SourceMap* sources_;
  std::string text_;
  uint32_t columns_line_;
  std::string data_;
};

/// Stages the text; of what is said only errors are passed on: what load_policy() has said of a document is
/// not said again. Nor are the errors `but`.
dsl::FrontendResult stage_text(const PipelineHost& host, const dsl::FrontendOptions& frontend,
                               const std::string& file, const Pictures& pictures, const std::string& before,
                               const std::string& columns, Reporter& reporter,
                               const std::vector<std::string_view>& but = {}) {
  const std::string text = before + columns + kTextBehindColumns;
  // Also what is said later, of the pictures while the pipeline runs.
  reporter.change_reports(
      ReportsOfArguments(reporter.sources(), text, first_line_behind(before), pictures.data));
  dsl::FrontendResult staged = dsl::stage_pipeline(file, text, frontend, host.registry(), reporter.sources());
  std::erase_if(staged.diagnostics, [&](const Diagnostic& diagnostic) {
    return diagnostic.severity != Severity::kError || std::ranges::find(but, diagnostic.code) != but.end();
  });
  if (!but.empty()) staged.ok = staged.diagnostics.empty();
  reporter.report(std::move(staged.diagnostics));
  return staged;
}

std::string check_extra(const std::string& text) {
  const auto equals = text.find('=');
  const bool is_named = equals != std::string::npos && equals > 0 &&
                        std::ranges::all_of(text.substr(0, equals), [](unsigned char c) {
                          return std::isalnum(c) != 0 || c == '_' || c >= 0x80;
                        });
  return is_named && equals + 1 < text.size() ? "" : "`" + text + "` is not of the form NAME=VALUE";
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
              "--extra fill_value=0"})
      .one_each()
      .checked(check_extra);
}

std::string language_text(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + "\"";
}

std::string text_over_pictures(const std::string& policy, policy::DataKind data, const Pictures& pictures,
                               const std::string& columns) {
  return text_before_columns(policy, pictures, data) + columns + kTextBehindColumns;
}

StagedPictures stage_over_pictures(const PipelineHost& host, const policy::Document& document,
                                   const std::string& policy, const Pictures& pictures,
                                   const std::string& columns, bool observed, Reporter& reporter) {
  StagedPictures out;
  // A spelling becomes a file for as long as the pipeline is made; an interruption waits until it is gone.
  const OrderlyEnd orderly;
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
  const std::string before =
      text_before_columns(file.filename().string(), pictures, policy::data_of(document));
  out.columns_line = first_line_behind(before);
  dsl::FrontendResult staged = stage_text(host, frontend, (file.parent_path() / "pictures.dali-dsl").string(),
                                          pictures, before, columns, reporter);
  if (!staged.ok || staged.graphs.empty()) return out;
  out.graph = std::move(staged.graphs[0]);
  out.runs = std::move(staged.runs);
  return out;
}

namespace {

/// What staging a call of a policy says that is not about the policy: an argument that is missing; bounds of
/// the language, which a pipeline's options raise.
const std::vector<std::string_view> kNotThePolicys = {"G0656", "G0706", "G0707", "G0708"};
constexpr const char* kAnyCall = "augment(image, shape=[160, 160])";

}  // namespace

bool check_in_pipeline(const PipelineHost& host, const dsl::PolicyText& policy, policy::DataKind data,
                       Reporter& reporter) {
  dsl::FrontendOptions frontend;
  frontend.policies = {policy};
  frontend.import_root = fs::path(policy.file).parent_path().string();
  if (frontend.import_root.empty()) frontend.import_root = ".";
  return stage_text(host, frontend, "pictures.dali-dsl", {"photos"},
                    text_before_columns("", {"photos"}, data), kAnyCall, reporter, kNotThePolicys)
      .ok;
}

bool check_in_pipeline(const PipelineHost& host, const std::string& policy, policy::DataKind data,
                       Reporter& reporter) {
  std::error_code error;
  const fs::path file = fs::absolute(policy, error);
  dsl::FrontendOptions frontend;
  frontend.import_root = file.parent_path().string();
  return stage_text(host, frontend, (file.parent_path() / "pictures.dali-dsl").string(), {"photos"},
                    text_before_columns(file.filename().string(), {"photos"}, data), kAnyCall, reporter,
                    kNotThePolicys)
      .ok;
}

bool check_is_for_pictures(const policy::Document& document, const std::string& name, Reporter& reporter) {
  if (policy::data_of(document) != policy::DataKind::kSound) return true;
  reporter.report(tool_error(ErrorKind::kUser, Message::kPolicyOfSound, name).error());
  return false;
}

StagedPictures stage_several_over_pictures(const PipelineHost& host,
                                           const std::vector<dsl::PolicyText>& policies,
                                           const Pictures& pictures, const std::string& columns,
                                           Reporter& reporter) {
  StagedPictures out;
  dsl::FrontendOptions frontend;
  frontend.policies = policies;
  const std::string before = text_before_columns("", pictures, policy::DataKind::kPictures);
  out.columns_line = first_line_behind(before);
  dsl::FrontendResult staged =
      stage_text(host, frontend, "pictures.dali-dsl", pictures, before, columns, reporter);
  if (staged.ok && !staged.graphs.empty()) out.graph = std::move(staged.graphs[0]);
  return out;
}

}  // namespace galatea::tools
