#include "tools/lsp/server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/fault.h"
#include "base/result.h"
#include "tools/lsp/policy_document.h"
#include "tools/pipeline_files.h"

namespace galatea::tools::lsp {
namespace {

namespace fs = std::filesystem;

/// What a document of JSON-RPC must have, by name.
const Json& member(const Json& json, const char* name) {
  if (!json.is_object() || !json.contains(name))
    throw RequestError(ErrorCode::kInvalidParams, fmt::format("`{}` is missing", name));
  return json[name];
}

std::string text_of(const Json& json, const char* name) {
  const Json& value = member(json, name);
  if (!value.is_string())
    throw RequestError(ErrorCode::kInvalidParams, fmt::format("`{}` is no string", name));
  return value.get<std::string>();
}

Encoding chosen_encoding(const Json& params) {
  const Json offered =
      params.value(Json::json_pointer("/capabilities/general/positionEncodings"), Json::array());
  const bool takes_bytes = offered.is_array() && std::ranges::find(offered, Json("utf-8")) != offered.end();
  return takes_bytes ? Encoding::kUtf8 : Encoding::kUtf16;
}

Json capabilities(Encoding encoding) {
  return {{"positionEncoding", encoding == Encoding::kUtf8 ? "utf-8" : "utf-16"},
          {"textDocumentSync", {{"openClose", true}, {"change", 2}}},
          {"hoverProvider", true},
          {"completionProvider", {{"triggerCharacters", {".", "(", ",", "=", " ", "\"", "'", "/"}}}},
          {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
          {"definitionProvider", true},
          {"referencesProvider", true},
          {"documentHighlightProvider", true},
          {"renameProvider", {{"prepareProvider", true}}},
          {"documentSymbolProvider", true},
          {"workspaceSymbolProvider", true},
          {"foldingRangeProvider", true},
          {"inlayHintProvider", true},
          {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}},
          {"codeLensProvider", {{"resolveProvider", false}}},
          {"executeCommandProvider", {{"commands", {kPreviewCommand, kExplainCommand}}}},
          {"documentFormattingProvider", true},
          {"documentRangeFormattingProvider", true},
          {"semanticTokensProvider", {{"legend", semantic_legend()}, {"full", true}}},
          {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}}};
}

}  // namespace

Server::Server(const op::Registry& registry, Send send, Run run)
    : registry_(registry), vocabulary_(registry), send_(std::move(send)), run_(std::move(run)) {}

const std::map<std::string, Server::Request, std::less<>>& Server::requests() {
  static const std::map<std::string, Request, std::less<>> kRequests = {
      {"initialize", &Server::initialize},
      {"shutdown", &Server::shutdown},
      {"textDocument/hover", &Server::hover_at},
      {"textDocument/completion", &Server::complete},
      {"textDocument/signatureHelp", &Server::at_place<&signature_help>},
      {"textDocument/definition", &Server::define},
      {"textDocument/references", &Server::refer},
      {"textDocument/documentHighlight", &Server::at_place<&document_highlight>},
      {"textDocument/prepareRename", &Server::at_place<&prepare_rename>},
      {"textDocument/rename", &Server::rename_to},
      {"textDocument/documentSymbol", &Server::of_document<&document_symbols>},
      {"textDocument/foldingRange", &Server::of_document<&folding_ranges>},
      {"textDocument/semanticTokens/full", &Server::of_document<&semantic_tokens>},
      {"textDocument/inlayHint", &Server::hints},
      {"textDocument/codeAction", &Server::actions},
      {"textDocument/codeLens", &Server::of_document<&code_lenses>},
      {"workspace/executeCommand", &Server::execute},
      {"textDocument/formatting", &Server::format},
      {"textDocument/rangeFormatting", &Server::format},
      {"workspace/symbol", &Server::workspace_symbols}};
  return kRequests;
}

const std::map<std::string, Server::Notification, std::less<>>& Server::notifications() {
  static const std::map<std::string, Notification, std::less<>> kNotifications = {
      {"textDocument/didOpen", &Server::did_open},
      {"textDocument/didChange", &Server::did_change},
      {"textDocument/didClose", &Server::did_close},
      {"workspace/didChangeWatchedFiles", &Server::did_change_files},
      {"workspace/didChangeWorkspaceFolders", &Server::did_change_folders}};
  return kNotifications;
}

