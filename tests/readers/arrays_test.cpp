// Arrays of NumPy from bytes and from files by their names, parts of them that differ from sample to sample, and
// tensors that are compressed.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/scalar_op.h"
#include "stdlib_ops/native/convert_elements.h"
#include "stdlib_ops/native/lz4_inflate.h"
#include "stdlib_ops/native/npy_functions.h"
#include "stdlib_ops/native/npy_source.h"
#include "tests/native/plain_call.h"
#include "tests/readers/recorded_cases.h"
#include "tests/readers/run_text.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<int64_t>;

std::string bytes_text(std::string_view bytes) {
  const std::vector<int> numbers(reinterpret_cast<const uint8_t*>(bytes.data()),
                                 reinterpret_cast<const uint8_t*>(bytes.data()) + bytes.size());
  return fmt::format("fn.constant(idata=[{}], shape=[{}], dtype=types.UINT8)", fmt::join(numbers, ", "),
                     numbers.size());
}

std::string list_text(const Numbers& numbers) {
  return fmt::format("fn.constant(idata=[{0}], shape=[{1}], dtype=types.INT32)", fmt::join(numbers, ", "),
                     numbers.size());
}

TEST(Arrays, AreReadAsDaliReadsThem) { expect_as_recorded("arrays.json", 20); }

/// Where there is a reader of one array, it gives the same part as the node that stands for it.
TEST(Arrays, ARegionOfTheSampleIsTheSameAsOneOfTheText) {
  for (const char* file : {"c_f32.npy", "fortran_u32.npy"}) {
    const TextRun fixed = run_text(
        in_folder(fmt::format(
            "return fn.readers.numpy(files=\"@/{}\", roi_start=[1, 0, 2], roi_end=[3, 3, 3])", file)),
        "batch_size=1");
    const TextRun fed = run_text(
        in_folder(fmt::format("return fn.readers.numpy(files=\"@/{}\", roi_start={}, roi_end={}, name=\"a\", "
                              "cache_header_information=True)",
                              file, list_text({1, 0, 2}), list_text({3, 3, 3}))),
        "batch_size=1");
    ASSERT_EQ(fixed.errors, std::vector<std::string>());
    ASSERT_EQ(fed.errors, std::vector<std::string>());
    const runtime::Tensor &a = fixed.batch->outputs[0].samples[0], &b = fed.batch->outputs[0].samples[0];
    ASSERT_EQ(a.num_bytes(), b.num_bytes());
    EXPECT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(a.num_bytes())), 0) << file;
    // The reader that is left has the name, and the samples are named by their files.
    EXPECT_EQ(fed.session->reader_meta().count("a"), 1U);
  }
  const TextRun named =
      run_text(in_folder("x = fn.readers.numpy(files=\"@/u8.npy\", roi_start=" + list_text({2}) +
                         ")\nreturn x.source_info()"),
               "batch_size=1");
  ASSERT_EQ(named.errors, std::vector<std::string>());
  const runtime::Tensor& name = named.batch->outputs[0].samples[0];
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(name.data), static_cast<size_t>(name.volume())),
            kRecorded + "/u8.npy");
}

