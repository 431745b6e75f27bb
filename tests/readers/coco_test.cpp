// Annotation files of COCO: masks as its own library draws them, and what is malformed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/fault.h"
#include "base/json.h"
#include "stdlib_ops/native/coco.h"
#include "tests/readers/recorded_cases.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

using native::CocoFile;

Result<CocoFile> parse(const std::string& annotation) {
  return native::parse_coco(R"({"images": [{"id": 1, "width": 4, "height": 4, "file_name": "a"}],)"
                            R"( "categories": [{"id": 2}], "annotations": [)" +
                                annotation + "]}",
                            "made.up", true);
}

std::string error(const std::string& annotation) {
  const auto file = parse(annotation);
  return file ? "" : file.error().message();
}

/// The example of COCO's own documentation of its code: numbers of 5 bits, and differences from the fourth on.
TEST(Coco, DecodesRunLengths) {
  std::vector<uint32_t> counts;
  ASSERT_TRUE(native::decode_runs("", counts));
  EXPECT_TRUE(counts.empty());
  // 6 is 0b00110; 40 is 0b01000 with more, then 1; the fourth is a difference from the second.
  ASSERT_TRUE(native::decode_runs("6X16N", counts));
  EXPECT_EQ(counts, (std::vector<uint32_t>{6, 40, 6, 38}));
  for (const char* text : {"X", "\x20", "6N", "n0oooooooo"}) {
    counts.clear();
    EXPECT_FALSE(native::decode_runs(text, counts)) << text;
  }
}

TEST(Coco, FillsWhatItsMaskHas) {
  // A square of half the picture: pixels whose centres are inside.
  std::vector<int32_t> pixels(6 * 8);
  const std::vector<double> square = {2, 1, 6, 1, 6, 4, 2, 4};
  native::fill_polygon(square, 6, 8, 7, pixels.data());
  for (int64_t y = 0; y < 6; ++y)
    for (int64_t x = 0; x < 8; ++x)
      EXPECT_EQ(pixels[static_cast<size_t>(y * 8 + x)], x >= 2 && x < 6 && y >= 1 && y < 4 ? 7 : 0)
          << x << " " << y;
  // Nothing is written outside, wherever the corners are.
  for (const double far : {1e300, -1e300, 1e6, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<int32_t> guarded(6 * 8 + 16, -5);
    native::fill_polygon(std::vector<double>{far, -far, 3, far, far, far}, 6, 8, 1, guarded.data() + 8);
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(guarded[i], -5);
      EXPECT_EQ(guarded[guarded.size() - 1 - i], -5);
    }
  }
}

/// Polygons of any form, corners far outside among them: as the library of COCO draws them (make_arrays.py).
TEST(Coco, PolygonsAreThoseOfCocosLibrary) {
  const nlohmann::json cases = parse_json(recorded_bytes("polygons.json"));
  ASSERT_GE(cases.size(), 40U);
  size_t inside = 0;
  for (const nlohmann::json& one : cases) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const auto height = one["height"].get<int64_t>(), width = one["width"].get<int64_t>();
    std::vector<int32_t> pixels(static_cast<size_t>(height * width));
    native::fill_polygon(one["polygon"].get<std::vector<double>>(), height, width, 1, pixels.data());
    std::vector<uint32_t> counts;
    ASSERT_TRUE(native::decode_runs(one["counts"].get<std::string>(), counts));
    int64_t at = 0;  // runs go down the columns
    for (size_t k = 0; k < counts.size(); ++k)
      for (uint32_t i = 0; i < counts[k]; ++i, ++at) {
        inside += k % 2;
        ASSERT_EQ(pixels[static_cast<size_t>(at % height * width + at / height)], static_cast<int32_t>(k % 2))
            << "row " << at % height << ", column " << at / height;
      }
    ASSERT_EQ(at, height * width);
  }
  EXPECT_GT(inside, 1000U);
}

/// What a corner costs is bounded by the picture, however far out it is: this took hours while lines were walked.
TEST(Coco, FarCornersCostNoMoreThanNearOnes) {
  std::vector<double> polygon;
  for (int i = 0; i < 100000; ++i) {
    polygon.push_back(i % 2 == 0 ? -4e8 : 4e8);
    polygon.push_back(i % 4 < 2 ? -4e8 : 4e8);
  }
  std::vector<int32_t> pixels(64);
  native::fill_polygon(polygon, 8, 8, 1, pixels.data());
  EXPECT_EQ(std::ranges::count(pixels, 0) + std::ranges::count(pixels, 1), 64);
}

