// What `check` rejects fails for every sample with the same words, and what it accepts is not rejected by
// knowing more: random pipelines, once with all extents known, once with none.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/shape/pipeline_runner.h"
#include "tests/support/cases.h"

namespace galatea::shape_test {
namespace {

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  /// One of the values made so far, the newer ones more often.
  std::string value() {
    const int64_t last = static_cast<int64_t>(values_.size()) - 1;
    return values_[static_cast<size_t>(std::max(pick(0, last), pick(0, last)))];
  }
  std::string number(int64_t low, int64_t high) { return std::to_string(pick(low, high)); }
  std::string list(int64_t length, int64_t low, int64_t high) {
    std::string out = "[";
    for (int64_t k = 0; k < length; ++k) out += (k ? ", " : "") + number(low, high);
    return out + "]";
  }

  std::string expression() {
    const std::string v = value();
    switch (pick(0, 18)) {
      case 0:
        return "fn.crop(" + v + ", crop=" + list(2, 1, 12) + ")";
      case 1:
        return "fn.crop(" + v + ", crop=[" + v + ".shape()[0] + " + number(-1, 1) + ", " + number(1, 8) +
               "], crop_pos_y=0.0)";
      case 2:
        return v + "[" + number(-9, 9) + "]";
      case 3:
        return v + "[" + number(-6, 6) + ":" + number(-6, 9) + "]";
      case 4:
        return v + "[:, " + number(-9, 9) + "]";
      case 5:
        return "fn.cat(" + v + ", " + value() + ", axis=" + number(-2, 3) + ")";
      case 6:
        return "fn.stack(" + v + ", " + value() + ", axis=" + number(-1, 1) + ")";
      case 7:
        return "fn.reshape(" + v + ", shape=[" + number(1, 8) + ", -1])";
      case 8:
        return "fn.reshape(" + v + ", shape=" + list(pick(1, 3), 1, 8) + ")";
      case 9:
        return "fn.transpose(" + v + ", perm=" +
               std::vector<std::string>{"[2, 0, 1]", "[1, 0, 2]", "[0, 2, 1]", "[1, 0]",
                                        "[0, 0, 1]"}[static_cast<size_t>(pick(0, 4))] +
               ")";
      case 10:
        return "fn.reductions.mean(" + v + ", axes=[" + number(-3, 3) + "])";
      case 11:
        return "fn.crop_mirror_normalize(" + v + ", mean=" + list(pick(1, 4), 0, 9) + ", std=[2.0])";
      case 12:
        return "fn.saturation(" + v + ", saturation=0.5)";
      case 13:
        return v + " + " + value();
      case 14:
        return v + " * " + value();
      case 15:
        return "fn.resize(" + v + ", size=" + list(pick(1, 3), 1, 9) + ")";
      case 16:
        return "fn.laplacian(" + v + ", window_size=" + number(2, 6) + ")";
      case 17:
        return "fn.slice(" + v + ", [" + number(0, 4) + "], [" + number(1, 8) + "], axes=[" + number(0, 2) +
               "])";
      default:
        return "fn.flip(" + v + ", vertical=1)";
    }
  }

  /// Lines that make some values from `x`, and return them all.
  std::string lines() {
    std::string out;
    const int64_t count = pick(1, 4);
    for (int64_t k = 0; k < count; ++k) {
      const std::string name = "v" + std::to_string(k);
      out += "    " + name + " = " + expression() + "\n";
      values_.push_back(name);
    }
    std::string returned;
    for (size_t k = 1; k < values_.size(); ++k) returned += (k > 1 ? ", " : "") + values_[k];
    return out + "    return " + returned + "\n";
  }

