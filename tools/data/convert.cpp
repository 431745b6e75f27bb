// galatea data convert PATH… --to FORM --out DIR: a data set in another form.
#include <limits>
#include <memory>

#include <fmt/core.h>

#include "tools/data/conversion.h"
#include "tools/data/data_tools.h"
#include "tools/interrupt.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;

struct ConvertOptions {
  DataOptions data;
  ConversionOptions conversion;
  std::string form, on_error = "raise";
  bool json = false;
};

std::string summary_text(const ConvertOptions& options, const Conversion& conversion) {
  const ConversionState& state = conversion.state();
  const bool has_shards = options.conversion.format != native::DataFormat::kFolder &&
                          options.conversion.format != native::DataFormat::kLmdb;
  std::string text = fmt::format("{}: {}, {}", options.conversion.folder, samples_text(state.samples),
                                 bytes_text(state.bytes));
  if (has_shards) text += fmt::format(" in {} shard{}", state.shards, state.shards == 1 ? "" : "s");
  text += ", read back and equal\n";
  if (state.skipped > 0) text += fmt::format("skipped: {}\n", state.skipped);
  for (const std::string& what : conversion.left_out())
    text += fmt::format("left out, since {} has no place for it: {}\n",
                        native::name_of(options.conversion.format), printable(what));
  return text + passed_over_text(conversion.passed_over());
}

Json summary_json(const ConvertOptions& options, const Conversion& conversion) {
  const ConversionState& state = conversion.state();
  return {{"folder", options.conversion.folder},
          {"format", native::name_of(options.conversion.format)},
          {"samples", state.samples},
          {"resumed_at", conversion.resumed_at()},
          {"skipped", state.skipped},
          {"shards", state.shards},
          {"bytes", state.bytes},
          {"complete", state.is_complete},
          {"left_out", conversion.left_out()},
          {"passed_over", conversion.passed_over()}};
}

int convert(const ConvertOptions& options, Reporter& reporter) {
  leave_out_advice_for_pipelines(reporter);
  const OrderlyEnd orderly;
  auto source = native::find_data(options.data.paths);
  if (!source) {
    reporter.report(source.error());
    return reporter.status();
  }
  native::DataSet data(std::move(*source), options.data.features);
  ConversionOptions wanted = options.conversion;
  wanted.skip = options.on_error == "skip";
  Conversion conversion(data, wanted);
  DataProgress progress(reporter);
  Status status = conversion.open();
  if (status && conversion.resumed_at() > 0)
    say("galatea: {} samples are there already\n", conversion.resumed_at());
  if (status)
    status = conversion.run(
        [&](double share, int64_t samples) {
          progress.show(share, samples, "converted");
          return !is_interrupted();
        },
        [&](const native::DataPlace& place, const Error& error) {
          progress.clear();
          Diagnostic diagnostic = error.diagnostics.front();
          diagnostic.message = printable(message_with_place(place, error));
          // It does already.
          if (diagnostic.help.starts_with("--on-error skip")) diagnostic.help.clear();
          diagnostic.severity = Severity::kWarning;
          reporter.report(std::move(diagnostic));
        });
  progress.clear();
  if (!status) {
    Error error = status.error();
    for (Diagnostic& diagnostic : error.diagnostics) diagnostic.message = printable(diagnostic.message);
    reporter.report(error);
    if (conversion.state().samples > 0)
      say("galatea: {} samples are done; the same command goes on behind them\n", conversion.state().samples);
    return reporter.status();
  }
  if (options.json) {
    reporter.print(json_text(summary_json(options, conversion)) + "\n");
  } else if (conversion.state().is_complete) {
    reporter.print(summary_text(options, conversion));
  }
  if (conversion.state().is_complete) {
    // What was skipped was warned of; a source without samples is most likely not what was meant.
    if (conversion.state().samples == 0) {
      reporter.raise_status(kWrong);
      if (conversion.state().skipped == 0) say("galatea: there is nothing to convert\n");
    }
    return reporter.status();
  }
  say("galatea: interrupted; {} samples are done, and the same command goes on behind them\n",
      conversion.state().samples);
  return kInterrupted;
}

}  // namespace

Command add_data_convert(CLI::App& parent) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* app = add_subcommand(
      parent, "convert",
      "Writes a data set in another form; goes on where it was stopped, and reads back what it wrote");
  add_data_options(app, options->data);
  using enum native::DataFormat;
  add_option(app, "--to", options->form,
             {"folder|webdataset|tfrecord|recordio|lmdb", "", "the form to write", "--to webdataset"})
      .required()
      .one_of<native::DataFormat>(options->conversion.format, {{"folder", kFolder},
                                                               {"webdataset", kWebDataset},
                                                               {"tfrecord", kTfRecord},
                                                               {"recordio", kRecordIo},
                                                               {"lmdb", kLmdb}});
  add_option(
      app, "--out", options->conversion.folder,
      {"DIR", "", "the folder to write; a new or empty one, or that of the same conversion", "--out shards"})
      .required()
      .not_empty();
  add_option(app, "--prefix", options->conversion.prefix,
             {"NAME", "data", "what names of shards begin with", "--prefix train"})
      .checked([](const std::string& text) {
        return text.empty() || text.find('/') != std::string::npos ? "a prefix is a part of a file's name"
                                                                   : "";
      });
  add_option(app, "--shard-bytes", options->conversion.shard_bytes,
             {"BYTES", "1GiB", "a shard ends where it has so many", "--shard-bytes 256MB"})
      .in_bytes();
  add_option(app, "--shard-samples", options->conversion.shard_samples,
             {"N", "100000", "a shard has so many samples at most", "--shard-samples 1000"})
      .between(int64_t{1}, int64_t{100'000'000});
  add_option(
      app, "--on-error", options->on_error,
      {"raise|skip", "raise",
       "what becomes of a sample that cannot be read or written; skipped ones are listed", "--on-error skip"})
      .one_of({"raise", "skip"});
  add_flag(
      app, "--overwrite", options->conversion.overwrite,
      "begins anew in a folder that is not empty: files of the same names, and those of the conversion before, "
      "are replaced (default: off; example: --overwrite)");
  add_flag(app, "--json", options->json, "one JSON object (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return convert(*options, reporter); }};
}

}  // namespace galatea::tools
