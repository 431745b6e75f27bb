// See jpeg_engine.h.
#include "stdlib_ops/native/nvjpeg/jpeg_engine.h"

#include <algorithm>

namespace galatea::native {

namespace status = jpeg::status;

namespace {

/// Whether the device is done with it; where it does not say, not.
bool is_idle(const std::shared_ptr<cuda::Event>& used) {
  if (!used) return true;
  const auto is_done = used->is_done();
  return is_done && *is_done;
}

}  // namespace

Result<std::unique_ptr<JpegEngine>> JpegEngine::create(const Nvjpeg& library, jpeg::Allocator* device,
                                                       jpeg::Allocator* pinned) {
  std::unique_ptr<JpegEngine> out(new JpegEngine(library));
  const jpeg::Status result =
      out->api_.create.function(jpeg::backend::kHardware, device, pinned, 0, &out->handle_);
  if (result == status::kSuccess) return out;
  out->handle_ = nullptr;
  // Memory is the moment's; whatever else, the machine's.
  if (result == status::kAllocatorFailure)
    return library.failure(result, out->api_.create.name, "the JPEG engine");
  return nullptr;
}

JpegEngine::~JpegEngine() {
  for (auto& file : free_) destroy(*file);
  for (auto& file : running_) destroy(*file);
  for (const Batch& batch : batches_) api_.destroy_state.function(batch.state);
  for (const Batch& batch : busy_) api_.destroy_state.function(batch.state);
  if (handle_) api_.destroy.function(handle_);
}

void JpegEngine::destroy(File& file) const {
  if (file.parsed) api_.destroy_stream.function(std::exchange(file.parsed, nullptr));
}

std::unique_ptr<JpegEngine::File> JpegEngine::take_file() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<File>();
  const std::shared_ptr<cuda::Event> used = free_.front()->used;
  if (!is_idle(used)) return std::make_unique<File>();
  for (auto file = free_.begin(); file != free_.end() && (*file)->used == used; ++file) (*file)->used.reset();
  std::unique_ptr<File> out = std::move(free_.front());
  free_.pop_front();
  return out;
}

void JpegEngine::give_back(std::unique_ptr<File> file) {
  std::lock_guard lock(mutex_);
  if (file->used)
    free_.push_back(std::move(file));
  else
    free_.push_front(std::move(file));
}

jpeg::Status JpegEngine::begin(const EncodedImage& image, std::unique_ptr<File>& out, const char*& entry) {
  std::unique_ptr<File> file = take_file();
  jpeg::Status result = status::kSuccess;
  if (!file->parsed) {
    entry = api_.create_stream.name;
    result = api_.create_stream.function(handle_, &file->parsed);
    if (result != status::kSuccess) return result;
  }
  file->format = image.format == EncodedImage::Format::kRgb   ? jpeg::format::kRgb
                 : image.format == EncodedImage::Format::kBgr ? jpeg::format::kBgr
                                                              : jpeg::format::kY;
  file->row_bytes = image.row_bytes();
  file->bytes.assign(image.bytes.begin(), image.bytes.end());
  entry = api_.parse_header.name;
  result = api_.parse_header.function(handle_, file->bytes.data(), file->bytes.size(), file->parsed);
  int refused = 0;  // 0: it is supported
  if (result == status::kSuccess) {
    entry = api_.is_batch_supported.name;
    result = api_.is_batch_supported.function(handle_, file->parsed, &refused);
  }
  if (result == status::kSuccess && refused == 0) {
    out = std::move(file);
    return result;
  }
  give_back(std::move(file));
  return status::is_the_files(result) ? status::kSuccess : result;
}

void JpegEngine::add(std::unique_ptr<File> file, cuda::DevicePointer to) {
  file->image.channel[0] = reinterpret_cast<unsigned char*>(static_cast<uintptr_t>(to));
  file->image.pitch[0] = static_cast<size_t>(file->row_bytes);
  running_.push_back(std::move(file));
}

jpeg::Status JpegEngine::take_batch(Batch& out, const char*& entry) {
  if (!batches_.empty() && is_idle(batches_.front().used)) {
    out = std::move(batches_.front());
    batches_.pop_front();
    out.used.reset();
    return status::kSuccess;
  }
  entry = api_.create_batch_state.name;
  return api_.create_batch_state.function(handle_, &out.state);
}

jpeg::Status JpegEngine::enqueue(cuda::StreamHandle stream, const char*& entry) {
  std::ranges::stable_sort(running_, {}, [](const auto& file) { return file->format; });
  const std::span<const std::unique_ptr<File>> all = running_;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    while (end < all.size() && all[end]->format == all[begin]->format) ++end;
    const jpeg::Status result = enqueue(all.subspan(begin, end - begin), stream, entry);
    if (result != status::kSuccess) return result;
    begin = end;
  }
  return status::kSuccess;
}

jpeg::Status JpegEngine::enqueue(std::span<const std::unique_ptr<File>> files, cuda::StreamHandle stream,
                                 const char*& entry) {
  std::vector<const unsigned char*> bytes;
  std::vector<size_t> sizes;
  std::vector<jpeg::Image> images;
  for (const auto& file : files) {
    bytes.push_back(file->bytes.data());
    sizes.push_back(file->bytes.size());
    images.push_back(file->image);
  }
  Batch batch;
  jpeg::Status result = take_batch(batch, entry);
  if (result != status::kSuccess) return result;
  const auto size = static_cast<int>(files.size());
  if (batch.size != size || batch.format != files.front()->format) {
    entry = api_.initialize_batch.name;
    result = api_.initialize_batch.function(handle_, batch.state, size, 1, files.front()->format);
  }
  if (result == status::kSuccess) {
    batch.size = size;
    batch.format = files.front()->format;
    entry = api_.decode_batch.name;
    result =
        api_.decode_batch.function(handle_, batch.state, bytes.data(), sizes.data(), images.data(), stream);
  }
  // One that failed is made ready anew.
  if (result != status::kSuccess) batch.size = 0;
  busy_.push_back(std::move(batch));
  return result;
}

void JpegEngine::finish(const std::shared_ptr<cuda::Event>& used) {
  for (Batch& batch : busy_) {
    batch.used = used;
    batches_.push_back(std::move(batch));
  }
  busy_.clear();
  for (auto& file : running_) {
    file->used = used;
    give_back(std::move(file));
  }
  running_.clear();
}

}  // namespace galatea::native
