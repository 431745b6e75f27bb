// A session with the language server, as an editor would have one.
//
// Comes in: texts with a mark `|` where the cursor is, and requests. Goes out: answers, and the diagnostics that
// were published last.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/op/operator.h"
#include "stdlib_ops/register_all.h"
#include "tools/lsp/server.h"

namespace galatea::tools::lsp {

class Session {
 public:
  explicit Session(const Json& capabilities = Json::object(), const std::string& root = {}) {
    Json params = {{"capabilities", capabilities}};
    if (!root.empty()) params["rootUri"] = uri_of(root);
    initialized = request("initialize", params);
    notify("initialized", Json::object());
  }

  /// The result; an error is {"error": …}.
  Json request(const std::string& method, const Json& params) {
    answer_ = nullptr;
    server_.receive({{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", params}});
    return answer_;
  }
  void notify(const std::string& method, const Json& params) {
    server_.receive({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
  }
  void send(const Json& message) { server_.receive(message); }

  /// Opens a document; the cursor is where the mark stands, which is taken out.
  void open(const std::string& path, std::string text) {
    uri_ = uri_of(path);
    const size_t mark = text.find('|');
    if (mark != std::string::npos) text.erase(mark, 1);
    cursor_ = TextBuffer(text).position(static_cast<uint32_t>(std::min(mark, text.size())), Encoding::kUtf16);
    notify("textDocument/didOpen",
           {{"textDocument", {{"uri", uri_}, {"languageId", "dali-dsl"}, {"version", 1}, {"text", text}}}});
  }
  /// A request about the document opened last, at the cursor.
  Json at_cursor(const std::string& method, Json params = Json::object()) {
    params["textDocument"] = {{"uri", uri_}};
    params["position"] = to_json(cursor_);
    return request(method, params);
  }
  Json of_document(const std::string& method, Json params = Json::object()) {
    params["textDocument"] = {{"uri", uri_}};
    return request(method, params);
  }
  /// Everything that waits; then what is wrong with a document.
  std::vector<Json> diagnostics(const std::string& path) {
    const std::atomic<bool> never = false;
    while (server_.work(never)) {
    }
    return diagnostics_[uri_of(path)];
  }
  Server& server() { return server_; }

  Json initialized;
  Json last_message;                               ///< of any kind
  std::vector<std::vector<std::string>> commands;  ///< that the server would have run
  std::vector<std::string> shown;                  ///< addresses that the editor should show

 private:
  static const op::Registry& registry() {
    static const op::Registry& all = *[] {
      auto* registry = new op::Registry;  // lives as long as the process
      ops::register_all(*registry);
      return registry;
    }();
    return all;
  }
  void take(const Json& message) {
    last_message = message;
    if (message.value("method", "") == "window/showDocument") {
      shown.push_back(message["params"]["uri"]);
    } else if (message.contains("method")) {
      diagnostics_[message["params"]["uri"]] = message["params"]["diagnostics"].get<std::vector<Json>>();
    } else {
      answer_ = message.contains("result") ? message["result"] : Json{{"error", message["error"]}};
    }
  }

  int last_id_ = 0;
  Json answer_;
  std::map<std::string, std::vector<Json>> diagnostics_;
  std::string uri_;
  Position cursor_;
  Server server_{registry(), [this](const Json& message) { take(message); },
                 [this](const std::vector<std::string>& arguments, bool stays) {
                   commands.push_back(arguments);
                   return stays ? "http://127.0.0.1:1/?token=t" : "what it explains";
                 }};
};

inline constexpr const char* kHead = "from nvidia.dali import fn, pipeline_def, types\n\n\n";

/// A pipeline that has an image, a label and a parameter `size`.
inline std::string pipeline(const std::string& body) {
  return std::string(kHead) +
         "@pipeline_def(batch_size=2)\n"
         "def train(data: str, size: int = 224):\n"
         "    encoded, label = fn.readers.file(file_root=data)\n"
         "    image = fn.decoders.image(encoded)\n" +
         body;
}

/// What a hover says; empty: nothing.
inline std::string hover_text(const Json& hover) {
  return hover.is_object() ? hover["contents"]["value"] : "";
}

/// The labels of completion items.
inline std::vector<std::string> labels_of(const Json& completion) {
  std::vector<std::string> labels;
  if (completion.is_object() && completion.contains("items"))
    for (const Json& item : completion["items"]) labels.push_back(item["label"]);
  return labels;
}

}  // namespace galatea::tools::lsp
