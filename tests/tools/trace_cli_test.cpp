// `galatea trace`: what it says of a sample is what a run makes of it.
#include <cmath>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/build_folder.h"
#include "tests/tools/program.h"

namespace {

using Json = nlohmann::json;
using galatea::parse_json;
using galatea::testing::build_folder;
using galatea::testing::contains;
using galatea::testing::Outcome;

constexpr const char* kPipeline = R"(from nvidia.dali import fn, pipeline_def, types


@pipeline_def(batch_size=4, seed=3)
def train(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.decoders.image(encoded)
    turned = fn.random.coin_flip(probability=0.6)
    if turned == 1:
        angle = fn.random.uniform(range=(-10.0, 10.0))
        if angle > 0.0:
            image = fn.rotate(image, angle=angle, keep_size=True)
        else:
            image = fn.flip(image)
    mean = fn.reductions.mean(fn.cast(image, dtype=types.FLOAT))
    return image, label, mean
)";

class TraceCommand : public testing::Test {
 protected:
  void SetUp() override { file_ = scratch_.write("train.dali-dsl", kPipeline); }

  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, file_);
    arguments.push_back("--set");
    arguments.push_back("data=" + build_folder() + "/samples");
    return galatea::testing::run_galatea(std::move(arguments), scratch_.path());
  }
  Json trace(const std::string& sample) const {
    const Outcome outcome = run({"trace", "--sample", sample, "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return parse_json(outcome.out);
  }
  /// The one number of `mean` of a sample, as a run saves it.
  float saved_mean(size_t sample) const {
    const std::string npy = galatea::testing::read_file(scratch_.path() / "out" / "out2" /
                                                        ("00000" + std::to_string(sample) + ".npy"));
    float value = NAN;
    if (npy.size() >= sizeof value) std::memcpy(&value, npy.data() + npy.size() - sizeof value, sizeof value);
    return value;
  }

  const galatea::testing::ScratchFolder scratch_;
  std::string file_;
};

TEST_F(TraceCommand, SamplesAreThoseOfARunWhicheverArmTheyTake) {
  ASSERT_EQ(run({"run", "--save", (scratch_.path() / "out").string()}).status, 0);
  bool rotated = false, flipped = false, neither = false;
  for (size_t sample = 0; sample < 10; ++sample) {
    const Json steps = trace(std::to_string(sample))["steps"];
    size_t turns = 0, flips = 0, branches = 0;
    for (const Json& step : steps) {
      if (step.contains("branch")) {
        ++branches;
        continue;
      }
      turns += step["operator"] == "rotate" ? 1 : 0;
      flips += step["operator"] == "flip" ? 1 : 0;
      EXPECT_TRUE(step["operator"] != "rotate" || step["line"] == 12);
    }
    EXPECT_EQ(turns + flips, branches - 1) << "one arm of the inner branch, where the outer one was taken";
    const Json& last = steps.back()["outputs"][0];
    EXPECT_EQ(last["name"], "%mean");
    EXPECT_EQ(last["values"][0].get<float>(), saved_mean(sample)) << "sample " << sample;
    (turns ? rotated : flips ? flipped : neither) = true;
  }
  EXPECT_TRUE(rotated && flipped && neither) << "the samples show all three ways";
}

TEST_F(TraceCommand, TextNamesLinesDrawsAndArms) {
  const Outcome outcome = run({"trace", "--sample", "0"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "line    7  decoders.image(%encoded)")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "line    9  if: the condition is")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, ", which takes the arm for ")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "%label       i32[1]                 = 0")) << outcome.out;
}

TEST_F(TraceCommand, ArgumentsAreValuesInJson) {
  const Json steps = trace("0")["steps"];
  EXPECT_EQ(steps[0]["operator"], "readers.file");
  EXPECT_EQ(steps[0]["arguments"]["file_root"], build_folder() + "/samples");
  EXPECT_EQ(steps[2]["operator"], "random.coin_flip");
  EXPECT_EQ(steps[2]["arguments"]["probability"].get<double>(), 0.6);
  const Json& cast = steps[steps.size() - 2];
  EXPECT_EQ(cast["operator"], "cast");
  EXPECT_EQ(cast["arguments"]["dtype"], "f32") << "which is no JSON";
}

