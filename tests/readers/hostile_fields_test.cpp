// Each number of each container, set to numbers that no writer would write there: 0, 1, -1, the largest ones, what is
// just past the file, and what the other numbers of the file are, so that places lie over each other and lead back
// to themselves. Checksums over a number are right again afterwards: otherwise only they would be tested.
//
// Comes in: a table of containers, each a small file that a peer wrote. Held: the file is read, or an error names it
// and the place in it; what is asked of memory and of the disk is bounded by the size of the file.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>

#include <fmt/format.h>

#include "base/fault.h"
#include "stdlib_ops/native/caffe.h"
#include "stdlib_ops/native/coco.h"
#include "stdlib_ops/native/fits_source.h"
#include "stdlib_ops/native/image_sequence.h"
#include "stdlib_ops/native/lz4_inflate.h"
#include "stdlib_ops/native/nemo_source.h"
#include "stdlib_ops/native/npy_source.h"
#include "stdlib_ops/native/record_io.h"
#include "stdlib_ops/native/sound/sound_library.h"
#include "stdlib_ops/native/tfrecord.h"
#include "stdlib_ops/native/webdataset.h"
#include "tests/native/plain_call.h"
#include "tests/readers/number_fields.h"
#include "tests/readers/recorded_cases.h"
#include "tests/support/address_space.h"
#include "tests/support/cases.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Memory for the outputs of a sample, of no more bytes than `most`: more is what a memory limit would refuse.
class Outputs {
 public:
  explicit Outputs(int64_t most) : most_(most) {}
  runtime::AllocateOutput allocate = [this](int, DType dtype,
                                            const std::vector<int64_t>& extents) -> Result<runtime::Tensor*> {
    int64_t bytes = static_cast<int64_t>(size_of(dtype));
    for (const int64_t extent : extents) {
      EXPECT_GE(extent, 0);
      if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > most_) {
        ++refused;
        return make_error(ErrorKind::kUser, "G0000", "made.up at byte 0: more than the limit", "");
      }
    }
    tensors_.push_back(std::make_unique<runtime::Tensor>());
    tensors_.back()->set_dense(dtype, extents);
    memory_.emplace_back(static_cast<size_t>(bytes) + 1);
    tensors_.back()->data = memory_.back().data();
    return tensors_.back().get();
  };
  int refused = 0;

 private:
  int64_t most_;
  std::vector<std::vector<uint8_t>> memory_;
  std::vector<std::unique_ptr<runtime::Tensor>> tensors_;
};

using Open = Result<std::unique_ptr<runtime::SampleSource>> (*)(const std::string& config);

