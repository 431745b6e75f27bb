#include "stdlib_ops/native/coco.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "runtime/memory_gate.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/image.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {
namespace {

using Json = nlohmann::json;

constexpr double kMostLength = 4294967295.0;  ///< of a side of a mask, and of a run of its pixels

/// Reads a document without keeping it: annotation files have hundreds of megabytes.
class CocoParser final : public nlohmann::json_sax<Json> {
 public:
  CocoParser(CocoFile& file, bool outlines) : file_(file), outlines_(outlines) {}
  std::string problem;  ///< empty: none

  bool null() override { return true; }
  bool boolean(bool value) override { return number(value ? 1 : 0); }
  bool number_integer(int64_t value) override { return whole(value); }
  bool number_unsigned(uint64_t value) override { return whole(static_cast<int64_t>(value)); }
  bool number_float(double value, const std::string&) override { return number(value); }
  bool string(std::string& value) override {
    if (depth_ == 3 && section_ == Section::kImages && field_ == "file_name") image_.file_name = value;
    if (in_outline() && outline_field_ == "counts") {
      runs_.counts.clear();
      if (!decode_runs(value, runs_.counts)) return wrong("has a mask whose text is malformed");
    }
    return true;
  }
  bool binary(Json::binary_t&) override { return true; }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception& error) override {
    problem = fmt::format("is no JSON at byte {}: {}", at, error.what());
    return false;
  }

  bool start_object(size_t) override {
    if (depth_ == 0) is_object_ = true;
    ++depth_;
    if (depth_ == 3 && in_list_) begin_item();
    return true;
  }
  bool key(std::string& name) override {
    if (depth_ == 1) {
      in_list_ = false;
      section_ = name == "images"        ? Section::kImages
                 : name == "categories"  ? Section::kCategories
                 : name == "annotations" ? Section::kAnnotations
                                         : Section::kOther;
    }
    if (depth_ == 3) field_ = name;
    if (depth_ == 4) outline_field_ = name;
    return true;
  }
  bool end_object() override {
    const bool ended = depth_ != 3 || !in_list_ || end_item();
    --depth_;
    return ended;
  }
  bool start_array(size_t) override {
    if (depth_ == 0)
      return problem = "is a list, not an object with images, categories and annotations", false;
    ++depth_;
    if (depth_ == 2) in_list_ = true;
    if (depth_ == 4) {
      outline_field_.clear();
      has_box_ = has_box_ || field_ == "bbox";
    }
    if (depth_ == 5 && in_outline() && outline_field_.empty()) polygon_begin_ = file_.coordinates.size();
    if (depth_ == 5 && in_outline() && outline_field_ == "counts") runs_.counts.clear();
    return true;
  }
  bool end_array() override {
    if (depth_ == 5 && in_outline() && outline_field_.empty()) {
      const size_t end = file_.coordinates.size();
      if ((end - polygon_begin_) % 2 != 0) return wrong("has a polygon with an odd number of coordinates");
      file_.polygons.push_back({polygon_begin_, end});
      ++object_.num_polygons;
    }
    --depth_;
    return true;
  }
  bool is_object() const { return is_object_; }

 private:
  enum class Section : uint8_t { kOther, kImages, kCategories, kAnnotations };

  bool in_outline() const {
    return outlines_ && in_list_ && section_ == Section::kAnnotations && depth_ >= 4 &&
           field_ == "segmentation";
  }
  bool wrong(const std::string& what) {
    problem = fmt::format("annotation {} {}", file_.objects.size(), what);
    return false;
  }

  void begin_item() {
    image_ = {};
    object_ = {};
    object_.first_polygon = file_.polygons.size();
    runs_ = {};
    sizes_ = box_size_ = 0;
    has_box_ = false;
    category_.reset();
  }
  bool end_item() {
    if (section_ == Section::kImages) {
      if (image_.id == CocoFile::kNoId || image_.width < 0 || image_.height < 0)
        return problem = fmt::format("image {} has no id, width and height", file_.images.size()), false;
      file_.images.push_back(std::move(image_));
    }
    if (section_ == Section::kCategories) {
      if (!category_) return problem = fmt::format("category {} has no id", file_.categories.size()), false;
      file_.categories.push_back(*category_);
    }
    // Captions and the like say something of the whole image: they are no objects.
    if (section_ == Section::kAnnotations && has_box_) {
      if (box_size_ != 4) return wrong(fmt::format("has a bbox of {} numbers, not 4", box_size_));
      if (sizes_ > 0 || !runs_.counts.empty()) {
        if (sizes_ != 2 || runs_.height <= 0 || runs_.width <= 0 || runs_.counts.empty())
          return wrong("has a mask without a size and counts");
        object_.runs = static_cast<int64_t>(file_.runs.size());
        file_.runs.push_back(std::move(runs_));
      }
      file_.objects.push_back(object_);
    }
    return true;
  }