TEST(Coco, SaysWhatIsMalformed) {
  const std::string box = R"("image_id": 1, "category_id": 2, "bbox": [0, 0, 2, 2])";
  EXPECT_EQ(error("{" + box + "}"), "");
  EXPECT_EQ(error(R"({"image_id": 1, "bbox": [0, 0, 2]})"),
            "made.up annotation 0 has a bbox of 3 numbers, not 4");
  EXPECT_EQ(error("{" + box + R"(, "segmentation": [[1, 2, 3]]})"),
            "made.up annotation 0 has a polygon with an odd number of coordinates");
  EXPECT_EQ(error("{" + box + R"(, "segmentation": {"counts": [1, 2]}})"),
            "made.up annotation 0 has a mask without a size and counts");
  EXPECT_EQ(error("{" + box + R"(, "segmentation": {"size": [4, 4], "counts": [1, -2]}})"),
            "made.up annotation 0 has a run of pixels that is no length");
  for (const char* side : {"1e300", "-1", "9223372036854775807"})
    EXPECT_EQ(error("{" + box + R"(, "segmentation": {"size": [4, )" + side + R"(], "counts": [1]}})"),
              "made.up annotation 0 has a mask whose size is no length");
  EXPECT_EQ(error("{" + box + R"(, "segmentation": {"size": [4, 4], "counts": "X"}})"),
            "made.up annotation 0 has a mask whose text is malformed");
  EXPECT_TRUE(native::parse_coco("[]", "made.up", false).error().message().find("is a list") !=
              std::string::npos);
  EXPECT_FALSE(native::parse_coco("", "made.up", false));
  EXPECT_FALSE(native::parse_coco("7", "made.up", false));
}

TEST(Coco, IdsAreAnyWholeNumbersAndOnlyBoxesAreObjects) {
  const auto file = native::parse_coco(
      R"({"images": [{"id": -9007199254740993, "width": 4, "height": 4, "file_name": "a"}],)"
      R"( "annotations": [{"image_id": 1, "caption": "of the whole", "segmentation": [[0, 0, 1, 0, 1, 1]]},)"
      R"( {"image_id": -9007199254740993, "category_id": -2, "bbox": [0, 0, 2, 2],)"
      R"( "segmentation": [[1, 1, 2, 1, 2, 2]]}]})",
      "made.up", true);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->images.at(0).id, -9007199254740993);
  ASSERT_EQ(file->objects.size(), 1U);
  EXPECT_EQ(file->objects[0].category_id, -2);
  EXPECT_EQ(file->objects[0].image_id, -9007199254740993);
  EXPECT_EQ(file->coordinates[file->polygons[file->objects[0].first_polygon].begin], 1.0);
  EXPECT_EQ(
      native::parse_coco(R"({"images": [{"width": 4, "height": 4, "file_name": "a"}]})", "made.up", false)
          .error()
          .message(),
      "made.up image 0 has no id, width and height");
  EXPECT_EQ(error(R"({"image_id": 1, "bbox": []})"), "made.up annotation 0 has a bbox of 0 numbers, not 4");
}

TEST(Coco, NumbersThatAnOutputCannotHoldAreTold) {
  const std::filesystem::path folder = own_path("coco_numbers");
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "a.json").string();
  std::ofstream(path) << R"({"images": [{"id": 4294967298, "width": 4, "height": 4, "file_name": "a"}],)"
                      << R"( "annotations": [{"image_id": 4294967298, "category_id": 4294967297,)"
                      << R"( "bbox": [0, 0, 2, 2]}]})";
  const auto said = [&](const char* argument) {
    const auto source = native::open_coco(
        fmt::format(R"({{"annotations_file": "{}", "include_iscrowd": true, "{}": true}})", path, argument));
    return source ? "nothing" : source.error().message();
  };
  EXPECT_EQ(said("avoid_class_remapping"),
            path + ": the category 4294967297 of annotation 0 does not fit in 32 bits");
  EXPECT_EQ(said("image_ids"), path + ": the id 4294967298 of image a does not fit in 32 bits");
  std::filesystem::remove_all(folder);
}

/// Every prefix, and every byte changed: an error that names the file, or a file that holds together.
TEST(Coco, SurvivesDamage) {
  const std::string whole =
      *read_whole_file(std::string(GALATEA_SOURCE_DIR) + "/tests/readers/recorded/coco.json");
  auto look = [](const std::string& text) {
    const auto file = native::parse_coco(text, "made.up", true);
    if (!file) {
      ASSERT_NE(file.error().message().find("made.up"), std::string::npos);
      return;
    }
    for (const CocoFile::Object& object : file->objects)
      ASSERT_LE(object.first_polygon + object.num_polygons, file->polygons.size());
    for (const CocoFile::Polygon& polygon : file->polygons) ASSERT_LE(polygon.end, file->coordinates.size());
  };
  for (size_t size = 0; size < whole.size(); size += 3) look(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); at += 2) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ 0x10);
    look(text);
  }
}

/// Extents are the annotation file's: what no picture has asks for no memory.
TEST(Coco, AMaskOfAbsurdExtentsIsItsSamplesError) {
  const std::string path = own_path("absurd.json").string();
  for (const auto& [size, arguments] :
       {std::pair{"\"width\": 4611686018427387904, \"height\": 4", "pixelwise_masks=True"},
        {"\"width\": 60000, \"height\": 60000", "pixelwise_masks=True"},
        {"\"width\": 0, \"height\": 4", "ratio=True"}}) {
    std::ofstream(path) << "{\"images\": [{\"id\": 3, \"file_name\": \"003.jpg\", " << size
                        << "}], \"categories\": [], \"annotations\": []}";
    const std::string outputs = std::string(arguments).starts_with("pix") ? "a, b, c, d" : "a, b, c";
    const std::string error =
        first_error(outputs + " = fn.readers.coco(file_root=\"@/images\", annotations_file=\"" + path +
                    "\", " + arguments + ")\nreturn " + outputs);
    EXPECT_TRUE(error.starts_with("G0802 " + path + ": image 3, 003.jpg: it would have ")) << error;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace galatea::testing
