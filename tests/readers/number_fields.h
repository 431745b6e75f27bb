// The numbers of a container: where each of them lies, and the file with another one in its place.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace galatea::testing {

/// As bits, of which a field takes those that it has room for, and as text.
struct Number {
  uint64_t bits = 0;
  std::string text;
};

class NumberFields {
 public:
  using With = std::function<std::string(const Number&)>;
  /// `value`: the number that is there.
  void add(std::string name, uint64_t value, With with) {
    fields_.push_back({std::move(name), value, std::move(with)});
  }
  size_t count() const { return fields_.size(); }
  const std::string& name(size_t k) const { return fields_[k].name; }
  uint64_t value(size_t k) const { return fields_[k].value; }
  std::string with(size_t k, const Number& number) const { return fields_[k].with(number); }

 private:
  struct Field {
    std::string name;
    uint64_t value;
    With with;
  };
  std::vector<Field> fields_;
};

/// What field `k` is set to: the usual suspects, its neighbours, the size of the file, and the values of the
/// fields around it.
std::vector<Number> numbers_for(const NumberFields& fields, size_t k, size_t file_size);

/// Numbers of a small file by their places and widths, little endian.
NumberFields little_fields(const std::string& whole, std::span<const size_t[2]> places);
/// Decimal numbers of a text, those in quotes excepted: an index, a manifest, annotations.
NumberFields text_fields(const std::string& whole);
/// Lengths and checksums; a length has the right checksum again.
NumberFields tfrecord_fields(const std::string& whole);
NumberFields record_io_fields(const std::string& whole);
/// Sizes of members, with the right checksum of their headers again, checksums, numbers of pax records.
NumberFields tar_fields(const std::string& whole);
/// All of the meta pages, the pages of the tree, and their nodes.
NumberFields lmdb_fields(const std::string& whole);
NumberFields npy_fields(const std::string& whole);
/// Numbers of headers; descriptions of arrays in a heap.
NumberFields fits_fields(const std::string& whole);
NumberFields wav_fields(const std::string& whole);
/// Lengths of chunks and the header's numbers, with the right checksum again.
NumberFields png_fields(const std::string& whole);
/// All varints of a message and of what lies in it, lengths around one right again.
NumberFields protobuf_fields(const std::string& whole);

}  // namespace galatea::testing
