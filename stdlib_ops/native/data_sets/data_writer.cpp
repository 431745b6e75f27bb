#include "stdlib_ops/native/data_sets/data_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "stdlib_ops/native/bytes.h"

namespace galatea::native {

std::unique_ptr<DataWriter> data_writer(DataFormat format, const std::string& folder,
                                        const std::string& prefix) {
  switch (format) {
    case DataFormat::kFolder:
      return folder_writer(folder);
    case DataFormat::kLmdb:
      return lmdb_writer(folder);
    default:
      return shard_writer(format, folder, prefix);
  }
}

Status check_sample_name(const DataSample& sample) {
  auto wrong = [&](const char* what) {
    return unusable(fmt::format("the name of a sample, \"{}\", {}", sample.name, what),
                    "--on-error skip goes on without the sample");
  };
  const std::string_view name = sample.name;
  if (name.empty()) return wrong("is empty");
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return wrong("would lead out of the folder");
    at = end + 1;
  }
  if (name.find_first_of(std::string_view("\0\n\r\t", 4)) != std::string_view::npos)
    return wrong("holds a line break, a tab or a zero");
  for (const DataPart& part : sample.parts) {
    if (part.extension.find_first_of(std::string_view("\0/ \n\r\t\v\f", 8)) != std::string::npos)
      return wrong("has a part whose extension holds white space or a slash");
    if (part.extension.empty()) return wrong("has a part without an extension");
  }
  return {};
}

Status fit_picture(DataSample& sample) {
  const std::optional<size_t> main = main_part(sample);
  if (!main)
    return unusable(fmt::format("the sample \"{}\" has no picture", sample.name),
                    "this form holds a picture and a label for each sample");
  for (size_t k = 0; k < sample.parts.size(); ++k)
    if (k != *main) sample.left_out.push_back(fmt::format("the part \"{}\"", sample.parts[k].extension));
  std::swap(sample.parts.front(), sample.parts[*main]);
  sample.parts.resize(1);
  if (sample.labels.empty()) {
    sample.labels = {0};
    sample.left_out.emplace_back("that a sample has no label (it is 0 there)");
  }
  return {};
}

Result<int64_t> label_between(const DataSample& sample, int64_t least, int64_t most, const char* format) {
  const std::optional<int64_t> label = whole_label(sample);
  if (label && *label >= least && *label <= most) return *label;
  return unusable(fmt::format("the labels of \"{}\" are {}: {} holds one whole number from {} on",
                              sample.name, fmt::join(sample.labels, ", "), format, least),
                  "TFRecord and RecordIO hold lists of labels");
}

}  // namespace galatea::native