  bool whole(int64_t value) {
    if (depth_ == 3 && in_list_) {
      if (section_ == Section::kImages && field_ == "id") image_.id = value;
      if (section_ == Section::kImages && field_ == "width") image_.width = value;
      if (section_ == Section::kImages && field_ == "height") image_.height = value;
      if (section_ == Section::kCategories && field_ == "id") category_ = value;
      if (section_ == Section::kAnnotations && field_ == "image_id") object_.image_id = value;
      if (section_ == Section::kAnnotations && field_ == "category_id") object_.category_id = value;
    }
    return number(static_cast<double>(value));
  }
  bool number(double value) {
    if (!in_list_ || section_ != Section::kAnnotations) return true;
    if (depth_ == 3 && field_ == "iscrowd") object_.is_crowd = value != 0;
    if (depth_ == 4 && field_ == "bbox" && box_size_ < 5) {
      if (box_size_ < 4) object_.box[box_size_] = static_cast<float>(value);
      ++box_size_;
    }
    if (depth_ != 5 || !in_outline()) return true;
    if (outline_field_.empty()) {
      file_.coordinates.push_back(value);
    } else if (outline_field_ == "size" && sizes_ < 3) {
      if (!(value >= 0 && value <= kMostLength)) return wrong("has a mask whose size is no length");
      (sizes_ == 0 ? runs_.height : runs_.width) = static_cast<int64_t>(value);
      ++sizes_;
    } else if (outline_field_ == "counts") {
      if (!(value >= 0 && value <= kMostLength)) return wrong("has a run of pixels that is no length");
      runs_.counts.push_back(static_cast<uint32_t>(value));
    }
    return true;
  }

  CocoFile& file_;
  const bool outlines_;
  int depth_ = 0;
  bool in_list_ = false, is_object_ = false;
  Section section_ = Section::kOther;
  std::string field_, outline_field_;
  CocoFile::Image image_;
  CocoFile::Object object_;
  CocoFile::Runs runs_;
  size_t polygon_begin_ = 0;
  int sizes_ = 0;
  size_t box_size_ = 0;
  bool has_box_ = false;
  std::optional<int64_t> category_;
};

struct CocoOptions {
  bool ltrb = false, ratio = false, skip_empty = false, include_crowd = true, raw_categories = false;
  bool polygons = false, counts_coordinates = false, pixelwise = false, image_ids = false;
  float size_threshold = 0.1F;
};

/// An object that is kept, with the label that it gets.
struct CocoLabelled {
  size_t object = 0;
  int32_t label = 0;
};
struct CocoSample {
  size_t image = 0, begin = 0, end = 0;  ///< of the kept objects
};

class CocoSource final : public runtime::SampleSource {
 public:
  CocoSource(CocoFile file, CocoOptions options, std::string root)
      : file_(std::move(file)), options_(options), root_(std::move(root)) {}

