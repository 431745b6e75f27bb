// What the subcommands of `galatea data` share.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib_ops/native/data_sets/data_set.h"
#include "tools/command.h"
#include "tools/progress.h"

namespace galatea::tools {

/// What is read: paths, and what TFRecord files call their features.
struct DataOptions {
  std::vector<std::string> paths;
  native::DataFeatures features;
};
void add_data_options(CLI::App* app, DataOptions& options);

/// "train.tar at byte 1024"; of a file that is a sample its path alone.
std::string place_text(const native::DataPlace& place);
/// What is wrong with a sample, behind where it lies, unless the message says so itself: those of containers do.
/// `name` is told where the file holds several samples.
std::string message_with_place(const native::DataPlace& place, const Error& error,
                               const std::string& name = {});
/// Names come from anybody: what would move a terminal's cursor, or is no UTF-8, is shown as \xNN.
std::string printable(std::string_view text);
/// "1 sample", "2 samples".
std::string samples_text(int64_t count);
/// With commas between.
std::string words_of(const std::set<std::string>& words);
/// A line that says which files belong to no sample; none where there are none.
std::string passed_over_text(const std::set<std::string>& passed_over);
/// Messages of readers give advice for pipelines; here there is none to skip samples in.
void leave_out_advice_for_pipelines(Reporter& reporter);
/// "1.5 GB", powers of 1000.
std::string bytes_text(int64_t bytes);

/// Memory for codecs.
class DataScratch final : public native::Scratch {
 public:
  Result<uint8_t*> bytes(int64_t size) override;

 private:
  std::vector<uint8_t> memory_;
};

/// What is in a part: a picture is decoded, a document is parsed. `was_looked_at` is false for what nobody here
/// can read.
Status check_part(const native::DataPart& part, DataScratch& scratch, bool& was_looked_at);

/// A moving line about a data set that is gone through.
class DataProgress {
 public:
  explicit DataProgress(const Reporter& reporter) : line_(-1, is_terminal(2) && !reporter.json()) {}
  void show(double share, int64_t samples, const char* what);
  void clear() { line_.clear(); }

 private:
  Progress line_;
};

Command add_data_index(CLI::App& parent);
Command add_data_inspect(CLI::App& parent);
Command add_data_convert(CLI::App& parent);
Command add_data_verify(CLI::App& parent);

}  // namespace galatea::tools
