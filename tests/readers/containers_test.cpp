// Containers of records: what DALI reads of files that other libraries wrote (recorded/, by make_recorded.py),
// and what becomes of damaged ones.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "stdlib_ops/native/npy.h"
#include "stdlib_ops/native/record_io.h"
#include "stdlib_ops/native/record_source.h"
#include "stdlib_ops/native/tar.h"
#include "stdlib_ops/native/tfrecord.h"
#include "stdlib_ops/native/webdataset.h"
#include "stdlib_ops/register_all.h"
#include "tests/readers/recorded_cases.h"
#include "tests/readers/run_text.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

TEST(Containers, AreReadAsDaliReadsThem) { expect_as_recorded("dali.json", 30); }

/// Without an index, files are looked through: the same records.
TEST(Containers, AreLookedThroughWithoutAnIndex) {
  for (const auto& [with, without] : std::vector<std::pair<std::string, std::string>>{
           {"d = fn.readers.tfrecord(path=\"@/a.tfrecord\", index_path=\"@/a.idx\", features={\"label\": "
            "tfrecord.FixedLenFeature([1], tfrecord.int64, 0)})\nreturn d[\"label\"]",
            "d = fn.readers.tfrecord(path=\"@/a.tfrecord\", features={\"label\": "
            "tfrecord.FixedLenFeature([1], tfrecord.int64, 0)})\nreturn d[\"label\"]"},
           {"a, b = fn.readers.mxnet(path=\"@/all.rec\", index_path=\"@/all.rec.idx\")\nreturn a, b",
            "a, b = fn.readers.mxnet(path=[\"@/first.rec\", \"@/second.rec\"])\nreturn a, b"}}) {
    const TextRun a = run_text(in_folder(with, kRecorded), "batch_size=5");
    const TextRun b = run_text(in_folder(without, kRecorded), "batch_size=5");
    ASSERT_EQ(a.errors, std::vector<std::string>());
    ASSERT_EQ(b.errors, std::vector<std::string>());
    for (size_t k = 0; k < a.batch->outputs.size(); ++k)
      for (size_t i = 0; i < 5; ++i) {
        const runtime::Tensor &x = a.batch->outputs[k].samples[i], &y = b.batch->outputs[k].samples[i];
        ASSERT_EQ(x.num_bytes(), y.num_bytes());
        EXPECT_EQ(std::memcmp(x.data, y.data, static_cast<size_t>(x.num_bytes())), 0);
      }
  }
}

// ---- damaged ones

const std::map<std::string, native::TfFeature> kFeatures = {
    {"boxes", {.dtype = DType::kF32, .fixed = false, .shape = {4}}},
    {"image", {.dtype = DType::kU8, .fixed = true, .shape = {}}},
    {"label", {.dtype = DType::kI64, .fixed = true, .shape = {1}}},
};

TEST(DamagedContainers, TfRecord) {
  damage(recorded_bytes("a.tfrecord").substr(0, 400),
         [](std::shared_ptr<const native::ByteSource> file) -> Status {
           GALATEA_ASSIGN(const auto places, native::scan_tfrecord(*file));
           for (const native::RecordPlace& place : places) {
             std::vector<uint8_t> bytes(static_cast<size_t>(place.size));
             GALATEA_TRY(file->read(place.offset, bytes));
             Taken taken;
             GALATEA_TRY(native::deliver_example(std::span(bytes).subspan(12, bytes.size() - 16),
                                                 "made.up at index 0", kFeatures, taken.allocate));
           }
           return {};
         });
}

