#include "stdlib_ops/native/fits_source.h"

#include <fmt/format.h>

#include "base/port.h"
#include "runtime/kernel_abi.h"
#include "stdlib_ops/native/file_source.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {
namespace {

struct WantedHdu {
  int64_t number = 0;
  DType dtype = DType::kU8;  ///< of this HDU in all files
  size_t rank = 0;
};

class FitsSource final : public runtime::SampleSource {
 public:
  FitsSource(std::vector<std::string> paths, std::vector<WantedHdu> hdus)
      : paths_(std::move(paths)), hdus_(std::move(hdus)) {}
  int64_t size() const override { return static_cast<int64_t>(paths_.size()); }
  std::string describe(int64_t index) const override { return paths_[static_cast<size_t>(index)]; }

  Status read(int64_t index, const AllocateOutput& allocate) const override {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file,
                   open_file(paths_[static_cast<size_t>(index)]));
    for (size_t k = 0; k < hdus_.size(); ++k) {
      const WantedHdu& hdu = hdus_[k];
      GALATEA_ASSIGN(const FitsImage image, find_fits_image(*file, hdu.number));
      if (image.dtype != hdu.dtype || image.shape.size() != hdu.rank)
        return make_error(
            ErrorKind::kUser, "G0802",
            fmt::format("{} is {}; it must be {} of {} axes, as in all files of this reader", image.where,
                        type_text(image.dtype, image.shape), short_name(hdu.dtype), hdu.rank),
            "name files apart whose images differ (files=, file_filter=); on_error=\"skip\" goes on "
            "without them");
      GALATEA_ASSIGN(const runtime::Tensor* out, allocate(static_cast<int>(k), image.dtype, image.shape));
      GALATEA_TRY(read_fits_image(*file, image, out->data));
    }
    return {};
  }

 private:
  std::vector<std::string> paths_;
  std::vector<WantedHdu> hdus_;
};

std::vector<int64_t> integers_of(const nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return {};
  if (found->is_number()) return {found->get<int64_t>()};
  return found->get<std::vector<int64_t>>();
}

}  // namespace

Result<std::vector<std::string>> list_fits(const nlohmann::json& config) {
  auto text = [&](const char* key, const char* otherwise) {
    return config.contains(key) && config[key].is_string() ? config[key].get<std::string>()
                                                           : std::string(otherwise);
  };
  return list_unlabelled_files({.root = text("file_root", ""),
                                .filter = text("file_filter", "*.fits"),
                                .files = texts_of(config, "files"),
                                .list = text("file_list", "")});
}

Result<std::unique_ptr<runtime::SampleSource>> open_fits(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_ASSIGN(std::vector<std::string> paths, list_fits(json));
  std::vector<int64_t> numbers = integers_of(json, "hdu_indices");
  if (numbers.empty()) numbers = {2};
  const std::vector<std::string> dtypes = texts_of(json, "dtypes");
  const std::vector<int64_t> ranks = integers_of(json, "ndims");
  std::shared_ptr<const ByteSource> first;
  if (dtypes.size() != numbers.size() || ranks.size() != numbers.size()) {
    GALATEA_ASSIGN(first, open_file(paths.front()));
  }
  std::vector<WantedHdu> hdus;
  for (size_t k = 0; k < numbers.size(); ++k) {
    WantedHdu hdu{.number = numbers[k]};
    FitsImage image;
    if (first) {
      GALATEA_ASSIGN(image, find_fits_image(*first, hdu.number));
    }
    hdu.dtype = k < dtypes.size() ? *dtype_from_short_name(dtypes[k]) : image.dtype;
    hdu.rank = k < ranks.size() ? static_cast<size_t>(ranks[k]) : image.shape.size();
    hdus.push_back(hdu);
  }
  return std::make_unique<FitsSource>(std::move(paths), std::move(hdus));
}

}  // namespace galatea::native
