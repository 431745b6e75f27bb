// galatea serve FILE: a page on loopback that shows a pipeline alive.
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/core.h>

#include "tools/interrupt.h"
#include "tools/serve/http_module.h"
#include "tools/serve/server.h"

namespace galatea::tools {
namespace {

struct ServeOptions {
  std::string file;
  int port = 0;
  PipelineOptions pipeline;
};

constexpr std::chrono::milliseconds kBetweenLooks{50};

int run_serve(const ServeOptions& options, Reporter& reporter) {
  auto http = serve::listen_on_loopback(options.port);
  if (!http) {
    reporter.report(http.error());
    return reporter.status();
  }
  const PipelineHost host;
  const serve::Door door{serve::make_token(), (*http)->port()};
  serve::Server server(host, options.file, options.pipeline, door);
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
  add_option(app, "file", options->file, {"FILE", "", "a pipeline file", "train.dali-dsl"}).required();
  add_option(app, "--port", options->port, {"N", "any free one", "where to listen", "--port 8080"})
      .between(1, 65535);
  add_pipeline_options(app, options->pipeline);
  set_footer(app, "Prints the page's address, the only line on stdout. Ctrl-C ends it.");
  return {app, [options](Reporter& reporter) { return run_serve(*options, reporter); }};
}

}  // namespace galatea::tools