TEST_F(TraceCommand, LongArgumentsAreCutInTheText) {
  const std::string file = scratch_.write("pixel.dali-dsl", R"(import galatea
from galatea import fn, pipeline_def


@galatea.pixel(border="clamp")
def mixed(image):
    def at(y, x, c):
        return image[y, x, c] * 0.25 + image[y + 1, x, c] * 0.25 + image[y, x + 1, c] * 0.5

    return at


@pipeline_def(batch_size=1)
def train(data: str):
    encoded, label = fn.readers.file(file_root=data)
    return mixed(fn.decoders.image(encoded))
)");
  const Outcome outcome = galatea::testing::run_galatea(
      {"trace", file, "--set", "data=" + build_folder("/samples")}, scratch_.path());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "body=")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "…")) << outcome.out;
}

// Places in a batch may go past one sample: the sample is traced in the batch in which a run has it.
TEST_F(TraceCommand, OperatorsThatSeeTheirBatchSeeThatOfTheRun) {
  file_ = scratch_.write("batch.dali-dsl", R"(from nvidia.dali import fn, pipeline_def, types


@pipeline_def(batch_size=3, seed=3)
def train(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.decoders.image(encoded)
    own = fn.reductions.mean(fn.cast(image, dtype=types.FLOAT))
    other = fn.permute_batch(own, indices=[1, 2, 0])
    return label, own, other
)");
  ASSERT_EQ(run({"run", "--save", (scratch_.path() / "out").string()}).status, 0);
  for (size_t sample = 0; sample < 4; ++sample) {
    const Json last = trace(std::to_string(sample))["steps"].back()["outputs"][0];
    EXPECT_EQ(last["name"], "%other");
    EXPECT_EQ(last["values"][0].get<float>(), saved_mean(sample)) << sample;
  }
  std::set<float> means;
  for (size_t sample = 0; sample < 4; ++sample) means.insert(saved_mean(sample));
  EXPECT_GT(means.size(), 1u);
}

TEST_F(TraceCommand, FindsASampleByItsName) {
  const Json whole = trace("3");
  const std::string name = whole["name"];
  EXPECT_EQ(trace(name.substr(name.rfind('/')))["sample"], 3);
}

TEST_F(TraceCommand, DrawsTheWayAsASheet) {
  const std::string sheet = (scratch_.path() / "sheet.png").string();
  ASSERT_EQ(run({"trace", "--sample", "1", "-o", sheet}).status, 0);
  EXPECT_EQ(galatea::testing::read_file(sheet).substr(1, 3), "PNG");
}

TEST_F(TraceCommand, ASampleThatIsNotThereIsSaid) {
  for (const char* sample : {"100000", "nothing.jpg", "-1"}) {
    const Outcome outcome = run({"trace", "--sample", sample});
    EXPECT_EQ(outcome.status, 1) << sample;
    EXPECT_TRUE(contains(outcome.err, "G0864")) << outcome.err;
  }
}

TEST_F(TraceCommand, ASampleThatFailsIsToldAsInARun) {
  const std::string broken = scratch_.write("broken.jpg", "\xFF\xD8 no picture");
  const std::string file =
      scratch_.write("one.dali-dsl",
                     "from nvidia.dali import fn, pipeline_def\n\n\n@pipeline_def(batch_size=1)\n"
                     "def one():\n    encoded, label = fn.readers.file(files=[\"" +
                         broken + "\"])\n    return fn.decoders.image(encoded)\n");
  const Outcome outcome =
      galatea::testing::run_galatea({"trace", file, "--sample", "broken.jpg"}, scratch_.path());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "broken.jpg") && !contains(outcome.err, "G0864")) << outcome.err;
}

}  // namespace