 private:
  std::mt19937_64 random_;
  std::vector<std::string> values_ = {"x"};
};

std::string pipeline(const std::string& base, const std::string& lines) {
  return "from nvidia.dali import pipeline_def, fn, types\n"
         "@pipeline_def(batch_size=1, num_threads=1, seed=5)\n"
         "def p():\n"
         "    image = fn.external_source(name=\"image\", dtype=types.UINT8, layout=\"HWC\")\n"
         "    x = " +
         base + "\n" + lines;
}

/// "G0460 fn.crop: the window …" without the code and the operator.
std::string reason(const std::string& error) {
  const size_t colon = error.find(": ");
  return colon == std::string::npos ? error : error.substr(colon + 2);
}

/// Fails as one of the errors says, word for word.
void expect_fails_as_said(const Staged& staged, const Image& image) {
  const auto samples = run(staged, {image});
  ASSERT_EQ(samples.size(), 1U);
  bool said = false;
  for (const std::string& error : staged.errors()) said |= reason(error) == samples[0].failure;
  EXPECT_TRUE(said) << "run: " << samples[0].failure << "\ncheck: " << staged.errors().front();
}

TEST(Check, RejectsWhatNoSamplePasses) {
  int rejected_staging = 0, rejected_check = 0, accepted = 0, rejected_unknown = 0;
  const auto seeds = static_cast<uint64_t>(testing::cases(1500, testing::kSanitized ? 150 : 600));
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Writer writer(seed);
    const Image image{writer.pick(1, 9), writer.pick(1, 9), writer.pick(0, 1) ? 3 : 1};
    const std::string lines = writer.lines();
    const std::string base = "fn.reshape(image, shape=[" + std::to_string(image.h) + ", " +
                             std::to_string(image.w) + ", " + std::to_string(image.c) + "])";
    Staged known = stage(pipeline(base, lines)), unknown = stage(pipeline("image", lines));
    SCOPED_TRACE("seed " + std::to_string(seed) + ", image " + std::to_string(image.h) + " x " +
                 std::to_string(image.w) + " x " + std::to_string(image.c) + "\n" + lines);

    std::vector<Sample> delivered;
    if (unknown.graph) delivered = run(unknown, {image});
    const bool unknown_rejects = !unknown.graph || !unknown.errors().empty();
    const bool passes = unknown.graph && delivered.size() == 1 && delivered[0].failure.empty();
    if (unknown.graph && !unknown.errors().empty()) {
      ++rejected_unknown;
      // Whatever the extents are, none and one among them. What may fail before may have other words.
      for (const Sample& sample :
           run(unknown,
               {image, {1, 1, 1}, {1, 1, 3}, {0, 4, 3}, {4, 0, 1}, {12, 11, 3}, {7, 3, 4}, {3, 3, 3}}))
        EXPECT_NE(sample.failure, "") << unknown.errors().front();
    }
    if (!known.graph) {
      ++rejected_staging;
      EXPECT_TRUE(unknown_rejects || !passes) << "rejected, but it runs: " << known.errors().front();
    } else if (!known.errors().empty()) {
      ++rejected_check;
      expect_fails_as_said(known, image);
      EXPECT_FALSE(passes);
    } else {
      ++accepted;
      const auto again = run(known, {image});
      ASSERT_EQ(again.size(), 1U);
      EXPECT_FALSE(unknown_rejects) << unknown.errors().front();
      EXPECT_EQ(again[0].failure.empty(), passes) << again[0].failure;
      if (passes) {
        EXPECT_EQ(again[0].extents, delivered[0].extents);
        EXPECT_EQ(again[0].hash, delivered[0].hash);
      }
      // With every extent known, a failure of extents is known too. Values of pixels are not looked at.
      EXPECT_EQ(again[0].failure, "") << "check could have said so";
    }
    if (::testing::Test::HasFailure()) break;
  }
  const int made = static_cast<int>(seeds);
  EXPECT_GT(rejected_staging, made / 6);
  EXPECT_GT(rejected_check, made / 60);
  EXPECT_GT(rejected_unknown, made / 60);
  EXPECT_GT(accepted, made / 6);
}

/// The errors of a pipeline over an image of unknown extents, "; " between them.
std::string errors(const std::string& lines, const std::string& base = "image") {
  std::string text;
  for (const std::string& error : stage(pipeline(base, lines)).errors())
    text += (text.empty() ? "" : "; ") + error;
  return text;
}

TEST(Check, InTermsOfExtents) {
  EXPECT_EQ(errors("    return fn.crop(x, crop=[x.shape()[0] + 1, 4], crop_pos_y=0.0)\n"),
            "G0460 fn.crop: the window from 0 to h+1 along H reaches outside the input's extent h");
  EXPECT_EQ(errors("    y = fn.crop(x, crop=[x.shape()[0] - 2, 0])\n    return y, fn.crop(y, crop=[0, 0])\n"),
            "");
  EXPECT_EQ(errors("    return fn.crop(x, crop=[3, 4])\n", "fn.resize(image, size=[2, 9])"),
            "G0460 fn.crop: a window of 3 rows does not fit an input of 2");
}

TEST(Check, OneMistakeIsSaidOnce) {
  // What depends on a value that never exists is not judged.
  Staged staged =
      stage(pipeline("fn.reshape(image, shape=[4, 4, 3])",
                     "    s = x.shape()\n"
                     "    y = fn.crop(x, crop=[s[0] + 1, s[1] + 1], crop_pos_y=0.0, crop_pos_x=0.0)\n"
                     "    z = fn.crop(y, crop=[s[0] + 2, s[1] + 2], crop_pos_y=0.0, crop_pos_x=0.0)\n"
                     "    return y, z\n"));
  EXPECT_EQ(staged.errors().size(), 1U);
}

TEST(Check, WaysOfABranch) {
  auto branch = [](const std::string& then, const std::string& otherwise) {
    Staged staged = stage(pipeline("image",
                                   "    h = x.shape()[0] + 1\n"
                                   "    if fn.random.coin_flip(dtype=types.BOOL):\n"
                                   "        y = " +
                                       then +
                                       "\n"
                                       "    else:\n"
                                       "        y = " +
                                       otherwise +
                                       "\n"
                                       "    return y\n"));
    int warnings = 0;
    for (const Diagnostic& d : staged.diagnostics) warnings += d.severity == Severity::kWarning;
    return std::pair{staged.errors().size(), warnings};
  };
  const std::string fails = "fn.crop(x, crop=[h, 1], crop_pos_y=0.0)", works = "fn.flip(x)";
  EXPECT_EQ(branch(works, works), std::pair(size_t{0}, 0));
  EXPECT_EQ(branch(fails, works), std::pair(size_t{0}, 1)) << "the other samples pass";
  EXPECT_EQ(branch(fails, "fn.crop(x, crop=[1, x.shape()[1] + 1], crop_pos_x=0.0)"), std::pair(size_t{2}, 0))
      << "no sample passes";
  // Nobody looks at the result, so nothing fails.
  Staged unused = stage(
      pipeline("image", "    y = " + std::string("fn.crop(x, crop=[x.shape()[0] + 1, 1], crop_pos_y=0.0)") +
                            "\n    return x\n"));
  EXPECT_TRUE(unused.errors().empty());
  EXPECT_EQ(run(unused, {{3, 4, 3}}).at(0).failure, "");
}

}  // namespace
}  // namespace galatea::shape_test
