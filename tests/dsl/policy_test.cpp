// policy.load: a document gives the graph that the library's call gives; what is wrong is said in its place.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "policy/pipeline_text.h"
#include "policy/reader.h"
#include "policy/spelling.h"
#include "policy/writer.h"
#include "tests/dsl/support.h"
#include "tests/support/own_folder.h"

namespace galatea::dsl::testing {
namespace {
namespace fs = std::filesystem;

class PolicyLoad : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = galatea::testing::make_own_folder("galatea_policy"); }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  void write_policy(const std::string& policy, const std::string& table, const std::string& more = "") {
    write("policy.json", "{\"format\": \"augment-policy\", \"version\": 1, \"bins\": 11," + more +
                             "\n\"augmentations\": {" + table + "},\n\"policy\": " + policy + "}");
  }
  Staged stage_body_here(const std::string& body) {
    return stage((folder_ / "test.dali-dsl").string(),
                 "from galatea import fn, pipeline_def, types\n"
                 "from galatea.auto_aug import auto_augment, policy, rand_augment, trivial_augment\n"
                 "\n"
                 "@pipeline_def(batch_size=4, seed=1)\n"
                 "def p():\n"
                 "    encoded, label = fn.readers.file(file_root=\"photos\")\n"
                 "    image = fn.resize(fn.decoders.image(encoded), size=[64, 48])\n" +
                     body);
  }
  Staged load() {
    return stage_body_here("    return policy.load(\"policy.json\")(image, shape=[64, 48])\n");
  }
  std::string load_diagnostics() {
    Staged staged = load();
    EXPECT_FALSE(staged.result.ok);
    return staged.diagnostics;
  }

  fs::path folder_;
};

// The text of a graph without the names of values, the keys of draws and the names of outputs.
std::string anonymous(const std::string& graph) {
  std::map<std::string, std::string> numbers;
  std::string out;
  const std::regex name("%[A-Za-z0-9_.]+|key=[0-9a-fx]+|outputs=\\[[^\\]]*\\]");
  size_t end = 0;
  for (std::sregex_iterator match(graph.begin(), graph.end(), name), none; match != none; ++match) {
    const std::string found = match->str();
    out += graph.substr(end, static_cast<size_t>(match->position()) - end);
    end = static_cast<size_t>(match->position()) + found.size();
    if (found[0] == '%') out += numbers.emplace(found, "%" + std::to_string(numbers.size())).first->second;
  }
  return out + graph.substr(end);
}

TEST_F(PolicyLoad, EqualsTheCallOfTheLibrary) {
  const std::pair<const char*, const char*> cases[] = {
      {"rand_augment(n=2, m=9)", "rand_augment.rand_augment(image, 2, 9)"},
      {"rand_augment(n=3, m=4, num_magnitude_bins=11, shape=shape, excluded=[\"rotate\"])",
       "rand_augment.rand_augment(image, 3, 4, num_magnitude_bins=11, shape=[64, 48], "
       "excluded=[\"rotate\"])"},
      {"rand_augment(n=2, m=9, fill_value=None)", "rand_augment.rand_augment(image, 2, 9, fill_value=None)"},
      {"rand_augment(n=2, m=9, interp_type=types.INTERP_CUBIC, max_translate_abs=(1000, 10))",
       "rand_augment.rand_augment(image, 2, 9, interp_type=types.INTERP_CUBIC, max_translate_abs=(1000, "
       "10))"},
      {"rand_augment(n=1, m=30, monotonic_mag=False, fill_value=7)",
       "rand_augment.rand_augment(image, 1, 30, monotonic_mag=False, fill_value=7)"},
      {"trivial_augment_wide()", "trivial_augment.trivial_augment_wide(image)"},
      {"trivial_augment_wide(num_magnitude_bins=7, shape=shape)",
       "trivial_augment.trivial_augment_wide(image, num_magnitude_bins=7, shape=[64, 48])"},
      {"image_net", "auto_augment.auto_augment(image)"},
      {"image_net(shape=shape)", "auto_augment.auto_augment(image, shape=[64, 48])"},
      {"svhn(shape=shape, max_translate_rel=0.5)",
       "auto_augment.auto_augment(image, \"svhn\", shape=[64, 48], max_translate_rel=0.5)"},
      {"reduced_cifar10", "auto_augment.auto_augment(image, \"reduced_cifar10\")"},
      {"reduced_image_net", "auto_augment.auto_augment(image, \"reduced_image_net\")"},
  };
  for (const auto& [spelling, call] : cases) {
    const Result<policy::Document> document = policy::document_of(spelling);
    ASSERT_TRUE(document) << spelling;
    write("policy.json", policy::to_json(*document));
    Staged loaded = load();
    ASSERT_TRUE(loaded.result.ok) << spelling << "\n" << loaded.diagnostics;
    Staged called = stage_body_here("    return " + std::string(call) + "\n");
    ASSERT_TRUE(called.result.ok) << call << "\n" << called.diagnostics;
    EXPECT_EQ(anonymous(loaded.graphs), anonymous(called.graphs)) << spelling;
    EXPECT_EQ(loaded.diagnostics, "") << spelling;
  }
}