/// Lengths that no file has, under checksums that are right.
TEST(DamagedContainers, LengthsOfAnySize) {
  for (const uint64_t length :
       {uint64_t{1} << 40, (uint64_t{1} << 63) - 1, uint64_t{1} << 63, ~uint64_t{0} - 15, ~uint64_t{0}}) {
    std::string bytes(28, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    const uint32_t checksum =
        native::masked_crc32c({reinterpret_cast<const uint8_t*>(&length), sizeof length});
    std::memcpy(bytes.data() + 8, &checksum, sizeof checksum);
    const auto places = native::scan_tfrecord(*native::bytes_in_memory("made.up", bytes));
    ASSERT_FALSE(places);
    EXPECT_EQ(
        places.error().message(),
        fmt::format("made.up is damaged at byte 0: a record of {} bytes begins there, but the file ends",
                    length));
  }
  const fs::path folder = own_path("lengths");
  fs::create_directories(folder);
  const auto error_with = [&](const std::string& call, const std::string& index, const char* result) {
    std::ofstream(folder / "made.idx") << index;
    const TextRun run = run_text(in_folder(call, kRecorded) + "index_path=\"" +
                                     (folder / "made.idx").string() + "\")\nreturn " + result,
                                 "batch_size=1");
    return run.errors.empty() ? std::string("no error") : run.errors.front();
  };
  const std::string tfrecord =
      "x = fn.readers.tfrecord(path=\"@/a.tfrecord\", features={\"label\": tfrecord.FixedLenFeature([1], "
      "tfrecord.int64, 0)}, ";
  const std::string mxnet = "x, y = fn.readers.mxnet(path=\"@/all.rec\", ";
  for (const char* line : {"0 9223372036854775807\n", "9223372036854775807 9223372036854775807\n",
                           "9223372036854775807 16\n", "0 9223372036854775808\n"}) {
    EXPECT_TRUE(error_with(tfrecord, line, "x[\"label\"]").starts_with("G0801 ")) << line;
    EXPECT_TRUE(error_with(mxnet, line, "x").starts_with("G080")) << line;
  }
  fs::remove_all(folder);
}

TEST(DamagedContainers, RecordsOfAnIndexShareNoBytes) {
  using Places = std::vector<native::RecordPlace>;
  const std::vector<Places> apart = {
      {}, {{0, 5}, {5, 3}}, {{5, 3}, {0, 5}}, {{0, 5}, {0, 5}}, {{0, 5}, {2, 0}}};
  for (const Places& places : apart) EXPECT_FALSE(native::shared_bytes(places));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::vector<Places> sharing = {
      {{0, 5}, {4, 3}}, {{0, 9}, {2, 2}}, {{3, 2}, {3, 4}}, {{0, kMost}, {7, kMost - 7}}};
  for (const Places& places : sharing) {
    const auto shared = native::shared_bytes(places);
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->first, 0U);
    EXPECT_EQ(shared->second, 1U);
  }
  const auto behind = native::shared_bytes(Places{{40, 5}, {8, 3}, {20, 30}, {0, 8}});
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->first, 2U);
  EXPECT_EQ(behind->second, 0U);
}

TEST(DamagedContainers, AnIndexOfAnArchiveNamesThePartsThatShareBytes) {
  const auto error_of = [](const std::string& index) {
    const auto samples = native::parse_webdataset_index(index, "made.idx", 10240);
    return samples ? std::string("no error") : samples.error().message();
  };
  EXPECT_EQ(
      error_of("v1.2 2\njpg 512 1000 a.jpg cls 2048 1 a.cls\njpg 1024 90 b.jpg\n"),
      "the index made.idx has \"jpg\" of sample 1 at 1024, within \"jpg\" of sample 0: 1000 bytes at 512");
  // A hard link is the member that it names.
  EXPECT_EQ(error_of("v1.1 2\njpg 512 1000 cls 2048 1\njpg 512 1000 cls 3072 1\n"), "no error");
}

