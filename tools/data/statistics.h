// What a data set is like: numbers, labels, what is broken, and a few samples to look at.
//
// Comes in: a data set. Goes out: counts of bounded size, whatever the data set has.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "stdlib_ops/native/data_sets/data_set.h"

namespace galatea::tools {

/// Least, greatest and mean of a number.
struct Range {
  int64_t count = 0, least = 0, most = 0;
  double sum = 0;
  void add(int64_t value);
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

struct BrokenSample {
  native::DataPlace place;
  std::string name, message;
};

struct Thumbnail {
  std::string name, words;  ///< words: its size, its label
  std::vector<uint8_t> jpg;
};

struct DataStatistics {
  /// Of more labels, extensions and broken samples the first are kept; all are counted.
  static constexpr size_t kMostKept = 10'000;

  std::string format;
  int64_t containers = 0, container_bytes = 0;
  int64_t samples = 0, unlabelled = 0, broken_count = 0;
  std::map<std::string, Range> parts;       ///< bytes by extension
  std::map<std::string, int64_t> pictures;  ///< by format
  std::map<int, int64_t> channels;          ///< of pictures
  Range height, width;                      ///< of pictures, as they are shown
  std::map<double, int64_t> labels;
  int64_t other_labels = 0;                   ///< samples whose label was not kept
  std::map<double, std::string> label_names;  ///< the folder of the first sample that has it
  std::vector<BrokenSample> broken;
  std::vector<Thumbnail> thumbnails;  ///< in the order of the data set
  std::set<std::string> passed_over;  ///< what is there beside samples
  bool is_complete = true;            ///< not so: it was interrupted
};

/// Looks at every header, and decodes `thumbnails` samples that are spread over the data set.
DataStatistics gather_data_statistics(native::DataSet& data, size_t thumbnails,
                                      const std::function<bool(int64_t samples)>& progress);

std::string statistics_text(const DataStatistics& found);
nlohmann::ordered_json data_statistics_json(const DataStatistics& found);
/// One page that needs nothing beside it.
std::string statistics_page(const DataStatistics& found, const std::string& title);

}  // namespace galatea::tools