TEST_F(PolicyLoad, EveryFamilyStages) {
  for (const policy::KnownPolicy& known : policy::known_policies()) {
    write("policy.json", policy::to_json(*policy::document_of(known.spelling)));
    Staged staged = load();
    EXPECT_TRUE(staged.result.ok) << known.spelling << "\n" << staged.diagnostics;
    EXPECT_EQ(staged.verdict, "") << known.spelling;
  }
}

// A policy as a pipeline's text is the policy: the text with the document written out gives the graph of the
// text that loads the document's file.
TEST_F(PolicyLoad, PipelinesOfDocumentsAreTheDocuments) {
  std::vector<policy::Document> documents;
  for (const policy::KnownPolicy& known : policy::known_policies())
    documents.push_back(*policy::document_of(known.spelling));
  SourceMap sources;
  const auto with_words = policy::read_policy(
      sources.add("words.json",
                  R"({"format": "augment-policy", "version": 1, "name": "null, true or \"false\" \\",
                      "augmentations": {"rotate": {"range": [0, 30], "clamp": [null, 20.5], "negate": true}},
                      "policy": {"choose": 1, "from": ["rotate"], "each": {"mag": {"bin": 3}}, "replace": false}})"),
      sources);
  ASSERT_TRUE(with_words.document);
  documents.push_back(*with_words.document);
  for (const policy::Document& document : documents) {
    write("policy.json", policy::to_json(document));
    const std::string file = (folder_ / "train.dali-dsl").string();
    const Staged loaded = stage(file, policy::pipeline_around("policy.load(\"policy.json\")"));
    ASSERT_TRUE(loaded.result.ok) << loaded.diagnostics;
    fs::remove(folder_ / "policy.json");
    const Staged alone = stage(file, policy::pipeline_of(document));
    ASSERT_TRUE(alone.result.ok) << alone.diagnostics << policy::pipeline_of(document);
    EXPECT_EQ(anonymous(alone.graphs), anonymous(loaded.graphs)) << policy::pipeline_of(document);
    EXPECT_EQ(alone.verdict, "") << document.name;
  }
}

TEST_F(PolicyLoad, MistakesInDictsHavePlaces) {
  Staged range = stage_body_here(
      "    return policy.define({\"augmentations\": {\"invert\": {}}, \"policy\": [\"invert\", 1.5, "
      "None]})(image)\n");
  EXPECT_EQ(range.codes, std::vector<std::string>{"G1007"}) << range.diagnostics;
  EXPECT_NE(range.diagnostics.find("test.dali-dsl (policy):"), std::string::npos) << range.diagnostics;
  EXPECT_NE(range.diagnostics.find("read here"), std::string::npos) << range.diagnostics;
  for (const char* document : {"7", "[]", "{\"policy\": image}", "{1: 2}", "{\"bins\": float(\"nan\")}",
                               "{\"policy\": lambda x: x}"}) {
    Staged other = stage_body_here("    return policy.define(" + std::string(document) + ")(image)\n");
    EXPECT_EQ(other.codes, std::vector<std::string>{"G0660"}) << document << other.diagnostics;
  }
  Staged version =
      stage_body_here("    return policy.define({\"format\": \"augment-policy\", \"version\": 2})(image)\n");
  EXPECT_EQ(version.codes, (std::vector<std::string>{"G1005", "G1008"})) << version.diagnostics;
  Staged missing = stage_body_here(
      "    return policy.define({\"imports\": [\"none.dali-dsl\"], \"augmentations\": {\"x\": {}}, "
      "\"policy\": "
      "[\"x\", 1, None]})(image)\n");
  EXPECT_FALSE(missing.result.ok);
}

