// The containers of data_set.h, each made by its own file.
#pragma once

#include <memory>
#include <string>

#include "stdlib_ops/native/data_sets/data_set.h"

namespace galatea::native {

/// A sub-folder a class, as readers.file takes them; without sub-folders the folder's own files, which have no
/// label.
Result<std::unique_ptr<DataContainer>> open_class_folders(const std::string& path);
/// "path label" a line.
Result<std::unique_ptr<DataContainer>> open_file_list(const std::string& path);
/// The component "cls" is the label where it is a number; "filename", which a name that is no key left behind
/// (data_writer.h), is the name.
Result<std::unique_ptr<DataContainer>> open_webdataset_samples(const std::string& path);
/// Features as `features` calls them, or by their usual names; other texts whose names have no slash are
/// parts.
Result<std::unique_ptr<DataContainer>> open_tfrecord_samples(const std::string& path,
                                                             const DataFeatures& features, int64_t first);
/// Names are those of the list beside it (train.lst of train.rec, as im2rec has it), else the records'
/// numbers in the data set.
Result<std::unique_ptr<DataContainer>> open_record_io_samples(const std::string& path, int64_t first);
/// Caffe's Datum with an encoded image; the name is the key, without the number that convert_imageset puts
/// before it.
Result<std::unique_ptr<DataContainer>> open_lmdb_samples(const std::string& path);
/// What a value of such a database says, of the sample that has the key.
Status read_datum(std::span<const uint8_t> value, std::string_view key, const DataPlace& place,
                  DataSample& sample);
/// A number that is all of a text but for white space around it.
std::optional<double> number_in(std::string_view text);

}  // namespace galatea::native