/// All samples of a source; the first error of any.
Status read_source(const runtime::SampleSource& source, Outputs& outputs) {
  Status first;
  const auto keep = [&first](Status status) {
    if (first && !status) first = std::move(status);
  };
  if (source.size() == runtime::SampleSource::kUnknownSize) {
    GALATEA_ASSIGN(const auto pass, source.start({}));
    for (int samples = 0;; ++samples) {
      EXPECT_LT(samples, 10'000) << "more samples than the file has bytes";
      GALATEA_ASSIGN(const auto sample, pass->next());
      if (!sample || samples > 10'000) return first;
      EXPECT_NE(sample->describe(), "");
      keep(sample->read(outputs.allocate));
    }
  }
  for (int64_t i = 0; i < source.size(); ++i) {
    EXPECT_GE(source.bytes(i), 0);
    EXPECT_NE(source.describe(i), "");
    source.will_read(i);
    keep(source.read(i, outputs.allocate));
  }
  return first;
}

struct Container {
  std::string name;
  std::string file;  ///< the name of the one that is damaged, with "made.up" in it
  std::string whole;
  NumberFields fields;
  Open open;
  Json config;             ///< "@" stands for the folder
  int64_t most = 1 << 20;  ///< bytes of an output
  std::string place =
      "at byte [0-9]+|at index [0-9]+|at key |:[0-9]+:|^no (records|samples) in";  ///< what an error says beside the name
};

/// What the system counted of this process: bytes of reads.
uint64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string word;
  uint64_t bytes = 0;
  io >> word >> bytes;
  return bytes;
}

class HostileFields : public ::testing::Test {
 protected:
  void SetUp() override {
    if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "frames");
    fs::create_directories(folder_ / "images");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& bytes) const {
    fs::remove(folder_ / name);  // a file that is written over goes to the disk at once
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  /// Reads the container with these bytes; whether it was an error.
  bool look(const Container& container, const std::string& bytes, const std::string& what) {
    SCOPED_TRACE(container.name + ": " + what);
    put(container.file, bytes);
    const Json config = parse_json(in_folder(container.config.dump(), folder_.string()));
    Outputs outputs(container.most);
    const uint64_t before = bytes_read();
    Status status;
    try {
      status = [&]() -> Status {
        GALATEA_ASSIGN(const auto source, container.open(config.dump()));
        return read_source(*source, outputs);
      }();
    } catch (const std::exception& thrown) {
      ADD_FAILURE() << "threw " << thrown.what();
    }
    EXPECT_LT(bytes_read() - before, 64 * bytes.size() + (1 << 20)) << "reads in circles";
    if (status) return false;
    EXPECT_EQ(status.error().kind, ErrorKind::kUser) << status.error().message();
    EXPECT_NE(status.error().message().find("made.up"), std::string::npos) << status.error().message();
    if (outputs.refused == 0) {
      EXPECT_TRUE(std::regex_search(status.error().message(), place_)) << status.error().message();
    }
    return true;
  }

  void sweep(const Container& container) {
    place_ = std::regex(container.place);
    ASSERT_FALSE(look(container, container.whole, "as it was written"));
    const NumberFields& fields = container.fields;
    ASSERT_GT(fields.count(), 0U);
    const AddressSpace limit(uint64_t{256} << 20);
    int errors = 0;
    for (size_t k = 0; k < fields.count(); ++k)
      for (const Number& number : numbers_for(fields, k, container.whole.size())) {
        errors +=
            look(container, fields.with(k, number), fmt::format("{} = {}", fields.name(k), number.text));
        if (HasFailure()) return;
      }
    EXPECT_GT(errors, 0) << container.name;
    // A long file is cut at the places that numbers begin and end at, and at some between.
    for (size_t size = 0; size < container.whole.size();
         size += container.whole.size() < 1200 || size % 512 < 3 ? 1 : 509 - size % 509 % 400) {
      look(container, container.whole.substr(0, size), fmt::format("cut to {} bytes", size));
      if (HasFailure()) return;
    }
  }

  std::regex place_;
  const fs::path folder_ = own_path("hostile_fields");
};

const Json kTfFeatures = {{"boxes", {{"dtype", "f32"}, {"fixed", false}, {"shape", Json::array()}}},
                          {"image", {{"dtype", "u8"}, {"fixed", true}, {"shape", Json::array()}}},
                          {"label", {{"dtype", "i64"}, {"fixed", true}, {"shape", Json::array({1})}}}};

TEST_F(HostileFields, OfTfRecord) {
  const std::string records = recorded_bytes("a.tfrecord"), index = recorded_bytes("a.idx");
  put("made.up.tfrecord", records);
  put("made.up.idx", index);
  const Json config = {{"path", "@/made.up.tfrecord"}, {"features", kTfFeatures}};
  Json streamed = config, indexed = config;
  streamed["stream"] = true;
  indexed["index_path"] = "@/made.up.idx";
  sweep({"records", "made.up.tfrecord", records, tfrecord_fields(records), native::open_tfrecord, config});
  sweep({"stream", "made.up.tfrecord", records, tfrecord_fields(records), native::open_tfrecord, streamed});
  sweep({"with an index", "made.up.tfrecord", records, tfrecord_fields(records), native::open_tfrecord,
         indexed, 1 << 20, "at byte|at index|has a record of"});
  put("made.up.tfrecord", records);
  sweep({"index", "made.up.idx", index, text_fields(index), native::open_tfrecord, indexed, 1 << 20,
         "has a record of|:[0-9]+:|at index|at byte|^no records"});
}

TEST_F(HostileFields, OfRecordIo) {
  const std::string records = recorded_bytes("all.rec"), index = recorded_bytes("all.rec.idx");
  put("made.up.rec", records);
  const Json config = {{"path", "@/made.up.rec"}};
  Json streamed = config, indexed = config;
  streamed["stream"] = true;
  indexed["index_path"] = "@/made.up.idx";
  sweep({"records", "made.up.rec", records, record_io_fields(records), native::open_mxnet, config});
  sweep({"stream", "made.up.rec", records, record_io_fields(records), native::open_mxnet, streamed});
  put("made.up.rec", records);
  sweep({"index", "made.up.idx", index, text_fields(index), native::open_mxnet, indexed, 1 << 20,
         "has a record at|:[0-9]+:|at byte|^no records"});
}

TEST_F(HostileFields, OfTar) {
  const Json config = {{"paths", "@/made.up.tar"}, {"ext", {"JPG;png;jpg", "cls"}}};
  Json streamed = config, indexed = config;
  streamed["stream"] = true;
  indexed["index_paths"] = "@/made.up.idx";
  for (const char* name : {"gnu.tar", "pax.tar", "ustar.tar"}) {
    const std::string archive = recorded_bytes(name);
    sweep({name, "made.up.tar", archive, tar_fields(archive), native::open_webdataset, config});
    sweep({std::string(name) + ", stream", "made.up.tar", archive, tar_fields(archive),
           native::open_webdataset, streamed});
  }
  put("made.up.tar", recorded_bytes("plain.tar"));
  const std::string index = "v1.2 2\njpg 512 3 a.jpg cls 1536 2 a.cls\njpg 2560 3 b.jpg cls 3584 2 b.cls\n";
  sweep({"index", "made.up.idx", index, text_fields(index), native::open_webdataset, indexed, 1 << 20,
         ":[0-9]+:|says that it has|within|is empty"});
}

TEST_F(HostileFields, OfLmdb) {
  for (const auto& [name, open, more] :
       {std::tuple{"caffe_lmdb", Open(native::open_caffe), Json{{"encoded", true}}},
        {"caffe2_lmdb", Open(native::open_caffe2), Json{{"encoded", true}, {"dtypes", {"u8", "i32"}}}}}) {
    const std::string database = recorded_bytes(std::string(name) + "/data.mdb");
    Json config = more;
    config["path"] = "@/made.up.mdb";
    sweep({name, "made.up.mdb", database, lmdb_fields(database), open, config, 1 << 20,
           "at byte [0-9]+|at index [0-9]+|at key |MDB_DUPSORT|databases that have names|^no records"});
  }
}

TEST_F(HostileFields, OfNumpy) {
  for (const char* name : {"c_f32.npy", "fortran_u32.npy", "scalar_f64.npy", "empty_i64.npy"}) {
    const std::string array = recorded_bytes(name);
    const Json config = {{"files", "@/made.up.npy"}};
    sweep({name, "made.up.npy", array, npy_fields(array), native::open_numpy, config, 1 << 20, "made.up"});
  }
}

TEST_F(HostileFields, OfFits) {
  for (const auto& [name, hdu] :
       {std::pair{"plain.fits", 2}, {"rice.fits", 2}, {"gzip.fits", 3}, {"stored.fits", 2}}) {
    std::string image = recorded_bytes(std::string("fits/") + name);
    // What lies behind the one that is read is not looked at.
    for (size_t at = image.find("XTENSION"), hdus = 2; at != std::string::npos;
         at = image.find("XTENSION", at + 1))
      if (at % 2880 == 0 && hdus++ == static_cast<size_t>(hdu) + 1) image.resize(at);
    const Json config = {{"files", "@/made.up.fits"}, {"hdu_indices", {hdu}}};
    sweep({name, "made.up.fits", image, fits_fields(image), native::open_fits, config, 1 << 20, "HDU"});
  }
}

TEST_F(HostileFields, OfCoco) {
  const std::string annotations = recorded_bytes("coco.json");
  for (const char* image : {"003.jpg", "005.jpg", "007.jpg", "012.jpg"})
    put(std::string("images/") + image, recorded_bytes(std::string("images/") + image));
  for (const char* masks : {"polygon_masks", "pixelwise_masks"}) {
    const Json config = {{"file_root", "@/images"},
                         {"annotations_file", "@/made.up.json"},
                         {masks, true},
                         {"ltrb", true},
                         {"ratio", true}};
    sweep({masks, "made.up.json", annotations, text_fields(annotations), native::open_coco, config, 1 << 20,
           "made.up"});
  }
}

TEST_F(HostileFields, OfManifestsAndSound) {
  if (const auto library = native::SoundLibrary::shared(); !library)
    GTEST_SKIP() << library.error().message();
  const std::string sound = recorded_bytes("speech/mono.wav"),
                    manifest = R"({"audio_filepath":"made.up.wav","duration":0.1,"offset":0.05,"text":"a"})"
                               "\n";
  put("made.up.wav", sound);
  const Json config = {{"manifest_filepaths", "@/made.up.json"}};
  sweep({"manifest", "made.up.json", manifest, text_fields(manifest), native::open_nemo, config, 1 << 20,
         "made.up"});
  put("made.up.json", manifest);
  sweep({"sound", "made.up.wav", sound, wav_fields(sound), native::open_nemo, config, 1 << 20, "made.up"});
}

TEST_F(HostileFields, OfFramesOfSequences) {
  const std::string frame = recorded_bytes("frames/a/000.png");
  put("frames/000.png", frame);
  const Json config = {{"file_root", "@"}, {"sequence_length", 2}};
  sweep({"png", "frames/made.up.png", frame, png_fields(frame), native::open_image_sequences, config, 1 << 20,
         "made.up"});
}

/// Records of Caffe and Caffe2 and examples of TensorFlow: every length and number of their protocol buffers, those
/// around it right again.
TEST_F(HostileFields, OfProtocolBuffers) {
  int changed = 0, errors = 0;
  const auto sweep_message = [&](const std::string& whole, const auto& deliver) {
    const NumberFields fields = protobuf_fields(whole);
    ASSERT_GT(fields.count(), 2U);
    for (size_t k = 0; k < fields.count(); ++k)
      for (const Number& number : numbers_for(fields, k, whole.size())) {
        const std::string bytes = fields.with(k, number);
        Outputs outputs(static_cast<int64_t>(16 * bytes.size() + 64));
        const Status status =
            deliver(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), outputs);
        ++changed;
        EXPECT_EQ(outputs.refused, 0) << fields.name(k) << " = " << number.text;
        if (status) continue;
        ++errors;
        EXPECT_TRUE(status.error().message().starts_with("made.up at key 1")) << status.error().message();
      }
  };
  const std::string records = recorded_bytes("a.tfrecord");
  uint64_t length = 0;
  std::memcpy(&length, records.data(), sizeof length);
  sweep_message(records.substr(12, length), [](std::span<const uint8_t> bytes, Outputs& outputs) {
    return native::deliver_example(bytes, "made.up at key 1", native::features_of(kTfFeatures),
                                   outputs.allocate);
  });
  const auto datum = native::caffe_ports({{"encoded", false}});
  ASSERT_TRUE(datum);
  sweep_message(std::string("\x08\x03\x10\x01\x18\x02\x22\x06rgbrgb\x28\x00\x38\x00", 18),
                [&](std::span<const uint8_t> bytes, Outputs& outputs) {
                  return native::deliver_datum(bytes, "made.up at key 1", *datum, outputs.allocate);
                });
  for (const int label_type : {0, 1, 2, 3}) {
    const auto protos = native::tensor_protos_layout(
        {{"encoded", false}, {"label_type", label_type}, {"num_labels", 8}, {"dtypes", {"u8", "i32"}}});
    ASSERT_TRUE(protos) << protos.error().message();
    // A picture of 1 x 2 x 3 bytes, labels.
    const std::string pixels("\x0A\x10\x08\x01\x08\x02\x08\x03\x10\x03\x2A\x06rgbrgb", 18),
        label("\x0A\x06\x08\x01\x10\x02\x20\x03", 8);
    sweep_message(pixels + label, [&](std::span<const uint8_t> bytes, Outputs& outputs) {
      return native::deliver_tensor_protos(bytes, "made.up at key 1", *protos, outputs.allocate);
    });
  }
  EXPECT_GT(changed, 1000);
  EXPECT_GT(errors, 300);
}

