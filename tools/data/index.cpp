// galatea data index PATH…: indices of containers, for readers to start at once.
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/core.h>

#include "base/json.h"
#include "stdlib_ops/native/data_sets/data_index.h"
#include "tools/data/data_tools.h"
#include "tools/interrupt.h"
#include "tools/messages.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct IndexOptions {
  std::vector<std::string> paths;
  std::string folder;
  bool force = false, json = false;
};

/// One container and its index.
struct IndexJob {
  native::DataFormat format;
  std::string container, index;
};

Result<std::vector<IndexJob>> jobs_of(const IndexOptions& options) {
  std::vector<IndexJob> jobs;
  std::set<std::string> indices;
  for (const std::string& path : options.paths) {
    GALATEA_ASSIGN(const native::DataSource source, native::find_data({path}));
    if (source.format == native::DataFormat::kFolder || source.format == native::DataFormat::kLmdb)
      return make_error(
          ErrorKind::kUser, "G0801",
          fmt::format("{} is {}, which needs no index", path,
                      source.format == native::DataFormat::kLmdb ? "a database" : "a folder of files"),
          "name archives of WebDataset, TFRecord or RecordIO files, or a folder of them");
    for (const std::string& container : source.paths) {
      std::string index = native::index_path_of(container);
      if (!options.folder.empty()) index = (fs::path(options.folder) / fs::path(index).filename()).string();
      if (!indices.insert(index).second)
        return make_error(
            ErrorKind::kUser, "G0854",
            fmt::format("cannot write `{}`: two of the files would have it as their index", index),
            "index them one at a time, each with a folder of its own: --out");
      jobs.push_back({source.format, container, std::move(index)});
    }
  }
  return jobs;
}

/// Whether an index is there already, and not older than what it is of.
Result<bool> is_kept(const IndexJob& job, bool force) {
  std::error_code error;
  if (force || !fs::exists(job.index, error)) return false;
  if (fs::last_write_time(job.index, error) >= fs::last_write_time(job.container, error)) return true;
  return make_error(
      ErrorKind::kUser, "G0854",
      fmt::format("cannot write `{}`: it is there, and older than {}", job.index, job.container),
      "--force makes it again");
}

int index(const IndexOptions& options, Reporter& reporter) {
  leave_out_advice_for_pipelines(reporter);
  const OrderlyEnd orderly;
  auto jobs = jobs_of(options);
  if (!jobs) {
    reporter.report(jobs.error());
    return reporter.status();
  }
  DataProgress progress(reporter);
  Json made = Json::array();
  std::string text;
  for (size_t k = 0; k < jobs->size() && !is_interrupted(); ++k) {
    const IndexJob& job = (*jobs)[k];
    const Result<bool> kept = is_kept(job, options.force);
    if (!kept || *kept) {
      progress.clear();
      if (!kept) reporter.report(kept.error());
      if (kept) {
        text += fmt::format("{}: is there already\n", job.index);
        made.push_back(
            {{"container", job.container}, {"index", job.index}, {"records", nullptr}, {"kept", true}});
      }
      continue;
    }
    const auto records = native::write_index(job.format, job.container, job.index, [&](double share) {
      progress.show((static_cast<double>(k) + share) / static_cast<double>(jobs->size()),
                    static_cast<int64_t>(k), "(files) done");
      return !is_interrupted();
    });
    if (!records) {
      progress.clear();
      reporter.report(records.error());
    } else if (*records) {
      text += fmt::format("{}: {} records\n", job.index, **records);
      made.push_back(
          {{"container", job.container}, {"index", job.index}, {"records", **records}, {"kept", false}});
    }
  }
  progress.clear();
  if (options.json) {
    reporter.print(json_text(Json{{"indices", std::move(made)}}) + "\n");
  } else if (!text.empty()) {
    reporter.print(text);
  }
  if (!is_interrupted()) return reporter.status();
  say("galatea: interrupted; the same command goes on with what is missing\n");
  return kInterrupted;
}

}  // namespace

Command add_data_index(CLI::App& parent) {
  auto options = std::make_shared<IndexOptions>();
  CLI::App* app = add_subcommand(
      parent, "index", "Makes the indices of WebDataset archives, TFRecord and RecordIO files, beside them");
  add_option(app, "paths", options->paths, {"PATH", "", "containers, and folders of them", "train.tar"})
      .required();
  add_option(app, "--out", options->folder,
             {"DIR", "beside each file", "the folder for the indices", "--out indices"})
      .not_empty();
  add_flag(app, "--force", options->force,
           "makes indices again that are there (default: off; example: --force)");
  add_flag(app, "--json", options->json, "one JSON object (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return index(*options, reporter); }};
}

}  // namespace galatea::tools
