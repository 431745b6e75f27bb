// galatea serve FILE: a page on loopback that shows a pipeline alive.
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/core.h>

#include "tools/interrupt.h"
#include "tools/messages.h"
#include "tools/serve/http_module.h"
#include "tools/serve/policy_alone.h"
#include "tools/serve/server.h"

namespace galatea::tools {
namespace {

struct ServeOptions {
  std::string file, data;
  int port = 0;
  PipelineOptions pipeline;
};

struct Served {
  std::string file, policy;  ///< a pipeline, and the document that it was made for
  PipelineOptions pipeline;
  std::optional<serve::PolicyAlone> alone;  ///< with the pictures that were drawn for it
};

std::optional<Served> what_to_serve(const ServeOptions& options, Reporter& reporter) {
  Served served{options.file, "", options.pipeline, std::nullopt};
  if (serve::PolicyAlone::is_policy(options.file)) {
    served.alone = serve::PolicyAlone::make(options.file, options.data, reporter);
    if (!served.alone) return std::nullopt;
    served.file = served.alone->file();
    served.policy = options.file;
    served.pipeline.text = served.alone->text();
  } else if (!options.data.empty()) {
    reporter.report(tool_error(Message::kDataOfPipeline, options.file).error());
    return std::nullopt;
  }
  return served;
}

constexpr std::chrono::milliseconds kBetweenLooks{50};

int run_serve(const ServeOptions& options, Reporter& reporter) {
  const std::optional<Served> served = what_to_serve(options, reporter);
  if (!served) return reporter.status();
  auto http = serve::listen_on_loopback(options.port);
  if (!http) {
    reporter.report(http.error());
    return reporter.status();
  }
  const PipelineHost host;
  const serve::Door door{serve::make_token(), (*http)->port()};
  serve::Server server(host, served->file, served->pipeline, door, served->policy);
  const OrderlyEnd orderly;
  std::thread answers(
      [&] { (*http)->run([&](const serve::Request& request) { return server.answer(request); }); });
  reporter.print(door.address() + "\n");
  while (!is_interrupted() && reporter.status() == kFine) {
    std::this_thread::sleep_for(kBetweenLooks);
    server.follow();
  }
  server.end();
  (*http)->stop();
  answers.join();
  return reporter.status();
}

}  // namespace

Command add_serve(CLI::App& parent) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* app = add_subcommand(
      parent, "serve", "A page for a browser on this machine that shows a pipeline while it is written");
  add_option(app, "file", options->file,
             {"FILE", "", "a pipeline file, or a policy document (.json)", "train.dali-dsl"})
      .required();
  add_option(
      app, "--data", options->data,
      {"FOLDER", "drawn pictures", "pictures for a policy document: a folder of folders", "--data photos"})
      .not_empty();
  add_option(app, "--port", options->port, {"N", "any free one", "where to listen", "--port 8080"})
      .between(1, 65535);
  add_pipeline_options(app, options->pipeline);
  set_footer(app, "Prints the page's address, the only line on stdout. Ctrl-C ends it.");
  return {app, [options](Reporter& reporter) { return run_serve(*options, reporter); }};
}

}  // namespace galatea::tools
