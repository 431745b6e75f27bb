#include "bench/ours/box_recorder.h"

#include <fstream>
#include <iterator>
#include <vector>

#include "api/handles.h"
#include "stdlib_ops/native/file_source.h"
#include "stdlib_ops/native/image_functions.h"
#include "stdlib_ops/register_all.h"

namespace galatea::bench {

galatea_engine* BoxRecorder::make_engine() {
  auto library = std::make_shared<api::Library>();
  ops::register_all(library->operators);
  library->natives.add(native::image_peek_function());
  library->natives.add(native::file_source_factory());
  for (const char* name : {"image.decode", "image.decode_window"}) {
    runtime::NativeFunction function = native::image_decode_function(name);
    auto decode = function.call;
    function.call = [this, decode](runtime::NativeContext& context) -> Status {
      native::Bytes bytes(context.inputs[0].data, static_cast<size_t>(context.inputs[0].extents[0]));
      GALATEA_ASSIGN(native::ImageHeader header, native::read_header(bytes));
      auto scalar = [&](size_t i) { return cell_to_int(DType::kI64, context.scalars[i]); };
      record(bytes, native::to_stored({scalar(0), scalar(1), scalar(2), scalar(3)}, header, header.orientation));
      return decode(context);
    };
    library->natives.add(std::move(function));
  }
  auto engine = std::make_unique<galatea_engine>();
  engine->library = std::move(library);
  return engine.release();
}

uint64_t BoxRecorder::hash(std::span<const uint8_t> bytes) {
  uint64_t hash = 0xCBF29CE484222325;
  for (uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3;
  return hash;
}

void BoxRecorder::record(std::span<const uint8_t> bytes, const native::Window& stored) {
  uint64_t key = hash(bytes);
  std::lock_guard lock(mutex_);
  windows_[key] = stored;
}

std::optional<native::Window> BoxRecorder::take(const std::string& path) {
  auto known = hashes_.find(path);
  if (known == hashes_.end()) {
    std::ifstream in(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    known = hashes_.emplace(path, hash({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})).first;
  }
  std::lock_guard lock(mutex_);
  auto found = windows_.find(known->second);
  if (found == windows_.end()) return std::nullopt;
  return found->second;
}

}  // namespace galatea::bench