void Server::receive(const Json& message, bool is_cancelled) {
  const bool is_request = message.is_object() && message.contains("id") && message.contains("method");
  Json answered = {{"jsonrpc", "2.0"}, {"id", is_request ? message["id"] : Json()}};
  auto refuse = [&](ErrorCode code, const std::string& why) {
    answered["error"] = {{"code", static_cast<int>(code)}, {"message", why}};
  };
  try {
    if (message.is_discarded()) throw RequestError(ErrorCode::kParse, "the message is no JSON");
    if (message.is_object() && !message.contains("method") && message.contains("id"))
      return;  // an answer to us
    const std::string method = text_of(message, "method");
    const Json params = message.value("params", Json::object());
    if (is_request) {
      if (is_cancelled) throw RequestError(ErrorCode::kCancelled, "cancelled");
      answered["result"] = answer(method, params);
    } else if (method == "exit") {
      has_ended_ = true;
    } else if (const auto found = notifications().find(method);
               is_initialized_ && found != notifications().end()) {
      (this->*found->second)(params);
    }
  } catch (const RequestError& error) {
    refuse(error.code, error.what());
  } catch (const Json::exception& error) {
    refuse(ErrorCode::kInvalidParams, error.what());
  } catch (const InternalError& error) {
    refuse(ErrorCode::kInternal, fmt::format("a mistake in galatea: {}", error.what()));
  }
  // Nobody waits for what becomes of a notification, but a message that is none wants a word.
  const bool is_no_message = !message.is_object() || !message.contains("method");
  if (is_request || (is_no_message && answered.contains("error"))) send_(answered);
}

Json Server::answer(const std::string& method, const Json& params) {
  if (!is_initialized_ && method != "initialize")
    throw RequestError(ErrorCode::kNotInitialized, "`initialize` comes first");
  if (is_shut_down_) throw RequestError(ErrorCode::kInvalidRequest, "the session is shut down");
  const auto found = requests().find(method);
  if (found == requests().end())
    throw RequestError(ErrorCode::kMethodNotFound, fmt::format("there is no `{}` here", method));
  return (this->*found->second)(params);
}

Json Server::initialize(const Json& params) {
  if (is_initialized_) throw RequestError(ErrorCode::kInvalidRequest, "`initialize` comes once");
  is_initialized_ = true;
  encoding_ = chosen_encoding(params);
  const Json folders = params.value("workspaceFolders", Json());
  if (folders.is_array())
    for (const Json& folder : folders) roots_.push_back(path_of(text_of(folder, "uri")));
  else if (const Json root = params.value("rootUri", Json()); root.is_string())
    roots_.push_back(path_of(root.get<std::string>()));
  return {{"capabilities", capabilities(encoding_)},
          {"serverInfo", {{"name", "galatea"}, {"version", GALATEA_VERSION}}}};
}

Json Server::shutdown(const Json&) {
  is_shut_down_ = true;
  return nullptr;
}

// ---- documents ----

Document& Server::document_of(const Json& params) {
  const std::string uri = text_of(member(params, "textDocument"), "uri");
  const auto found = documents_.find(uri);
  if (found == documents_.end())
    throw RequestError(ErrorCode::kInvalidParams, fmt::format("`{}` is not open", uri));
  return *found->second;
}

Query Server::query_of(Document& document, const Json& params) const {
  Query query{document, vocabulary_, encoding_};
  if (params.contains("position"))
    query.offset = document.buffer().offset(position_of(params["position"]), encoding_);
  return query;
}

void Server::did_open(const Json& params) {
  const Json& opened = member(params, "textDocument");
  const std::string uri = text_of(opened, "uri");
  const std::string text = text_of(opened, "text");
  documents_[uri] = std::make_unique<Document>(uri, opened.value("version", int64_t{0}), text);
  closed_.erase(documents_[uri]->path());
  forget_users_of(documents_[uri]->path());
}

