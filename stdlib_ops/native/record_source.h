// A source of records that lie one behind the other in files: where each of them is, and what all formats
// share about reading them.
//
// Comes in: files, places. Goes out: a SampleSource but for read(), which a format adds.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "runtime/native.h"
#include "stdlib_ops/native/bytes.h"

namespace galatea::native {

struct RecordPlace {
  int64_t offset = 0, size = 0;
  friend bool operator==(const RecordPlace&, const RecordPlace&) = default;
};

/// Everything that a scanner of a file finds: what has next(), an optional place or an error.
template <typename Scanner>
Result<std::vector<RecordPlace>> all_places(Scanner scanner) {
  std::vector<RecordPlace> places;
  for (;;) {
    GALATEA_ASSIGN(const std::optional<RecordPlace> place, scanner.next());
    if (!place) return places;
    places.push_back(*place);
  }
}

/// The text of an index: two whole numbers a line, separated by white space. The first line that is not so is
/// an error that names it.
Result<std::vector<RecordPlace>> parse_number_pairs(std::string_view text, const std::string& name);

/// Two places that share bytes, by their numbers; that which begins first, and the other.
struct SharedBytes {
  size_t first = 0, second = 0;
};
/// The first of them in the file. A place that is there more than once is one record, and shares nothing.
std::optional<SharedBytes> shared_bytes(std::span<const RecordPlace> places);

/// Memory that a record is read into. That of small ones, all of one size, is kept for the next: no memory
/// limit counts it.
struct GiveBackScratch {
  bool is_kept = false;
  void operator()(uint8_t* memory) const;
};
using RecordScratch = std::unique_ptr<uint8_t[], GiveBackScratch>;
inline constexpr size_t kKeptScratch = size_t{1} << 20;
/// From so many bytes on a text goes from the file to where it is wanted: a few more calls cost less than
/// its copy.
inline constexpr size_t kLargeText = size_t{96} << 10;

class RecordBytes {
 public:
  RecordBytes(RecordScratch scratch, const ByteSource& file, const RecordPlace& place,
              std::vector<RecordPlace> left_out)
      : scratch_(std::move(scratch)),
        bytes_(scratch_.get(), static_cast<size_t>(place.size)),
        file_(&file),
        offset_(place.offset),
        left_out_(std::move(left_out)) {}
  /// Of texts that were left out nothing is there but room.
  std::span<const uint8_t> bytes() const { return bytes_; }
  /// For readers that arrange it where it lies.
  std::span<uint8_t> mutable_bytes() const { return bytes_; }
  /// Copies a part of it, one that was left out from the file.
  Status copy(std::span<const uint8_t> part, uint8_t* to) const;

 private:
  RecordScratch scratch_;
  std::span<uint8_t> bytes_;
  const ByteSource* file_;
  int64_t offset_;
  std::vector<RecordPlace> left_out_;
};
/// Reads a record, but for parts of it (large_texts) that copy() reads where they are wanted.
Result<RecordBytes> read_record(const ByteSource& file, const RecordPlace& place,
                                std::vector<RecordPlace> left_out = {});
/// Where texts of kLargeText or more lie in a message of protocol buffers that is in a file: in the fields of
/// these numbers, each within the one before it. None where the message is damaged: who reads it will say so.
std::vector<RecordPlace> large_texts(const ByteSource& file, const RecordPlace& message,
                                     std::span<const uint32_t> path);
/// What read_record() takes for it.
int64_t scratch_bytes(const RecordPlace& place, std::span<const RecordPlace> left_out);
/// "train.tfrecord at index 1024", as DALI names it.
std::string name_of_record(const ByteSource& file, const RecordPlace& place);

class RecordSource : public runtime::SampleSource {
 public:
  int64_t size() const override { return static_cast<int64_t>(records_.size()); }
  std::string describe(int64_t index) const override;
  void will_read(int64_t index) const override;

 protected:
  struct Record {
    uint32_t file = 0;
    RecordPlace place;
  };
  /// A file and its records, behind those that are there.
  void add(std::shared_ptr<const ByteSource> file, const std::vector<RecordPlace>& places);
  const Record& record(int64_t index) const { return records_[static_cast<size_t>(index)]; }
  const ByteSource& file_of(const Record& record) const { return *files_[record.file]; }

 private:
  std::vector<std::shared_ptr<const ByteSource>> files_;
  std::vector<Record> records_;
};

/// What a format knows of its records, beside where they are.
class RecordFormat {
 public:
  virtual ~RecordFormat() = default;
  /// As SampleSource::bytes: what read() takes for itself included.
  virtual int64_t bytes(const ByteSource& file, const RecordPlace& place) const = 0;
  /// Reads the record into the outputs; on any thread.
  virtual Status read(const ByteSource& file, const RecordPlace& place,
                      const runtime::AllocateOutput& allocate) const = 0;
};

/// Records of one format.
class RecordsOfFormat final : public RecordSource {
 public:
  using RecordSource::add;
  explicit RecordsOfFormat(std::shared_ptr<const RecordFormat> format) : format_(std::move(format)) {}
  int64_t bytes(int64_t index) const override {
    return format_->bytes(file_of(record(index)), record(index).place);
  }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    return format_->read(file_of(record(index)), record(index).place, allocate);
  }

 private:
  std::shared_ptr<const RecordFormat> format_;
};

/// Containers and their indices will be opened. What lies on this machine is asked for record by record, as it
/// will be read, and not from the front of each container.
void will_open_containers(const std::vector<std::string>& paths, const std::vector<std::string>& indices);

/// Paths for a message, with commas between.
std::string shown_paths(const std::vector<std::string>& paths);
/// An argument that is one text or a list of them; empty where it was not given.
std::vector<std::string> texts_of(const nlohmann::json& config, const char* key);

}  // namespace galatea::native