TEST(Arrays, SayWhatIsWrongWithARegion) {
  const std::string numpy = "fn.readers.numpy: ", call = "return fn.readers.numpy(files=\"@/c_f32.npy\", ";
  EXPECT_EQ(first_error(call + "roi_start=[1, 2])"), "G0460 " + numpy + "roi_start has 2 numbers for 3 axes");
  EXPECT_EQ(first_error(call + "roi_start=" + list_text({1, 2}) + ")"),
            "G0460 " + numpy + "roi_start has 2 numbers for 3 axes");
  EXPECT_EQ(first_error(call + "roi_axes=[3], roi_start=[1])"),
            "G0460 " + numpy + "roi_axes names axis 3 of arrays of 3 axes");
  EXPECT_EQ(first_error(call + "roi_axes=[0, -3], roi_start=[1, 1])"),
            "G0460 " + numpy + "roi_axes names axis 0 twice");
  EXPECT_EQ(first_error(call + "roi_start=" + list_text({1}) + ", rel_roi_start=[0.5])"),
            "G0460 " + numpy + "roi_start and rel_roi_start exclude each other");
  EXPECT_EQ(first_error("x = fn.random.coin_flip()\nif x:\n    s = fn.cast(x, dtype=types.INT32)\n"
                        "    y = fn.readers.numpy(files=\"@/u8.npy\", roi_start=s)\nelse:\n"
                        "    y = fn.constant(idata=[1], shape=[1], dtype=types.UINT8)\nreturn y"),
            "G0460 " + numpy + "roi_start depends on a branch");
  // What only the sample can tell.
  EXPECT_EQ(first_error(call + "roi_start=" + list_text({1, 2, 2}) + ", roi_shape=[1, 9, 1])"),
            "G0802 " + kRecorded + "/c_f32.npy: [2, 11) of axis 1 is wanted, which has an extent of 7");
  EXPECT_EQ(first_error(call + "roi_start=" + list_text({3}) + ", roi_end=[2])"),
            "G0802 " + kRecorded + "/c_f32.npy: the end 2 of axis 0 lies before its start 3");
  EXPECT_EQ(first_error(call + "roi_shape=" + list_text({-1}) + ")"),
            "G0802 " + kRecorded + "/c_f32.npy: -1 elements of axis 0 are wanted");
  EXPECT_EQ(
      first_error(call + "roi_start=fn.cast(" + list_text({1}) +
                  ", dtype=types.INT64) * 1000000000 * 1000000000, out_of_bounds_policy=\"pad\")"),
      "G0802 " + kRecorded + "/c_f32.npy: the start 1000000000000000000 of axis 0 is out of all bounds");
  EXPECT_EQ(
      first_error("return fn.readers.numpy(files=\"@/c_f32.npy\", dtype=types.UINT8, ndim=3, roi_start=" +
                  list_text({1}) + ")"),
      "G0802 " + kRecorded +
          "/c_f32.npy is f32[5,7,3]; it must be u8 of 3 axes, as all arrays of this reader");
}

/// A header that is kept is read again where the file has another size.
TEST(Arrays, KeptHeadersAreThoseOfTheFile) {
  native::NpyHeaders kept(true), read(false);
  const std::string small = recorded_bytes("u8.npy"), large = recorded_bytes("c_f32.npy");
  for (const std::string& bytes : {small, large, small}) {
    const auto file = native::bytes_in_memory("made.up", bytes);
    const auto ours = kept.of(*file), theirs = read.of(*file);
    ASSERT_TRUE(ours && theirs);
    EXPECT_EQ(ours->shape, theirs->shape);
    EXPECT_EQ(ours->dtype, theirs->dtype);
  }
  // The same size: what stands there is not looked at.
  std::string other = small;
  other[0] = '?';
  EXPECT_TRUE(kept.of(*native::bytes_in_memory("made.up", other)));
  EXPECT_FALSE(read.of(*native::bytes_in_memory("made.up", other)));
}

TEST(Arrays, SayWhatIsWrongWithBytes) {
  const std::string array = bytes_text(recorded_bytes("u8.npy"));
  EXPECT_EQ(first_error("return fn.decoders.numpy(" + array + ", ndim=1)"),
            "G0460 fn.decoders.numpy: which element type the arrays have is not known before they are there");
  EXPECT_EQ(first_error("return fn.decoders.numpy(" + array + ", dtype=types.UINT8)"),
            "G0460 fn.decoders.numpy: how many axes the arrays have is not known before they are there");
  EXPECT_EQ(first_error("return fn.decoders.numpy(" + array + ", dtype=types.UINT8, ndim=99)"),
            "G0460 fn.decoders.numpy: ndim is 99");
  EXPECT_EQ(first_error("return fn.decoders.numpy(" + array + ", dtype=types.UINT8, ndim=2)"),
            "G0802 the array has 1 axes, not 2");
  EXPECT_EQ(first_error("return fn.decoders.numpy(" + array + "[1:], dtype=types.UINT8, ndim=1)"),
            "G0802 the input is no array that can be read: it does not begin as a .npy file does");
}

