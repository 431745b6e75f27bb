#include "tools/serve/server.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/fault.h"
#include "runtime/fault.h"
#include "tools/gather_sheet.h"
#include "tools/serve/describe.h"
#include "tools/serve/page_texts.h"

namespace galatea::tools::serve {
namespace {

constexpr size_t kMostSettings = 256, kLongestSetting = 4096, kLongestView = 64;
constexpr int kLargestPicture = 1024;  // of a side
constexpr std::chrono::seconds kLongestWait{20};

Response problem(int status, std::string_view message) {
  return {status, "application/json", json_text(Json{{"ok", false}, {"message", message}}), {}};
}

Response json_response(const Json& json) { return {200, "application/json", json_text(json), {}}; }

/// A whole number within bounds; `otherwise` where the argument is not given.
std::optional<int64_t> number_argument(const Request& request, const char* name, int64_t least, int64_t most,
                                       std::optional<int64_t> otherwise = std::nullopt) {
  const auto text = request.argument(name);
  if (!text) return otherwise;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < least || number > most)
    return std::nullopt;
  return number;
}

constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();

/// What a `run` names; nothing: it is not kept any more.
std::shared_ptr<const Preview> preview_of(Previews& previews, const Request& request) {
  const auto run = number_argument(request, "run", 1, kAnyNumber);
  const auto kept = run ? previews.kept(static_cast<uint64_t>(*run)) : std::nullopt;
  return kept ? kept->preview : nullptr;
}

/// The row that run and sample name.
struct KeptRow {
  std::shared_ptr<const Preview> preview;
  const PreviewRow* row = nullptr;
};

std::optional<KeptRow> row_at(Previews& previews, const Request& request) {
  const auto preview = preview_of(previews, request);
  const auto sample = number_argument(request, "sample", 0, kMostSamples - 1);
  if (!preview || !sample || static_cast<size_t>(*sample) >= preview->rows.size()) return std::nullopt;
  return KeptRow{preview, &preview->rows[static_cast<size_t>(*sample)]};
}

/// The tensor that run, sample and node name.
struct Cell {
  std::shared_ptr<const Preview> preview;
  const runtime::Tensor* tensor = nullptr;
  const SheetCell* shown = nullptr;
  Layout layout;
};

std::optional<Cell> cell_at(Previews& previews, const Request& request) {
  const auto row = row_at(previews, request);
  const auto node = number_argument(request, "node", 0, kAnyNumber);
  if (!row || !node || static_cast<size_t>(*node) >= row->row->values.size()) return std::nullopt;
  const auto column = static_cast<size_t>(*node);
  return Cell{row->preview, &row->row->values[column], &row->row->cells[column],
              row->preview->columns[column].type.layout};
}

Response no_such_cell() { return problem(410, "these pictures are not kept any more: ask for them again"); }

std::string text_of_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Numbers, truth values, None and lists of them: a text could name any file.
bool is_without_text(std::string_view value) {
  constexpr std::string_view kWords[] = {"True", "False", "None", "true", "false"};
  if (std::ranges::find(kWords, value) != std::end(kWords)) return true;
  return !value.empty() && value.find_first_not_of("0123456789+-.eE_,[]() ") == std::string_view::npos;
}

/// Whether each setting is of a parameter of numbers or truth values.
bool are_numbers(const std::vector<std::string>& set, const std::vector<ParameterText>& parameters) {
  constexpr std::string_view kKinds[] = {"bool", "int", "float", "list", "tuple"};
  return std::ranges::all_of(set, [&](const std::string& setting) {
    const auto found =
        std::ranges::find(parameters, setting.substr(0, setting.find('=')), &ParameterText::name);
    return found != parameters.end() && std::ranges::find(kKinds, found->kind) != std::end(kKinds);
  });
}

/// A part of the page that asks on its own.
std::string view_of(const Request& request) {
  return request.argument("view").value_or("").substr(0, kLongestView);
}

/// Of a policy alone: the picture comes first, then what the policy made of it.
void name_draws(Json& columns) {
  int draw = 0;
  for (Json& column : columns)
    if (column["is_output"].get<bool>())
      column["name"] = draw == 0 ? "before the policy" : fmt::format("draw {}", draw), ++draw;
}

Response given_up() { return problem(409, "given up for a later request"); }

}  // namespace

std::optional<Choice> choice_of(const Request& request) {
  Choice choice;
  for (auto [at, end] = request.query.equal_range("set"); at != end; ++at) {
    const size_t equals = at->second.find('=');
    if (equals == 0 || equals == std::string::npos || at->second.size() > kLongestSetting ||
        !is_without_text(std::string_view(at->second).substr(equals + 1)))
      return std::nullopt;
    choice.set.push_back(at->second);
  }
  const auto first = number_argument(request, "first", 0, kMostSkipped, 0);
  const auto samples = number_argument(request, "samples", 1, kMostSamples, choice.samples);
  const auto draw = number_argument(request, "draw", 0, std::numeric_limits<int>::max(), 0);
  if (choice.set.size() > kMostSettings || !first || !samples || !draw) return std::nullopt;
  if (request.argument("seed")) {
    choice.seed = number_argument(request, "seed", 0, std::numeric_limits<int64_t>::max());
    if (!choice.seed) return std::nullopt;
  }
  choice.first = static_cast<int>(*first);
  choice.samples = static_cast<int>(*samples);
  choice.draw = static_cast<int>(*draw);
  return choice;
}

Server::Server(const PipelineHost& host, std::string file, PipelineOptions options, Door door,
               std::string policy)
    : file_(file),
      policy_(std::move(policy)),
      options_(options),
      door_(std::move(door)),
      previews_(host, file, options),
      policies_(host, std::move(file), std::move(options)) {
  files_.follow({file_});
}

