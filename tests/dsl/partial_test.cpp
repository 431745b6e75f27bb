// What is checked beside a mistake: the other arguments of its call, what follows it, the body below a wrong option,
// what fails for every sample, and what a limit left.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

/// "6:41 G0453 G0460", the errors in the order of the text: line and codes.
std::vector<std::string> told_errors(const Staged& staged) {
  std::vector<std::pair<uint32_t, std::string>> found;
  const SourceFile file("t", staged.text);
  for (const Diagnostic& d : staged.result.diagnostics)
    if (d.severity == Severity::kError)
      found.emplace_back(d.span.begin, std::to_string(file.position(d.span.begin).line) + " " + d.code);
  std::ranges::sort(found);
  std::vector<std::string> out;
  for (auto& [at, text] : found) out.push_back(std::move(text));
  return out;
}

using Errors = std::vector<std::string>;

constexpr std::string_view kRead =
    "data, labels = fn.readers.file(file_root=\"photos\")\nimages = fn.decoders.image(data)\n";
constexpr int kBody = 4;  ///< lines that stage_body() puts above the body

std::string at_line(int of_body, std::string_view code) {
  return std::to_string(kBody + 3 + of_body) + " " + std::string(code);
}

Staged after_read(const std::string& body) { return stage_body(std::string(kRead) + body); }

TEST(Partial, AllBadArgumentsOfACallAreToldAtOnce) {
  const Staged staged = after_read(
      "return fn.resize(images, size=\"big\", interp_type=\"cubic\", antialias=\"yes\", mode=\"strech\")\n");
  EXPECT_EQ(told_errors(staged),
            (Errors{at_line(0, "G0453"), at_line(0, "G0234"), at_line(0, "G0453"), at_line(0, "G0460")}))
      << staged.diagnostics;
}

TEST(Partial, WhatFollowsABadArgumentIsCheckedByItsType) {
  const Staged staged = after_read(
      "x = fn.rotate(images, angle=\"90\")\n"
      "y = fn.crop(x, crop=(2, 2, 2, 2))\n"
      "return y.foo, x[0, 0, 0, 0]\n");
  EXPECT_EQ(told_errors(staged),
            (Errors{at_line(0, "G0453"), at_line(1, "G0460"), at_line(2, "G0203"), at_line(2, "G0415")}))
      << staged.diagnostics;
}

TEST(Partial, WhatIsGivenToASlipOfANameIsChecked) {
  const Staged staged = after_read(
      "def smaller(x, size=64):\n"
      "    return fn.resize(x, size=size, mod=\"stretch\")\n"
      "more, label = fn.reader.file(file_root=\"photos\", shufle_after_epoch=True)\n"
      "x = smaller(images, siez=\"big\")\n"
      "return x[0, 0, 0, 0], more\n");
  EXPECT_EQ(told_errors(staged), (Errors{at_line(1, "G0453"), at_line(1, "G0403"), at_line(2, "G0401"),
                                         at_line(2, "G0403"), at_line(3, "G0231"), at_line(4, "G0415")}))
      << staged.diagnostics;
}

TEST(Partial, APixelFunctionIsCheckedBesideItsOptions) {
  const Staged staged = stage("t.dali-dsl", R"(
import galatea
from galatea import fn, pipeline_def

@galatea.pixel(border="reflect101", bordr=3)
def half(image):
    return lambda y, x, c: image[y, x, c] / image.heigth

@pipeline_def(batch_size=8)
def p():
    data, label = fn.readers.file(file_root="photos")
    return half(fn.decoders.image(data)), label
)");
  EXPECT_EQ(told_errors(staged), (Errors{"5 G0430", "5 G0231", "7 G0203"})) << staged.diagnostics;
}

TEST(Partial, AnAxisThatIsNamedTwiceIsToldWhateverBecameOfTheInput) {
  const Staged staged = after_read("return fn.transpose(fn.blah(images), perm=[0, 0, 1])\n");
  EXPECT_EQ(told_errors(staged), (Errors{at_line(0, "G0401"), at_line(0, "G0460")})) << staged.diagnostics;
}

TEST(Partial, ConstantsAreCheckedWhateverBecameOfTheInput) {
  const Staged staged = after_read(
      "x = fn.blah(images)\n"
      "x = fn.noise.salt_and_pepper(x, prob=2.0)\n"
      "x = fn.gaussian_blur(x, window_size=4)\n"
      "x = fn.crop(x, crop=[8, 8], crop_pos_x=2.0)\n"
      "x = fn.transpose(x, perm=[1, 0])\n"  // of two axes it is right
      "x = fn.mfcc(\"sound\", n_mfcc=-4)\n"
      "return fn.resize(x, images, size=8, mode=\"not_bigger\")\n");
  EXPECT_EQ(told_errors(staged),
            (Errors{at_line(0, "G0401"), at_line(1, "G0460"), at_line(2, "G0460"), at_line(3, "G0460"),
                    at_line(5, "G0407"), at_line(5, "G0460"), at_line(6, "G0406"), at_line(6, "G0460")}))
      << staged.diagnostics;
  const auto speaks_of_types = [](const Diagnostic& d) { return d.code == "G0460" && !d.notes.empty(); };
  EXPECT_TRUE(std::ranges::none_of(staged.result.diagnostics, speaks_of_types)) << staged.diagnostics;
}

