// See nvjpeg_alternative.h.
//
// The device makes the whole image, of which the output is a window.
#include "stdlib_ops/native/nvjpeg_alternative.h"

#include "runtime/messages.h"
#include "stdlib_ops/native/image_functions.h"
#include "stdlib_ops/native/jpeg_for_device.h"
#include "stdlib_ops/native/nvjpeg/jpeg_decoder.h"

namespace galatea::native {
namespace {

class NvjpegAlternative final : public runtime::DeviceAlternative {
 public:
  explicit NvjpegAlternative(std::shared_ptr<JpegDecoder> decoder) : decoder_(std::move(decoder)) {}

  const std::shared_ptr<const cuda::Stream>& stream() const override { return decoder_->stream(); }

  std::string uses() const override { return decoder_->has_engine() ? " with the GPU's JPEG engine" : ""; }

  Result<std::optional<runtime::DeviceWork>> begin(const runtime::NativeArguments& call) override {
    const DecodeCall decode = decode_call(call.inputs, call.scalars, call.state);
    const auto header = read_header(decode.bytes);
    if (!header) return std::nullopt;  // the host says what is wrong
    const auto image = jpeg_for_device(decode.bytes, *header, decode.window, decode.options);
    if (!image) return std::nullopt;
    const runtime::Tensor& out = call.output;
    const Window& window = decode.window;
    if (out.ndim != 3 || out.dtype != DType::kU8 || out.extents[0] != window.height() ||
        out.extents[1] != window.width() || out.extents[2] != image->channels())
      return runtime::make_error(runtime::message::kBadProgram,
                                 "an image to be decoded has another type than its tensor");
    runtime::DeviceWork work;
    GALATEA_ASSIGN(work.job, decoder_->begin(*image));
    if (!work.job) return std::nullopt;
    work.bytes = image->height * image->row_bytes();
    work.first = window.y0 * image->row_bytes() + window.x0 * image->channels();
    work.strides = {image->row_bytes(), image->channels(), 1};
    return work;
  }

  Status run(std::unique_ptr<runtime::DeviceJob>& job, cuda::DevicePointer to) override {
    return decoder_->run(job, to);
  }
  Status finish() override { return decoder_->finish(); }

 private:
  std::shared_ptr<JpegDecoder> decoder_;
};

class NvjpegLibrary final : public runtime::DeviceLibrary {
 public:
  explicit NvjpegLibrary(std::shared_ptr<const Nvjpeg> library) : library_(std::move(library)) {}

  std::string describe() const override { return std::string(kNvjpeg) + " " + library_->version_text(); }
  std::string path() const override { return library_->path(); }
  Result<std::shared_ptr<runtime::DeviceAlternative>> open(const runtime::DeviceMeans& means) const override {
    GALATEA_ASSIGN(auto decoder,
                   JpegDecoder::create(library_, means.context, means.priority, means.device, means.pinned));
    return std::make_shared<NvjpegAlternative>(std::move(decoder));
  }

 private:
  std::shared_ptr<const Nvjpeg> library_;
};

}  // namespace

runtime::DeviceAlternativeFactory nvjpeg_factory() {
  return {kNvjpeg, [](int newest_major) -> Result<std::shared_ptr<const runtime::DeviceLibrary>> {
            GALATEA_ASSIGN(auto library, Nvjpeg::open(newest_major));
            return std::make_shared<const NvjpegLibrary>(std::move(library));
          }};
}

}  // namespace galatea::native