TEST(DamagedContainers, AnIndexOfRecordsNamesThoseThatShareBytes) {
  const fs::path path = own_path("shared.idx");
  std::ofstream(path) << "0 32\n16 40\n";
  const TextRun run = run_text(
      in_folder(
          "x = fn.readers.tfrecord(path=\"@/a.tfrecord\", features={\"label\": tfrecord.FixedLenFeature([1], "
          "tfrecord.int64, 0)}, ",
          kRecorded) +
          "index_path=\"" + path.string() + "\")\nreturn x[\"label\"]",
      "batch_size=1");
  fs::remove(path);
  ASSERT_EQ(run.errors.size(), 1U);
  EXPECT_EQ(run.errors[0], "G0801 the index " + path.string() + " has a record of 40 bytes at 16 in " +
                               kRecorded + "/a.tfrecord, within that of 32 bytes at 0");
}

/// What a record of so many zeros fails of under a limit of 64 MB. It takes no room on the disk.
std::string error_of_sparse_record(uint64_t length) {
  const fs::path path = own_path("sparse.tfrecord");
  const uint32_t checksum = native::masked_crc32c({reinterpret_cast<const uint8_t*>(&length), sizeof length});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(&length), sizeof length)
      .write(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  std::error_code failed;
  fs::resize_file(path, length + 16, failed);
  if (failed) return "the file system has no sparse files: " + failed.message();
  const TextRun run = run_text(
      fmt::format("x = fn.readers.tfrecord(path=\"{}\", features={{\"image\": tfrecord.FixedLenFeature((), "
                  "tfrecord.string, \"\")}})\nreturn x[\"image\"]",
                  path.string()),
      "batch_size=1, memory_limit=64000000");
  fs::remove(path);
  return run.errors.size() == 1 ? run.errors[0] : fmt::format("{} errors", run.errors.size());
}

/// A damaged record itself counts, beside the outputs that it may become: 25 MB fit, 40 MB do not.
TEST(Containers, ARecordLargerThanTheMemoryLimitIsItsSamplesError) {
  const std::string fits = error_of_sparse_record(25'000'000);
  if (fits.starts_with("the file system")) GTEST_SKIP() << fits;
  EXPECT_NE(fits.find("holds no whole tf.train.Example"), std::string::npos) << fits;
  for (const uint64_t length : {uint64_t{40'000'000}, uint64_t{1} << 30}) {
    const std::string error = error_of_sparse_record(length);
    EXPECT_NE(error.find("memory"), std::string::npos) << error;
  }
}