void Server::did_change(const Json& params) {
  Document& document = document_of(params);
  for (const Json& change : member(params, "contentChanges")) {
    std::optional<Range> range;
    if (change.contains("range")) range = range_of(change["range"]);
    document.change(range, text_of(change, "text"), encoding_);
  }
  document.set_version(member(params, "textDocument").value("version", document.version() + 1));
  forget_users_of(document.path());
}

void Server::did_close(const Json& params) {
  Document& document = document_of(params);
  publish(document, {});
  const std::string path = document.path();
  documents_.erase(document.uri());
  forget_users_of(path);
}

void Server::did_change_files(const Json&) {
  for (auto& [uri, document] : documents_) document->forget_evaluation();
}

void Server::did_change_folders(const Json& params) {
  const Json& change = member(params, "event");
  for (const Json& folder : member(change, "removed")) std::erase(roots_, path_of(text_of(folder, "uri")));
  for (const Json& folder : member(change, "added")) roots_.push_back(path_of(text_of(folder, "uri")));
}

void Server::forget_users_of(const std::string& path) {
  for (auto& [uri, document] : documents_) {
    const Evaluation* last = document->last_evaluation();
    if (!last) continue;
    // A file that was not there may be this one.
    const auto lacks = [](const Diagnostic& diagnostic) { return diagnostic.code == "G0604"; };
    if (std::ranges::any_of(last->diagnostics, lacks) ||
        std::ranges::find(last->files, path) != last->files.end())
      document->forget_evaluation();
  }
}

std::unique_ptr<Evaluation> Server::evaluate_text(const Document& document,
                                                  const std::atomic<bool>* interrupted) const {
  if (is_policy_document(document.path())) return evaluate_policy(document.path(), document.text());
  OpenTexts open;
  for (const auto& [uri, other] : documents_)
    if (other.get() != &document) open[other->path()] = other->text();
  return evaluate(document.path(), document.text(), open, registry_, interrupted);
}

Document& Server::evaluated(Document& document) {
  if (!document.evaluation()) {
    document.set_evaluation(evaluate_text(document, nullptr));
    publish(document, published_diagnostics(document, *document.evaluation(), encoding_));
  }
  return document;
}

void Server::publish(const Document& document, std::vector<Json> diagnostics) {
  send_({{"jsonrpc", "2.0"},
         {"method", "textDocument/publishDiagnostics"},
         {"params",
          {{"uri", document.uri()},
           {"version", document.version()},
           {"diagnostics", std::move(diagnostics)}}}});
}

bool Server::work(const std::atomic<bool>& interrupted) {
  for (auto& [uri, document] : documents_) {
    if (document->evaluation()) continue;
    std::unique_ptr<Evaluation> evaluation = evaluate_text(*document, &interrupted);
    if (!evaluation) return true;
    document->set_evaluation(std::move(evaluation));
    publish(*document, published_diagnostics(*document, *document->evaluation(), encoding_));
    return true;
  }
  return false;
}

// ---- the workspace ----

Document* Server::find_document(const std::string& path) {
  for (auto& [uri, document] : documents_)
    if (document->path() == path) return document.get();
  std::error_code failed;
  const fs::file_time_type written = fs::last_write_time(path, failed);
  Closed& known = closed_[path];
  if (!failed && known.document && known.written == written) return known.document.get();
  const auto text = read_whole_file(path);
  if (failed || !text) {
    closed_.erase(path);
    return nullptr;
  }
  known = {written, std::make_unique<Document>(uri_of(path), 0, *text)};
  return known.document.get();
}

Workspace Server::workspace() {
  return {[this](const std::string& path) { return find_document(path); },
          [this] {
            std::vector<std::string> files = pipeline_files(roots_).files;
            for (const auto& [uri, document] : documents_)
              if (std::ranges::find(files, document->path()) == files.end())
                files.push_back(document->path());
            return files;
          }};
}

// ---- requests ----

template <auto Feature>
Json Server::at_place(const Json& params) {
  member(params, "position");
  return of_document<Feature>(params);
}

template <auto Feature>
Json Server::of_document(const Json& params) {
  Document& document = document_of(params);
  // Outlines, colours and names are those of pipelines; editors have them for JSON.
  if (is_policy_document(document.path())) return nullptr;
  return Feature(query_of(document, params));
}