/// Every pair of types, on elements that are hard to convert: as the language's own conversion has it.
TEST(Arrays, ElementsAreConvertedAsByCast) {
  const double numbers[] = {0,
                            0.4,
                            0.5,
                            -0.5,
                            1,
                            1.5,
                            2.5,
                            -2.5,
                            127,
                            128,
                            254.5,
                            255,
                            256,
                            -128,
                            -129,
                            32767,
                            65535,
                            2147483647,
                            4294967296,
                            1e10,
                            -1e10,
                            1e300,
                            3e4,
                            7e4,
                            0.49,
                            9223372036854775807.0,
                            18446744073709551615.0,
                            -9.3e18,
                            -1,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  size_t compared = 0;
  for (int f = 0; f < kNumDTypes; ++f)
    for (int t = 0; t < kNumDTypes; ++t) {
      const auto from = static_cast<DType>(f), to = static_cast<DType>(t);
      for (const double number : numbers) {
        const Cell cell = cell_from_double(from, number);
        uint8_t source[8] = {}, target[8] = {}, wanted[8] = {};
        store_cell(from, source, cell);
        native::convert_elements(from, source, to, target, 1);
        uint32_t flags = 0;
        const double value = cell_to_double(from, cell);
        const Cell expected = is_bool(to) && is_float(from)
                                  ? cell_from_int(to, std::abs(value) < 0.5 ? 0 : 1)
                                  : evaluate(ScalarOp::kSaturate, to, from, &cell, &flags);
        store_cell(to, wanted, expected);
        if (is_float(to) && std::isnan(cell_to_double(to, expected)))
          EXPECT_TRUE(std::isnan(cell_to_double(to, load_cell(to, target))));
        else
          EXPECT_EQ(std::memcmp(target, wanted, sizeof target), 0)
              << short_name(from) << " " << number << " to " << short_name(to) << ": "
              << cell_to_double(to, load_cell(to, target)) << ", not " << cell_to_double(to, expected);
        ++compared;
      }
    }
  EXPECT_GT(compared, 4000U);
}

// ---- files by name

TEST(FilesByName, HaveTheirBytes) {
  const fs::path folder = own_path("files_by_name");
  fs::create_directories(folder);
  std::ofstream(folder / "empty").flush();
  const std::string array = recorded_bytes("c_f32.npy");
  const TextRun run =
      run_text("name = " + bytes_text(kRecorded + "/c_f32.npy") +
                   "\nzero = " + bytes_text(kRecorded + "/c_f32.npy" + std::string("\0rest", 5)) +
                   "\nreturn fn.io.file.read(name), fn.io.file.read(fn.reinterpret(zero, dtype=types.INT8)), "
                   "fn.io.file.read(" +
                   bytes_text((folder / "empty").string()) +
                   "), fn.decoders.numpy(fn.io.file.read(name), dtype=types.FLOAT, ndim=3)",
               "batch_size=2");
  ASSERT_EQ(run.errors, std::vector<std::string>());
  for (const size_t k : {size_t{0}, size_t{1}}) {
    const runtime::Tensor& bytes = run.batch->outputs[k].samples[1];
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data), static_cast<size_t>(bytes.volume())),
              array);
  }
  EXPECT_EQ(run.batch->outputs[2].samples[0].volume(), 0);
  EXPECT_EQ(run.batch->outputs[3].samples[0].volume(), 5 * 7 * 3);
  const std::string read = "return fn.io.file.read(";
  EXPECT_EQ(first_error(read + bytes_text("/nowhere/at/all") + ")"),
            "G0801 cannot read /nowhere/at/all: No such file or directory");
  EXPECT_EQ(first_error(read + bytes_text(folder.string()) + ")"),
            "G0801 " + folder.string() + " is not a regular file");
  EXPECT_EQ(first_error(read + bytes_text(std::string("\0", 1)) + ")"), "G0801 the name of a file is empty");
  EXPECT_EQ(first_error(read + bytes_text(std::string(4096, 'x')) + ")"),
            "G0801 the name of a file has 4096 bytes");
  fs::remove_all(folder);
}

// ---- compressed

struct Compressed {
  std::vector<std::vector<uint8_t>> frames;
  std::vector<std::string> blocks;
  std::string packed;
  Numbers offsets, sizes;
};

/// Frames of [6, 5, 3], as the package lz4 compressed them.
const Compressed& compressed() {
  static const Compressed loaded = [] {
    Compressed out;
    const nlohmann::json json = parse_json(recorded_bytes("frames.lz4.json"));
    for (const auto& frame : json["frames"]) out.frames.push_back(frame.get<std::vector<uint8_t>>());
    for (const auto& block : json["blocks"]) {
      const auto bytes = block.get<std::vector<uint8_t>>();
      out.blocks.emplace_back(bytes.begin(), bytes.end());
      out.offsets.push_back(static_cast<int64_t>(out.packed.size()));
      out.sizes.push_back(static_cast<int64_t>(bytes.size()));
      out.packed += out.blocks.back();
    }
    return out;
  }();
  return loaded;
}

void expect_frames(const std::string& arguments, const std::vector<size_t>& frames,
                   const std::string& bytes) {
  SCOPED_TRACE(arguments);
  const TextRun run = run_text("return fn.decoders.inflate(" + bytes_text(bytes) +
                                   ", shape=[6, 5, 3], layout=\"HWC\"" + arguments + ")",
                               "batch_size=1");
  ASSERT_EQ(run.errors, std::vector<std::string>());
  const runtime::Tensor& out = run.batch->outputs[0].samples[0];
  ASSERT_EQ(std::vector<int64_t>(out.extents, out.extents + out.ndim),
            (Numbers{static_cast<int64_t>(frames.size()), 6, 5, 3}));
  EXPECT_EQ(run.session->program()->outputs[0].port.layout_text(), "FHWC");
  for (size_t k = 0; k < frames.size(); ++k)
    EXPECT_EQ(std::memcmp(out.data + k * 90, compressed().frames[frames[k]].data(), 90), 0) << "chunk " << k;
}

