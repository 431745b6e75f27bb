// Containers of records as streams: each record is found by the format's scanner, and read later at its place.
//
// Comes in: a RecordFormat, the type of a scanner. Goes out: how container_stream.h opens a container.
#pragma once

#include <memory>
#include <utility>

#include "stdlib_ops/native/container_stream.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {

/// A record of a stream: nothing but its place.
class StreamedRecord final : public IndexedSample {
 public:
  StreamedRecord(int64_t index, std::shared_ptr<const ByteSource> file, const RecordPlace& place,
                 std::shared_ptr<const RecordFormat> format)
      : IndexedSample(index), file_(std::move(file)), place_(place), format_(std::move(format)) {}
  std::string describe() const override { return name_of_record(*file_, place_); }
  int64_t bytes() const override { return format_->bytes(*file_, place_); }
  Status read(const runtime::AllocateOutput& allocate) const override {
    return format_->read(*file_, place_, allocate);
  }

 private:
  std::shared_ptr<const ByteSource> file_;
  RecordPlace place_;
  std::shared_ptr<const RecordFormat> format_;
};

/// `Scanner`: made from a ByteSource; its next() is a place, none at the end, or an error.
template <typename Scanner>
class RecordPass final : public ContainerPass {
 public:
  RecordPass(std::shared_ptr<const ByteSource> file, std::shared_ptr<const RecordFormat> format)
      : file_(std::move(file)), format_(std::move(format)), scanner_(*file_) {}
  Result<std::shared_ptr<const runtime::StreamSample>> next(int64_t index) override {
    GALATEA_ASSIGN(const std::optional<RecordPlace> place, scanner_.next());
    if (!place) return nullptr;
    file_->will_read(place->offset, place->size);
    return std::make_shared<StreamedRecord>(index, file_, *place, format_);
  }

 private:
  std::shared_ptr<const ByteSource> file_;
  std::shared_ptr<const RecordFormat> format_;
  Scanner scanner_;
};

template <typename Scanner>
OpenContainer passes_over_records(std::shared_ptr<const RecordFormat> format) {
  return [format = std::move(format)](
             std::shared_ptr<const ByteSource> file) -> Result<std::unique_ptr<ContainerPass>> {
    return std::make_unique<RecordPass<Scanner>>(std::move(file), format);
  };
}

}  // namespace galatea::native
