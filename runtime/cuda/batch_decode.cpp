// Images of a batch that the device decodes: one block for all of them, in front of the launches.
#include <algorithm>

#include "runtime/cuda/device_batch.h"

namespace galatea::runtime::cuda {

Result<std::unique_ptr<DeviceDecode>> CudaBatch::decode(const EncodedImage& image) {
  const std::shared_ptr<JpegDecoder>& decoder = session_->jpeg_decoder();
  return decoder ? decoder->begin(image) : nullptr;
}

/// What failed for want of memory goes on where it stopped.
Status CudaBatch::decode_images(std::span<const Part> parts) {
  const auto is_waiting = [](const DeviceRecord::Decode& decode) { return decode.job != nullptr; };
  const bool has_work = std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    return std::any_of(part.record->decodes.begin(), part.record->decodes.end(), is_waiting);
  });
  if (!has_work) return {};
  GALATEA_TRY(take_decoded(parts));
  JpegDecoder& decoder = *session_->jpeg_decoder();
  Status status;
  for (const Part& part : parts) {
    for (DeviceRecord::Decode& decode : part.record->decodes) {
      if (!status || !decode.job) continue;
      const DevicePointer to = part.record->decoded_at + static_cast<DevicePointer>(decode.offset);
      status = decoder.run(decode.job, to, decode.pitch);
      if (status) ++session_->counts().decodes;
    }
  }
  const Status finished = decoder.finish();
  GALATEA_TRY(status);
  GALATEA_TRY(finished);
  return streams().order(*decoder.stream(), *streams().compute);
}

Status CudaBatch::take_decoded(std::span<const Part> parts) {
  int64_t bytes = 0;
  for (const Part& part : parts)
    if (part.record->decoded_at == 0) bytes += part.record->decoded_bytes;
  if (bytes == 0) return {};
  GALATEA_ASSIGN(MemoryBlock block, session_->take_upload_block(bytes, session_->jpeg_decoder()->stream()));
  DevicePointer next = block.device();
  for (const Part& part : parts) {
    if (part.record->decoded_at != 0 || part.record->decoded_bytes == 0) continue;
    part.record->decoded_at = decoded_[static_cast<size_t>(part.slot)] = next;
    next += static_cast<DevicePointer>(part.record->decoded_bytes);
  }
  decoded_blocks_.push_back(std::move(block));
  return {};
}

}  // namespace galatea::runtime::cuda
