// galatea lsp: the language server on stdin and stdout.
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/json.h"
#include "tools/command.h"
#include "tools/lsp/children.h"
#include "tools/lsp/server.h"
#include "tools/lsp/transport.h"
#include "tools/pipeline_host.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

/// Messages that have come and wait. A thread reads them, so that one that comes can interrupt an evaluation.
class Inbox {
 public:
  explicit Inbox(int descriptor) : reader_(descriptor), thread_([this] { read_all(); }) {}
  ~Inbox() { thread_.join(); }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  struct Entry {
    lsp::Json message;
    bool is_cancelled = false;
  };
  /// The next message. Nothing: there is none yet (`wait` false), or there will be none.
  std::optional<Entry> take(bool wait) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !wait || !messages_.empty() || has_ended_; });
    if (messages_.empty()) return std::nullopt;
    Entry entry{std::move(messages_.front()), false};
    messages_.pop_front();
    is_waiting_ = !messages_.empty();
    if (entry.message.is_object() && entry.message.contains("id"))
      entry.is_cancelled = cancelled_.erase(json_text(entry.message["id"])) > 0;
    changed_.notify_all();
    return entry;
  }
  bool has_ended() {
    const std::lock_guard lock(mutex_);
    return has_ended_ && messages_.empty();
  }
  /// Whether a message waits.
  const std::atomic<bool>& is_waiting() const { return is_waiting_; }
  /// After the end: what was wrong with the stream; empty: it just ended.
  const std::string& problem() const { return reader_.problem(); }

 private:
  static constexpr size_t kMostWaiting = 1024;

  void read_all() {
    while (std::optional<std::string> content = reader_.read()) {
      lsp::Json message = parse_json(*content);
      const bool is_object = message.is_object();
      const bool is_exit = is_object && message.value("method", lsp::Json()) == "exit";
      const bool is_cancel = is_object && message.value("method", lsp::Json()) == "$/cancelRequest";
      std::unique_lock lock(mutex_);
      if (is_cancel) {
        cancelled_.insert(json_text(message.value(lsp::Json::json_pointer("/params/id"), lsp::Json())));
        if (cancelled_.size() > kMostWaiting) cancelled_.erase(cancelled_.begin());
        continue;
      }
      changed_.wait(lock, [&] { return messages_.size() < kMostWaiting; });
      messages_.push_back(std::move(message));
      is_waiting_ = true;
      changed_.notify_all();
      if (is_exit) break;
    }
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }

  lsp::MessageReader reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<lsp::Json> messages_;
  std::set<std::string> cancelled_;  ///< ids of requests
  bool has_ended_ = false;
  std::atomic<bool> is_waiting_ = false;
  std::thread thread_;
};

int run() {
  const PipelineHost host;
  bool is_heard = true;
  lsp::Children children;
  lsp::Server server(
      host.registry(),
      [&](const lsp::Json& message) {
        is_heard = lsp::write_message(STDOUT_FILENO, json_text(message)) && is_heard;
      },
      [&](const lsp::Arguments& arguments, bool stays) {
        return stays ? children.first_line_of(arguments) : children.output_of(arguments);
      });
  Inbox inbox(STDIN_FILENO);
  bool has_work = false;
  while (is_heard && !server.has_ended() && !inbox.has_ended()) {
    // What waits comes before diagnostics, so that typing is answered at once.
    if (auto entry = inbox.take(!has_work)) {
      server.receive(entry->message, entry->is_cancelled);
      has_work = true;
    } else {
      has_work = server.work(inbox.is_waiting());
    }
  }
  if (!is_heard) std::_Exit(kWrong);  // the editor is gone, and its messages may never end
  if (!inbox.problem().empty()) say("galatea lsp: {}\n", inbox.problem());
  return server.has_ended() ? server.status() : kWrong;
}

}  // namespace

Command add_lsp(CLI::App& parent) {
  CLI::App* app = add_subcommand(
      parent, "lsp",
      "The language server for editors, on stdin and stdout (docs/editors.md says how to set it up)");
  // Editors pass it by habit.
  auto on_stdio = std::make_shared<bool>(true);
  add_flag(app, "--stdio", *on_stdio, "speak on stdin and stdout, which it does anyway (example: --stdio)");
  return {app, [on_stdio](Reporter&) { return run(); }};
}

}  // namespace galatea::tools
