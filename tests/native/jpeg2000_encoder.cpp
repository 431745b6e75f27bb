#include "tests/native/jpeg2000_encoder.h"

#include <algorithm>
#include <cstring>

#include <openjpeg.h>

#include "base/result.h"

namespace galatea::native {
namespace {

struct J2kWriter {
  File file;
  size_t at = 0;
};

OPJ_SIZE_T write_j2k(void* from, OPJ_SIZE_T size, void* data) {
  auto* writer = static_cast<J2kWriter*>(data);
  writer->file.resize(std::max(writer->file.size(), writer->at + size));
  std::memcpy(writer->file.data() + writer->at, from, size);
  writer->at += size;
  return size;
}
OPJ_OFF_T skip_written(OPJ_OFF_T size, void* data) {
  auto* writer = static_cast<J2kWriter*>(data);
  writer->at += static_cast<size_t>(size);
  writer->file.resize(std::max(writer->file.size(), writer->at));
  return size;
}
OPJ_BOOL seek_written(OPJ_OFF_T at, void* data) {
  static_cast<J2kWriter*>(data)->at = static_cast<size_t>(at);
  return OPJ_TRUE;
}

}  // namespace

File encode_jpeg2000(const Picture& picture, const Jpeg2000Settings& settings) {
  const int bits = settings.bits ? settings.bits : picture.bits;
  std::vector<opj_image_cmptparm_t> components(static_cast<size_t>(picture.channels));
  for (size_t c = 0; c < components.size(); ++c) {
    const int step = settings.half_chroma && (c == 1 || c == 2) ? 2 : 1;
    opj_image_cmptparm_t& component = components[c];
    component = {};
    component.dx = component.dy = static_cast<OPJ_UINT32>(step);
    component.w = static_cast<OPJ_UINT32>((picture.width + step - 1) / step);
    component.h = static_cast<OPJ_UINT32>((picture.height + step - 1) / step);
    component.x0 = static_cast<OPJ_UINT32>(settings.x0);
    component.y0 = static_cast<OPJ_UINT32>(settings.y0);
    component.prec = static_cast<OPJ_UINT32>(bits);
    component.sgnd = settings.is_signed;
  }
  opj_image_t* image = opj_image_create(static_cast<OPJ_UINT32>(components.size()), components.data(),
                                        settings.ycc           ? OPJ_CLRSPC_SYCC
                                        : picture.channels > 2 ? OPJ_CLRSPC_SRGB
                                                               : OPJ_CLRSPC_GRAY);
  GALATEA_CHECK(image, "the test's JPEG 2000 cannot be made");
  image->x0 = static_cast<OPJ_UINT32>(settings.x0);
  image->y0 = static_cast<OPJ_UINT32>(settings.y0);
  image->x1 = static_cast<OPJ_UINT32>(settings.x0 + picture.width);
  image->y1 = static_cast<OPJ_UINT32>(settings.y0 + picture.height);
  for (size_t c = 0; c < components.size(); ++c) {
    OPJ_INT32* to = image->comps[c].data;
    const int step = static_cast<int>(components[c].dx);
    for (int y = 0; y < picture.height; y += step)
      for (int x = 0; x < picture.width; x += step)
        *to++ = picture.at(y, x, static_cast<int>(c)) - (settings.is_signed ? 1 << (bits - 1) : 0);
  }
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  parameters.tcp_rates[0] = static_cast<float>(settings.rate);
  parameters.irreversible = settings.rate > 0;
  // Halving ends at one pixel.
  const int side =
      std::min({picture.width, picture.height, settings.tile > 0 ? settings.tile : picture.width});
  parameters.numresolution = side >= 8 ? 4 : 1;
  parameters.image_offset_x0 = settings.x0;
  parameters.image_offset_y0 = settings.y0;
  if (settings.half_chroma || settings.ycc) parameters.tcp_mct = 0;
  if (settings.tile > 0) {
    parameters.tile_size_on = OPJ_TRUE;
    parameters.cp_tdx = parameters.cp_tdy = settings.tile;
  }
  opj_codec_t* codec = opj_create_compress(settings.has_boxes ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  J2kWriter writer;
  opj_stream_t* stream = opj_stream_create(1 << 16, OPJ_FALSE);
  opj_stream_set_user_data(stream, &writer, nullptr);
  opj_stream_set_write_function(stream, write_j2k);
  opj_stream_set_skip_function(stream, skip_written);
  opj_stream_set_seek_function(stream, seek_written);
  const bool is_written = opj_setup_encoder(codec, &parameters, image) &&
                          opj_start_compress(codec, image, stream) && opj_encode(codec, stream) &&
                          opj_end_compress(codec, stream);
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  GALATEA_CHECK(is_written, "the test's JPEG 2000 cannot be written");
  return writer.file;
}

}  // namespace galatea::native