/// Records of more than a megabyte, whose texts do not go through a buffer: the numbers that were written, of a record
/// in one part and in several, between others.
TEST(Containers, LargeRecordsAreWhatWasWritten) {
  const fs::path folder = own_path("large_records");
  fs::create_directories(folder);
  std::string text;
  for (uint32_t k = 0; k < 700'000; ++k) text.append(reinterpret_cast<const char*>(&k), 4);
  const auto word = [](uint64_t number, size_t bytes) {
    return std::string(reinterpret_cast<const char*>(&number), bytes);
  };
  const auto varint = [](uint64_t number) {
    std::string out;
    for (; number > 127; number >>= 7) out += static_cast<char>((number & 127) | 128);
    return out + static_cast<char>(number);
  };
  const auto field = [&](int number, const std::string& bytes) {
    return varint(static_cast<uint64_t>(number) << 3 | 2) + varint(bytes.size()) + bytes;
  };
  const auto expect = [&](const std::string& body, size_t output, const std::string& bytes,
                          const std::string& options = "batch_size=1") {
    const TextRun run = run_text(body, options);
    ASSERT_EQ(run.errors, std::vector<std::string>()) << body;
    const runtime::Tensor& tensor = run.batch->outputs[output].samples[0];
    ASSERT_EQ(static_cast<size_t>(tensor.num_bytes()), bytes.size());
    EXPECT_EQ(std::memcmp(tensor.data, bytes.data(), bytes.size()), 0) << body;
  };
  const std::string image = (folder / "a").string();
  // What is read becomes an output without a second claim: the file, an eighth for rounding, and what is small.
  const auto limited = [&] {
    return fmt::format("batch_size=1, memory_limit={}", fs::file_size(image) * 9 / 8 + 40'000);
  };
  // A text of two, of which the first counts; numbers before and behind it; a large text that nobody wants.
  const std::string read =
      "d = fn.readers.tfrecord(path=\"" + image +
      "\", features={\"image\": tfrecord.FixedLenFeature((), tfrecord.string, \"\"), \"n\": "
      "tfrecord.FixedLenFeature((), tfrecord.int64, 0)})\n";
  const auto write_record = [&](const std::string& wanted, const std::string& unwanted) {
    const std::string numbers = field(1, "n") + field(2, field(3, "\x08\x07")),
                      large = field(1, "image") + field(2, field(1, field(1, wanted) + field(1, "more"))),
                      other = field(1, "other") + field(2, field(1, field(1, unwanted)));
    const std::string example = field(1, field(1, other) + field(1, large) + field(1, numbers));
    const std::string length = word(example.size(), 8);
    std::ofstream(image, std::ios::binary)
        << length << word(native::masked_crc32c({reinterpret_cast<const uint8_t*>(length.data()), 8}), 4)
        << example << "sum!";
  };
  for (const size_t size : {native::kLargeText - 1, native::kLargeText, native::kLargeText + 4096}) {
    write_record(text.substr(0, size), text.substr(0, 2 * native::kLargeText - size));
    expect(read + "return d[\"image\"], d[\"n\"]", 0, text.substr(0, size));
    expect(read + "return d[\"image\"], d[\"n\"]", 1, word(7, 8));
  }
  write_record(text, text + text);
  expect(read + "return d[\"image\"], d[\"n\"]", 0, text);
  expect(read + "return d[\"image\"], d[\"n\"]", 1, word(7, 8));
  expect(read + "return d[\"image\"], d[\"n\"]", 0, text, limited());
  // It is read where it is an output, and copied where it is two, or another's operand.
  expect(read + "return d[\"image\"], d[\"image\"]", 1, text);
  expect(read + "return d[\"image\"] ^ 0, d[\"image\"]", 1, text);

  const auto part = [&](uint64_t kind, const std::string& bytes) {
    return word(0xCED7230A, 4) + word(kind << 29 | bytes.size(), 4) + bytes +
           std::string((4 - bytes.size() % 4) % 4, '\0');
  };
  const std::string head = word(2, 4) + word(0, 4) + word(5, 8) + word(0, 8),
                    labels = word(0x400000003F800000, 8);
  for (const bool is_divided : {false, true}) {
    std::string record = part(0, head + labels + text), expected = text;
    if (is_divided) {
      record =
          part(1, head + labels + text.substr(0, 1'000'003)) + part(2, "") + part(3, text.substr(1'000'011));
      expected.replace(1'000'003, 8, word(0xCED7230A, 4) + word(0xCED7230A, 4));
    }
    std::ofstream(image, std::ios::binary) << part(0, std::string(24, '\0') + "x") << record;
    std::ofstream(folder / "a.idx") << "0 36\n";
    const std::string mxnet = "a, b = fn.readers.mxnet(path=\"" + image + "\", index_path=\"" +
                              (folder / "a.idx").string() + "\")\nreturn a, b";
    expect(mxnet, 0, expected);
    expect(mxnet, 1, labels);
    expect(mxnet, 0, expected, limited());
    // Cut off within its bytes, it fails as before.
    fs::resize_file(image, 2'000'000);
    EXPECT_TRUE(
        run_text(mxnet, "batch_size=1").errors.at(0).starts_with("G0802 " + image + " is damaged at byte"));
  }
  std::ofstream(image, std::ios::binary) << text;
  expect("a, b = fn.readers.file(file_root=\"" + folder.string() + "\", files=[\"a\"])\nreturn b, a", 1, text,
         limited());
  fs::remove_all(folder);
}

/// What is returned as it was read is read into the batch: one output, no other's operand in an arm, not twice.
TEST(Containers, ReadersKnowWhichOutputsTheyAre) {
  op::Registry registry;
  ops::register_all(registry);
  const auto outputs_of = [&](const std::string& rest) {
    const CompiledText compiled = compile_text(
        in_folder("a, b = fn.readers.mxnet(path=\"@/all.rec\")\n" + rest), "batch_size=1", registry);
    EXPECT_EQ(compiled.errors, std::vector<std::string>()) << rest;
    std::vector<int32_t> outputs;
    if (!compiled.program) return outputs;
    for (const runtime::Instruction& i : compiled.program->code)
      if (i.op == runtime::Opcode::kRead && i.c >= 0)
        outputs = {compiled.program->lists[static_cast<size_t>(i.c)],
                   compiled.program->lists[static_cast<size_t>(i.c) + 1]};
    return outputs;
  };
  using Outputs = std::vector<int32_t>;
  EXPECT_EQ(outputs_of("return b, a"), (Outputs{1, 0}));
  EXPECT_EQ(outputs_of("return a, a, b + 1"), Outputs());
  EXPECT_EQ(outputs_of("return b * 2, b"), (Outputs{-1, 1}));
  EXPECT_EQ(outputs_of("if b[0] > 1:\n  c = a\nelse:\n  c = fn.cast(a + 1, dtype=types.UINT8)\nreturn c, b"),
            (Outputs{-1, 1}));
}

TEST(DamagedContainers, RecordIo) {
  damage(recorded_bytes("all.rec"), [](std::shared_ptr<const native::ByteSource> file) -> Status {
    GALATEA_ASSIGN(const auto places, native::scan_record_io(*file));
    for (const native::RecordPlace& place : places) {
      std::vector<uint8_t> bytes(static_cast<size_t>(place.size));
      GALATEA_TRY(file->read(place.offset, bytes));
      GALATEA_TRY(native::join_record_io(bytes, file->name(), place.offset));
    }
    return {};
  });
}

TEST(DamagedContainers, Tar) {
  for (const char* name : {"gnu.tar", "pax.tar", "ustar.tar"}) {
    SCOPED_TRACE(name);
    // Every second byte of a header is enough, and what is behind the members is zeros.
    damage(recorded_bytes(name).substr(0, 3072),
           [](std::shared_ptr<const native::ByteSource> file) -> Status {
             GALATEA_ASSIGN(const auto samples, native::scan_webdataset(*file));
             for (const native::TarSample& sample : samples)
               for (const native::TarPart& part : sample.parts) {
                 EXPECT_LE(part.size, file->size() - part.offset);
                 std::vector<uint8_t> bytes(static_cast<size_t>(part.size));
                 GALATEA_TRY(file->read(part.offset, bytes));
               }
             return {};
           });
  }
}

/// All bytes of the last member are there, and nobody knows how many members followed: DALI refuses it, too.
TEST(DamagedContainers, AnArchiveThatEndsWithinABlockWasCutOff) {
  const std::string whole = recorded_bytes("plain.tar");
  const auto samples = native::scan_webdataset(*native::bytes_in_memory("whole", whole));
  ASSERT_TRUE(samples) << samples.error().message();
  const native::TarPart& part = samples->front().parts.front();
  const int64_t end = part.offset + part.size, block_end = (end + 511) / 512 * 512;
  ASSERT_LT(end, block_end);
  for (const int64_t size : {end, block_end - 1}) {
    const auto cut =
        native::scan_webdataset(*native::bytes_in_memory("cut", whole.substr(0, static_cast<size_t>(size))));
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().message(),
              fmt::format("cut is damaged at byte {}: it ends within a block: it was cut off", size));
  }
  const auto without_end = native::scan_webdataset(
      *native::bytes_in_memory("cut", whole.substr(0, static_cast<size_t>(block_end))));
  ASSERT_TRUE(without_end) << without_end.error().message();
  EXPECT_EQ(without_end->size(), 1U);
}

TEST(DamagedContainers, Npy) {
  for (const char* name : {"c_f32.npy", "fortran_u32.npy", "scalar_f64.npy"}) {
    SCOPED_TRACE(name);
    damage(recorded_bytes(name), [](std::shared_ptr<const native::ByteSource> file) -> Status {
      GALATEA_ASSIGN(const native::NpyHeader header, native::read_npy_header(*file));
      int64_t bytes = static_cast<int64_t>(size_of(header.dtype));
      for (const int64_t extent : header.shape) bytes *= extent;
      std::vector<uint8_t> to(static_cast<size_t>(bytes) + 1);
      return native::read_npy_part(*file, header, std::vector<int64_t>(header.shape.size()), header.shape,
                                   to.data());
    });
  }
}

TEST(Containers, SayWhatIsWrongWithACall) {
  const std::string tf = "return fn.readers.tfrecord(path=\"@/a.tfrecord\", ";
  EXPECT_EQ(first_error(tf + "features={})[\"x\"]"), "G0460 fn.readers.tfrecord: features is empty");
  EXPECT_EQ(first_error(tf + "features={\"image\": 5})[\"image\"]"),
            "G0460 fn.readers.tfrecord: feature \"image\" is no feature");
  EXPECT_EQ(first_error(tf + "features={\"x\": tfrecord.VarLenFeature(tfrecord.string, \"\")})[\"x\"]"),
            "G0460 fn.readers.tfrecord: feature \"x\" would be several texts");
  EXPECT_EQ(first_error(tf + "features={\"x\": tfrecord.FixedLenFeature([2], \"int\", 0)})[\"x\"]"),
            "G0276 `FixedLenFeature` takes tfrecord.int64, tfrecord.float32 or tfrecord.string, not `'int'`");
  EXPECT_EQ(first_error(tf + "index_path=[\"a\", \"b\"], features={\"x\": "
                             "tfrecord.VarLenFeature(tfrecord.int64, 0)})[\"x\"]"),
            "G0460 fn.readers.tfrecord: 1 files, but 2 indices");
  EXPECT_EQ(first_error("a, b = fn.readers.mxnet(path=\"@/nowhere.rec\")\nreturn a"),
            "G0801 cannot read " + kRecorded + "/nowhere.rec: No such file or directory");
  // Addresses that are none of ours are told so, wherever a path is taken.
  const std::pair<const char*, const char*> unknown[] = {
      {"file(file_root=\"ftp://host/a\")", "the folder ftp://host/a: nothing here reads ftp://"},
      {"file(files=[\"azure://c/a.jpg\"])", "azure://c/a.jpg: nothing here reads azure://"},
      {"file(file_list=\"HTTP://host/a\")", "the file list HTTP://host/a: nothing here reads HTTP://"},
      {"mxnet(path=\"gcs://b/a.rec\")", "gcs://b/a.rec: nothing here reads gcs://"},
      {"file(file_root=\"file:///data\")", "the folder file:///data: a path is wanted, not an address"}};
  for (const auto& [call, why] : unknown)
    EXPECT_EQ(first_error(std::string("a, b = fn.readers.") + call + "\nreturn a"),
              std::string("G0801 cannot read ") + why);
  EXPECT_EQ(first_error("return fn.readers.numpy(files=[\"file://@/u8.npy\"], roi_start=[7], "
                        "roi_shape=[5], out_of_bounds_policy=\"PAD\")"),
            "")
      << "a name of this machine, and a policy in capitals, as DALI takes them";
  EXPECT_EQ(first_error("a, b = fn.readers.mxnet(path=\"@/a.tfrecord\")\nreturn a"),
            "G0802 " + kRecorded +
                "/a.tfrecord is damaged at byte 0: no record of a RecordIO file begins or goes on there");
  EXPECT_EQ(first_error("return fn.readers.webdataset(paths=\"@/gnu.tar\", ext=[\"jpg\"], "
                        "missing_component_behavior=\"ignore\")"),
            "G0460 fn.readers.webdataset: missing_component_behavior is \"ignore\"");
  EXPECT_EQ(first_error("return fn.readers.webdataset(paths=\"@/plain.tar\", ext=[\"wav\"], "
                        "missing_component_behavior=\"skip\")"),
            "G0801 no samples in " + kRecorded + "/plain.tar");
  EXPECT_EQ(first_error("return fn.readers.numpy(files=\"@/a.idx\")"),
            "G0460 fn.readers.numpy: the first array says what all are: " + kRecorded +
                "/a.idx is no array that can be read: it does not begin as a .npy file does");
  EXPECT_EQ(first_error("return fn.readers.numpy(files=\"@/u8.npy\", roi_start=[7], roi_shape=[5])"),
            "G0802 " + kRecorded + "/u8.npy: [7, 12) of axis 0 is wanted, which has an extent of 9");
  EXPECT_EQ(first_error("return fn.readers.numpy(files=[\"@/u8.npy\", \"@/f16.npy\"])"), "");
  EXPECT_EQ(run_text(in_folder("return fn.readers.numpy(files=[\"@/u8.npy\", \"@/f16.npy\"])", kRecorded),
                     "batch_size=2")
                .errors,
            std::vector<std::string>{
                "G0802 " + kRecorded +
                "/f16.npy is f16[2,2]; it must be u8 of 1 axes, as all arrays of this reader"});
  EXPECT_EQ(first_error("return fn.readers.numpy(files=\"@/u8.npy\", roi_end=[7], roi_shape=[5])"),
            "G0460 fn.readers.numpy: roi_end and roi_shape exclude each other");
  EXPECT_EQ(first_error("a, b, c = fn.readers.coco(file_root=\"@\")\nreturn a"),
            "G0460 fn.readers.coco: there is no annotations_file");
  EXPECT_EQ(
      first_error("a, b, c = fn.readers.coco(file_root=\"@\", annotations_file=\"@/coco.json\")\nreturn a"),
      "G0801 cannot read " + kRecorded + "/003.jpg: No such file or directory");
}

/// A record that fails is its sample's: the run goes on.
TEST(Containers, ARecordThatFailsIsSkipped) {
  const std::string wide = in_folder(
      "d = fn.readers.tfrecord(path=\"@/a.tfrecord\", features={\"boxes\": tfrecord.FixedLenFeature([4], "
      "tfrecord.float32, 0), \"label\": tfrecord.FixedLenFeature([], tfrecord.int64, 0)})\n"
      "return d[\"label\"], d[\"boxes\"]",
      kRecorded);
  EXPECT_EQ(run_text(wide, "batch_size=2").errors,
            std::vector<std::string>{"G0802 " + kRecorded +
                                     "/a.tfrecord at index 0: feature \"boxes\" has 0 values, not 4"});
  const TextRun skipped = run_text(wide, "batch_size=2, on_error=\"skip\"");
  ASSERT_EQ(skipped.errors, std::vector<std::string>());
  ASSERT_EQ(skipped.batch->outputs[0].samples.size(), 1U);
  EXPECT_EQ(static_cast<int64_t>(load_cell(DType::kI64, skipped.batch->outputs[0].samples[0].data).bits), -1);
}

/// Long names, in each form that tar has had for them (DALI 2.4 does not read those of pax).
TEST(Containers, NamesOfAnyLengthAreReadInEveryForm) {
  for (const char* form : {"gnu", "pax", "ustar"}) {
    SCOPED_TRACE(form);
    const TextRun run = run_text(
        in_folder(
            fmt::format("a, b = fn.readers.webdataset(paths=\"@/{}.tar\", ext=[\"JPG;png;jpg\", \"cls\"], "
                        "missing_component_behavior=\"skip\")\nreturn a, b",
                        form),
            kRecorded),
        "batch_size=2");
    ASSERT_EQ(run.errors, std::vector<std::string>());
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(run.batch->outputs[0].samples[0].data), 3), "abc");
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(run.batch->outputs[1].samples[1].data), 2), "22");
  }
}