/// Places and sizes of blocks, and what their tokens say (lz4_Block_format.md): 64 literals; a literal, a match of
/// 58 bytes one byte back, five literals.
TEST_F(HostileFields, OfBlocksOfLz4) {
  constexpr int64_t kBlocks = 2, kLists = 2 * kBlocks * 8, kMade = 64;
  const std::string first = "\xF0\x31" + std::string(kMade, 'x'), second(
                                                                      "\x1F"
                                                                      "a\x01\x00\x27\x50"
                                                                      "abcde",
                                                                      11);
  std::string whole(kLists, '\0');
  const int64_t numbers[] = {0, static_cast<int64_t>(first.size()), static_cast<int64_t>(first.size()),
                             static_cast<int64_t>(second.size())};
  std::memcpy(whole.data(), numbers, sizeof numbers);
  whole += first + second;
  const size_t places[][2] = {{0, 8},  {8, 8},  {16, 8},  {24, 8},  {32, 1},
                              {33, 1}, {98, 1}, {100, 2}, {102, 1}, {103, 1}};
  const NumberFields fields = little_fields(whole, places);
  const runtime::NativeFunction inflate = native::inflate_function();
  const auto state = inflate.prepare(R"({"chunked": true, "fed_offsets": true, "fed_sizes": true})");
  ASSERT_TRUE(state);
  std::string made(kBlocks * kMade, '\0');
  const auto run = [&](std::string bytes) {
    std::array<runtime::Tensor, 3> inputs;
    auto* const data = reinterpret_cast<uint8_t*>(bytes.data());
    inputs[0].set_dense(DType::kU8, std::array{static_cast<int64_t>(bytes.size()) - kLists});
    inputs[0].data = data + kLists;
    for (size_t list = 0; list < 2; ++list) {
      inputs[1 + list].set_dense(DType::kI64, std::array{kBlocks});
      inputs[1 + list].data = data + list * kBlocks * 8;
    }
    runtime::Tensor output;
    output.set_dense(DType::kU8, std::array{kBlocks, kMade});
    output.data = reinterpret_cast<uint8_t*>(made.data());
    PlainCall call;
    call.inputs = inputs;
    call.output = &output;
    call.state = state->get();
    return inflate.call(call);
  };
  ASSERT_TRUE(run(whole));
  EXPECT_EQ(made, std::string(kMade, 'x') + std::string(59, 'a') + "abcde");
  int errors = 0;
  const auto look = [&](const std::string& bytes, const std::string& what) {
    const Status status = run(bytes);
    if (status) return;
    ++errors;
    EXPECT_TRUE(std::regex_search(status.error().message(), std::regex("^chunk [01] "))) << what;
  };
  for (size_t k = 0; k < fields.count(); ++k)
    for (const Number& number : numbers_for(fields, k, whole.size()))
      look(fields.with(k, number), fields.name(k) + " = " + number.text);
  for (size_t size = kLists; size < whole.size(); ++size) look(whole.substr(0, size), "cut off");
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace galatea::testing
