// galatea data inspect PATH…: what is inside.
#include <memory>

#include <fmt/core.h>

#include "tools/data/data_tools.h"
#include "tools/data/statistics.h"
#include "tools/interrupt.h"
#include "tools/save.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

struct InspectOptions {
  DataOptions data;
  std::string page;
  int thumbnails = 48;
  bool json = false;
};

int inspect(const InspectOptions& options, Reporter& reporter) {
  leave_out_advice_for_pipelines(reporter);
  const OrderlyEnd orderly;
  auto source = native::find_data(options.data.paths);
  if (!source) {
    reporter.report(source.error());
    return reporter.status();
  }
  native::DataSet data(std::move(*source), options.data.features);
  DataProgress progress(reporter);
  const size_t thumbnails = options.page.empty() ? 0 : static_cast<size_t>(options.thumbnails);
  const DataStatistics found = gather_data_statistics(data, thumbnails, [&](int64_t samples) {
    progress.show(data.share(), samples, "looked at");
    return !is_interrupted();
  });
  progress.clear();
  if (!options.page.empty()) {
    const std::string page = statistics_page(found, options.data.paths.front());
    if (const Status status = write_file(options.page, {page.begin(), page.end()}); !status)
      reporter.report(status.error());
  }
  reporter.print(options.json ? json_text(data_statistics_json(found)) + "\n" : statistics_text(found));
  if (!found.is_complete) say("galatea: interrupted at {:.0f} % of the data\n", 100 * data.share());
  return found.is_complete ? reporter.status() : static_cast<int>(kInterrupted);
}

}  // namespace

Command add_data_inspect(CLI::App& parent) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* app = add_subcommand(
      parent, "inspect",
      "What is inside: counts, formats, sizes, labels, broken files; reads headers of pictures only");
  add_data_options(app, options->data);
  add_option(
      app, "--html", options->page,
      {"FILE", "", "also writes one page with thumbnails, which needs no other file", "--html photos.html"})
      .not_empty();
  add_option(app, "--thumbnails", options->thumbnails,
             {"N", "48", "how many samples the page shows", "--thumbnails 200"})
      .between(0, 10'000);
  add_flag(app, "--json", options->json, "one JSON object (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return inspect(*options, reporter); }};
}

}  // namespace galatea::tools