TEST(Inflate, GivesWhatWasCompressed) {
  const Compressed& c = compressed();
  ASSERT_EQ(c.frames.size(), 4U);
  for (size_t k = 0; k < c.frames.size(); ++k) {
    const TextRun run = run_text("return fn.decoders.inflate(" + bytes_text(c.blocks[k]) +
                                     ", shape=fn.constant(idata=[9, 5], shape=[2]), dtype=types.INT16)",
                                 "batch_size=2");
    ASSERT_EQ(run.errors, std::vector<std::string>());
    const runtime::Tensor& out = run.batch->outputs[0].samples[1];
    EXPECT_EQ(out.dtype, DType::kI16);
    ASSERT_EQ(out.num_bytes(), 90);
    EXPECT_EQ(std::memcmp(out.data, c.frames[k].data(), 90), 0);
  }
}

TEST(Inflate, GivesChunksAsASequence) {
  const Compressed& c = compressed();
  const auto text = [](const Numbers& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); };
  expect_frames(", chunk_sizes=" + text(c.sizes), {0, 1, 2, 3}, c.packed);
  expect_frames(", chunk_offsets=" + text(c.offsets), {0, 1, 2, 3}, c.packed);
  expect_frames(", chunk_sizes=" + list_text(c.sizes), {0, 1, 2, 3}, c.packed);
  expect_frames(", chunk_offsets=" + list_text(c.offsets), {0, 1, 2, 3}, c.packed);
  // In another order, some of them, twice: with both lists chunks lie anywhere.
  const Numbers offsets = {c.offsets[2], c.offsets[0], c.offsets[2]},
                sizes = {c.sizes[2], c.sizes[0], c.sizes[2]};
  expect_frames(", chunk_offsets=" + text(offsets) + ", chunk_sizes=" + text(sizes), {2, 0, 2}, c.packed);
  expect_frames(", chunk_offsets=" + list_text(offsets) + ", chunk_sizes=" + text(sizes), {2, 0, 2},
                c.packed);
  expect_frames(", chunk_offsets=" + text(offsets) + ", chunk_sizes=" + list_text(sizes), {2, 0, 2},
                c.packed);
  expect_frames(", chunk_offsets=" + list_text(offsets) + ", chunk_sizes=" + list_text(sizes), {2, 0, 2},
                c.packed);
  expect_frames(", chunk_sizes=fn.cast(" + list_text({c.sizes[0]}) + ", dtype=types.UINT64)", {0}, c.packed);
}

TEST(Inflate, SaysWhatIsWrong) {
  const Compressed& c = compressed();
  const std::string call = "return fn.decoders.inflate(" + bytes_text(c.packed) + ", ",
                    dali = "fn.decoders.inflate: ";
  EXPECT_EQ(first_error(call + "shape=[90], algorithm=\"zstd\")"), "G0460 " + dali + "algorithm is \"zstd\"");
  EXPECT_EQ(first_error(call + "shape=[90, -1])"), "G0460 " + dali + "shape has -1");
  EXPECT_EQ(first_error(call + "shape=[90], layout=\"HW\")"),
            "G0460 " + dali + "layout \"HW\" has 2 axes, shape 1");
  EXPECT_EQ(first_error(call + "shape=[90], layout=\"F\", chunk_sizes=[9])"),
            "G0460 " + dali + "layout \"F\" has an axis F already");
  EXPECT_EQ(first_error(call + "shape=[90], chunk_sizes=[9], chunk_offsets=[1, 2])"),
            "G0460 " + dali + "there are 2 chunk_offsets and 1 chunk_sizes");
  EXPECT_EQ(first_error(call + "shape=[90], chunk_sizes=" + list_text({9}) +
                        ", chunk_offsets=" + list_text({1, 2}) + ")"),
            "G0802 there are 2 chunk_offsets and 1 chunk_sizes");
  EXPECT_EQ(first_error(call + "shape=" + list_text({-3}) + ")"), "G0460 " + dali + "shape has -3");
  EXPECT_EQ(first_error(call + "shape=[90], chunk_offsets=[-1])"),
            fmt::format("G0802 chunk 0 begins at byte -1 of {}", c.packed.size()));
  EXPECT_EQ(first_error(call + "shape=[90], chunk_offsets=[20, 10])"),
            fmt::format("G0802 chunk 0 has -1 bytes from byte 20 on, and the sample {}", c.packed.size()));
  EXPECT_EQ(first_error(call + "shape=[90], chunk_sizes=[9223372036854775807])"),
            fmt::format("G0802 chunk 0 has 9223372036854775807 bytes from byte 0 on, and the sample {}",
                        c.packed.size()));
  const std::string one = "return fn.decoders.inflate(" + bytes_text(c.blocks[0]) + ", ";
  EXPECT_EQ(first_error(one + "shape=[91])"), "G0802 chunk 0 holds 90 bytes, and shape and dtype ask for 91");
  EXPECT_EQ(first_error(one + "shape=[89])"), "G0802 chunk 0 is no block of LZ4 that holds 89 bytes");
  EXPECT_EQ(first_error(one + "shape=[3000000000])"), "G0802 chunk 0 has more than 2147483647 bytes");
}

