// The one function that leaves the module.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/log.h>
}

#include "stdlib_ops/native/video/libav/libav_film.h"
#include "stdlib_ops/native/video/libav/libav_writer.h"

extern "C" __attribute__((visibility("default"))) const galatea::native::video::ModuleTable*
galatea_video_module() {
  using namespace galatea::native::video;  // NOLINT
  static const ModuleTable table = {
      kModuleInterface, GALATEA_VERSION,
      "libavformat " AV_STRINGIFY(LIBAVFORMAT_VERSION) ", libavcodec " AV_STRINGIFY(LIBAVCODEC_VERSION),
      &open_libav_film, &write_libav_film};
  // What is wrong with a film is said by our errors.
  av_log_set_level(AV_LOG_QUIET);
  return &table;
}
