// Following files: which of them are others than they were.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace galatea::tools::serve {

/// Any thread may call anything.
class FollowedFiles {
 public:
  /// From here on these are followed, as they are now; those that were followed already, as they were.
  void follow(const std::vector<std::string>& files);
  /// Whether any of them has changed, come or gone since the last time. One that is empty or gone counts when it
  /// is so twice: editors clear a file, or move it away, before they write it.
  bool have_changed();

 private:
  struct Stamp {
    int64_t seconds = 0, nanoseconds = 0, bytes = 0;  ///< all 0: it is not there
    uint64_t number = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  static Stamp stamp_of(const std::string& file);
  struct Followed {
    std::string file;
    Stamp stamp;
    bool was_empty = false;  ///< or not there, when it was looked at last
  };

  std::mutex mutex_;
  std::vector<Followed> files_;
};

}  // namespace galatea::tools::serve