  /// Chooses samples and objects. `names`: the images that are wanted, in this order; empty: all, by their ids.
  Status choose(const std::vector<std::string>& names, const std::string& annotations) {
    annotations_ = annotations;
    if (options_.image_ids)
      for (const CocoFile::Image& image : file_.images)
        if (!std::in_range<int32_t>(image.id))
          return unusable(fmt::format("{}: the id {} of image {} does not fit in 32 bits", annotations,
                                      image.id, image.file_name),
                          "leave image_ids out, or number the images anew");
    std::unordered_map<int64_t, int32_t> labels;
    for (const int64_t id : file_.categories) {
      const auto next = static_cast<int32_t>(labels.size() + 1);
      labels.emplace(id, options_.raw_categories ? static_cast<int32_t>(id) : next);
    }
    std::unordered_map<int64_t, std::vector<CocoLabelled>> by_image;
    for (size_t i = 0; i < file_.objects.size(); ++i) {
      const CocoFile::Object& object = file_.objects[i];
      if ((object.is_crowd && !options_.include_crowd) || object.box[2] < options_.size_threshold ||
          object.box[3] < options_.size_threshold)
        continue;
      if (object.category_id == CocoFile::kNoId)
        return unusable(fmt::format("{}: annotation {} has no category_id", annotations, i),
                        "give an annotation file of objects");
      auto label = labels.find(object.category_id);
      if (label == labels.end() && !options_.raw_categories)
        return unusable(fmt::format("{}: annotation {} is of category {}, which categories does not have",
                                    annotations, i, object.category_id),
                        "add the category, or take ids as they are: avoid_class_remapping=True");
      if (options_.raw_categories && !std::in_range<int32_t>(object.category_id))
        return unusable(fmt::format("{}: the category {} of annotation {} does not fit in 32 bits",
                                    annotations, object.category_id, i),
                        "leave avoid_class_remapping out");
      by_image[object.image_id].push_back(
          {i, label == labels.end() ? static_cast<int32_t>(object.category_id) : label->second});
    }
    for (const size_t image : order(names)) {
      const auto found = by_image.find(file_.images[image].id);
      if (found == by_image.end() && options_.skip_empty) continue;
      CocoSample sample{image, kept_.size(), kept_.size()};
      if (found != by_image.end()) kept_.insert(kept_.end(), found->second.begin(), found->second.end());
      sample.end = kept_.size();
      samples_.push_back(sample);
    }
    if (samples_.empty())
      return unusable(fmt::format("{} has no image that is wanted", annotations),
                      "look at images=, skip_empty= and size_threshold=");
    return {};
  }

  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  std::string describe(int64_t index) const override { return image_of(index).file_name; }
  int64_t bytes(int64_t index) const override {
    const auto file = open_file(path(index));
    if (!file) return 0;
    const CocoFile::Image& image = image_of(index);
    const auto objects = static_cast<int64_t>(kept(index).size());
    return runtime::claimed_bytes((*file)->size()) + runtime::claimed_bytes(16 * objects) +
           runtime::claimed_bytes(4 * objects) +
           (options_.pixelwise && has_pixels(image) ? runtime::claimed_bytes(4 * image.width * image.height)
                                                    : 0);
  }

  void will_read(int64_t index) const override { will_open(path(index)); }