TEST_F(PolicyLoad, EveryFormOfADocumentStages) {
  const char* table =
      "\"rotate\": {\"range\": [0, 30], \"negate\": true}, \"shear_x\": {\"range\": [0, 0.3], \"param\": "
      "\"vec_x\"},"
      "\"shear_y\": {\"range\": [0, 0.3], \"param\": \"vec_y\", \"negate\": true},"
      "\"bright\": {\"op\": \"brightness\", \"range\": [0, 0.9], \"param\": \"one_plus\", \"clamp\": [0.5, "
      "1.5]},"
      "\"sharpness\": {\"range\": [0, 0.9], \"negate\": true, \"param\": \"sharpness_kernel\"},"
      "\"sharper\": {\"op\": \"sharpness\", \"range\": [0, 1.9], \"param\": \"sharpness_kernel_shifted\"},"
      "\"posterize\": {\"range\": [8, 0], \"param\": \"posterize_mask0\", \"quantize\": \"round_even\"},"
      "\"solarize\": {\"range\": [256, 0], \"quantize\": \"ceil\"},"
      "\"solarize_add\": {\"range\": [0, 110], \"quantize\": \"trunc\"},"
      "\"move\": {\"op\": \"translate_x\", \"range\": [0, 0.3], \"param\": \"vec_x\", \"extras\": "
      "{\"pixel_round\": "
      "\"trunc\", \"interp_type\": \"nearest\"}}, \"equalize\": {}";
  for (
      const char* expression :
      {R"({"choose": 2, "from": "*", "each": {"mag": {"level": 3, "std": 0.5, "clip": [0, 10]}}})",
       R"({"choose": 2, "from": "*", "each": {"mag": {"level": 3}, "p": 0.5}})",
       R"({"choose": [0, 3], "from": "*", "each": {"mag": {"uniform_level": [1, 9]}}})",
       R"({"choose": 3, "from": "*", "replace": false, "weights": {"rotate": 5}, "each": {"mag": {"uniform_bin": [2, 5]}}})",
       R"({"choose": 2, "from": ["equalize", {"apply": "rotate", "mag": {"value": 12.5}}], "weights": [1, 3]})",
       R"({"seq": [["rotate", 0.5, 3], ["move", 1, 10], {"ref": "twice", "p": 0.25}, {"seq": []}]})",
       R"({"mix": {"chains": 2, "chain": {"choose": [1, 2], "from": "*", "each": {"mag": {"uniform_bin": [0, 9]}}}, "alpha": 0.5}, "p": 0.5})",
       R"({"apply": "rotate", "mag": {"level": 12, "max": 10, "clip": [0, 10]}, "extras": {"rotate_keep_size": true}})"}) {
    write_policy(expression, table,
                 "\"definitions\": {\"twice\": {\"seq\": [[\"equalize\", 1, null], [\"bright\", 1, 10]]}},");
    Staged staged = load();
    EXPECT_TRUE(staged.result.ok) << expression << "\n" << staged.diagnostics;
    EXPECT_EQ(staged.verdict, "") << expression;
  }
}

