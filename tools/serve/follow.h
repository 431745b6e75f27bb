// Following files: which of them are others than they were.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace galatea::tools::serve {

/// Any thread may call anything.
class FollowedFiles {
 public:
  /// From here on these are followed, as they are now; those that were followed already, as they were.
  void follow(const std::vector<std::string>& files);
  /// Whether any of them has changed, come or gone since the last time.
  bool have_changed();

 private:
  using Stamp = std::tuple<int64_t, int64_t, uint64_t, int64_t>;  ///< time, size, number; all 0: not there
  static Stamp stamp_of(const std::string& file);
  struct Followed {
    std::string file;
    Stamp stamp;
  };

  std::mutex mutex_;
  std::vector<Followed> files_;
};

}  // namespace galatea::tools::serve
