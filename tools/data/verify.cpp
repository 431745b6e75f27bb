// galatea data verify PATH…: reads and decodes everything, and lists what fails.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/core.h>

#include "base/json.h"
#include "tools/data/data_tools.h"
#include "tools/interrupt.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  DataOptions data;
  int threads = 0;
  bool json = false;
};

/// A sample to decode, or what was wrong before there was one.
struct VerifyTask {
  native::DataPlace place;
  native::DataSample sample;
  bool is_sample = false;  ///< not so: a container that ends too soon
  std::optional<Error> error;
};

/// What becomes of the samples, in their order.
class Findings {
 public:
  Findings(bool json, Reporter& reporter) : json_(json), reporter_(reporter), progress_(reporter) {}

  void add(const VerifyTask& task) {
    samples_ += task.is_sample ? 1 : 0;
    if (!task.error) return;
    progress_.clear();
    ++failed_;
    if (json_) {
      Json line = {{"file", task.place.file},
                   {"offset", task.place.offset},
                   {"sample", nullptr},
                   {"code", task.error->diagnostics.front().code},
                   {"message", task.error->message()}};
      if (!task.sample.name.empty()) line["sample"] = task.sample.name;
      reporter_.print(json_text(line) + "\n");
    } else {
      reporter_.print(printable(message_with_place(task.place, *task.error, task.sample.name)) + "\n");
    }
  }
  int64_t samples() const { return samples_; }
  int64_t failed() const { return failed_; }
  DataProgress& progress() { return progress_; }

 private:
  bool json_;
  Reporter& reporter_;
  DataProgress progress_;
  int64_t samples_ = 0, failed_ = 0;
};

/// Decodes on several threads; results are handed out in the order of the tasks. At most a few samples for
/// each thread are in memory.
class DecodingThreads {
 public:
  DecodingThreads(int threads, Findings& findings)
      : most_(static_cast<size_t>(threads) * 2), findings_(findings) {
    for (int k = 0; k < threads; ++k)
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  /// Threads end before what they use does.
  ~DecodingThreads() {
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
  }

  void put(VerifyTask task) {
    std::unique_lock lock(mutex_);
    while (tasks_.size() >= most_) take_first(lock);
    tasks_.push_back(std::make_shared<Entry>(std::move(task)));
    changed_.notify_all();
  }
  void finish() {
    std::unique_lock lock(mutex_);
    while (!tasks_.empty()) take_first(lock);
  }
  int64_t unread_parts() const { return unread_; }

 private:
  struct Entry {
    explicit Entry(VerifyTask its_task) : task(std::move(its_task)) {}
    VerifyTask task;
    bool is_begun = false, is_done = false;
  };

  void take_first(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [this] { return tasks_.front()->is_done; });
    const std::shared_ptr<Entry> first = std::move(tasks_.front());
    tasks_.pop_front();
    findings_.add(first->task);
  }

  void work(const std::stop_token& stop) {
    DataScratch scratch;
    std::unique_lock lock(mutex_);
    for (;;) {
      std::shared_ptr<Entry> next;
      changed_.wait(lock, stop, [&] {
        for (const auto& entry : tasks_)
          if (!entry->is_begun) {
            next = entry;
            break;
          }
        return next != nullptr;
      });
      if (stop.stop_requested() || !next) return;
      next->is_begun = true;
      lock.unlock();
      int64_t unread = 0;
      if (!next->task.error) decode(next->task, scratch, unread);
      lock.lock();
      unread_ += unread;
      next->is_done = true;
      changed_.notify_all();
    }
  }

  static void decode(VerifyTask& task, DataScratch& scratch, int64_t& unread) {
    for (const native::DataPart& part : task.sample.parts) {
      bool was_looked_at = false;
      // A file can ask for more memory than there is.
      try {
        if (Status status = check_part(part, scratch, was_looked_at); !status && !task.error)
          task.error = std::move(status.error());
      } catch (const std::bad_alloc&) {
        if (!task.error)
          task.error = make_error(ErrorKind::kUser, "G0810",
                                  fmt::format("there is no memory to decode the part \"{}\"", part.extension))
                           .error();
      }
      unread += was_looked_at ? 0 : 1;
    }
    task.sample.parts.clear();
  }

  const size_t most_;
  Findings& findings_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Entry>> tasks_;
  int64_t unread_ = 0;
  std::vector<std::jthread> threads_;
};

int verify(const VerifyOptions& options, Reporter& reporter) {
  leave_out_advice_for_pipelines(reporter);
  const OrderlyEnd orderly;
  auto source = native::find_data(options.data.paths);
  if (!source) {
    reporter.report(source.error());
    return reporter.status();
  }
  native::DataSet data(std::move(*source), options.data.features);
  Findings findings(options.json, reporter);
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  DecodingThreads threads(options.threads > 0 ? options.threads : cores, findings);
  while (!is_interrupted()) {
    VerifyTask task;
    Result<bool> more = data.next();
    if (!more) {
      task.error = std::move(more.error());
    } else if (!*more) {
      break;
    } else {
      task.is_sample = true;
      task.place = data.place();
      if (Status status = data.read(task.sample); !status) task.error = std::move(status.error());
    }
    threads.put(std::move(task));
    findings.progress().show(data.share(), findings.samples(), "verified");
  }
  threads.finish();
  findings.progress().clear();
  const int64_t samples = findings.samples(), failed = findings.failed(), unread = threads.unread_parts();
  if (failed > 0 || samples == 0) reporter.raise_status(kWrong);
  if (options.json) {
    reporter.print(json_text(Json{{"samples", samples},
                                  {"failed", failed},
                                  {"unread_parts", unread},
                                  {"passed_over", data.passed_over()},
                                  {"complete", !is_interrupted()}}) +
                   "\n");
  } else {
    const std::string rest =
        unread > 0 ? fmt::format("; {} parts of forms that cannot be looked into were only read", unread)
                   : "";
    reporter.print(passed_over_text(data.passed_over()) +
                   fmt::format("{}, {} failed{}\n", samples_text(samples), failed, rest));
    if (samples == 0 && failed == 0 && !is_interrupted()) say("galatea: there is nothing to verify\n");
  }
  if (!is_interrupted()) return reporter.status();
  say("galatea: interrupted at {:.0f} % of the data\n", 100 * data.share());
  return kInterrupted;
}

}  // namespace

Command add_data_verify(CLI::App& parent) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* app = add_subcommand(
      parent, "verify",
      "Reads and decodes everything; lists what fails with file and offset; status 1 if anything does");
  add_data_options(app, options->data);
  add_option(app, "--threads", options->threads,
             {"N", "one a core", "how many threads decode", "--threads 4"})
      .between(1, 1024);
  add_flag(app, "--json", options->json,
           "a JSON object a line: what fails, at last the numbers (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return verify(*options, reporter); }};
}

}  // namespace galatea::tools
