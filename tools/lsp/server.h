// The language server: a session with one editor (LSP 3.17).
//
// Comes in: messages, one by one. Goes out: answers and diagnostics, through the function that it was given.
// It does one thing at a time; what can wait (diagnostics of a text that is being typed) waits for work().
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/op/operator.h"
#include "tools/lsp/document.h"
#include "tools/lsp/features.h"
#include "tools/lsp/protocol.h"
#include "tools/lsp/vocabulary.h"

namespace galatea::tools::lsp {

class Server {
 public:
  using Send = std::function<void(const Json&)>;
  /// Runs another command of galatea. `stays`: it goes on, and its first line counts; else all that it prints.
  using Run = std::function<std::string(const std::vector<std::string>& arguments, bool stays)>;
  Server(const op::Registry& registry, Send send, Run run = {});

  /// Answers a message; whatever is wrong with it is an answer, too. `is_cancelled`: a request that its editor
  /// no longer waits for.
  void receive(const Json& message, bool is_cancelled = false);
  /// Evaluates one changed document and publishes its diagnostics. False: there was none. Ends early, with
  /// nothing done, once `interrupted` is set.
  bool work(const std::atomic<bool>& interrupted);
  /// The editor said goodbye.
  bool has_ended() const { return has_ended_; }
  /// 0: after a shutdown, as it should be.
  int status() const { return is_shut_down_ ? 0 : 1; }

 private:
  using Request = Json (Server::*)(const Json& params);
  using Notification = void (Server::*)(const Json& params);
  static const std::map<std::string, Request, std::less<>>& requests();
  static const std::map<std::string, Notification, std::less<>>& notifications();

  Json answer(const std::string& method, const Json& params);
  Json initialize(const Json& params);
  Json shutdown(const Json& params);
  template <auto Feature>
  Json at_place(const Json& params);
  template <auto Feature>
  Json of_document(const Json& params);
  Json hover_at(const Json& params);
  Json complete(const Json& params);
  Json define(const Json& params);
  Json refer(const Json& params);
  Json rename_to(const Json& params);
  Json hints(const Json& params);
  Json actions(const Json& params);
  Json format(const Json& params);
  Json execute(const Json& params);
  void show(const std::string& uri, bool in_browser);
  Json workspace_symbols(const Json& params);
  void did_open(const Json& params);
  void did_change(const Json& params);
  void did_close(const Json& params);
  void did_change_files(const Json& params);
  void did_change_folders(const Json& params);

  Document& document_of(const Json& params);
  Query query_of(Document& document, const Json& params) const;
  void publish(const Document& document, std::vector<Json> diagnostics);
  /// With an evaluation of its text.
  Document& evaluated(Document& document);
  std::unique_ptr<Evaluation> evaluate_text(const Document& document,
                                            const std::atomic<bool>* interrupted) const;
  void forget_users_of(const std::string& path);
  Workspace workspace();
  Document* find_document(const std::string& path);

  /// A file of the workspace that is not open.
  struct Closed {
    std::filesystem::file_time_type written;
    std::unique_ptr<Document> document;
  };

  const op::Registry& registry_;
  const Vocabulary vocabulary_;
  Send send_;
  Run run_;
  Encoding encoding_ = Encoding::kUtf16;
  std::vector<std::string> roots_;
  std::map<std::string, std::unique_ptr<Document>> documents_;  ///< by address
  std::map<std::string, Closed> closed_;                        ///< by path
  int num_shown_ = 0;                                           ///< requests to the editor
  bool is_initialized_ = false, is_shut_down_ = false, has_ended_ = false;
};

}  // namespace galatea::tools::lsp
