#include "bench/ours/box_recorder.h"

#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "api/handles.h"
#include "stdlib_ops/native/image.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"

namespace galatea::bench {

struct BoxRecorder::Seen {
  std::mutex mutex;
  std::map<uint64_t, Box> boxes;             ///< by content of the file
  std::map<std::string, uint64_t> contents;  ///< by path
};

namespace {

uint64_t hash(std::span<const uint8_t> bytes) {
  uint64_t hash = 0xCBF29CE484222325;
  for (uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3;
  return hash;
}

}  // namespace

BoxRecorder::BoxRecorder() : seen_(std::make_unique<Seen>()) {}
BoxRecorder::~BoxRecorder() = default;

galatea_error* BoxRecorder::make_engine(galatea_engine** engine) {
  auto library = std::make_shared<api::Library>();
  ops::register_all(library->operators);
  native::register_natives(library->natives);
  for (const char* name : {"image.decode", "image.decode_window"}) {
    runtime::NativeFunction function = *library->natives.find_function(name);
    auto decode = function.call;
    function.call = [seen = seen_.get(), decode](runtime::NativeContext& context) -> Status {
      native::Bytes bytes(context.inputs[0].data, static_cast<size_t>(context.inputs[0].extents[0]));
      GALATEA_ASSIGN(native::ImageHeader header, native::read_header(bytes));
      auto scalar = [&](size_t i) { return cell_to_int(DType::kI64, context.scalars[i]); };
      native::Window stored =
          native::to_stored({scalar(0), scalar(1), scalar(2), scalar(3)}, header, header.orientation);
      uint64_t content = hash(bytes);
      {
        std::lock_guard lock(seen->mutex);
        seen->boxes[content] = {stored.y0, stored.x0, stored.y1, stored.x1};
      }
      return decode(context);
    };
    library->natives.replace(std::move(function));
  }
  *engine = new galatea_engine{std::move(library)};
  return nullptr;
}

std::optional<Box> BoxRecorder::last(const std::string& path) {
  auto known = seen_->contents.find(path);
  if (known == seen_->contents.end()) {
    std::ifstream in(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    known =
        seen_->contents.emplace(path, hash({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}))
            .first;
  }
  std::lock_guard lock(seen_->mutex);
  auto found = seen_->boxes.find(known->second);
  if (found == seen_->boxes.end()) return std::nullopt;
  return found->second;
}

}  // namespace galatea::bench