Json Server::hover_at(const Json& params) {
  member(params, "position");
  const Query query = query_of(evaluated(document_of(params)), params);
  return is_policy_document(query.document.path()) ? hover_policy(query) : hover(query);
}

Json Server::complete(const Json& params) {
  member(params, "position");
  const Query query = query_of(document_of(params), params);
  return is_policy_document(query.document.path()) ? complete_policy(query) : completion(query, workspace());
}

Json Server::define(const Json& params) {
  member(params, "position");
  if (is_policy_document(document_of(params).path())) return nullptr;
  return definition(query_of(document_of(params), params), workspace());
}

Json Server::refer(const Json& params) {
  member(params, "position");
  if (is_policy_document(document_of(params).path())) return nullptr;
  const bool with_definition = params.value(Json::json_pointer("/context/includeDeclaration"), true);
  return references(query_of(document_of(params), params), workspace(), with_definition);
}

Json Server::rename_to(const Json& params) {
  member(params, "position");
  if (is_policy_document(document_of(params).path())) return nullptr;
  return rename(query_of(document_of(params), params), workspace(), text_of(params, "newName"));
}

Json Server::hints(const Json& params) {
  if (is_policy_document(document_of(params).path())) return nullptr;
  return inlay_hints(query_of(evaluated(document_of(params)), params), range_of(member(params, "range")));
}

Json Server::actions(const Json& params) {
  return code_actions(query_of(evaluated(document_of(params)), params), range_of(member(params, "range")));
}

Json Server::format(const Json& params) {
  if (is_policy_document(document_of(params).path())) return nullptr;
  std::optional<Range> only;
  if (params.contains("range")) only = range_of(params["range"]);
  return formatting(query_of(document_of(params), params), only);
}

void Server::show(const std::string& uri, bool in_browser) {
  send_({{"jsonrpc", "2.0"},
         {"id", fmt::format("show-{}", ++num_shown_)},
         {"method", "window/showDocument"},
         {"params", {{"uri", uri}, {"external", in_browser}}}});
}

Json Server::execute(const Json& params) {
  const std::string command = text_of(params, "command");
  const Json& arguments = member(params, "arguments");
  if (!arguments.is_array() || arguments.size() != 2 || !arguments[0].is_string() ||
      !arguments[1].is_string())
    throw RequestError(ErrorCode::kInvalidParams, "a document and the name of a pipeline are needed");
  if (!run_) throw RequestError(ErrorCode::kRequestFailed, "no other program can be run here");
  const std::string file = path_of(arguments[0].get<std::string>());
  const std::string pipeline = "--pipeline=" + arguments[1].get<std::string>();
  if (command == kPreviewCommand) {
    const std::string address = run_({"serve", file, pipeline}, true);
    if (address.empty())
      throw RequestError(ErrorCode::kRequestFailed,
                         fmt::format("`galatea serve {}` did not start: try it in a terminal", file));
    show(address, true);
    return address;
  }
  if (command == kExplainCommand) return run_({"explain", file, pipeline, "--color=never"}, false);
  throw RequestError(ErrorCode::kInvalidParams, fmt::format("there is no command `{}`", command));
}

Json Server::workspace_symbols(const Json& params) {
  const std::string wanted = text_of(params, "query");
  constexpr size_t kMost = 200;
  Json found = Json::array();
  const Workspace files = workspace();
  for (const std::string& path : files.files()) {
    Document* document = files.find(path);
    if (!document) continue;
    for (const Symbol& symbol : document->syntax().names->symbols()) {
      if (symbol.scope != 0 || symbol.kind == Symbol::Kind::kImport || !symbol.name.contains(wanted))
        continue;
      const Range range = range_in(document->buffer(), symbol.definition, encoding_);
      found.push_back({{"name", symbol.name},
                       {"kind", symbol.function ? 12 : 13},
                       {"location", {{"uri", document->uri()}, {"range", to_json(range)}}}});
      if (found.size() == kMost) return found;
    }
  }
  return found;
}

}  // namespace galatea::tools::lsp
