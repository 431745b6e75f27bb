#include "stdlib_ops/native/video/libav/libav_writer.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace galatea::native::video {
namespace {

/// The finest quantiser: what is left of an error is about that of the chroma's half resolution.
constexpr int kQuantiser = 1;
constexpr int kFramesOfGroup = 12;

Status check(int code, const char* what) {
  if (code >= 0) return {};
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return make_error(ErrorKind::kUser, "G0998",
                    fmt::format("a film cannot be written: {} failed ({})", what, text),
                    "MPEG-4 takes frames of up to 8191 x 8191 pixels, and up to 65535 of them a second");
}

/// A pixel's Y, Cb and Cr by BT.601 in the limited range, not rounded.
struct Ycc {
  float y = 0, cb = 0, cr = 0;
};

Ycc ycc_of(const uint8_t* pixel, int channels) {
  const float r = pixel[0], g = pixel[channels == 1 ? 0 : 1], b = pixel[channels == 1 ? 0 : 2];
  const float luma = 0.299F * r + 0.587F * g + 0.114F * b;
  constexpr float kChroma = 224.0F / 255;
  return {16 + luma * 219 / 255, kChroma * (b - luma) / 1.772F, kChroma * (r - luma) / 1.402F};
}

uint8_t byte_of(float value) { return static_cast<uint8_t>(std::lround(std::clamp(value, 0.0F, 255.0F))); }

/// Chroma is the mean of the up to four pixels that it stands for.
void fill_planes(const uint8_t* pixels, const FrameBytes& is, AVFrame& to) {
  for (int32_t top = 0; top < is.height; top += 2)
    for (int32_t left = 0; left < is.width; left += 2) {
      float cb = 0, cr = 0;
      int count = 0;
      for (int32_t y = top; y < std::min(top + 2, is.height); ++y)
        for (int32_t x = left; x < std::min(left + 2, is.width); ++x, ++count) {
          const Ycc ycc = ycc_of(pixels + (int64_t{y} * is.width + x) * is.channels, is.channels);
          to.data[0][y * to.linesize[0] + x] = byte_of(ycc.y);
          cb += ycc.cb;
          cr += ycc.cr;
        }
      const auto mean = [&](float sum) { return byte_of(128 + sum / static_cast<float>(count)); };
      to.data[1][top / 2 * to.linesize[1] + left / 2] = mean(cb);
      to.data[2][top / 2 * to.linesize[2] + left / 2] = mean(cr);
    }
}

class LibavWriter {
 public:
  explicit LibavWriter(const FrameBytes& frames) : is_(frames) {}
  ~LibavWriter() {
    av_packet_free(&packet_);
    av_frame_free(&picture_);
    avcodec_free_context(&encoder_);
    if (container_ == nullptr) return;
    uint8_t* rest = nullptr;
    if (container_->pb != nullptr) avio_close_dyn_buf(container_->pb, &rest);
    av_free(rest);
    avformat_free_context(container_);
  }
  LibavWriter(const LibavWriter&) = delete;
  LibavWriter& operator=(const LibavWriter&) = delete;

  Result<std::vector<uint8_t>> write() {
    GALATEA_TRY(open_encoder());
    GALATEA_TRY(open_container());
    for (int64_t k = 0; k < is_.frames; ++k) GALATEA_TRY(add(k));
    GALATEA_TRY(encode(nullptr));
    GALATEA_TRY(check(av_write_trailer(container_), "the end of the file"));
    return bytes();
  }

 private:
  Status open_encoder() {
    const AVCodec* const codec = avcodec_find_encoder(AV_CODEC_ID_MPEG4);
    if (codec == nullptr) return check(AVERROR_ENCODER_NOT_FOUND, "MPEG-4");
    encoder_ = avcodec_alloc_context3(codec);
    encoder_->width = is_.width;
    encoder_->height = is_.height;
    encoder_->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder_->time_base = {1, is_.frames_a_second};
    encoder_->framerate = {is_.frames_a_second, 1};
    encoder_->gop_size = kFramesOfGroup;
    encoder_->thread_count = 1;
    encoder_->qmin = kQuantiser;
    encoder_->global_quality = FF_QP2LAMBDA * kQuantiser;
    encoder_->flags |= AV_CODEC_FLAG_QSCALE | AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
    encoder_->color_range = AVCOL_RANGE_MPEG;
    encoder_->colorspace = AVCOL_SPC_SMPTE170M;
    GALATEA_TRY(check(avcodec_open2(encoder_, codec, nullptr), "the encoder"));
    packet_ = av_packet_alloc();
    picture_ = av_frame_alloc();
    picture_->format = encoder_->pix_fmt;
    picture_->width = is_.width;
    picture_->height = is_.height;
    return check(av_frame_get_buffer(picture_, 0), "memory of a frame");
  }

  Status open_container() {
    GALATEA_TRY(check(avformat_alloc_output_context2(&container_, nullptr, "mp4", nullptr), "MP4"));
    container_->flags |= AVFMT_FLAG_BITEXACT;
    stream_ = avformat_new_stream(container_, nullptr);
    stream_->time_base = encoder_->time_base;
    stream_->avg_frame_rate = encoder_->framerate;
    GALATEA_TRY(check(avcodec_parameters_from_context(stream_->codecpar, encoder_), "the stream"));
    GALATEA_TRY(check(avio_open_dyn_buf(&container_->pb), "memory of the file"));
    return check(avformat_write_header(container_, nullptr), "the start of the file");
  }

  Status add(int64_t frame) {
    // The encoder may still hold the one before.
    GALATEA_TRY(check(av_frame_make_writable(picture_), "memory of a frame"));
    fill_planes(is_.pixels + frame * is_.height * is_.width * is_.channels, is_, *picture_);
    picture_->pts = frame;
    picture_->quality = encoder_->global_quality;
    return encode(picture_);
  }

  /// nullptr: what the encoder holds back comes out.
  Status encode(const AVFrame* picture) {
    GALATEA_TRY(check(avcodec_send_frame(encoder_, picture), "encoding"));
    for (;;) {
      const int code = avcodec_receive_packet(encoder_, packet_);
      if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return {};
      GALATEA_TRY(check(code, "encoding"));
      packet_->stream_index = stream_->index;
      packet_->duration = 1;
      av_packet_rescale_ts(packet_, encoder_->time_base, stream_->time_base);
      GALATEA_TRY(check(av_interleaved_write_frame(container_, packet_), "a packet"));
    }
  }

  std::vector<uint8_t> bytes() {
    uint8_t* data = nullptr;
    const int size = avio_close_dyn_buf(container_->pb, &data);
    container_->pb = nullptr;
    std::vector<uint8_t> out(data, data + size);
    av_free(data);
    return out;
  }

  const FrameBytes& is_;
  AVCodecContext* encoder_ = nullptr;
  AVFormatContext* container_ = nullptr;
  AVStream* stream_ = nullptr;  ///< the container's
  AVPacket* packet_ = nullptr;
  AVFrame* picture_ = nullptr;
};

}  // namespace

Result<std::vector<uint8_t>> write_libav_film(const FrameBytes& frames) {
  return LibavWriter(frames).write();
}

}  // namespace galatea::native::video