std::string Server::text() const { return options_.text ? *options_.text : text_of_file(file_); }

void Server::follow() {
  if (files_.have_changed()) previews_.next_revision();
}

Response Server::answer(const Request& request) {
  if (const auto why = door_.why_refused(request)) return secured(problem(403, *why));
  try {
    return secured(route(request));
  } catch (...) {
    return secured(problem(500, runtime::error_in_flight().message()));
  }
}

Response Server::route(const Request& request) {
  if (auto response = policies_.handle(request)) return *response;
  if (request.method != "GET") return problem(405, "only GET is answered here");
  if (request.path == "/") {
    Response page{200, "text/html; charset=utf-8", std::string(page_text("index.html")), {}};
    page.headers["Set-Cookie"] =
        door_.cookie_name() + "=" + door_.token + "; Path=/; HttpOnly; SameSite=Strict";
    return page;
  }
  if (request.path == "/favicon.ico")
    return {204, "image/x-icon", "", {}};  // browsers ask for it by themselves
  if (request.path == "/page.css")
    return {200, "text/css; charset=utf-8", std::string(page_text("page.css")), {}};
  if (request.path.ends_with(".js") && !page_text(request.path.substr(1)).empty())
    return {200, "text/javascript; charset=utf-8", std::string(page_text(request.path.substr(1))), {}};
  if (request.path == "/api/pipeline") return pipeline(request);
  if (request.path == "/api/frame") return frame(request);
  if (request.path == "/api/node") return node(request);
  if (request.path == "/api/times") return times(request);
  if (request.path == "/api/trace") return trace(request);
  if (request.path == "/api/events") return events(request);
  return problem(404, "there is nothing under this address");
}

Response Server::pipeline(const Request& request) {
  const auto choice = choice_of(request);
  if (!choice)
    return problem(400,
                   "set, seed, first, samples or draw is out of range; a text is set where `galatea serve` "
                   "is started: --set name=text");
  const std::string text = this->text();
  if (!are_numbers(choice->set, parameters_of(text, options_.pipeline)))
    return problem(
        400,
        "the page sets parameters of numbers and truth values; a text is set where `galatea serve` "
        "is started: --set name=text");
  const auto made = previews_.wish(*choice, view_of(request), request.argument("anew").has_value());
  if (!made) return given_up();
  files_.follow(files_behind(*made->preview));
  Json json = {{"revision", made->revision}, {"run", made->number}, {"file", file_}};
  const std::string name = made->preview->graph ? made->preview->graph->name : options_.pipeline;
  json["pipeline"] = name;
  if (made->preview->graph) json["seed"] = made->preview->graph->options.seed;
  json["set"] = made->preview->options.set;
  json["parameters"] = json_of(parameters_of(text, name));
  json.update(json_of(*made->preview));
  if (!policy_.empty()) {
    json["policy"] = policy_;
    name_draws(json["columns"]);
  }
  return json_response(json);
}

std::vector<std::string> Server::files_behind(const Preview& preview) const {
  std::vector<std::string> files = preview.files;
  if (std::ranges::find(files, file_) == files.end()) files.push_back(file_);
  // What is imported may be written yet: a folder changes when a file comes into it.
  const bool lacks_file = std::ranges::any_of(preview.diagnostics, [](const Diagnostic& d) {
    return d.code.starts_with("G06");
  });  // modules and files
  if (lacks_file) files.push_back(std::filesystem::absolute(file_).parent_path().string());
  return files;
}

Response Server::frame(const Request& request) {
  const auto cell = cell_at(previews_, request);
  if (!cell) return no_such_cell();
  const auto size = number_argument(request, "size", 16, kLargestPicture, kLargestPicture);
  if (!size) return problem(400, "size is out of range");
  if (!cell->shown->picture) return problem(404, "this is no picture");
  const Pixels& picture = *cell->shown->picture;
  const bool is_larger = std::max(picture.width, picture.height) > *size;
  const auto png = to_png(is_larger ? fit(picture, static_cast<int>(*size)) : picture, PngUse::kShow);
  if (!png) return problem(500, png.error().message());
  return {200, "image/png", std::string(png->begin(), png->end()), {}};
}

Response Server::node(const Request& request) {
  const auto cell = cell_at(previews_, request);
  if (!cell) return no_such_cell();
  std::optional<std::pair<int64_t, int64_t>> at;
  if (request.argument("x") || request.argument("y")) {
    constexpr int64_t kAny = std::numeric_limits<int32_t>::max();
    const auto x = number_argument(request, "x", 0, kAny), y = number_argument(request, "y", 0, kAny);
    if (!x || !y) return problem(400, "x or y is out of range");
    at = std::pair(*x, *y);
  }
  return json_response(json_of(*cell->tensor, cell->layout, at));
}

Response Server::times(const Request& request) {
  const auto preview = preview_of(previews_, request);
  if (!preview) return no_such_cell();
  const auto measured = previews_.measured(*preview, view_of(request));
  return measured ? json_response(json_of(*measured, preview->sources)) : given_up();
}

Response Server::trace(const Request& request) {
  const auto row = row_at(previews_, request);
  if (!row) return no_such_cell();
  const Preview& preview = *row->preview;
  const auto traced = previews_.traced(preview, *row->row, view_of(request));
  if (!traced) return given_up();
  Json json = json_of(traced->diagnostics, preview.sources);
  json["trace"] = traced->text;
  return json_response(json);
}

Response Server::events(const Request& request) const {
  const auto known = number_argument(request, "revision", 0, std::numeric_limits<int64_t>::max(), 0);
  if (!known) return problem(400, "revision is out of range");
  return json_response(
      {{"revision", previews_.wait_for_change(static_cast<uint64_t>(*known), kLongestWait)}});
}

}  // namespace galatea::tools::serve
