// Previews by number: made one at a time, the last ones kept, given up when nobody waits for them any more.
//
// Comes in: what the views of the page want. Goes out: previews, which others may then ask for by their numbers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tools/serve/preview.h"

namespace galatea::tools::serve {

struct KeptPreview {
  uint64_t number = 0, revision = 0;
  std::shared_ptr<const Preview> preview;
};

/// Any thread may call anything.
class Previews {
 public:
  Previews(const PipelineHost& host, std::string file, PipelineOptions options)
      : host_(host), file_(std::move(file)), options_(std::move(options)) {}

  /// Waits for it. `view` is a part of a page that shows one preview at a time: an earlier wish of the same view is
  /// given up. Nothing: this one was given up, for a later wish or for a later text.
  /// `anew`: also where one is kept, since files of data may be others now.
  std::optional<KeptPreview> wish(const Choice& choice, const std::string& view, bool anew = false);
  /// Nothing: there is none of this number, or not any more. What is asked for is kept longer.
  std::optional<KeptPreview> kept(uint64_t number);
  /// What it takes to run the pipeline as it is; waits as wish() does.
  std::optional<Measurement> measured(const Preview& preview, const std::string& view);
  /// One sample through every operator; waits likewise.
  std::optional<RowTrace> traced(const Preview& preview, const PreviewRow& row, const std::string& view);

  uint64_t revision() const;
  /// The text is another one: whatever is being made is given up.
  void next_revision();
  /// Waits until the revision is not `known`, for a while; gives what it is.
  uint64_t wait_for_change(uint64_t known, std::chrono::milliseconds most) const;
  /// From here on nobody waits for anything.
  void end();

 private:
  class Turn;
  static constexpr size_t kKept = 6;
  static constexpr size_t kMostViews = 64;
  static constexpr std::chrono::milliseconds kMostTime = std::chrono::seconds(60);

  std::optional<KeptPreview> find_equal(const Choice& choice) const;

  const PipelineHost& host_;
  const std::string file_;
  const PipelineOptions options_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  uint64_t revision_ = 1, last_number_ = 0;
  bool is_making_ = false, has_ended_ = false;
  std::map<std::string, std::shared_ptr<Patience>> wishes_;  ///< by view
  std::deque<KeptPreview> kept_;                             ///< the one asked for last at the end
};

}  // namespace galatea::tools::serve
