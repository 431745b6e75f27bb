// Databases of LMDB and the records that Caffe and Caffe2 have in them: against the library that writes them,
// against the definitions of their label types, and damaged.
#include <gtest/gtest.h>

#include <lmdb.h>

#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/fault.h"
#include "stdlib_ops/native/caffe.h"
#include "stdlib_ops/native/lmdb.h"
#include "tests/readers/run_text.h"
#include "tests/support/cases.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using native::LmdbEntry;

/// A database that LMDB itself writes, in a folder of its own.
class Library {
 public:
  explicit Library(const std::string& name, unsigned flags = 0) : folder_(own_path("lmdb_" + name)) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    check(mdb_env_create(&env_));
    check(mdb_env_set_mapsize(env_, size_t{64} << 20));
    check(mdb_env_set_maxdbs(env_, 4));
    check(mdb_env_open(env_, folder_.c_str(), MDB_NOSYNC | MDB_NOLOCK, 0644));
    begin(flags);
  }
  ~Library() {
    if (transaction_) mdb_txn_abort(transaction_);
    mdb_env_close(env_);
    fs::remove_all(folder_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void begin(unsigned flags = 0, const char* name = nullptr) {
    check(mdb_txn_begin(env_, nullptr, 0, &transaction_));
    check(mdb_dbi_open(transaction_, name, flags | (name ? MDB_CREATE : 0), &database_));
  }
  void put(const std::string& key, const std::string& value) {
    MDB_val k = of(key), v = of(value);
    check(mdb_put(transaction_, database_, &k, &v, 0));
  }
  void remove(const std::string& key) {
    MDB_val k = of(key);
    check(mdb_del(transaction_, database_, &k, nullptr));
  }
  void commit() { check(mdb_txn_commit(std::exchange(transaction_, nullptr))); }
  std::string path() const { return folder_.string(); }
  std::string content() const { return *read_whole_file((folder_ / "data.mdb").string()); }

 private:
  static MDB_val of(const std::string& text) { return {text.size(), const_cast<char*>(text.data())}; }
  static void check(int status) { ASSERT_EQ(status, 0) << mdb_strerror(status); }

  fs::path folder_;
  MDB_env* env_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi database_ = 0;
};

Result<std::map<std::string, std::string>> entries_of(const native::ByteSource& file) {
  GALATEA_ASSIGN(const std::vector<LmdbEntry> entries, native::scan_lmdb(file));
  std::map<std::string, std::string> all;
  std::string last;
  for (const LmdbEntry& entry : entries) {
    EXPECT_LE(entry.value.size, file.size());
    std::string key(static_cast<size_t>(entry.key.size), '\0');
    std::vector<uint8_t> bytes(static_cast<size_t>(entry.value.size));
    GALATEA_TRY(file.read(entry.key.offset, {reinterpret_cast<uint8_t*>(key.data()), key.size()}));
    GALATEA_TRY(file.read(entry.value.offset, bytes));
    GALATEA_ASSIGN(const std::span<const uint8_t> value, native::value_of(entry, bytes, file.name()));
    all[key] = std::string(value.begin(), value.end());
    last = key;
  }
  return all;
}

std::map<std::string, std::string> whole(const std::string& bytes) {
  auto entries = entries_of(*native::bytes_in_memory("made.up", bytes));
  EXPECT_TRUE(entries) << (entries ? "" : entries.error().message());
  return entries ? *entries : std::map<std::string, std::string>();
}

std::string error_of(std::string bytes) {
  const auto entries = entries_of(*native::bytes_in_memory("made.up", std::move(bytes)));
  return entries ? "" : entries.error().message();
}

/// Trees of one to three levels, values in leaves and on pages of their own, after what was deleted.
TEST(Lmdb, HoldsWhatTheLibraryWrote) {
  Library library("whole");
  std::map<std::string, std::string> written;
  library.commit();
  EXPECT_EQ(whole(library.content()), written);
  uint32_t state = 7;
  auto draw = [&](uint32_t below) { return (state = state * 1664525 + 1013904223) / 65536 % below; };
  for (const size_t count : {1, 40, 3000}) {
    library.begin();
    for (size_t k = 0; k < count; ++k) {
      const std::string key = fmt::format("{:0{}}", draw(100000), 5 + draw(200));
      const std::string value(draw(8) == 0 ? draw(20000) : draw(300), static_cast<char>('a' + draw(26)));
      library.put(key, value);
      written[key] = value;
    }
    library.commit();
    library.begin();
    for (auto at = written.begin(); at != written.end();) {
      if (draw(5) == 0) {
        library.remove(at->first);
        at = written.erase(at);
      } else {
        ++at;
      }
    }
    library.commit();
    EXPECT_EQ(whole(library.content()), written);
  }
}

TEST(Lmdb, WhatNoDataSetHasIsRefused) {
  Library several("several", MDB_DUPSORT);
  several.put("a", "1");
  several.put("a", "2");
  several.commit();
  EXPECT_EQ(error_of(several.content()), "made.up has several values for a key (MDB_DUPSORT)");
  Library named("named");
  named.commit();
  named.begin(0, "other");
  named.put("a", "1");
  named.commit();
  EXPECT_EQ(error_of(named.content()), "made.up holds databases that have names");
}

// ---- damaged: pages of 4096 bytes

constexpr size_t kPage = 4096;

template <typename T>
void set(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <typename T>
T get(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Tree {
  std::string bytes;
  size_t meta = 0, root = 0;  ///< where the meta page that counts begins, and the root
};
Tree tree_of(int entries, size_t value = 100) {
  Library library("damaged");
  for (int k = 0; k < entries; ++k) library.put(fmt::format("{:04}", k), std::string(value, 'x'));
  library.commit();
  Tree tree{.bytes = library.content()};
  tree.meta = get<uint64_t>(tree.bytes, kPage + 16 + 128) > get<uint64_t>(tree.bytes, 16 + 128) ? kPage : 0;
  tree.root = get<uint64_t>(tree.bytes, tree.meta + 16 + 24 + 48 + 40) * kPage;
  return tree;
}

TEST(DamagedLmdb, EveryByteAndLength) {
  if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
  for (const auto& [entries, value] : {std::pair{3, size_t{5}}, {60, size_t{100}}, {1, size_t{5000}}}) {
    const std::string all = tree_of(entries, value).bytes;
    SCOPED_TRACE(entries);
    int errors = 0;
    auto look = [&](std::string bytes) {
      const std::string error = error_of(std::move(bytes));
      if (error.empty()) return;
      ++errors;
      ASSERT_TRUE(error.starts_with("made.up ")) << error;
    };
    // What is cut off within a page is cut off at all of its bytes.
    for (size_t size = 0; size < all.size(); size += size < 300 || size % kPage < 40 ? 1 : 97)
      look(all.substr(0, size));
    for (size_t at = 0; at < all.size(); ++at) {
      // Of what values hold, and of what nothing holds, some bytes stand for all.
      const std::string_view around = std::string_view(all).substr(at < 8 ? 0 : at - 8, 17);
      if (around.find_first_not_of(all[at]) == std::string_view::npos && at % 61 != 0) continue;
      for (const int change : {0x01, 0x80, 0xFF}) {
        std::string bytes = all;
        bytes[at] = static_cast<char>(bytes[at] ^ change);
        look(std::move(bytes));
      }
    }
    EXPECT_GT(errors, 100);
  }
}

TEST(DamagedLmdb, SaysWhatIsWrong) {
  const Tree tree = tree_of(200);
  ASSERT_EQ(get<uint16_t>(tree.bytes, tree.root + 10), 1) << "the root is a branch";
  auto changed = [&](size_t at, auto value) {
    std::string bytes = tree.bytes;
    set(bytes, at, value);
    return error_of(bytes);
  };
  const size_t number = tree.root / kPage, root = tree.meta + 16 + 24 + 48 + 40;
  EXPECT_EQ(error_of(""), "made.up is damaged at byte 0: it ends before a meta page of LMDB");
  EXPECT_EQ(error_of(std::string(9000, 'a')),
            "made.up is damaged at byte 0: no meta page of LMDB begins there");
  EXPECT_EQ(changed(20, uint32_t{2}), "made.up is damaged at byte 20: its data version is 2, not 1");
  EXPECT_EQ(changed(kPage + 40, uint32_t{4095}), "made.up is damaged at byte 4136: pages of 4095 bytes");
  EXPECT_EQ(changed(root, uint64_t{1} << 50),
            fmt::format("made.up is damaged at byte {}: page 1125899906842624 of its tree is not there",
                        tree.bytes.size()));
  EXPECT_EQ(changed(root - 34, uint16_t{33}),
            "made.up is damaged at byte 0: its tree would be 33 pages deep");
  EXPECT_EQ(changed(root - 8, uint64_t{7}),
            "made.up is damaged at byte 0: it says that it has 7 entries, and has 200");
  EXPECT_EQ(changed(tree.root + 12, uint16_t{5}),
            fmt::format("made.up is damaged at byte {}: page {}: its nodes would lie from 5 to {}",
                        tree.root + 12, number, get<uint16_t>(tree.bytes, tree.root + 14)));
  // A branch that leads back to itself, and a leaf that is there twice.
  const size_t first = tree.root + get<uint16_t>(tree.bytes, tree.root + 16),
               second = tree.root + get<uint16_t>(tree.bytes, tree.root + 18);
  EXPECT_EQ(
      changed(first, static_cast<uint32_t>(number)),
      fmt::format("made.up is damaged at byte {}: page {}: it is in the tree twice", tree.root, number));
  const auto leaf = get<uint32_t>(tree.bytes, first);
  EXPECT_EQ(
      changed(second, leaf),
      fmt::format("made.up is damaged at byte {}: page {}: it is in the tree twice", leaf * kPage, leaf));
}

TEST(DamagedLmdb, ALargeValueIsInTheFile) {
  const Tree tree = tree_of(1, 5000);
  const size_t node = tree.root + get<uint16_t>(tree.bytes, tree.root + 16);
  std::string bytes = tree.bytes;
  set(bytes, node, uint32_t{0xFFFFFFFF});
  EXPECT_NE(error_of(bytes).find("a value of 4294967295 bytes on page"), std::string::npos)
      << error_of(bytes);
  bytes = tree.bytes;
  set(bytes, node + 8 + 4, uint64_t{1} << 62);
  EXPECT_NE(error_of(bytes).find("on page 4611686018427387904 is not in the file"), std::string::npos);
}

/// What the library never writes: two values of the same pages, a value over a page of the tree, and nodes of a
/// leaf over each other.
TEST(DamagedLmdb, NothingLiesOverAnother) {
  const Tree large = tree_of(2, 9000);
  ASSERT_EQ(get<uint16_t>(large.bytes, large.root + 10), 2) << "the root is a leaf";
  const auto node = [](const Tree& tree, size_t number) {
    return tree.root + get<uint16_t>(tree.bytes, tree.root + 16 + 2 * number);
  };
  const auto error_with = [](const Tree& tree, size_t at, auto value) {
    std::string bytes = tree.bytes;
    set(bytes, at, value);
    return error_of(bytes);
  };
  constexpr size_t kKey = 4;
  const auto first = get<uint64_t>(large.bytes, node(large, 0) + 8 + kKey);
  for (const uint64_t page : {first, first + 2})
    EXPECT_EQ(
        error_with(large, node(large, 1) + 8 + kKey, page),
        fmt::format("made.up is damaged at byte {}: page {}: it lies in 3 pages from page {} on, which are "
                    "a value's",
                    page * kPage, page, first));
  const uint64_t root = large.root / kPage;
  EXPECT_NE(error_with(large, node(large, 0) + 8 + kKey, root), "") << "a value on the leaf that names it";
  const Tree small = tree_of(2, 9);
  // The second node lies before the first: one that is there twice, and one that grew.
  const size_t there = node(small, 0) - small.root, before = node(small, 1) - small.root;
  EXPECT_NE(error_with(small, small.root + 18, static_cast<uint16_t>(there))
                .find(fmt::format("the node lies within that at {}", there)),
            std::string::npos);
  EXPECT_NE(error_with(small, small.root + before, uint32_t{11})
                .find(fmt::format("the node lies within that at {}", before)),
            std::string::npos);
}

// ---- records

std::string varint_of(uint64_t number) {
  std::string out;
  for (; number > 127; number >>= 7) out += static_cast<char>((number & 127) | 128);
  return out + static_cast<char>(number);
}
std::string field(int number, int64_t value) {
  return varint_of(static_cast<uint64_t>(number) << 3) + varint_of(static_cast<uint64_t>(value));
}
std::string field(int number, const std::string& bytes) {
  return varint_of(static_cast<uint64_t>(number) << 3 | 2) + varint_of(bytes.size()) + bytes;
}
std::string floats(const std::vector<float>& values) {
  return field(3, std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size()));
}
std::string tensor(int64_t type, const std::string& rest) { return field(1, field(2, type) + rest); }
std::string integers(const std::vector<int64_t>& values) {
  std::string out;
  for (const int64_t value : values) out += field(4, value);
  return out;
}

TextRun run_records(const std::string& reader, const std::vector<std::string>& records,
                    const std::string& more, const std::string& outputs, const std::string& options) {
  Library library("records");
  for (size_t k = 0; k < records.size(); ++k) library.put(fmt::format("{:03}", k), records[k]);
  library.commit();
  return run_text(fmt::format("{} = fn.readers.{}(path=\"{}\"{})\nreturn {}", outputs, reader, library.path(),
                              more, outputs),
                  options);
}
std::string error_of_records(const std::string& reader, const std::vector<std::string>& records,
                             const std::string& more = {}, const std::string& outputs = "a, b") {
  const TextRun run = run_records(reader, records, more, outputs,
                                  fmt::format("batch_size={}", std::max<size_t>(1, records.size())));
  std::string text = run.errors.empty() ? "" : run.errors.front();
  const std::string folder = own_path("lmdb_records").string();
  for (size_t at = 0; (at = text.find(folder)) != std::string::npos;) text.replace(at, folder.size(), "@");
  return text;
}
std::vector<double> numbers(const TextRun& run, size_t output, size_t sample = 0) {
  const runtime::Tensor& tensor = run.batch->outputs[output].samples[sample];
  std::vector<double> out;
  for (int64_t e = 0; e < tensor.volume(); ++e)
    out.push_back(cell_to_double(
        tensor.dtype,
        load_cell(tensor.dtype, tensor.data + e * static_cast<int64_t>(size_of(tensor.dtype)))));
  return out;
}

const std::string kImage = tensor(4, field(6, "jpeg"));

/// Label types as Caffe2 defines them (caffe2/image/image_input_op.h): weights are the tensor behind the
/// labels, and places without weights have none.
TEST(Caffe2, LabelsByPlaceAndWeight) {
  const std::vector<std::string> records = {
      kImage + tensor(2, integers({4, 1})) + tensor(1, floats({0.25F, -2})) +
          tensor(2, integers({9, 8, 7, 6})),
      kImage + tensor(2, integers({})) + tensor(1, floats({})) + tensor(2, integers({1, 2, 3, 4}))};
  const TextRun weighted =
      run_records("caffe2", records, ", label_type=3, num_labels=5, bbox=True", "a, b, c", "batch_size=2");
  ASSERT_EQ(weighted.errors, std::vector<std::string>());
  EXPECT_EQ(weighted.batch->outputs[1].samples[0].dtype, DType::kF32);
  EXPECT_EQ(numbers(weighted, 1), (std::vector<double>{0, -2, 0, 0, 0.25}));
  EXPECT_EQ(numbers(weighted, 1, 1), (std::vector<double>{0, 0, 0, 0, 0}));
  EXPECT_EQ(numbers(weighted, 2), (std::vector<double>{9, 8, 7, 6}));
  const TextRun places = run_records("caffe2", records, ", label_type=1, num_labels=5, additional_inputs=1",
                                     "a, b, c", "batch_size=2");
  ASSERT_EQ(places.errors, std::vector<std::string>());
  EXPECT_EQ(places.batch->outputs[1].samples[0].dtype, DType::kI32);
  EXPECT_EQ(numbers(places, 1), (std::vector<double>{0, 1, 0, 0, 1}));
  EXPECT_EQ(numbers(places, 2), (std::vector<double>{0.25, -2}));
}

TEST(Caffe2, SaysWhatARecordLacks) {
  const std::string one = kImage + tensor(2, integers({1}));
  EXPECT_EQ(error_of_records("caffe2", {one, kImage + tensor(2, integers({1, 2}))}),
            "G0802 @ at key 001 has 2 numbers for a single label, not 1");
  EXPECT_EQ(error_of_records("caffe2", {one, kImage}),
            "G0802 @ at key 001 has 1 tensors, and none that is a label");
  EXPECT_EQ(error_of_records("caffe2", {one, kImage + tensor(1, floats({1}))}),
            "G0802 @ at key 001 has f32[1] for label, which is i32[1] in this reader");
  EXPECT_EQ(error_of_records("caffe2", {one, tensor(3, field(1, 2) + field(1, 2) + field(5, "abc"))}),
            "G0802 @ at key 001 has 3 bytes for an image of 2 x 2 x 1");
  EXPECT_EQ(error_of_records("caffe2", {kImage + tensor(2, integers({5}))}, ", label_type=1, num_labels=5"),
            "G0802 @ at key 000 has the label 5, where num_labels is 5");
  EXPECT_EQ(error_of_records("caffe2", {kImage + tensor(2, integers({0, 1})) + tensor(1, floats({1}))},
                             ", label_type=3, num_labels=5"),
            "G0802 @ at key 000 has weights for only 1 of its labels");
  EXPECT_EQ(error_of_records("caffe2", {one}, ", bbox=True", "a, b, c"),
            "G0802 @ at key 000 has 2 tensors, and none that is the bounding box");
  EXPECT_EQ(error_of_records("caffe2", {"\x0A\x7F"}),
            "G0460 fn.readers.caffe2: the first record says what all are: the first record of @ holds no "
            "whole TensorProtos of Caffe2");
  EXPECT_EQ(error_of_records("caffe2", {"\x0A\x7F"}, ", encoded=True, dtypes=[types.UINT8, types.INT32]"),
            "G0802 @ at key 000 holds no whole TensorProtos of Caffe2");
  EXPECT_EQ(error_of_records("caffe2", {one}, ", dtypes=[types.UINT8]"),
            "G0460 fn.readers.caffe2: 2 outputs, but 1 element types");
  EXPECT_EQ(error_of_records("caffe2", {one}, ", dtypes=[types.UINT8, types.INT64]"),
            "G0460 fn.readers.caffe2: dtypes says i64 of output 1");
  EXPECT_EQ(error_of_records("caffe2", {one}, ", label_type=5"), "G0460 fn.readers.caffe2: label_type is 5");
}

/// Of more than a megabyte: their bytes do not go through a buffer.
TEST(Caffe, LargeRecordsAreWhatWasWritten) {
  std::string text;
  for (uint32_t k = 0; k < 400'000; ++k) text.append(reinterpret_cast<const char*>(&k), 4);
  const std::string encoded = field(4, text) + field(5, 3),
                    pixels = field(1, 4) + field(2, 1) + field(3, 400'000);
  for (const auto& [reader, record, label] :
       {std::tuple{"caffe", encoded, 3},
        {"caffe", pixels + field(4, text) + field(5, 4) + field(7, 0), 4},
        {"caffe2", tensor(4, field(6, text)) + tensor(2, integers({5})), 5},
        {"caffe2",
         tensor(3, field(1, 1) + field(1, 400'000) + field(1, 4) + field(5, text)) + tensor(2, integers({6})),
         6}}) {
    const TextRun run = run_records(reader, {record}, "", "a, b", "batch_size=1");
    ASSERT_EQ(run.errors, std::vector<std::string>());
    const runtime::Tensor& image = run.batch->outputs[0].samples[0];
    ASSERT_EQ(static_cast<size_t>(image.num_bytes()), text.size());
    EXPECT_EQ(std::memcmp(image.data, text.data(), text.size()), 0) << reader << " " << label;
    EXPECT_EQ(numbers(run, 1), std::vector<double>{static_cast<double>(label)});
  }
}

TEST(Caffe, SaysWhatIsWrongWithARecord) {
  const std::string encoded = field(4, "jpeg") + field(5, 3),
                    raw = field(1, 3) + field(2, 1) + field(3, 2) + field(4, "rgbrgb") + field(7, 0);
  EXPECT_EQ(error_of_records("caffe", {encoded, raw}),
            "G0802 @ at key 001 has u8[1,2,3] for image, which is u8[?] in this reader");
  EXPECT_EQ(error_of_records("caffe",
                             {raw, field(4, "rgb") + field(1, 3) + field(2, 1) + field(3, 2) + field(7, 0)}),
            "G0802 @ at key 001 has 3 bytes for an image of 1 x 2 with 3 channels");
  EXPECT_EQ(error_of_records("caffe",
                             {raw, field(1, -1) + field(2, -1) + field(3, 1) + field(4, "r") + field(7, 0)}),
            "G0802 @ at key 001 has 1 bytes for an image of -1 x 1 with -1 channels");
  EXPECT_EQ(error_of_records("caffe", {encoded, field(6, 1)}),
            "G0802 @ at key 001 holds its image as float_data, which no reader takes");
  EXPECT_EQ(error_of_records("caffe", {encoded}, ", image_available=False, label_available=False", "a"),
            "G0460 fn.readers.caffe: neither images nor labels");
  EXPECT_EQ(error_of_records("caffe", {}),
            "G0460 fn.readers.caffe: the first record says what all images are: no records in @");
  EXPECT_EQ(
      run_text("a, b = fn.readers.caffe(path=\"nowhere\", encoded=True)\nreturn a, b", "batch_size=1").errors,
      std::vector<std::string>{"G0801 cannot read nowhere: No such file or directory"});
  // The layout of pixels is known, and a record that fails is skipped.
  const TextRun skipped =
      run_records("caffe", {raw, encoded, raw}, "", "a, b", "batch_size=3, on_error=\"skip\"");
  ASSERT_EQ(skipped.errors, std::vector<std::string>());
  EXPECT_EQ(skipped.batch->outputs[0].samples.size(), 2U);
}

}  // namespace
}  // namespace galatea::testing