  Status read(int64_t index, const AllocateOutput& allocate) const override {
    const CocoFile::Image& image = image_of(index);
    if ((options_.pixelwise && !has_pixels(image)) ||
        (options_.ratio && (image.width == 0 || image.height == 0)))
      return wrong(image, fmt::format("it would have {} x {} pixels", image.height, image.width));
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(path(index)));
    GALATEA_ASSIGN(runtime::Tensor * data, allocate(0, DType::kU8, {file->size()}));
    GALATEA_TRY(file->read(0, {data->data, static_cast<size_t>(file->size())}));
    GALATEA_TRY(give_boxes(index, allocate));
    int output = 3;
    if (options_.polygons) {
      GALATEA_TRY(give_polygons(index, output, allocate));
      output += 2;
    }
    if (options_.pixelwise) GALATEA_TRY(give_pixels(index, output++, allocate));
    if (options_.image_ids) {
      GALATEA_ASSIGN(runtime::Tensor * id, allocate(output, DType::kI32, {1}));
      const auto number = static_cast<int32_t>(image.id);
      std::memcpy(id->data, &number, sizeof number);
    }
    return {};
  }

 private:
  std::vector<size_t> order(const std::vector<std::string>& names) const {
    std::vector<size_t> out;
    if (names.empty()) {
      out.resize(file_.images.size());
      for (size_t i = 0; i < out.size(); ++i) out[i] = i;
      std::ranges::stable_sort(out, {}, [&](size_t i) { return file_.images[i].id; });
      return out;
    }
    std::unordered_map<std::string_view, size_t> by_name;
    for (size_t i = 0; i < file_.images.size(); ++i) by_name.emplace(file_.images[i].file_name, i);
    for (const std::string& name : names)
      if (const auto found = by_name.find(name); found != by_name.end()) out.push_back(found->second);
    return out;
  }

  const CocoSample& sample(int64_t index) const { return samples_[static_cast<size_t>(index)]; }
  const CocoFile::Image& image_of(int64_t index) const { return file_.images[sample(index).image]; }
  std::span<const CocoLabelled> kept(int64_t index) const {
    return std::span(kept_).subspan(sample(index).begin, sample(index).end - sample(index).begin);
  }
  /// Whether a mask of the image can be made: a number costs its writer nothing, and memory does.
  static bool has_pixels(const CocoFile::Image& image) {
    return image.width <= kMaxPixels && image.height <= kMaxPixels &&
           image.width * image.height <= kMaxPixels;
  }
  std::unexpected<Error> wrong(const CocoFile::Image& image, const std::string& what) const {
    return make_error(ErrorKind::kUser, "G0802",
                      fmt::format("{}: image {}, {}: {}", annotations_, image.id, image.file_name, what),
                      "correct the annotation; on_error=\"skip\" goes on without the image");
  }
  std::string path(int64_t index) const { return far::join(root_, image_of(index).file_name); }

  Status give_boxes(int64_t index, const AllocateOutput& allocate) const {
    const std::span<const CocoLabelled> objects = kept(index);
    const CocoFile::Image& image = image_of(index);
    const auto count = static_cast<int64_t>(objects.size());
    GALATEA_ASSIGN(runtime::Tensor * boxes, allocate(1, DType::kF32, {count, 4}));
    GALATEA_ASSIGN(runtime::Tensor * labels, allocate(2, DType::kI32, {count}));
    auto* to = reinterpret_cast<float*>(boxes->data);
    auto* label = reinterpret_cast<int32_t*>(labels->data);
    for (const CocoLabelled& object : objects) {
      std::array<float, 4> box = file_.objects[object.object].box;
      if (options_.ltrb) {
        box[2] += box[0];
        box[3] += box[1];
      }
      for (size_t k = 0; k < 4; ++k)
        *to++ =
            options_.ratio ? box[k] / static_cast<float>(k % 2 == 0 ? image.width : image.height) : box[k];
      *label++ = object.label;
    }
    return {};
  }

  Status give_polygons(int64_t index, int output, const AllocateOutput& allocate) const {
    const std::span<const CocoLabelled> objects = kept(index);
    const CocoFile::Image& image = image_of(index);
    int64_t polygons = 0, coordinates = 0;
    for (const CocoLabelled& object : objects)
      for (const CocoFile::Polygon& polygon : polygons_of(object)) {
        ++polygons;
        coordinates += static_cast<int64_t>(polygon.end - polygon.begin);
      }
    GALATEA_ASSIGN(runtime::Tensor * rows, allocate(output, DType::kI32, {polygons, 3}));
    GALATEA_ASSIGN(runtime::Tensor * vertices, allocate(output + 1, DType::kF32, {coordinates / 2, 2}));
    auto* row = reinterpret_cast<int32_t*>(rows->data);
    auto* vertex = reinterpret_cast<float*>(vertices->data);
    int32_t mask = 0, first = 0;
    for (const CocoLabelled& object : objects) {
      for (const CocoFile::Polygon& polygon : polygons_of(object)) {
        const auto count = static_cast<int32_t>(polygon.end - polygon.begin);
        const int32_t end = first + (options_.counts_coordinates ? count : count / 2);
        *row++ = mask;
        *row++ = first;
        *row++ = end;
        first = end;
        for (size_t at = polygon.begin; at < polygon.end; ++at) {
          const bool is_x = (at - polygon.begin) % 2 == 0;
          const auto place = static_cast<float>(file_.coordinates[at]);
          *vertex++ = options_.ratio ? place / static_cast<float>(is_x ? image.width : image.height) : place;
        }
      }
      ++mask;
    }
    return {};
  }

  /// Labels in ascending order: where objects overlap, the largest label stays.
  Status give_pixels(int64_t index, int output, const AllocateOutput& allocate) const {
    const CocoFile::Image& image = image_of(index);
    GALATEA_ASSIGN(runtime::Tensor * mask, allocate(output, DType::kI32, {image.height, image.width, 1}));
    auto* pixels = reinterpret_cast<int32_t*>(mask->data);
    std::memset(mask->data, 0, static_cast<size_t>(mask->num_bytes()));
    std::vector<CocoLabelled> objects(kept(index).begin(), kept(index).end());
    std::ranges::stable_sort(objects, {}, &CocoLabelled::label);
    for (const CocoLabelled& object : objects) {
      for (const CocoFile::Polygon& polygon : polygons_of(object))
        fill_polygon(std::span(file_.coordinates).subspan(polygon.begin, polygon.end - polygon.begin),
                     image.height, image.width, object.label, pixels);
      const int64_t number = file_.objects[object.object].runs;
      if (number < 0) continue;
      const CocoFile::Runs& runs = file_.runs[static_cast<size_t>(number)];
      if (runs.height != image.height || runs.width != image.width)
        return wrong(image, fmt::format("a mask of {} x {} belongs to an image of {} x {}", runs.height,
                                        runs.width, image.height, image.width));
      int64_t at = 0;
      const int64_t end = image.height * image.width;
      for (size_t k = 0; k < runs.counts.size() && at < end; ++k)
        for (const int64_t stop = std::min<int64_t>(end, at + runs.counts[k]); at < stop; ++at)
          if (k % 2 == 1) pixels[at % image.height * image.width + at / image.height] = object.label;
    }
    return {};
  }

  std::span<const CocoFile::Polygon> polygons_of(const CocoLabelled& kept) const {
    const CocoFile::Object& object = file_.objects[kept.object];
    return std::span(file_.polygons).subspan(object.first_polygon, object.num_polygons);
  }

  CocoFile file_;
  CocoOptions options_;
  std::string root_, annotations_;
  std::vector<CocoLabelled> kept_;
  std::vector<CocoSample> samples_;
};

}  // namespace