TEST_F(PolicyLoad, MistakesAreShownInTheDocumentAndAtTheCall) {
  write_policy("[\"rotat\", 1, 3]", "\"rotate\": {\"range\": [0, 30]}");
  const std::string text = load_diagnostics();
  EXPECT_NE(text.find("error[G1009]: there is no augmentation `rotat`"), std::string::npos) << text;
  EXPECT_NE(text.find("policy.json:3:12"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean `rotate`?"), std::string::npos) << text;
  EXPECT_NE(text.find("read here"), std::string::npos) << text;

  fs::remove(folder_ / "policy.json");
  const std::string missing = load_diagnostics();
  EXPECT_NE(missing.find("error[G1014]: cannot read "), std::string::npos) << missing;
  EXPECT_NE(missing.find("test.dali-dsl:8:24"), std::string::npos) << missing;

  Staged outside = stage_body_here("    return policy.load(\"../policy.json\")(image)\n");
  EXPECT_EQ(outside.codes, std::vector<std::string>{"G0606"}) << outside.diagnostics;
  Staged number = stage_body_here("    return policy.load(7)(image)\n");
  EXPECT_EQ(number.codes, std::vector<std::string>{"G0660"}) << number.diagnostics;
}

TEST_F(PolicyLoad, ArgumentsOfTheCallAreChecked) {
  write_policy("[\"translate_x\", 1, 3]", "\"translate_x\": {\"range\": [0, 1], \"param\": \"vec_x\"}");
  Staged without = stage_body_here("    return policy.load(\"policy.json\")(image)\n");
  EXPECT_EQ(without.codes, std::vector<std::string>{"G0656"}) << without.diagnostics;
  EXPECT_NE(without.diagnostics.find("shape"), std::string::npos);
  Staged typo = stage_body_here("    return policy.load(\"policy.json\")(image, shap=[64, 48])\n");
  EXPECT_EQ(typo.codes, std::vector<std::string>{"G0657"}) << typo.diagnostics;
  Staged floats = stage_body_here("    return policy.load(\"policy.json\")(image * 1.0, shape=[64, 48])\n");
  EXPECT_EQ(floats.codes, std::vector<std::string>{"G0663"}) << floats.diagnostics;
}

TEST_F(PolicyLoad, ImportsBringAugmentationsOfTheUsers) {
  write("mine.dali-dsl",
        "from galatea import fn\n"
        "from galatea.auto_aug.core import augmentation\n"
        "\n"
        "@augmentation(mag_range=(0, 9))\n"
        "def blur(data, sigma, window=5):\n"
        "    return fn.gaussian_blur(data, sigma=sigma, window_size=window)\n"
        "\n"
        "def plain(data, _):\n"
        "    return data\n"
        "\n"
        "def halved(m):\n"
        "    return m / 2\n");
  const std::string imports = "\"imports\": [\"mine.dali-dsl\"],";
  write_policy(
      "{\"seq\": [[\"blur\", 1, 10], [\"plain\", 1, null]]}",
      "\"blur\": {\"range\": [0.1, 4], \"param\": \"halved\", \"extras\": {\"window\": 7}}, \"plain\": {}",
      imports);
  Staged staged = load();
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_NE(staged.graphs.find("gaussian_blur"), std::string::npos) << staged.graphs;
  EXPECT_NE(staged.graphs.find("window_size=[7]"), std::string::npos) << staged.graphs;
  EXPECT_NE(staged.graphs.find("value=[2.0]"), std::string::npos) << "half of the greatest magnitude\n"
                                                                  << staged.graphs;

  write_policy("[\"blurr\", 1, null]", "\"blurr\": {}", imports);
  const std::string text = load_diagnostics();
  EXPECT_NE(text.find("error[G1009]: there is no operation `blurr`"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean `blur`?"), std::string::npos) << text;

  write("mine.dali-dsl", "from galatea import nothing\n");
  const std::string broken = load_diagnostics();
  EXPECT_NE(broken.find("mine.dali-dsl:1:21"), std::string::npos) << broken;

  // An import that loads the policy that imports it: the circle ends in an error, not in a loop.
  write("mine.dali-dsl", "from galatea.auto_aug import policy\nagain = policy.load(\"policy.json\")\n");
  const std::string circle = load_diagnostics();
  EXPECT_NE(circle.find("error[G0605]"), std::string::npos) << circle;
}

TEST_F(PolicyLoad, TheModuleHasAShortName) {
  write_policy("[\"rotate\", 1, 3]", "\"rotate\": {\"range\": [0, 30]}");
  const Staged longer = load();
  ASSERT_TRUE(longer.result.ok) << longer.diagnostics;
  for (const auto& [import, name] :
       {std::pair{"from galatea import policy as mine", "mine"},
        std::pair{"import galatea", "galatea.policy"}, std::pair{"import galatea.policy as mine", "mine"}}) {
    const Staged shorter = stage((folder_ / "test.dali-dsl").string(),
                                 std::string("from galatea import fn, pipeline_def, types\n") + import +
                                     "\n\n@pipeline_def(batch_size=4, seed=1)\n"
                                     "def p():\n"
                                     "    encoded, label = fn.readers.file(file_root=\"photos\")\n"
                                     "    image = fn.resize(fn.decoders.image(encoded), size=[64, 48])\n"
                                     "    return " +
                                     name + ".load(\"policy.json\")(image, shape=[64, 48])\n");
    ASSERT_TRUE(shorter.result.ok) << import << "\n" << shorter.diagnostics;
    EXPECT_EQ(anonymous(shorter.graphs), anonymous(longer.graphs)) << import;
  }
}

// ---- several policies for one pipeline ----

class SeveralPolicies : public PolicyLoad {
 protected:
  Staged stage_both(const std::string& body, const std::string& above = "") {
    FrontendOptions options;
    for (const char* name : {"a", "b"}) {
      const std::string bin = name[0] == 'a' ? "3" : "7";
      options.policies.push_back(
          {std::string(name) + ".json",
           R"({"format": "augment-policy", "version": 1, "bins": 11, "name": ")" + std::string(name) +
               R"(", "augmentations": {"rotate": {"range": [0, 30]}}, "policy": ["rotate", 1, )" + bin +
               "]}"});
    }
    options.pipeline = "p";
    return stage((folder_ / "test.dali-dsl").string(),
                 "from galatea import fn, pipeline_def, types\n"
                 "from galatea.auto_aug import policy\n" +
                     above +
                     "\n"
                     "@pipeline_def(batch_size=4, seed=1)\n"
                     "def p():\n"
                     "    encoded, label = fn.readers.file(file_root=\"photos\")\n"
                     "    image = fn.resize(fn.decoders.image(encoded), size=[64, 48])\n" +
                     body,
                 options);
  }
};

TEST_F(SeveralPolicies, StandForTheOneThatIsLoaded) {
  Staged staged = stage_both(
      "    augment = policy.load(\"there is no such file.json\")\n"
      "    return augment(image), label\n");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(staged.verdict, "");
  ASSERT_EQ(staged.result.outputs.size(), 3u);
  EXPECT_EQ(staged.result.outputs[0].policy, "a");
  EXPECT_EQ(staged.result.outputs[1].policy, "b");
  EXPECT_EQ(staged.result.outputs[2].policy, "");
  EXPECT_EQ(staged.result.outputs[2].index, 1u);
  EXPECT_EQ(staged.result.graphs.at(0)->output_names,
            (std::vector<std::string>{"a/output0", "b/output0", "label"}));
}

TEST_F(SeveralPolicies, NeedExactlyOneLoadForAllSamples) {
  const std::pair<const char*, const char*> cases[] = {
      {"    return image, label\n", "`p` loads none"},
      {"    a = policy.load(\"a.json\")\n    b = policy.load(\"b.json\")\n    return a(image), b(image)\n",
       "the second"},
      {"    loaded = [policy.load(\"a.json\") for _ in range(2)]\n    return loaded[0](image), label\n",
       "called several times"},
      {"    if label[0] > 1:\n        image = policy.load(\"a.json\")(image)\n    return image, label\n",
       "some samples only"},
      {"    if label[0] > 1:\n        return image, label\n"
       "    return policy.load(\"a.json\")(image), label\n",
       "some samples only"},
      {"    return augment(image), label\n", "outside of the pipeline"},
  };
  for (const auto& [body, words] : cases) {
    const bool above = std::string(words).starts_with("outside");
    Staged staged = stage_both(body, above ? "augment = policy.load(\"a.json\")\n" : "");
    EXPECT_EQ(staged.codes, std::vector<std::string>{"G0665"}) << body << staged.diagnostics;
    EXPECT_NE(staged.diagnostics.find(words), std::string::npos) << staged.diagnostics;
  }
}

TEST_F(SeveralPolicies, WhatIsReadDoesNotDependOnThem) {
  Staged staged = stage_both(
      "    augment = policy.load(\"a.json\")\n"
      "    if augment.name == \"b\":\n"
      "        encoded, label = fn.readers.file(file_root=\"others\")\n"
      "    return augment(image), label\n");
  EXPECT_EQ(staged.codes, std::vector<std::string>{"G0503"}) << staged.diagnostics;
}

TEST_F(SeveralPolicies, EachHasTheWholeBudget) {
  // Half of the bound is spent on each.
  const std::string body =
      "    augment = policy.load(\"a.json\")\n"
      "    for i in range(300000):\n"
      "        pass\n"
      "    return augment(image), label\n";
  EXPECT_TRUE(stage_both(body).result.ok) << stage_both(body).diagnostics;
}

}  // namespace
}  // namespace galatea::dsl::testing
