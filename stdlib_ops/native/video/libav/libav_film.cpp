#include "stdlib_ops/native/video/libav/libav_film.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include <fmt/format.h>

namespace galatea::native::video {
namespace {

/// Containers, by a name of each of libav's demuxers.
constexpr const char* kDemuxers = "mov,matroska,avi,mpegts,ogg";
constexpr const char* kDemuxerNames = "MP4 and MOV, Matroska and WebM, AVI, MPEG-TS, Ogg";
/// Codecs, and those of libav's decoders that decode them, best first.
struct Codec {
  AVCodecID id;
  std::array<const char*, 2> decoders;
};
constexpr Codec kCodecs[] = {
    {AV_CODEC_ID_H264, {"h264"}},
    {AV_CODEC_ID_HEVC, {"hevc"}},
    {AV_CODEC_ID_MPEG4, {"mpeg4"}},
    {AV_CODEC_ID_MPEG2VIDEO, {"mpeg2video"}},
    {AV_CODEC_ID_VP8, {"vp8"}},
    {AV_CODEC_ID_VP9, {"vp9"}},
    {AV_CODEC_ID_AV1, {"libdav1d", "libaom-av1"}},
    {AV_CODEC_ID_MJPEG, {"mjpeg"}},
};
constexpr const char* kDecoders = "h264,hevc,mpeg4,mpeg2video,vp8,vp9,libdav1d,libaom-av1,mjpeg";
constexpr const char* kCodecNames = "H.264, HEVC, MPEG-4, MPEG-2, VP8, VP9, AV1 and Motion JPEG";

constexpr int kBufferBytes = 1 << 16;
constexpr int64_t kMostPixels = int64_t{1} << 28;
constexpr int kMostBits = 12;

std::string reason(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

// What libav frees in its own ways.
struct CloseInput {
  void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
};
struct FreeCodec {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};
struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
struct FreeFrame {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
struct FreeBytes {
  void operator()(AVIOContext* io) const {
    av_freep(static_cast<void*>(&io->buffer));
    avio_context_free(&io);
  }
};
/// Options for a call, which takes those that it knows.
class Options {
 public:
  Options(std::initializer_list<std::pair<const char*, const char*>> entries) {
    for (const auto& [name, value] : entries) av_dict_set(&entries_, name, value, 0);
  }
  ~Options() { av_dict_free(&entries_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  AVDictionary** get() { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

/// Bytes for libav, which reads here and nowhere else.
class Reading {
 public:
  explicit Reading(std::shared_ptr<const ByteSource> bytes) : bytes_(std::move(bytes)) {}
  const ByteSource& bytes() const { return *bytes_; }
  void start_again() { at_ = 0; }
  /// Why reading failed, if it did: better than what libav makes of it.
  const std::optional<Error>& failure() const { return failure_; }

  static int read(void* self, uint8_t* to, int size) { return static_cast<Reading*>(self)->read(to, size); }
  static int64_t seek(void* self, int64_t offset, int whence) {
    return static_cast<Reading*>(self)->seek(offset, whence);
  }

 private:
  int read(uint8_t* to, int size) {
    const auto count = static_cast<int>(std::min<int64_t>(size, bytes_->size() - at_));
    if (count <= 0) return AVERROR_EOF;
    const Status done = bytes_->read(at_, {to, static_cast<size_t>(count)});
    if (!done) {
      failure_ = done.error();
      return AVERROR(EIO);
    }
    at_ += count;
    return count;
  }
  int64_t seek(int64_t offset, int whence) {
    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE) return bytes_->size();
    const int64_t base = whence == SEEK_CUR ? at_ : whence == SEEK_END ? bytes_->size() : 0;
    if (offset < -base || offset > bytes_->size() - base) return AVERROR(EINVAL);
    return at_ = base + offset;
  }

  std::shared_ptr<const ByteSource> bytes_;
  int64_t at_ = 0;
  std::optional<Error> failure_;
};

/// A film must not name other files or addresses.
int refuse_to_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EACCES);
}

/// An EBML number: its length is that of the zeros before its first one. Nothing where it does not lie in `bytes`.
struct EbmlNumber {
  uint64_t value = 0;
  size_t length = 0;
  bool is_open = false;  ///< all ones: a size that was not known when the file was begun
};
std::optional<EbmlNumber> ebml_number(std::span<const uint8_t> bytes) {
  if (bytes.empty() || bytes[0] == 0) return std::nullopt;
  const auto length = static_cast<size_t>(std::countl_zero(bytes[0])) + 1;
  if (bytes.size() < length) return std::nullopt;
  const uint64_t ones = (uint64_t{1} << (7 * length)) - 1;
  uint64_t value = 0;
  for (size_t k = 0; k < length; ++k) value = value << 8 | bytes[k];
  value &= ones;
  return EbmlNumber{value, length, value == ones};
}

/// How many bytes a Matroska file has by what its head says; nothing where that does not say.
std::optional<uint64_t> matroska_bytes(std::span<const uint8_t> head) {
  constexpr std::array<uint8_t, 4> kHeader = {0x1A, 0x45, 0xDF, 0xA3}, kSegment = {0x18, 0x53, 0x80, 0x67};
  size_t at = 0;
  for (const auto& id : {kHeader, kSegment}) {
    if (head.size() - at < id.size() || !std::ranges::equal(head.subspan(at, id.size()), id))
      return std::nullopt;
    const std::optional<EbmlNumber> size = ebml_number(head.subspan(at + id.size()));
    if (!size || size->is_open) return std::nullopt;
    const uint64_t begin = at + id.size() + size->length;
    if (id == kSegment) return begin + size->value;
    if (size->value > head.size() - begin) return std::nullopt;
    at = begin + size->value;
  }
  return std::nullopt;
}

/// Packets that no picture is shown of: what an edit list cuts off, and those of VP8 that say so themselves.
bool is_shown(const AVPacket& packet, AVCodecID codec) {
  constexpr uint8_t kVp8Shown = 1 << 4;
  if ((packet.flags & AV_PKT_FLAG_DISCARD) != 0) return false;
  return codec != AV_CODEC_ID_VP8 || packet.size == 0 || (packet.data[0] & kVp8Shown) != 0;
}

Matrix matrix_of(AVColorSpace space) {
  switch (space) {
    case AVCOL_SPC_UNSPECIFIED:
      return Matrix::kUnknown;
    case AVCOL_SPC_BT709:
      return Matrix::kBt709;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
      return Matrix::kBt601;
    case AVCOL_SPC_BT2020_NCL:
      return Matrix::kBt2020;
    default:
      return Matrix::kOther;
  }
}

/// The planes of a format: nothing for those that we do not read.
std::optional<Picture> describe(AVPixelFormat format) {
  const AVPixFmtDescriptor* const is = av_pix_fmt_desc_get(format);
  constexpr uint64_t kForeign = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                                AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT;
  if (is == nullptr || (is->flags & kForeign) != 0) return std::nullopt;
  Picture out;
  out.bits = is->comp[0].depth;
  out.shift_x = is->log2_chroma_w;
  out.shift_y = is->log2_chroma_h;
  const bool is_rgb = (is->flags & AV_PIX_FMT_FLAG_RGB) != 0;
  out.kind = is->nb_components < 3 ? Picture::Kind::kGrey
             : is_rgb              ? Picture::Kind::kRgb
                                   : Picture::Kind::kYuv;
  const int step = out.bits > 8 ? 2 : 1;
  const int planes = out.kind == Picture::Kind::kGrey ? 1 : 3;
  for (int k = 0; k < planes; ++k) {
    const AVComponentDescriptor& component = is->comp[k];
    // R, G, B lie in the planes 2, 0, 1.
    const int plane = is_rgb ? (k + 2) % 3 : k;
    if (component.plane != plane || component.step != step || component.shift != 0 ||
        component.depth != out.bits)
      return std::nullopt;
  }
  if (out.bits < 8 || out.bits > kMostBits || out.shift_x > 1 || out.shift_y > 1) return std::nullopt;
  return out;
}

class LibavFilm final : public Film {
 public:
  explicit LibavFilm(std::shared_ptr<const ByteSource> bytes) : reading_(std::move(bytes)) {}

  Status open() {
    GALATEA_TRY(open_container());
    return open_decoder();
  }

  const StreamFacts& stream() const override { return facts_; }

  Result<std::optional<PacketFacts>> next_packet() override {
    for (;;) {
      av_packet_unref(packet_.get());
      const int code = av_read_frame(container_.get(), packet_.get());
      if (reading_.failure()) return std::unexpected(*reading_.failure());
      if (code == AVERROR_EOF) return std::nullopt;
      if (code < 0) return damaged_film(code);
      if (packet_->stream_index != stream_->index) continue;
      const bool has_show_time = packet_->pts != AV_NOPTS_VALUE;
      const int64_t time = has_show_time ? packet_->pts : packet_->dts;
      return PacketFacts{.time = time == AV_NOPTS_VALUE ? kNoTime : time,
                         .bytes = packet_->size,
                         .is_key = (packet_->flags & AV_PKT_FLAG_KEY) != 0,
                         .is_shown = is_shown(*packet_, stream_->codecpar->codec_id),
                         .has_show_time = has_show_time};
    }
  }

  Status seek(int64_t time) override {
    avcodec_flush_buffers(decoder_.get());
    int code = -1;
    if (time != kNoTime) code = av_seek_frame(container_.get(), stream_->index, time, AVSEEK_FLAG_BACKWARD);
    if (code >= 0) return {};
    // A film without a way to seek begins again.
    decoder_.reset();
    container_.reset();
    io_.reset();
    return open();
  }

  Status decode(int64_t number, bool is_wanted) override {
    // As its time of show, the number comes out with the picture.
    packet_->pts = number;
    packet_->dts = AV_NOPTS_VALUE;
    packet_->flags &= ~AV_PKT_FLAG_DISCARD;
    // The file ends within it; some decoders make grey of what is not there. (In MPEG-TS this says less: that
    // the packet may be the first behind a gap.)
    const bool is_corrupt = (packet_->flags & AV_PKT_FLAG_CORRUPT) != 0;
    if (is_corrupt && std::string_view(container_->iformat->name) != "mpegts")
      return damaged_packet(number, AVERROR_INVALIDDATA);
    decoder_->skip_frame = is_wanted ? AVDISCARD_DEFAULT : AVDISCARD_NONREF;
    const int code = avcodec_send_packet(decoder_.get(), packet_.get());
    return code < 0 ? Status(damaged_packet(number, code)) : Status();
  }

  Status finish() override {
    const int code = avcodec_send_packet(decoder_.get(), nullptr);
    return code < 0 && code != AVERROR_EOF ? Status(damaged_film(code)) : Status();
  }

  Result<std::optional<Picture>> next_picture() override {
    const int code = avcodec_receive_frame(decoder_.get(), frame_.get());
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return std::nullopt;
    if (code < 0) return damaged_film(code);
    if (frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0)
      return damaged_packet(frame_->pts, AVERROR_INVALIDDATA);
    std::optional<Picture> picture = describe(static_cast<AVPixelFormat>(frame_->format));
    if (!picture)
      return error(
          fmt::format("has pixels of the format {}", format_name()),
          "planes of 8 to 12 bits, with all of the chroma or half of it, are read: convert the film");
    picture->packet = frame_->pts;
    picture->width = frame_->width;
    picture->height = frame_->height;
    // Of JPEG the range is full, whatever else is said.
    const bool is_jpeg = stream_->codecpar->codec_id == AV_CODEC_ID_MJPEG;
    picture->is_full_range = is_jpeg || frame_->color_range == AVCOL_RANGE_JPEG;
    picture->matrix = matrix_of(frame_->colorspace);
    for (int k = 0; k < 3 && frame_->data[k] != nullptr; ++k) {
      picture->planes[k] = frame_->data[k];
      picture->strides[k] = frame_->linesize[k];
    }
    return picture;
  }

 private:
  std::unexpected<Error> error(const std::string& what, std::string help) const {
    return make_error(ErrorKind::kUser, "G0802", fmt::format("{} {}", reading_.bytes().name(), what),
                      std::move(help));
  }
  std::unexpected<Error> damaged_film(int code) const {
    if (reading_.failure()) return std::unexpected(*reading_.failure());
    return error(
        fmt::format("cannot be read as a film: {}", reason(code)),
        fmt::format("it is damaged, or none of {}; on_error=\"skip\" goes on without it", kDemuxerNames));
  }
  std::unexpected<Error> damaged_packet(int64_t number, int code) const {
    return error(fmt::format("is damaged: its packet {} cannot be decoded ({})", number, reason(code)),
                 "copy or encode it again; on_error=\"skip\" goes on without it");
  }
  const char* format_name() const {
    const char* name = av_get_pix_fmt_name(static_cast<AVPixelFormat>(frame_->format));
    return name != nullptr ? name : "unknown";
  }

  Status open_container() {
    reading_.start_again();
    auto* const buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
    io_.reset(
        avio_alloc_context(buffer, kBufferBytes, 0, &reading_, &Reading::read, nullptr, &Reading::seek));
    AVFormatContext* context = avformat_alloc_context();
    context->pb = io_.get();
    context->io_open = &refuse_to_open;
    Options options{
        {"format_whitelist", kDemuxers}, {"codec_whitelist", kDecoders}, {"protocol_whitelist", "-"}};
    // It frees the context where it fails.
    int code = avformat_open_input(&context, nullptr, nullptr, options.get());
    // What is known, and not on our list.
    if (code == AVERROR(EINVAL))
      return error("lies in a container that is not read", fmt::format("convert it to {}", kDemuxerNames));
    if (code < 0) return damaged_film(code);
    container_.reset(context);
    GALATEA_TRY(check_end());
    const int index = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    if (index < 0)
      return error("holds no video", "take it out of the list, or read its sound with fn.decoders.audio");
    for (unsigned k = 0; k < context->nb_streams; ++k)
      context->streams[k]->discard = static_cast<int>(k) == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    stream_ = context->streams[index];
    GALATEA_TRY(check_codec());
    code = avformat_find_stream_info(context, nullptr);
    if (code < 0) return damaged_film(code);
    return take_facts();
  }

  /// A Matroska file that was cut off reads as a shorter one, but its head tells of the whole.
  Status check_end() const {
    const auto all = static_cast<uint64_t>(reading_.bytes().size());
    std::vector<uint8_t> head(std::min<uint64_t>(all, 4096));
    GALATEA_TRY(reading_.bytes().read(0, head));
    const std::optional<uint64_t> whole = matroska_bytes(head);
    if (!whole || *whole <= all) return {};
    return error(fmt::format("is cut off: {} of its {} bytes are there", all, *whole),
                 "copy it again; on_error=\"skip\" goes on without it");
  }

  /// Before anything looks into its packets.
  Status check_codec() const {
    const AVCodecID id = stream_->codecpar->codec_id;
    if (id == AV_CODEC_ID_NONE || std::ranges::find(kCodecs, id, &Codec::id) != std::end(kCodecs)) return {};
    return error(fmt::format("is encoded by {}, which is not read", avcodec_get_name(id)),
                 fmt::format("convert it to one of {}", kCodecNames));
  }

  Status take_facts() {
    const AVCodecParameters& is = *stream_->codecpar;
    if (is.width <= 0 || is.height <= 0 || int64_t{is.width} * is.height > kMostPixels)
      return error(fmt::format("has pictures of {} x {} pixels", is.width, is.height),
                   fmt::format("at least one, and at most {}", kMostPixels));
    facts_ = {.width = is.width,
              .height = is.height,
              .tick_count = stream_->time_base.num,
              .ticks_a_second = stream_->time_base.den,
              .quarter_turns = quarter_turns()};
    return {};
  }

  int32_t quarter_turns() const {
    size_t bytes = 0;
    const uint8_t* const data = av_stream_get_side_data(stream_, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
    if (data == nullptr || bytes < 9 * sizeof(int32_t)) return 0;
    int32_t matrix[9];
    std::memcpy(matrix, data, sizeof matrix);
    // Counter-clockwise, -180 to 180; a matrix that cannot be inverted has no angle.
    const double angle = av_display_rotation_get(matrix);
    return std::isnan(angle) ? 0 : static_cast<int32_t>((4 - std::lround(angle / 90)) % 4);
  }

  Status open_decoder() {
    GALATEA_TRY(check_codec());
    const auto codec = std::ranges::find(kCodecs, stream_->codecpar->codec_id, &Codec::id);
    if (codec == std::end(kCodecs))
      return error("is encoded by an unknown codec", fmt::format("convert it to one of {}", kCodecNames));
    const AVCodec* decoder = nullptr;
    for (const char* name : codec->decoders)
      if (decoder == nullptr && name != nullptr) decoder = avcodec_find_decoder_by_name(name);
    if (decoder == nullptr)
      return error(fmt::format("is encoded by {}, for which libavcodec of this machine has no decoder",
                               avcodec_get_name(codec->id)),
                   "install a libavcodec that has one, or convert the film");
    decoder_.reset(avcodec_alloc_context3(decoder));
    avcodec_parameters_to_context(decoder_.get(), stream_->codecpar);
    // Samples are what runs in parallel.
    decoder_->thread_count = 1;
    decoder_->max_pixels = kMostPixels;
    Options options{};
    const int code = avcodec_open2(decoder_.get(), decoder, options.get());
    return code < 0 ? Status(damaged_film(code)) : Status();
  }

  Reading reading_;
  std::unique_ptr<AVIOContext, FreeBytes> io_;
  std::unique_ptr<AVFormatContext, CloseInput> container_;
  std::unique_ptr<AVCodecContext, FreeCodec> decoder_;
  const std::unique_ptr<AVPacket, FreePacket> packet_{av_packet_alloc()};
  const std::unique_ptr<AVFrame, FreeFrame> frame_{av_frame_alloc()};
  AVStream* stream_ = nullptr;
  StreamFacts facts_;
};

}  // namespace

Result<std::unique_ptr<Film>> open_libav_film(std::shared_ptr<const ByteSource> bytes) {
  auto film = std::make_unique<LibavFilm>(std::move(bytes));
  GALATEA_TRY(film->open());
  return film;
}

}  // namespace galatea::native::video
