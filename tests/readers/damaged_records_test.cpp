// What lies within containers, and beside them, damaged at every byte and cut off at every length: annotations of COCO,
// records of Caffe and Caffe2, indices, manifests of speech. Containers themselves: containers_test.cpp, lmdb_test.cpp,
// fits_test.cpp.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "stdlib_ops/native/caffe.h"
#include "stdlib_ops/native/coco.h"
#include "stdlib_ops/native/nemo_source.h"
#include "stdlib_ops/native/record_source.h"
#include "stdlib_ops/native/webdataset.h"
#include "tests/readers/recorded_cases.h"

namespace galatea::testing {
namespace {

Result<std::string> all_of(const native::ByteSource& file) {
  std::string text(static_cast<size_t>(file.size()), '\0');
  GALATEA_TRY(file.read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  return text;
}

TEST(DamagedRecords, Coco) {
  // A picture, a polygon, run lengths as numbers and as text.
  const std::string whole =
      R"({"images":[{"id":7,"file_name":"a.jpg","width":4,"height":3}],"categories":[{"id":2,"name":"x"}],)"
      R"("annotations":[{"id":1,"image_id":7,"category_id":2,"bbox":[0,1,2.5,1e0],"iscrowd":0,)"
      R"("segmentation":[[0,0,3,0,3,2]]},{"id":2,"image_id":7,"category_id":2,"bbox":[0,0,1,1],"iscrowd":1,)"
      R"("segmentation":{"size":[3,4],"counts":[5,3,4]}},{"id":3,"image_id":7,"category_id":2,)"
      R"("bbox":[0,0,1,1],"iscrowd":1,"segmentation":{"size":[3,4],"counts":"534"}}]})";
  ASSERT_TRUE(native::parse_coco(whole, "made.up", true));
  damage(whole, [](std::shared_ptr<const native::ByteSource> file) -> Status {
    GALATEA_ASSIGN(const std::string text, all_of(*file));
    GALATEA_ASSIGN(const native::CocoFile coco, native::parse_coco(text, file->name(), true));
    for (const native::CocoFile::Polygon& polygon : coco.polygons)
      EXPECT_TRUE(polygon.begin <= polygon.end && polygon.end <= coco.coordinates.size());
    return {};
  });
}

/// Documents that are nothing but brackets.
TEST(DamagedRecords, NestedBeyondAnyStack) {
  for (const char* opening : {"[", "{\"annotations\":[", "{\"a\":"}) {
    std::string text;
    while (text.size() < 200'000) text += opening;
    const auto coco = native::parse_coco(text, "made.up", true);
    ASSERT_FALSE(coco);
    EXPECT_NE(coco.error().message().find("made.up"), std::string::npos) << coco.error().message();
    EXPECT_TRUE(native::parse_manifest(text, 0, 0).empty());
  }
}

TEST(DamagedRecords, Caffe) {
  for (const auto& [encoded, whole] :
       {std::pair{true, std::string("\x22\x04jpeg\x28\x03\x38\x01")},
        {false, std::string("\x08\x03\x10\x01\x18\x02\x22\x06rgbrgb\x28\x00\x38\x00", 18)}}) {
    const auto ports = native::caffe_ports({{"encoded", encoded}});
    ASSERT_TRUE(ports);
    damage(whole, [&](std::shared_ptr<const native::ByteSource> file) -> Status {
      GALATEA_ASSIGN(const std::string bytes, all_of(*file));
      Taken taken;
      return native::deliver_datum({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                                   "made.up at key 1", *ports, taken.allocate);
    });
  }
}

TEST(DamagedRecords, Caffe2) {
  // TensorProtos: bytes of an image, an i32 label.
  const std::string whole("\x0A\x08\x10\x04\x32\x04jpeg\x0A\x06\x08\x01\x10\x02\x20\x03", 18);
  const auto layout = native::tensor_protos_layout({{"encoded", true}, {"dtypes", {"u8", "i32"}}});
  ASSERT_TRUE(layout);
  damage(whole, [&](std::shared_ptr<const native::ByteSource> file) -> Status {
    GALATEA_ASSIGN(const std::string bytes, all_of(*file));
    Taken taken;
    return native::deliver_tensor_protos({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                                         "made.up at key 1", *layout, taken.allocate);
  });
}

TEST(DamagedRecords, Indices) {
  damage("0 32\n32 4096\n4128 7\n", [](std::shared_ptr<const native::ByteSource> file) -> Status {
    GALATEA_ASSIGN(const std::string text, all_of(*file));
    GALATEA_ASSIGN(const auto places, native::parse_number_pairs(text, file->name()));
    for (const native::RecordPlace& place : places) EXPECT_TRUE(place.offset >= 0 && place.size >= 0);
    return {};
  });
  damage("v1.2 2\njpg 512 1000 a.jpg cls 2048 1 a.cls\njpg 3072 90 b.jpg\n",
         [](std::shared_ptr<const native::ByteSource> file) -> Status {
           GALATEA_ASSIGN(const std::string text, all_of(*file));
           constexpr int64_t kArchive = 10240;
           GALATEA_ASSIGN(const auto samples, native::parse_webdataset_index(text, file->name(), kArchive));
           for (const native::TarSample& sample : samples)
             for (const native::TarPart& part : sample.parts)
               EXPECT_TRUE(part.offset >= 0 && part.size >= 0 && part.size <= kArchive - part.offset);
           return {};
         });
}

/// A line that names no recording is passed over, as in DALI; one with absurd times names none of its frames.
TEST(DamagedRecords, Manifests) {
  const std::string whole =
      "{\"audio_filepath\":\"a.wav\",\"offset\":0.5,\"duration\":1.25,\"text\":\"\\u00e4\"}\n";
  ASSERT_EQ(native::parse_manifest(whole, 0, 0).size(), 1U);
  for (size_t at = 0; at < whole.size(); ++at) {
    EXPECT_LE(native::parse_manifest(whole.substr(0, at), 0, 0).size(), 1U);
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string text = whole;
      text[at] = static_cast<char>(text[at] ^ change);
      EXPECT_LE(native::parse_manifest(text, 0, 0).size(), 2U);
    }
  }
  for (const double offset : {-1e308, -1.0, 0.0, 1e18, 1e308})
    for (const double duration : {-1.0, 0.0, 1e-300, 1e18, 1e308}) {
      const native::FrameRange range =
          native::frames_of({.path = "a.wav", .offset = offset, .duration = duration}, 100, 16000);
      EXPECT_TRUE(0 <= range.begin && range.begin <= range.end && range.end <= 100)
          << offset << " s and " << duration << " s: " << range.begin << " to " << range.end;
    }
}

}  // namespace
}  // namespace galatea::testing
