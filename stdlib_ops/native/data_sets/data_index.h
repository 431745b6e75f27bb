// Indices of containers, as the readers of this library and of DALI take them.
//
// Comes in: a container. Goes out: of TFRecord a line "offset size" a record, as tfrecord2idx writes it; of
// RecordIO "number<tab>offset", as rec2idx; of WebDataset "v1.2 COUNT", then "extension offset size name" of
// each part of a sample on a line, as wds2idx ("v1.1" without names, where one of them holds white space).
#pragma once

#include <functional>
#include <string>

#include "stdlib_ops/native/data_sets/data_sample.h"

namespace galatea::native {

/// The usual place: the container's name with .idx for .tar, .rec or .tfrecord, else behind it.
std::string index_path_of(const std::string& container);

/// `progress` is told how much is behind, 0 to 1, and says false to stop. Returns the number of records; none
/// where it was stopped, and then there is no file.
Result<std::optional<int64_t>> write_index(DataFormat format, const std::string& container,
                                           const std::string& index,
                                           const std::function<bool(double)>& progress);

}  // namespace galatea::native
