#include "stdlib_ops/native/register_natives.h"

#include "stdlib_ops/native/bbox_crop.h"
#include "stdlib_ops/native/bbox_rotate.h"
#include "stdlib_ops/native/caffe.h"
#include "stdlib_ops/native/coco.h"
#include "stdlib_ops/native/cufile_alternative.h"
#include "stdlib_ops/native/fed_file.h"
#include "stdlib_ops/native/file_source.h"
#include "stdlib_ops/native/fits_source.h"
#include "stdlib_ops/native/image_functions.h"
#include "stdlib_ops/native/image_sequence.h"
#include "stdlib_ops/native/jpeg_distort.h"
#include "stdlib_ops/native/lz4_inflate.h"
#include "stdlib_ops/native/mask_pixel.h"
#include "stdlib_ops/native/mosaic_boxes.h"
#include "stdlib_ops/native/nms.h"
#include "stdlib_ops/native/npy_functions.h"
#include "stdlib_ops/native/npy_source.h"
#include "stdlib_ops/native/number_range.h"
#include "stdlib_ops/native/nvjpeg_alternative.h"
#include "stdlib_ops/native/object_bbox.h"
#include "stdlib_ops/native/record_io.h"
#include "stdlib_ops/native/roi_align.h"
#include "stdlib_ops/native/tfrecord.h"
#include "stdlib_ops/native/video_functions.h"
#include "stdlib_ops/native/video_source.h"
#include "stdlib_ops/native/webdataset.h"

#include "stdlib_ops/native/nemo_source.h"
#include "stdlib_ops/native/sample_name.h"
#include "stdlib_ops/native/select_masks.h"
#include "stdlib_ops/native/sound_functions.h"

namespace galatea::native {

void register_natives(runtime::NativeTable& table) {
  table.add(image_peek_function());
  table.add(image_decode_function(kImageDecode));
  table.add(image_decode_function(kImageDecodeWindow));
  table.add(image_orientation_function());
  table.add(sample_name_function());
  for (runtime::NativeFunction& function : bbox_crop_functions()) table.add(std::move(function));
  for (runtime::NativeFunction& function : bbox_rotate_functions()) table.add(std::move(function));
  for (runtime::NativeFunction& function : select_masks_functions()) table.add(std::move(function));
  for (runtime::NativeFunction& function : mosaic_box_functions()) table.add(std::move(function));
  table.add(mask_pixel_function());
  table.add(nms_function());
  table.add(number_range_function());
  for (runtime::NativeFunction& function : roi_align_functions()) table.add(std::move(function));
  table.add(object_bbox_function());
  table.add(jpeg_distort_function());
  for (runtime::NativeFunction& function : fed_file_functions()) table.add(std::move(function));
  for (runtime::NativeFunction& function : numpy_functions()) table.add(std::move(function));
  for (runtime::NativeFunction& function : numpy_part_functions()) table.add(std::move(function));
  for (runtime::NativeFunction& function : video_functions()) table.add(std::move(function));
  table.add(inflate_function());
  for (runtime::NativeFunction& function : sound_functions()) table.add(std::move(function));
  table.add(nvjpeg_factory());
  table.add(cufile_factory());
  table.add(file_source_factory());
  // What these deliver is decided by their arguments.
  table.add(runtime::SourceFactory{.name = "readers.coco", .open = open_coco});
  table.add(runtime::SourceFactory{.name = "readers.tfrecord", .open = open_tfrecord});
  table.add(runtime::SourceFactory{.name = "readers.mxnet", .open = open_mxnet});
  table.add(runtime::SourceFactory{.name = "readers.caffe", .open = open_caffe});
  table.add(runtime::SourceFactory{.name = "readers.caffe2", .open = open_caffe2});
  table.add(runtime::SourceFactory{.name = "readers.webdataset", .open = open_webdataset});
  table.add(runtime::SourceFactory{.name = "readers.numpy", .open = open_numpy});
  table.add(runtime::SourceFactory{.name = kNumpyNames, .open = open_numpy_names});
  table.add(runtime::SourceFactory{.name = "experimental.readers.fits", .open = open_fits});
  table.add(runtime::SourceFactory{.name = kVideoClips, .open = open_video_clips});
  table.add(runtime::SourceFactory{.name = "readers.sequence", .open = open_image_sequences});
  table.add(runtime::SourceFactory{.name = "readers.nemo_asr", .open = open_nemo});
}

}  // namespace galatea::native