TEST(Partial, AChainOfTooManyArmsIsOneMistake) {
  std::string chain = "if False:\n    pass\n";
  for (int i = 0; i < 3000; ++i) chain += "elif False:\n    pass\n";
  const Errors told = told_errors(after_read(chain + "return images.foo\n"));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_TRUE(told[0].ends_with(" G0703")) << told[0];
  EXPECT_TRUE(told[1].ends_with(" G0203")) << told[1];
}

TEST(Partial, ThousandsOfFunctionsInOneThatNobodyCallsAreToldAsOne) {
  std::string functions;
  for (int i = 0; i < 3000; ++i) functions += "def f" + std::to_string(i) + "(x):\n    return fn.flp(x)\n";
  const Errors told = told_errors(after_read(functions + "return images\n"));
  EXPECT_EQ(told.size(), 10u) << "and a count";
}

TEST(Partial, WhatStandsInBracesIsOneMistake) {
  EXPECT_EQ(told_errors(after_read("sizes = {1; 2}\nreturn images\n")), (Errors{at_line(0, "G0101")}));
}

TEST(Partial, AnExceptionThatIsWrittenAsBeforeIsNotRaised) {
  const Staged staged = after_read("raise ValueError, \"never\"\nreturn images.foo\n");
  EXPECT_EQ(told_errors(staged), (Errors{at_line(0, "G0102"), at_line(1, "G0203")})) << staged.diagnostics;
}

TEST(Partial, AMethodThatAListDoesNotHaveHidesNoOtherOne) {
  const Staged staged = after_read(
      "options = {\"a\": 1}\n"
      "for k, v in options.iteritems():\n"
      "    images = fn.rotate(images, angle=v)\n"
      "if options.has_key(\"a\"):\n"
      "    images = fn.flip(images)\n"
      "sizes = []\n"
      "sizes.push(3)\n"
      "sizes.push(4)\n"
      "sizes.append(5)\n"
      "return images, sizes[2]\n");
  EXPECT_EQ(told_errors(staged), (Errors{at_line(1, "G0203"), at_line(3, "G0203"), at_line(6, "G0203")}))
      << staged.diagnostics;
}

TEST(Partial, AnArgumentThatFailedElsewhereIsNoSecondMistake) {
  const Staged staged = after_read(
      "x = fn.resize(images, size=sise)\n"
      "x = fn.crop(x, crop=(8, 8), dtype=types.FLAOT)\n"
      "x = fn.gaussian_blur(x, sigma=2.0)\n"
      "return fn.cast(x, dtype=types.FLOAT)\n");
  EXPECT_EQ(told_errors(staged), (Errors{at_line(0, "G0201"), at_line(1, "G0603")})) << staged.diagnostics;
}

// With which axes it reduces decides how many dimensions are left: nothing is guessed.
TEST(Partial, ATypeThatDependsOnTheArgumentIsNotGuessed) {
  const Staged staged = after_read(
      "x = fn.reductions.mean(images, axes=\"hw\")\n"
      "return x[0, 0, 0, 0, 0], fn.transpose(x, perm=[0, 1, 2, 3])\n");
  EXPECT_EQ(told_errors(staged), (Errors{at_line(0, "G0453")})) << staged.diagnostics;
}

TEST(Partial, ArgumentsOfACallWhoseInputFailedAreChecked) {
  const Staged staged = after_read("return fn.resize(imges, size=\"big\", interp_type=3.5)\n");
  EXPECT_EQ(told_errors(staged), (Errors{at_line(0, "G0201"), at_line(0, "G0453"), at_line(0, "G0453")}))
      << staged.diagnostics;
}

TEST(Partial, AWrongOptionHidesNothing) {
  const Staged staged = stage("t.dali-dsl", R"(from nvidia.dali import pipeline_def, fn
@pipeline_def(batch_size=-3, num_thraeds=2, device_id="cuda:0")
def p(size: int = "224", other=2):
    data, labels = fn.readers.file(file_root="photos", num_shards="two", shard_id=1)
    images = fn.decoders.image(data)
    return fn.resize(images, size=size), fn.rezise(images), labels.foo
)");
  EXPECT_EQ(told_errors(staged),
            (Errors{"2 G0234", "2 G0231", "2 G0234", "3 G0267", "4 G0453", "6 G0401", "6 G0203"}))
      << staged.diagnostics;
}

TEST(Partial, WhatFailsForEverySampleIsToldBesideOtherMistakes) {
  const Staged staged = after_read(
      "small = fn.resize(images, size=[10, 10])\n"
      "cut = fn.crop(small, crop=(20, 20))\n"
      "other = fn.rezise(images)\n"
      "return cut, other, fn.crop(fn.resize(images, size=[8, 8], mode=3), crop=(4, 4))\n");
  EXPECT_EQ(told_errors(staged), (Errors{at_line(1, "G0460"), at_line(2, "G0401"), at_line(3, "G0453")}))
      << staged.diagnostics;
}

