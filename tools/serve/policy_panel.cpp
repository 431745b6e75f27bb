#include "tools/serve/policy_panel.h"

#include <algorithm>
#include <charconv>

#include "policy/reader.h"
#include "tools/files.h"
#include "tools/gather_sheet.h"

namespace galatea::tools::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLargestDocument = size_t{1} << 20;  // bytes
constexpr int kMostGridSamples = 16;                  // that the grid may show, one at a time

Response policy_response(const Json& json, int status = 200) {
  return {status, "application/json", json_text(json), {}};
}
Response refused(int status, std::string_view message) {
  return policy_response({{"ok", false}, {"message", message}}, status);
}

/// What was reported, as the terminal shows it.
std::string reported_words(Reporter& reporter) {
  std::string words;
  for (const Diagnostic& diagnostic : reporter.take_collected())
    words += render_text(diagnostic, reporter.sources());
  return words;
}

std::optional<int64_t> policy_number(const Request& request, const char* name) {
  const std::string text = request.argument(name).value_or("");
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && !text.empty() && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

PolicyPanel::Staged PolicyPanel::stage(Reporter& reporter) const {
  Staged staged;
  reporter.use_json(true);
  PipelineOptions options = options_;
  options.device = "cpu";
  options.gpu_is_here = false;
  staged.graph = host_.stage(file_, options, reporter);
  staged.sources.add_all(reporter.sources());
  for (uint32_t id = 1; const SourceFile* source = staged.sources.file(id); ++id)
    if (source->name().ends_with(".json")) staged.documents.push_back(source->name());
  std::ranges::sort(staged.documents);
  const auto again = std::ranges::unique(staged.documents);
  staged.documents.erase(again.begin(), again.end());
  return staged;
}

std::optional<Response> PolicyPanel::handle(const Request& request) {
  if (request.path != "/api/policy" && !request.path.starts_with("/api/policy/")) return std::nullopt;
  if (request.method == "GET") {
    if (request.path == "/api/policy") return list();
    if (request.path == "/api/policy/picture") return picture(request);
    return refused(404, "there is nothing under this address");
  }
  if (request.method != "POST") return refused(405, "only GET and POST are answered here");
  const nlohmann::ordered_json asked = nlohmann::ordered_json::parse(request.body, nullptr, false);
  if (!asked.is_object()) return refused(400, "the request is no JSON object");
  try {
    if (request.path == "/api/policy/look") return look(asked);
    if (request.path == "/api/policy/weights") return change_weights(asked);
    if (request.path == "/api/policy/grid") return make_pictures(asked);
    if (request.path == "/api/policy/save") return save(asked);
  } catch (const Json::exception&) {
    return refused(400, "a member of the request is missing, or of another type");
  }
  return refused(404, "there is nothing under this address");
}

Response PolicyPanel::list() {
  Reporter reporter;
  Staged staged = stage(reporter);
  Json documents = Json::array();
  for (const std::string& path : staged.documents)
    documents.push_back(
        {{"name", path}, {"text", policy::read_text_file(path, kLargestDocument).value_or("")}});
  const std::lock_guard lock(mutex_);
  // Of a text that is wrong for now, the documents stay.
  if (staged.graph || documents_.empty()) documents_ = std::move(staged.documents);
  return policy_response({{"ok", true}, {"documents", std::move(documents)}});
}

PolicyText PolicyPanel::policy_of(const Json& asked) {
  const auto number = asked.at("document").get<size_t>();
  std::string text = asked.at("text").get<std::string>();
  const std::lock_guard lock(mutex_);
  if (number >= documents_.size()) throw Json::out_of_range::create(401, "document", nullptr);
  return {documents_[number], std::move(text)};
}

Response PolicyPanel::look(const Json& asked) {
  std::string problems;
  const auto document = read_document(policy_of(asked), problems);
  if (!document) return policy_response({{"ok", false}, {"message", problems}}, 422);
  Json json = json_of(*document);
  json["ok"] = true;
  return policy_response(json);
}

Response PolicyPanel::change_weights(const Json& asked) {
  std::string problems;
  const auto document = read_document(policy_of(asked), problems);
  if (!document) return policy_response({{"ok", false}, {"message", problems}}, 422);
  const auto text = with_weights(*document, asked.at("choice").get<size_t>(),
                                 asked.at("weights").get<std::vector<double>>());
  if (!text) return refused(422, text.error().message());
  return policy_response({{"ok", true}, {"text", *text}});
}

Response PolicyPanel::make_pictures(const Json& asked) {
  const PolicyText policy = policy_of(asked);
  const int sample = std::clamp(asked.value("sample", 0), 0, kMostGridSamples - 1);
  const std::lock_guard one_at_a_time(making_);
  std::string problems;
  const auto document = read_document(policy, problems);
  if (!document) return policy_response({{"ok", false}, {"message", problems}}, 422);
  Reporter reporter;
  const Staged staged = stage(reporter);
  PictureFolder folder;
  if (!staged.graph || !folder.fill(host_, *staged.graph, staged.sources, sample + 1, reporter))
    return refused(422, reported_words(reporter));
  Reporter of_policy;
  of_policy.use_json(true);
  std::optional<PolicyGrid> grid =
      make_grid(host_, policy, *document, folder, std::min(sample, folder.count() - 1), of_policy);
  if (!grid) return refused(422, reported_words(of_policy));
  Json rows = Json::array();
  for (const PolicyGrid::Row& row : grid->rows) {
    rows.push_back({{"name", row.name}, {"labels", row.labels}});
    if (row.microseconds) rows.back()["microseconds"] = *row.microseconds;
  }
  const double microseconds = grid->microseconds;
  const std::lock_guard lock(mutex_);
  grid_ = std::move(grid);
  return policy_response(
      {{"ok", true}, {"grid", ++grid_number_}, {"rows", std::move(rows)}, {"microseconds", microseconds}});
}

Response PolicyPanel::picture(const Request& request) {
  const auto grid = policy_number(request, "grid"), row = policy_number(request, "row"),
             column = policy_number(request, "column");
  if (!grid || !row || !column) return refused(400, "grid, row or column is no number");
  const std::lock_guard lock(mutex_);
  if (!grid_ || *grid != grid_number_) return refused(410, "these pictures are not kept any more");
  const runtime::Tensor* tensor = *row == -1 ? &grid_->original : nullptr;
  if (*row >= 0 && *row < std::ssize(grid_->rows)) {
    const std::vector<runtime::Tensor>& pictures = grid_->rows[static_cast<size_t>(*row)].pictures;
    if (*column >= 0 && *column < std::ssize(pictures)) tensor = &pictures[static_cast<size_t>(*column)];
  }
  if (!tensor) return refused(404, "the grid has no such picture");
  const SheetCell cell = cell_of(*tensor, "HWC");
  if (!cell.picture) return refused(404, "this is no picture");
  const auto png = to_png(*cell.picture);
  if (!png) return refused(500, png.error().message());
  return {200, "image/png", std::string(png->begin(), png->end()), {}};
}

Response PolicyPanel::save(const Json& asked) {
  const PolicyText policy = policy_of(asked);
  const std::string was = asked.at("was").get<std::string>();
  std::string problems;
  if (!read_document(policy, problems)) return policy_response({{"ok", false}, {"message", problems}}, 422);
  const std::lock_guard lock(mutex_);
  const auto now = policy::read_text_file(policy.path, kLargestDocument);
  if (!now) return refused(409, now.error().message());
  if (*now != was) return refused(409, "the file has changed meanwhile: load it again, then change it");
  const Status written = replace_file(policy.path, policy.text);
  return written ? policy_response({{"ok", true}}) : refused(500, written.error().message());
}

}  // namespace galatea::tools::serve
