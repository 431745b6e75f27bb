#include "bench/ours/host.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

namespace galatea::bench {

void fail(const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  std::exit(1);
}

void require(galatea_error* error) {
  if (error) fail(galatea_error_text_borrow(error));
}

double cpu_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

galatea_program* compile(galatea_engine* engine, const ProgramSettings& settings) {
  // Nothing but the best code is on the clock, however short warming up was.
  ::setenv("GALATEA_TIERS", "best", 1);
  galatea_program_options* options = nullptr;
  require(galatea_program_options_create(&options));
  if (!settings.pipeline.empty())
    require(galatea_program_options_set_pipeline(options, settings.pipeline.c_str()));
  require(galatea_program_options_set_num_threads(options, settings.threads));
  require(galatea_program_options_set_batch_size(options, settings.batch_size));
  require(galatea_program_options_set_seed(options, settings.seed));
  if (settings.prefetch_depth > 0)
    require(galatea_program_options_set_prefetch_depth(options, settings.prefetch_depth));
  if (!settings.exact) require(galatea_program_options_set_exact(options, 0));
  for (const std::string& parameter : settings.parameters) {
    size_t equals = parameter.find('=');
    if (equals == std::string::npos) fail("--set wants name=value, not " + parameter);
    require(galatea_program_options_set_parameter(options, parameter.substr(0, equals).c_str(),
                                                  parameter.substr(equals + 1).c_str()));
  }
  galatea_program* program = nullptr;
  require(galatea_program_create_from_file(engine, settings.file.c_str(), options, &program));
  galatea_program_options_destroy(options);
  return program;
}

}  // namespace galatea::bench
