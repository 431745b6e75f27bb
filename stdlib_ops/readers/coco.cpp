// readers.coco: images with objects in them.
//
// Comes in: an annotation file of COCO, the folder of its images. Goes out: encoded images, boxes, labels, and
// outlines, masks and ids where they are asked for (native/coco.h reads them).
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr const char* kNoCache = "annotation files are read quickly here, and kept nowhere";

Status check_coco(const TypeContext& ctx) {
  if (!ctx.given("annotations_file") || ctx.text("annotations_file").empty())
    return ctx.error("readers.coco: there is no annotations_file", "name the JSON file of the data set");
  if (ctx.flag("pixelwise_masks") && (ctx.flag("polygon_masks") || ctx.flag("masks")))
    return ctx.error("readers.coco: polygon_masks and pixelwise_masks exclude each other", "keep one of them",
                     "pixelwise_masks");
  if (ctx.flag("skip_cached_images"))
    return ctx.error("readers.coco: skip_cached_images is not for this reader",
                     "leave it out: decoders keep no images", "skip_cached_images");
  if (ctx.given("images") && ctx.texts("images").empty())
    return ctx.error("readers.coco: images is an empty list", "leave it out: all images are then read",
                     "images");
  return {};
}

Result<std::vector<Port>> ports_of_coco(const TypeContext& ctx) {
  std::vector<Port> ports = {
      {.name = "images", .documentation = "the bytes of a file", .dtypes = {DType::kU8}, .ndim = 1},
      {.name = "bboxes", .documentation = "a row an object", .dtypes = {DType::kF32}, .extents = {"n", 4}},
      {.name = "labels", .documentation = "of the objects", .dtypes = {DType::kI32}, .extents = {"n"}}};
  if (ctx.flag("polygon_masks") || ctx.flag("masks")) {
    ports.push_back({.name = "polygons",
                     .documentation = "object, first vertex, behind the last vertex",
                     .dtypes = {DType::kI32},
                     .extents = {Extent(), 3}});
    ports.push_back(
        {.name = "vertices", .documentation = "x and y", .dtypes = {DType::kF32}, .extents = {Extent(), 2}});
  }
  if (ctx.flag("pixelwise_masks"))
    ports.push_back({.name = "pixelwise_masks",
                     .documentation = "the label of each pixel, 0 where there is no object",
                     .layouts = {"HWC"},
                     .dtypes = {DType::kI32},
                     .extents = {Extent(), Extent(), 1}});
  if (ctx.flag("image_ids"))
    ports.push_back(
        {.name = "image_ids", .documentation = "of the image", .dtypes = {DType::kI32}, .extents = {1}});
  return ports;
}

ArgSpec coco_flag(const char* name, bool default_value, const char* documentation) {
  return {
      .name = name, .kind = ArgKind::kBool, .default_value = default_value, .documentation = documentation};
}

ArgSpec coco_cache(const char* name, ArgKind kind, ir::Attr default_value) {
  return {.name = name,
          .kind = kind,
          .default_value = std::move(default_value),
          .documentation = "Annotations in a form of DALI's own.",
          .refused = kNoCache,
          .refused_help = "give annotations_file"};
}

}  // namespace

Operator make_readers_coco() {
  op::SourceDeclaration reader;
  reader.name = "readers.coco";
  reader.summary = "Reads images and their objects as COCO describes them.";
  reader.documentation =
      "Outputs: the bytes of an image, its boxes (x, y, width, height in pixels, f32), their labels (i32); then, "
      "where they are asked for, polygons (i32, rows of object, first vertex, behind the last vertex) and "
      "vertices (f32, x and y), pixelwise_masks (i32, HWC, one channel), image_ids (i32). Samples come in the "
      "order of the images' ids. Categories are numbered from 1 on in their order in the file. Format: COCO, "
      "\"Data format\"; masks as its API draws them.";
  reader.args = {
      {.name = "annotations_file",
       .kind = ArgKind::kString,
       .default_value = std::string(),
       .documentation = "The JSON file."},
      {.name = "file_root", .kind = ArgKind::kString, .documentation = "The folder of the images."},
      {.name = "images",
       .kind = ArgKind::kStringList,
       .documentation =
           "File names of the images that are wanted, in this order; all if not given. Names that "
           "the annotations do not have are left out."},
      coco_flag("ltrb", false, "Boxes are left, top, right, bottom."),
      coco_flag("ratio", false, "Boxes and vertices are shares of the image's width and height."),
      coco_flag("skip_empty", false, "Leaves images without objects out."),
      {.name = "size_threshold",
       .kind = ArgKind::kFloat,
       .default_value = 0.1,
       .documentation = "Objects that are narrower or lower, in pixels, are left out."},
      coco_flag("include_iscrowd", true, "Whether groups of objects count as objects."),
      coco_flag("avoid_class_remapping", false, "Labels are the categories' ids."),
      coco_flag("polygon_masks", false, "Adds the outputs polygons and vertices."),
      coco_flag("masks", false, "The same, but rows count coordinates, not vertices (an old form)."),
      coco_flag("pixelwise_masks", false, "Adds the output pixelwise_masks."),
      coco_flag("image_ids", false, "Adds the output image_ids."),
      coco_cache("preprocessed_annotations", ArgKind::kString, std::string()),
      coco_cache("save_preprocessed_annotations", ArgKind::kBool, false),
      coco_cache("save_preprocessed_annotations_dir", ArgKind::kString, std::string()),
  };
  reader.outputs_of = ports_of_coco;
  reader.check = check_coco;
  reader.aliases = {"coco_reader"};
  reader.example =
      "encoded, boxes, labels = fn.readers.coco(\n    file_root=data, annotations_file=data + "
      "\"/instances.json\", ltrb=True, ratio=True\n)\nreturn fn.decoders.image(encoded), boxes, labels\n";
  Operator op = op::reader_operator(reader);
  op.output_needs = {"",         "", "", "polygon_masks|masks", "polygon_masks|masks", "pixelwise_masks",
                     "image_ids"};
  return op;
}

}  // namespace galatea::ops
