// experimental.readers.fits: images of FITS files.
//
// Comes in: files, the numbers of HDUs. Goes out: an image for each HDU, of one element type and rank in all files
// (native/fits.h reads them).
#include "compiler/op/source.h"
#include "runtime/kernel_abi.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/fits_source.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Status check_fits(const TypeContext& ctx) {
  if (!ctx.given("file_root") && !ctx.given("files") && !ctx.given("file_list"))
    return ctx.error("experimental.readers.fits: nothing to read", "give file_root, files or file_list");
  if (ctx.given("files") && ctx.given("file_list"))
    return ctx.error("experimental.readers.fits: files and file_list exclude each other", "keep one of them",
                     "file_list");
  const std::vector<int64_t> hdus = ctx.integers("hdu_indices");
  if (hdus.empty())
    return ctx.error("experimental.readers.fits: hdu_indices is empty", "name at least one HDU",
                     "hdu_indices");
  for (const int64_t hdu : hdus)
    if (hdu < 1)
      return ctx.error(fmt::format("experimental.readers.fits: there is no HDU {}", hdu),
                       "HDUs count from 1, the primary one", "hdu_indices");
  for (const char* name : {"dtypes", "ndims"}) {
    if (!ctx.given(name)) continue;
    const size_t count =
        name == std::string_view("dtypes") ? ctx.dtypes(name).size() : ctx.integers(name).size();
    if (count != hdus.size())
      return ctx.error(fmt::format("experimental.readers.fits: {} has {} entries, hdu_indices {}", name,
                                   count, hdus.size()),
                       "give one for each HDU", name);
  }
  return {};
}

/// What the images are, from the first file, unless the call says it.
Result<std::vector<Port>> ports_of_images(const TypeContext& ctx) {
  const std::vector<int64_t> hdus = ctx.integers("hdu_indices");
  const std::vector<DType> dtypes = ctx.dtypes("dtypes");
  const std::vector<int64_t> ranks = ctx.given("ndims") ? ctx.integers("ndims") : std::vector<int64_t>();
  for (const int64_t rank : ranks)
    if (rank < 1 || rank > runtime::kMaxRank)
      return ctx.error(fmt::format("experimental.readers.fits: ndims has {}", rank),
                       fmt::format("an image has 1 to {} axes", runtime::kMaxRank), "ndims");
  std::vector<native::FitsImage> images(hdus.size());
  if (dtypes.empty() || ranks.empty()) {
    nlohmann::json config = nlohmann::json::object();
    for (const char* name : {"file_root", "file_filter", "file_list"})
      if (ctx.given(name)) config[name] = ctx.text(name);
    if (ctx.given("files")) config["files"] = ctx.texts("files");
    const auto look = [&]() -> Status {
      GALATEA_ASSIGN(const std::vector<std::string> paths, native::list_fits(config));
      GALATEA_ASSIGN(const std::shared_ptr<const native::ByteSource> file, native::open_file(paths.front()));
      for (size_t k = 0; k < hdus.size(); ++k) {
        GALATEA_ASSIGN(images[k], native::find_fits_image(*file, hdus[k]));
      }
      return {};
    };
    if (const Status seen = look(); !seen)
      return ctx.error(
          fmt::format("experimental.readers.fits: the first file says what all images are: {}",
                      seen.error().message()),
          "check the path and hdu_indices, or say dtypes= and ndims= where the files come later");
  }
  std::vector<Port> ports;
  for (size_t k = 0; k < hdus.size(); ++k)
    ports.push_back(
        {.name = fmt::format("image_{}", k),
         .documentation = fmt::format("the image of HDU {}", hdus[k]),
         .dtypes = {dtypes.empty() ? images[k].dtype : dtypes[k]},
         .ndim = ranks.empty() ? static_cast<int>(images[k].shape.size()) : static_cast<int>(ranks[k])});
  return ports;
}

}  // namespace

Operator make_experimental_readers_fits() {
  op::SourceDeclaration reader;
  reader.name = "experimental.readers.fits";
  reader.summary = "Reads images of FITS files.";
  reader.documentation =
      "An output for each of hdu_indices: the image of that HDU, its axes in the order of C (NAXIS1 is the last). "
      "BITPIX 8, 16, 32, 64, -32 and -64 give UINT8, INT16, INT32, INT64, FLOAT and FLOAT64. BSCALE and BZERO are "
      "applied: integers become the least type that holds the results, UINT16 and UINT32 by the usual BZERO, FLOAT "
      "or FLOAT64 where they are no whole numbers; BLANK becomes NaN there. Images that are compressed tile by tile "
      "(RICE_1, GZIP_1, GZIP_2, NOCOMPRESS, floats with and without dither) are decompressed. All files have images "
      "of one element type and number of axes. Format: FITS standard 4.0. With device=\"gpu\" the host reads them, "
      "too, and they lie on the GPU.";
  reader.args = {
      {.name = "file_root",
       .kind = ArgKind::kString,
       .documentation = "Folder of the files, with its sub-folders; with file_list or files, the folder that "
                        "their names are relative to."},
      {.name = "file_filter",
       .kind = ArgKind::kString,
       .default_value = std::string("*.fits"),
       .documentation = "Pattern of file names in file_root."},
      {.name = "files", .kind = ArgKind::kStringList, .documentation = "Names of the files."},
      {.name = "file_list", .kind = ArgKind::kString, .documentation = "Text file with a name on each line."},
      {.name = "hdu_indices",
       .kind = ArgKind::kIntList,
       .default_value = std::vector<int64_t>{2},
       .documentation = "Numbers of HDUs, counted from 1, the primary one: an output for each."},
      {.name = "dtypes",
       .kind = ArgKind::kDTypeList,
       .documentation = "Element type of each output; those of the first file if not given."},
      {.name = "ndims",
       .kind = ArgKind::kIntList,
       .documentation = "Number of axes of each output; those of the first file if not given."},
  };
  reader.outputs_of = ports_of_images;
  reader.outputs_argument = "hdu_indices";
  reader.types_declared_by = {"dtypes", "ndims"};
  reader.check = check_fits;
  reader.example =
      "image = fn.experimental.readers.fits(file_root=data, dtypes=[types.FLOAT], ndims=[2])\nreturn image\n";
  Operator op = op::reader_operator(reader);
  op.devices = {"cpu", "gpu"};
  return op;
}

}  // namespace galatea::ops
