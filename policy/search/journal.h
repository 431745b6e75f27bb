// What a search has done so far, in a file that survives being killed.
//
// One JSON object a line, written and flushed to the disk when it happens: a head that says which search it
// is, then trials that began and trials that ended. A line that was cut off is as if it were not there.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/search/strategy.h"

namespace galatea::policy {

/// What decides the points: resuming with another is refused.
struct JournalHead {
  std::string space;  ///< its text
  StrategyOptions strategy;
  std::string objective;
  bool minimize = false;
  bool prune = false;
  double max_microseconds = 0;  ///< 0: any
};

class Journal {
 public:
  /// Opens or makes the file. A file of another search, or one that another process writes to, is an error.
  static Result<Journal> open(const std::string& path, const JournalHead& head);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  /// Trials that have ended, in the order in which they did.
  const std::vector<Trial>& ended() const { return ended_; }
  /// Trials that began and did not end, by number.
  const std::map<int64_t, Trial>& open_trials() const { return open_; }
  /// Bytes of a last line that was cut off; it has been taken out.
  size_t cut_off() const { return cut_off_; }

  Status begin(const Trial& trial);
  Status end(const Trial& trial);

 private:
  Journal(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  Status lock() const;
  /// Adds what the text says. False: it says no such thing.
  bool take(const std::string& line);
  Status append(const std::string& line);

  std::string path_;
  int descriptor_ = -1;
  size_t cut_off_ = 0;
  std::set<int64_t> begun_;
  std::vector<Trial> ended_;
  std::map<int64_t, Trial> open_;
};

}  // namespace galatea::policy