/// Of a sparse member the archive has its map and what lies between the holes, which is nobody's content.
TEST(Containers, ASparseMemberIsAnError) {
  const std::string error =
      first_error(in_folder("return fn.readers.webdataset(paths=\"@/sparse.tar\", ext=[\"jpg\"])"));
  EXPECT_NE(error.find("the member a.jpg is sparse"), std::string::npos) << error;
}

/// Parts of a file that come with one call, or do not: neighbours, parts far from each other, parts that share
/// bytes or come in no order, more than one call takes. Each has the bytes that it has alone.
TEST(Containers, PartsOfAFileAreReadAsEachAlone) {
  const std::string path = own_path("parts").string();
  std::string content;
  for (int number = 0; content.size() < 40'000; ++number) content += fmt::format("{},", number);
  std::ofstream(path) << content;
  const auto file = native::open_file(path);
  ASSERT_TRUE(file);
  std::vector<std::pair<size_t, size_t>> places = {{0, 0},      {5, 100},     {105, 1},     {600, 0},
                                                   {700, 4000}, {8796, 10},   {8806, 4000}, {20'000, 7},
                                                   {20'003, 9}, {12'000, 300}};
  for (size_t k = 0; k < 40; ++k) places.emplace_back(21'000 + 400 * k, 399);
  std::vector<std::string> texts;
  for (const auto& [offset, size] : places) texts.emplace_back(size, '\0');
  std::vector<native::BytesPart> parts;
  for (size_t k = 0; k < places.size(); ++k)
    parts.push_back({static_cast<int64_t>(places[k].first),
                     {reinterpret_cast<uint8_t*>(texts[k].data()), texts[k].size()}});
  ASSERT_TRUE((*file)->read_parts(parts));
  for (size_t k = 0; k < places.size(); ++k)
    EXPECT_EQ(texts[k], content.substr(places[k].first, places[k].second)) << "part " << k;

  fs::resize_file(path, 8800);
  const Status shorter = (*file)->read_parts(parts);
  ASSERT_FALSE(shorter);
  EXPECT_EQ(shorter.error().message(), path + " is damaged at byte 8800: 6 bytes are missing");
  fs::remove(path);
}

/// More containers than may be open at a time.
TEST(Containers, FilesAreClosedBetweenReads) {
  const fs::path folder = own_path("many_files");
  fs::create_directories(folder);
  // Of which whoever started this process may have left it any number.
  const auto num_open = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = num_open();
  std::vector<std::shared_ptr<const native::ByteSource>> files;
  for (size_t i = 0; i < 2 * native::kMaxOpenFiles; ++i) {
    const std::string path = (folder / std::to_string(i)).string();
    std::ofstream(path) << "content " << i;
    auto file = native::open_file(path);
    ASSERT_TRUE(file);
    files.push_back(*file);
  }
  EXPECT_LE(num_open() - before, static_cast<std::ptrdiff_t>(native::kMaxOpenFiles));
  for (size_t i = 0; i < files.size(); ++i) {
    std::string text(static_cast<size_t>(files[i]->size()), '\0');
    ASSERT_TRUE(files[i]->read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
    EXPECT_EQ(text, "content " + std::to_string(i));
  }
  fs::resize_file(folder / "3", 4);
  std::vector<uint8_t> bytes(9);
  const Status shorter = files[3]->read(0, bytes);
  ASSERT_FALSE(shorter);
  EXPECT_EQ(shorter.error().message(),
            (folder / "3").string() + " is damaged at byte 4: 5 bytes are missing");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace galatea::testing