bool decode_runs(std::string_view text, std::vector<uint32_t>& counts) {
  for (size_t at = 0; at < text.size();) {
    int64_t value = 0;
    int shift = 0;
    for (bool more = true; more;) {
      if (at == text.size() || shift > 30) return false;
      const int bits = text[at++] - 48;
      if (bits < 0 || bits > 63) return false;
      value |= static_cast<int64_t>(bits & 0x1F) << shift;
      shift += 5;
      more = (bits & 0x20) != 0;
      if (!more && (bits & 0x10) != 0) value |= -(int64_t{1} << shift);
    }
    if (counts.size() > 2) value += counts[counts.size() - 2];
    if (value < 0 || value > 4294967295) return false;
    counts.push_back(static_cast<uint32_t>(value));
  }
  return true;
}

namespace {

/// A line of an outline, between corners in fifths of a pixel, with its points as COCO's API rounds them: one for
/// each step along the longer axis.
class OutlineLine {
 public:
  using Point = std::pair<int64_t, int64_t>;
  OutlineLine(Point from, Point to) {
    const int64_t dx = std::abs(to.first - from.first), dy = std::abs(to.second - from.second);
    flat_ = dx >= dy;
    steps_ = std::max(dx, dy);
    if (flat_ ? from.first > to.first : from.second > to.second) std::swap(from, to);
    begin_ = flat_ ? from.first : from.second;
    across_ = flat_ ? from.second : from.first;
    const int64_t rise = (flat_ ? to.second : to.first) - across_;
    slope_ = steps_ == 0 ? 0 : static_cast<double>(rise) / static_cast<double>(steps_);
  }

  /// Of columns 0 to `width` - 1 those between whose second and third fifth the line passes, each with the
  /// higher of the two heights there. All that a line costs is one search a column.
  template <typename Visit>
  void cross_columns(int64_t width, const Visit& visit) const {
    const int64_t u0 = flat_ ? begin_ : across(0), u1 = flat_ ? begin_ + steps_ : across(steps_);
    const int64_t least = std::min(u0, u1), most = std::max(u0, u1);
    const int64_t first = least <= kBefore ? 0 : (least - kBefore + kFifths - 1) / kFifths;
    const int64_t last = std::min(width - 1, most < kBefore + 1 ? -1 : (most - kBefore - 1) / kFifths);
    for (int64_t column = first; column <= last; ++column) {
      const int64_t before = kFifths * column + kBefore;
      if (flat_)
        visit(column, std::min(across(before - begin_), across(before + 1 - begin_)));
      else
        visit(column, begin_ + passing_step(before) - 1);
    }
  }