TEST(Partial, AfterALimitTheRestIsCheckedAsFarAsItNeedsNoMore) {
  const Staged staged = stage("t.dali-dsl", R"(from nvidia.dali import pipeline_def, fn, types
def endless(x):
    return endless(x + 1)
@pipeline_def(batch_size=1)
def first():
    endless(0)
    return fn.rezise(fn.random.uniform(), size=3)
@pipeline_def(batch_size=1)
def second():
    return fn.rotate(fn.random.uniform(shape=[3, 3, 3]), angel=3)
def third(x):
    return types.FLAOT, unknown_name, x
)");
  EXPECT_EQ(told_errors(staged), (Errors{"3 G0705", "7 G0401", "10 G0403", "12 G0603", "12 G0201"}))
      << staged.diagnostics;
}

TEST(Partial, AfterAllStepsTheRestIsReadOnce) {
  const Staged staged = stage("t.dali-dsl", R"(from nvidia.dali import pipeline_def, fn
wrong = fn.rezise
while True:
    wrong = 1
@pipeline_def(batch_size=1)
def second():
    return fn.rotaet(later, angle=3)
later = 3
)");
  EXPECT_EQ(told_errors(staged).size(), 3u) << staged.diagnostics;
  EXPECT_EQ(staged.diagnostics.find("calls"), std::string::npos) << "nothing is told twice\n"
                                                                 << staged.diagnostics;
}

// Letters of full width, of mathematics, and letters with their accents apart are the names that they are in Python.
TEST(Names, AreComparedInTheirNormalForm) {
  const Staged staged = stage("t.dali-dsl", R"(from nvidia.dali import pipeline_def, ｆｎ
𝐬𝐢𝐳𝐞 = 3
cafe)"
                                            "\xCC\x81"
                                            R"( = 4
ﬁle = "photos"
@pipeline_def(batch_size=1)
def p(ｐ=2):
    return fn.resize(fn.decoders.image(fn.readers.file(file_root=file)[0]), size=[size + p, café])
)");
  EXPECT_EQ(staged.codes, Errors{}) << staged.diagnostics;
}

TEST(Labels, ANameThatHidesShowsWhere) {
  const Staged staged = stage_body("x = fn.random.uniform()\nfn = 3\nreturn x\n");
  ASSERT_EQ(staged.result.diagnostics.size(), 1u) << staged.diagnostics;
  const Diagnostic& diagnostic = staged.result.diagnostics[0];
  ASSERT_EQ(diagnostic.labels.size(), 2u) << staged.diagnostics;
  const auto text = [&](Span span) { return staged.text.substr(span.begin, span.end - span.begin); };
  EXPECT_EQ(text(diagnostic.labels[0].span), "fn");
  EXPECT_GT(diagnostic.labels[0].span.begin, diagnostic.span.begin);
  EXPECT_LT(diagnostic.labels[1].span.begin, diagnostic.span.begin) << "the import that it hides";
}

TEST(Labels, ABranchThatReturnsNothingIsShown) {
  const Staged staged = after_read("if labels[0] > 3:\n    return images\n");
  ASSERT_EQ(staged.result.diagnostics.size(), 1u) << staged.diagnostics;
  const auto is_branch = [&](const Label& label) {
    return staged.text.substr(label.span.begin, label.span.end - label.span.begin) == "if";
  };
  EXPECT_TRUE(std::ranges::any_of(staged.result.diagnostics[0].labels, is_branch)) << staged.diagnostics;
}

// Work, not time: 50,000 lines take as many steps as they have statements and names, and equal mistakes are
// counted, not listed.
TEST(Size, EqualMistakesAreCounted) {
  std::string text = "from nvidia.dali import fn\n";
  for (int i = 0; i < 10'000; ++i) text += "x = unknown_name\n";
  const Staged staged = stage("t.dali-dsl", text);
  EXPECT_EQ(staged.result.diagnostics.size(), 10u);
  EXPECT_LT(staged.diagnostics.size(), 100'000u);
  EXPECT_NE(staged.diagnostics.find("at 10000 places, of which 10 are shown"), std::string::npos)
      << staged.diagnostics.substr(0, 2000);
}

TEST(Size, EqualWarningsAreCounted) {
  std::string text = "x = 1\n";
  for (int i = 0; i < 10'000; ++i) text += "x == 2\n";
  const Staged staged = stage("t.dali-dsl", text);
  EXPECT_EQ(staged.result.diagnostics.size(), 10u);
  EXPECT_NE(staged.diagnostics.find("at 10000 places, of which 10 are shown"), std::string::npos)
      << staged.diagnostics.substr(0, 2000);
}

TEST(Size, FiftyThousandLinesNeedStepsInProportion) {
  std::string text = "x = 0\n";
  for (int i = 0; i < 50'000; ++i) text += "x = x + 1\n";
  FrontendOptions options;
  options.limits.max_steps = 50'000 * 5;
  const Staged staged = stage("t.dali-dsl", text, options);
  EXPECT_EQ(staged.codes, Errors{}) << staged.diagnostics;
}

}  // namespace
}  // namespace galatea::dsl::testing
