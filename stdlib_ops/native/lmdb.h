// LMDB: databases of keys and values, as Caffe and Caffe2 have their data sets in.
//
// A file is pages of one size. Pages 0 and 1 are meta pages; that of the later transaction counts. It names the
// root of a tree whose leaves hold keys and values, in the order of the keys; a value that is too large for a
// leaf lies on pages of its own. (LMDB 0.9, mdb.c: data version 1, written on a machine of 64 bits.)
//
// The library maps its file and believes what a page says, so a damaged one ends the process. Here each page is
// read, and everything that it says is held against the file before it is used.
//
// Comes in: a database. Goes out: where its entries lie, and a source but for what a value means.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "runtime/native.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {

struct LmdbEntry {
  RecordPlace key;
  RecordPlace value;    ///< as it lies in the file: on pages of its own with the head of the first of them
  bool on_own = false;  ///< whether it has pages of its own
  friend bool operator==(const LmdbEntry&, const LmdbEntry&) = default;
};

/// The entries of the database without a name, in the order of their keys; of many, the first `most`.
Result<std::vector<LmdbEntry>> scan_lmdb(const ByteSource& file,
                                         size_t most = std::numeric_limits<size_t>::max());
/// The value itself, of the bytes at `entry.value`.
Result<std::span<const uint8_t>> value_of(const LmdbEntry& entry, std::span<const uint8_t> bytes,
                                          const std::string& name);

/// The file of a database: data.mdb of a folder, or the path itself.
Result<std::shared_ptr<const ByteSource>> open_lmdb(const std::string& path);
/// The value of the first entry of the first of these that has one.
Result<std::vector<uint8_t>> first_value(const std::vector<std::string>& paths);

/// Entries of several databases, one behind the other.
class LmdbSource : public RecordSource {
 public:
  Status add_database(const std::string& path);
  /// "train_lmdb at key 00000042", as DALI names it; bytes that are no printable ASCII as \xNN.
  std::string describe(int64_t index) const override;

 protected:
  struct Value {
    RecordBytes record;
    std::span<const uint8_t> bytes;  ///< of the record, without the head of its pages
  };
  /// Large texts of these fields of its message (large_texts) are left out; RecordBytes::copy() reads them.
  Result<Value> value(int64_t index, std::span<const uint32_t> texts) const;
  /// What value() takes.
  int64_t value_bytes(int64_t index, std::span<const uint32_t> texts) const;

 private:
  struct Key {
    int64_t offset = 0;
    uint16_t size = 0;
    bool on_own = false;  ///< of its value
  };
  std::vector<RecordPlace> texts_of(int64_t index, std::span<const uint32_t> texts) const;

  std::vector<std::string> names_;  ///< of the databases, as they were given
  std::vector<Key> keys_;           ///< of all entries
};

}  // namespace galatea::native