  static constexpr int64_t kFifths = 5, kBefore = 2;

 private:
  int64_t across(int64_t step) const {
    return static_cast<int64_t>(static_cast<double>(across_) + slope_ * static_cast<double>(step) + 0.5);
  }
  /// The first step on the other side of where `before` ends; points go one way only.
  int64_t passing_step(int64_t before) const {
    int64_t low = 0, high = steps_;  // not passed, passed
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      const bool passed = slope_ > 0 ? across(middle) > before : across(middle) <= before;
      (passed ? high : low) = middle;
    }
    return high;
  }

  bool flat_ = true;
  int64_t steps_ = 0, begin_ = 0, across_ = 0;
  double slope_ = 0;
};

}  // namespace

void fill_polygon(std::span<const double> polygon, int64_t height, int64_t width, int32_t value,
                  int32_t* pixels) {
  static constexpr double kScale = OutlineLine::kFifths;
  static constexpr double kFarthest = 2147483647;  // COCO's API counts fifths in 32 bits
  const size_t count = polygon.size() / 2;
  if (count == 0 || height == 0 || width == 0) return;
  auto corner = [&](size_t i) {
    auto scaled = [](double x) {
      return static_cast<int64_t>(
          std::clamp(kScale * (std::isnan(x) ? 0.0 : x) + 0.5, -kFarthest, kFarthest));
    };
    return std::pair{scaled(polygon[2 * (i % count)]), scaled(polygon[2 * (i % count) + 1])};
  };
  // Where the outline passes between columns of pixel centres, the colour changes from there downwards.
  std::vector<uint8_t> changes(static_cast<size_t>(height * width) + 1);
  for (size_t i = 0; i < count; ++i)
    OutlineLine(corner(i), corner(i + 1)).cross_columns(width, [&](int64_t column, int64_t v) {
      const double y = (static_cast<double>(v) + 0.5) / kScale - 0.5;
      const auto row = static_cast<int64_t>(std::ceil(std::clamp(y, 0.0, static_cast<double>(height))));
      changes[static_cast<size_t>(column * height + row)] ^= 1;
    });
  uint8_t inside = 0;
  for (int64_t at = 0; at < height * width; ++at) {
    inside ^= changes[static_cast<size_t>(at)];
    if (inside) pixels[at % height * width + at / height] = value;
  }
}

Result<CocoFile> parse_coco(std::string_view text, const std::string& name, bool outlines) {
  CocoFile file;
  CocoParser parser(file, outlines);
  const bool whole = Json::sax_parse(text.begin(), text.end(), &parser);
  if (!whole || !parser.problem.empty() || !parser.is_object())
    return unusable(
        fmt::format("{} {}", name,
                    parser.problem.empty() ? "holds no object with images and annotations" : parser.problem),
        "give an annotation file in COCO's form");
  return file;
}

Result<std::unique_ptr<runtime::SampleSource>> open_coco(const std::string& config) {
  const Json json = parse_json(config);
  auto flag = [&](const char* key) {
    return json.contains(key) && json[key].is_boolean() && json[key].get<bool>();
  };
  CocoOptions options{.ltrb = flag("ltrb"),
                      .ratio = flag("ratio"),
                      .skip_empty = flag("skip_empty"),
                      .include_crowd = flag("include_iscrowd"),
                      .raw_categories = flag("avoid_class_remapping"),
                      .polygons = flag("polygon_masks") || flag("masks"),
                      .counts_coordinates = flag("masks"),
                      .pixelwise = flag("pixelwise_masks"),
                      .image_ids = flag("image_ids"),
                      .size_threshold = json.value("size_threshold", 0.1F)};
  const std::string annotations = json["annotations_file"];
  GALATEA_ASSIGN(const std::string text, text_of(annotations, "annotation file", size_t{1} << 36));
  const std::string shown = far::shown(annotations);
  GALATEA_ASSIGN(CocoFile file, parse_coco(text, shown, options.polygons || options.pixelwise));
  const std::string root = json.contains("file_root") && json["file_root"].is_string()
                               ? json["file_root"].get<std::string>()
                               : std::string();
  auto source = std::make_unique<CocoSource>(std::move(file), options, root);
  GALATEA_TRY(source->choose(texts_of(json, "images"), shown));
  return source;
}

}  // namespace galatea::native