/// A call of the function alone.
class Call final : public PlainCall {
 public:
  Result<uint8_t*> scratch(int64_t bytes) override {
    memory_.emplace_back(static_cast<size_t>(bytes));
    return memory_.back().data();
  }

 private:
  std::vector<std::vector<uint8_t>> memory_;
};

TEST(Inflate, SurvivesDamage) {
  const runtime::NativeFunction function = native::inflate_function();
  const auto state = function.prepare("{}");
  ASSERT_TRUE(state);
  int errors = 0;
  auto look = [&](std::string bytes) {
    runtime::Tensor input, output;
    input.set_dense(DType::kU8, std::vector<int64_t>{static_cast<int64_t>(bytes.size())});
    input.data = reinterpret_cast<uint8_t*>(bytes.data());
    std::vector<uint8_t> room(90 + 32, 0xA5);
    output.set_dense(DType::kU8, std::vector<int64_t>{90});
    output.data = room.data() + 16;
    Call call;
    call.inputs = {&input, 1};
    call.output = &output;
    call.state = state->get();
    if (const Status status = function.call(call); !status) {
      ++errors;
      EXPECT_EQ(status.error().kind, ErrorKind::kUser);
    }
    for (size_t i = 0; i < 16; ++i) ASSERT_TRUE(room[i] == 0xA5 && room[room.size() - 1 - i] == 0xA5);
  };
  for (const std::string& block : compressed().blocks) {
    for (size_t size = 0; size < block.size(); ++size) look(block.substr(0, size));
    for (size_t at = 0; at < block.size(); ++at)
      for (int value = 0; value < 256; ++value) {
        std::string bytes = block;
        bytes[at] = static_cast<char>(value);
        look(std::move(bytes));
      }
  }
  EXPECT_GT(errors, 100);
}

TEST(Arrays, BytesThatAreDamagedAreAnError) {
  std::vector<runtime::NativeFunction> functions = native::numpy_functions();
  const auto state = functions[0].prepare("3");
  ASSERT_TRUE(state);
  const std::string whole = recorded_bytes("fortran_u32.npy");
  int errors = 0;
  for (size_t at = 0; at < 2 * whole.size(); ++at) {
    std::string bytes = at < whole.size() ? whole.substr(0, at) : whole;
    if (at >= whole.size()) bytes[at - whole.size()] ^= '\x11';
    runtime::Tensor input, output;
    input.set_dense(DType::kU8, std::vector<int64_t>{static_cast<int64_t>(bytes.size())});
    input.data = reinterpret_cast<uint8_t*>(bytes.data());
    Call call;
    std::vector<Cell> extents(3);
    call.inputs = {&input, 1};
    call.state = state->get();
    call.scalar_results = extents;
    if (Status status = functions[0].call(call); !status) {
      ++errors;
      ASSERT_EQ(status.error().kind, ErrorKind::kUser);
      continue;
    }
    output.set_dense(DType::kF32, std::vector<int64_t>{static_cast<int64_t>(extents[0].bits),
                                                       static_cast<int64_t>(extents[1].bits),
                                                       static_cast<int64_t>(extents[2].bits)});
    ASSERT_LT(output.num_bytes(), 1 << 16);
    std::vector<uint8_t> room(static_cast<size_t>(output.num_bytes()));
    output.data = room.data();
    call.output = &output;
    ASSERT_TRUE(functions[1].call(call)) << "what peek accepts can be decoded";
  }
  EXPECT_GT(errors, 400);
}

}  // namespace
}  // namespace galatea::testing
