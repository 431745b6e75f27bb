// `galatea policy` as scripts see it: statuses, what goes to stdout and stderr, files.
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/build_folder.h"
#include "tests/tools/program.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using galatea::parse_json;
using galatea::testing::build_folder;
using galatea::testing::contains;
using galatea::testing::Outcome;
using galatea::testing::read_file;

class PolicyCommand : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Outcome policy(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "policy");
    return galatea::testing::run_galatea(std::move(arguments), folder_);
  }

  const galatea::testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

TEST_F(PolicyCommand, HelpAndWrongUsage) {
  Outcome help = policy({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* name : {"list", "show", "validate", "convert", "diff", "mutate", "view", "stats", "score",
                           "search", "schema"}) {
    EXPECT_TRUE(contains(help.out, name)) << help.out;
    Outcome each = policy({name, "--help"});
    EXPECT_EQ(each.status, 0) << name;
    EXPECT_TRUE(contains(each.out, "xample")) << each.out;
  }
  Outcome nothing = policy({});
  EXPECT_EQ(nothing.status, 2);
  Outcome typo = policy({"shwo", "image_net"});
  EXPECT_EQ(typo.status, 2);
  EXPECT_TRUE(contains(typo.err, "did you mean `show`?")) << typo.err;
  Outcome option = policy({"show", "image_net", "--jsn"});
  EXPECT_EQ(option.status, 2);
  EXPECT_TRUE(contains(option.err, "did you mean `--json`?")) << option.err;
  EXPECT_TRUE(contains(option.err, "galatea policy show --help")) << option.err;
}

TEST_F(PolicyCommand, ConvertWritesWhatValidateReads) {
  Outcome made = policy({"convert", "image_net", "-o", path("policy.json")});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out, "");
  EXPECT_EQ(parse_json(read_file(path("policy.json")))["policy"]["from"].size(), 25u);
  Outcome checked = policy({"validate", path("policy.json")});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_EQ(checked.out, path("policy.json") + ": fine\n");
  EXPECT_EQ(policy({"convert", path("policy.json"), "--to", "call"}).out,
            "auto_augment(policy_name=\"image_net\")\n");
  Outcome cannot = policy({"convert", path("policy.json"), "--to", "timm"});
  EXPECT_EQ(cannot.status, 1);
  EXPECT_EQ(cannot.out, "");
  EXPECT_TRUE(contains(cannot.err, "G1015")) << cannot.err;
  Outcome nowhere = policy({"convert", "svhn", "-o", path("missing/policy.json")});
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_TRUE(contains(nowhere.err, "G0854")) << nowhere.err;
}

TEST_F(PolicyCommand, MistakesHavePlacesInTheDocument) {
  std::ofstream(path("bad.json")) << "{\n  \"format\": \"augment-policy\", \"version\": 1,\n"
                                     "  \"augmentations\": {\"invert\": {}},\n"
                                     "  \"policy\": [\"invert\", 1.5, null]\n}\n";
  Outcome o = policy({"validate", path("bad.json"), "--diagnostics=json"});
  EXPECT_EQ(o.status, 1);
  const Json diagnostics = parse_json(o.out)["diagnostics"];
  ASSERT_EQ(diagnostics.size(), 1u) << o.out;
  EXPECT_EQ(diagnostics[0]["code"], "G1007");
  EXPECT_EQ(diagnostics[0]["line"], 4);
  EXPECT_EQ(diagnostics[0]["column"], 24);
  EXPECT_EQ(diagnostics[0]["end_column"], 27);
}

TEST_F(PolicyCommand, ValidateReadsWhatIsImported) {
  auto imports = [&](const std::string& file, const std::string& row) {
    std::ofstream(path("mine.json")) << "{\"format\": \"augment-policy\", \"version\": 1, \"imports\": [\"" +
                                            file + "\"],\n\"augmentations\": {" + row +
                                            "},\n\"policy\": [\"own\", 1, 3]}\n";
    return policy({"validate", path("mine.json")});
  };
  const std::string row = "\"own\": {\"range\": [0.5, 1.5]}";
  std::ofstream(path("good.dali-dsl")) << "from galatea import fn\n\n\ndef own(data, m):\n"
                                          "    return fn.brightness(data, brightness=m)\n\n\n"
                                          "def strong(data, m, strength):\n"
                                          "    return fn.brightness(data, brightness=m * strength)\n";
  std::ofstream(path("open.dali-dsl")) << "def own(data, m:\n    return data\n";
  std::ofstream(path("circle.dali-dsl")) << "from .other import x\n\n\ndef own(data, m):\n    return data\n";
  std::ofstream(path("other.dali-dsl")) << "from .circle import own\n\nx = 1\n";
  std::ofstream(path("wrong.dali-dsl")) << "from galatea import fn\n\n\ndef own(data, m):\n"
                                           "    return fn.brightness(data, brigthness=m)\n";
  const Outcome good = imports("good.dali-dsl", row);
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_EQ(good.out, path("mine.json") + ": fine\n");
  // What the call in the pipeline has to give is not missed.
  EXPECT_EQ(imports("good.dali-dsl", "\"own\": {\"op\": \"strong\", \"range\": [0, 1]}").status, 0);
  const std::pair<Outcome, const char*> wrong[] = {
      {imports("open.dali-dsl", row), "open.dali-dsl:1:8"},
      {imports("circle.dali-dsl", row), "files import each other: circle.dali-dsl"},
      {imports("wrong.dali-dsl", row), "brigthness"},
      {imports("good.dali-dsl", "\"own\": {\"op\": \"ours\", \"range\": [0, 1]}"),
       "there is no operation `ours`"},
      {imports("good.dali-dsl", "\"own\": {\"range\": [0, 1], \"param\": \"none\"}"),
       "there is no parameter function `none`"},
  };
  // A pipeline needs `--limit steps=…` for so many; the policy is right.
  std::string steps = R"(["own", 1, 3])";
  for (int i = 0; i < 3000; ++i) steps += R"(, ["own", 1, 3])";
  std::ofstream(path("long.json")) << R"({"format": "augment-policy", "version": 1, "augmentations": {"own":
    {"op": "rotate", "range": [0, 30]}}, "policy": {"seq": [)"
                                   << steps << "]}}";
  EXPECT_EQ(policy({"validate", path("long.json")}).status, 0);
  for (const auto& [o, words] : wrong) {
    EXPECT_EQ(o.status, 1) << words;
    EXPECT_EQ(o.out, path("mine.json") + ": wrong\n") << words;
    EXPECT_TRUE(contains(o.err, words)) << o.err;
  }
}

TEST_F(PolicyCommand, ShowListSchemaAndDiffAreDataToo) {
  EXPECT_EQ(parse_json(policy({"show", "rand-m9", "--json"}).out)["augmentations"].size(), 15u);
  EXPECT_GE(parse_json(policy({"list", "--json"}).out)["operations"].size(), 18u);
  EXPECT_TRUE(parse_json(policy({"schema"}).out).contains("$defs"));
  const Json diff =
      parse_json(policy({"diff", "rand_augment(n=2, m=9)", "rand_augment(n=2, m=8)", "--json"}).out);
  ASSERT_EQ(diff["differences"].size(), 1u);
  EXPECT_EQ(diff["differences"][0]["path"], "policy.each.mag.bin");
  EXPECT_EQ(diff["differences"][0]["left"], "9");
  EXPECT_EQ(policy({"diff", "svhn", "svhn"}).out, "no difference\n");
  EXPECT_TRUE(contains(policy({"show", "svhn"}).out, "shear_x"));
}

TEST_F(PolicyCommand, MutateIsSeeded) {
  Outcome first = policy({"mutate", "svhn", "--seed", "3", "--changes", "2"});
  Outcome again = policy({"mutate", "svhn", "--seed", "3", "--changes", "2"});
  Outcome other = policy({"mutate", "svhn", "--seed", "4", "--changes", "2"});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, again.out);
  EXPECT_NE(first.out, other.out);
  EXPECT_EQ(std::count(first.err.begin(), first.err.end(), '\n'), 2) << first.err;
}

TEST_F(PolicyCommand, ViewDrawsASheet) {
  const std::string samples = build_folder() + "/samples";
  for (const char* spelling : {"trivial_augment_wide()", "AugMix()", "rand-m9-mstd0.5-inc1"}) {
    Outcome o = policy({"view", spelling, "--data", samples, "-o", path("sheet.png"), "--samples", "1",
                        "--draws", "2", "--size", "32"});
    EXPECT_EQ(o.status, 0) << spelling << o.err;
    EXPECT_EQ(o.out, path("sheet.png") + "\n");
    EXPECT_EQ(read_file(path("sheet.png")).substr(1, 3), "PNG");
    fs::remove(path("sheet.png"));
  }
  Outcome made = policy({"convert", "svhn(shape=shape)", "-o", path("policy.json")});
  Outcome operations = policy({"view", path("policy.json"), "--data", samples, "-o", path("sheet.png"),
                               "--samples", "1", "--operations", "--magnitudes", "2", "--size", "32"});
  EXPECT_EQ(operations.status, 0) << operations.err;
  EXPECT_TRUE(fs::exists(path("sheet.png")));
  Outcome nowhere = policy({"view", "svhn", "--data", path("none"), "-o", path("sheet.png")});
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_TRUE(contains(nowhere.err, "G0801")) << nowhere.err;
}

/// The pipeline that a command makes of its arguments is nobody's file: what is said names the arguments.
TEST_F(PolicyCommand, ReportsNameWhatWasGiven) {
  const std::string samples = build_folder() + "/samples";
  fs::create_directories(folder_ / "bad" / "x");
  std::ofstream(path("bad/x/1.jpg")).close();
  std::ofstream(path("mine.dali-dsl")) << "from galatea import fn\n\n\ndef own(data, m):\n"
                                          "    return fn.resize(data, size=[m, \"x\"])\n";
  std::ofstream(path("mine.json"))
      << "{\"format\": \"augment-policy\", \"version\": 1, \"imports\": "
         "[\"mine.dali-dsl\"], \"augmentations\": {\"own\": {\"range\": [0, 1]}}, "
         "\"policy\": [\"own\", 1, 3]}";
  const std::string sheet = path("sheet.png"), bad = path("bad");
  struct Case {
    std::vector<std::string> arguments;
    std::vector<const char*> says;
  };
  const Case cases[] = {
      {{"view", "svhn", "--data", path("none"), "-o", sheet}, {"G0801", "--data", "/none"}},
      {{"stats", "trivial_augment_wide()", "--data", bad},
       {"x/1.jpg", "--data", "take it out of the folder"}},
      {{"score", "trivial_augment_wide()", "--data", bad},
       {"x/1.jpg", "--data", "take it out of the folder"}},
      {{"view", "invert.json", "--data", samples, "-o", sheet, "--extra", "foo=3"},
       {"no augmentation here takes the argument `foo`", "`augment(image, shape=[160, 160], foo=3)`",
        "--extra"}},
      {{"score", "trivial_augment_wide()", "--data", samples, "--extra", "interp_type=77"},
       {"the integer 77", "interp_type=77)`", "--extra"}},
      {{"view", path("mine.json"), "--data", samples, "-o", sheet}, {"mine.dali-dsl:5:33"}},
      {{"validate", path("mine.json")}, {"mine.dali-dsl:5:33"}},
  };
  std::ofstream(path("invert.json")) << "{\"format\": \"augment-policy\", \"version\": 1, \"augmentations\": "
                                        "{\"invert\": {}}, \"policy\": [\"invert\", 1, null]}";
  for (Case each : cases) {
    for (std::string& argument : each.arguments)
      if (argument == "invert.json") argument = path(argument);
    const Outcome o = policy(each.arguments);
    EXPECT_EQ(o.status, 1) << each.arguments[0];
    for (const char* words : each.says) EXPECT_TRUE(contains(o.err, words)) << words << "\n" << o.err;
    for (const char* words : {"pictures.dali-dsl", "on_error", "in `pictures`"})
      EXPECT_FALSE(contains(o.err, words)) << o.err;
  }
  const Outcome json = policy({"stats", "trivial_augment_wide()", "--data", bad, "--diagnostics=json"});
  const Json said = parse_json(json.out.substr(0, json.out.find('\n')))["diagnostics"][0];
  EXPECT_EQ(said["code"], "G0810");
  EXPECT_TRUE(said["file"].is_null()) << json.out;
  const Outcome usage = policy({"view", "svhn", "--data", samples, "-o", sheet, "--extra", "fo"});
  EXPECT_EQ(usage.status, 2);
  EXPECT_TRUE(contains(usage.err, "`fo` is not of the form NAME=VALUE")) << usage.err;
}

TEST_F(PolicyCommand, StatsCountWhatChanges) {
  const std::string samples = build_folder() + "/samples";
  auto stats = [&](const std::string& table, const std::string& expression) {
    std::ofstream(path("policy.json"))
        << "{\"format\": \"augment-policy\", \"version\": 1, \"augmentations\": {" + table +
               "}, \"policy\": " + expression + "}";
    Outcome o = policy(
        {"stats", path("policy.json"), "--data", samples, "--samples", "48", "--size", "16", "--json"});
    EXPECT_EQ(o.status, 0) << o.err;
    return parse_json(o.out);
  };
  const Json nothing = stats("\"identity\": {}", "[\"identity\", 1, null]");
  EXPECT_EQ(nothing["samples"], 48);
  EXPECT_EQ(nothing["unchanged"], 1.0);
  EXPECT_EQ(nothing["mean_change"], 0.0);
  EXPECT_EQ(nothing["expected_runs"]["identity"], 1.0);
  EXPECT_EQ(nothing["operations"][0]["runs"], 48);
  // All bits but none: black.
  const Json black = stats("\"posterize\": {\"range\": [0, 0], \"param\": \"posterize_mask0\"}",
                           "{\"apply\": \"posterize\", \"mag\": {\"bin\": 3}}");
  EXPECT_EQ(black["unchanged"], 0.0);
  EXPECT_EQ(black["saturated"], 1.0);
  EXPECT_EQ(black["empty"], 1.0);
  const Json half = stats("\"invert\": {}", "[\"invert\", 0.5, null]");
  EXPECT_GT(half["unchanged"], 0.2);
  EXPECT_LT(half["unchanged"], 0.8);
  EXPECT_GT(half["mean_change"], 1.0);
  // What ran is what changed: a picture is never its own negative.
  EXPECT_NEAR(half["operations"][0]["runs_per_sample"].get<double>() + half["unchanged"].get<double>(), 1,
              1e-9);
}

TEST_F(PolicyCommand, StatsTellWhatRanAndWithWhat) {
  const std::string samples = build_folder() + "/samples";
  std::ofstream(path("policy.json")) << R"({"format": "augment-policy", "version": 1, "bins": 11,
    "augmentations": {
      "shear_y": {"range": [0, 0.3], "param": "vec_y"}, "rotate": {"range": [0, 30], "negate": true},
      "brightness": {"range": [0, 0.9], "negate": true, "param": "one_plus"},
      "posterize": {"range": [8, 0], "param": "posterize_mask0", "quantize": "round_even"},
      "sharpness": {"range": [0, 0.9], "negate": true, "param": "sharpness_kernel"},
      "invert": {}, "solarize": {"range": [256, 0]}},
    "policy": {"seq": [["shear_y", 1, 10], ["rotate", 1, 10], ["brightness", 1, 10], ["posterize", 1, 5],
      ["sharpness", 0.5, 10], {"choose": 1, "from": ["invert", ["solarize", 1, 5]], "weights": [1, 0]}]}})";
  Outcome o =
      policy({"stats", path("policy.json"), "--data", samples, "--samples", "96", "--size", "16", "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json all = parse_json(o.out);
  std::map<std::string, Json> found;
  for (const Json& operation : all["operations"]) found[operation["name"]] = operation;
  for (const char* always : {"shear_y", "rotate", "brightness", "posterize", "invert"})
    EXPECT_EQ(found[always]["runs"], 96) << always;
  EXPECT_EQ(found["solarize"]["runs"], 0);
  EXPECT_TRUE(found["solarize"]["parameter"].is_null());
  EXPECT_TRUE(found["invert"]["parameter"].is_null());
  EXPECT_GT(found["sharpness"]["runs"], 24);
  EXPECT_LT(found["sharpness"]["runs"], 72);
  EXPECT_EQ(found["sharpness"]["parameter"]["count"], found["sharpness"]["runs"]);
  auto between = [&](const char* name, double least, double most) {
    const Json& parameter = found[name]["parameter"];
    EXPECT_NEAR(parameter["least"].get<double>(), least, 1e-5) << name;
    EXPECT_NEAR(parameter["most"].get<double>(), most, 1e-5) << name;
    int64_t counted = 0;
    for (const Json& bar : parameter["histogram"]) counted += bar.get<int64_t>();
    EXPECT_EQ(counted, parameter["count"].get<int64_t>()) << name;
    EXPECT_FALSE(found[name]["microseconds"].is_null()) << name;
  };
  between("shear_y", 0.3, 0.3);
  between("rotate", -30, 30);
  between("brightness", 0.1, 1.9);
  between("posterize", 4, 4);
  between("sharpness", -0.9, 0.9);
  EXPECT_EQ(found["shear_y"]["parameter"]["negative"], 0);
  for (const char* either : {"rotate", "brightness", "sharpness"}) {
    EXPECT_GT(found[either]["parameter"]["negative"], 10) << either;
    EXPECT_LT(found[either]["parameter"]["negative"], found[either]["parameter"]["count"]) << either;
  }
  // People read the same.
  o = policy({"stats", path("policy.json"), "--data", samples, "--samples", "16", "--size", "16"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(contains(o.out, "shear_y")) << o.out;
  EXPECT_TRUE(contains(o.out, "expected")) << o.out;
}

TEST_F(PolicyCommand, StatsMeasureWhatOnlyStepsGiveAMagnitude) {
  const std::string samples = build_folder() + "/samples";
  std::ofstream(path("policy.json")) << R"({"format": "augment-policy", "version": 1,
    "augmentations": {"rotate": {"negate": true}, "posterize": {"param": "posterize_mask0"}, "invert": {}},
    "policy": {"seq": [{"apply": "rotate", "mag": {"value": 12.5}}, ["invert", 1, null],
      {"apply": "posterize", "mag": {"value": 3}}]}})";
  Outcome o =
      policy({"stats", path("policy.json"), "--data", samples, "--samples", "8", "--size", "16", "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json found = parse_json(o.out);
  ASSERT_EQ(found["operations"].size(), 3u);
  for (const Json& operation : found["operations"]) {
    EXPECT_EQ(operation["runs"], 8) << operation;
    EXPECT_TRUE(operation["microseconds"].is_number()) << operation;  // null: not measured
  }
}

// What ran is read from the pixels of the same draws: each operation leaves a mark of its own.
TEST_F(PolicyCommand, StatsCountWhatTheGeneratorDrew) {
  const std::string samples = build_folder() + "/samples";
  std::ofstream(path("policy.json")) << R"({"format": "augment-policy", "version": 1,
    "augmentations": {"invert": {}, "brightness": {"param": "one_plus"}, "posterize": {"param": "posterize_mask0"}},
    "policy": {"choose": 1, "weights": [3, 2, 1], "from": [["invert", 0.5, null],
      {"apply": "brightness", "mag": {"value": -1}}, {"apply": "posterize", "mag": {"value": 1}}]}})";
  Outcome o = policy({"stats", path("policy.json"), "--data", samples, "--samples", "72", "--size", "16",
                      "--seed", "5", "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  std::map<std::string, int64_t> told;
  const Json all = parse_json(o.out);
  for (const Json& operation : all["operations"]) told[operation["name"]] = operation["runs"].get<int64_t>();

  std::ofstream(path("pictures.dali-dsl"))
      << "from galatea import fn, pipeline_def, types\n"
         "from galatea.auto_aug import policy\n"
         "\n"
         "@pipeline_def(batch_size=6, num_threads=1, seed=5)\n"
         "def pictures(data: str):\n"
         "    encoded, label = fn.readers.file(file_root=data)\n"
         "    image = fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[16, 16])\n"
         "    augment = policy.load(\"policy.json\")\n"
         "    return image, augment(image, shape=[16, 16])\n";
  o = galatea::testing::run_galatea(
      {"run", path("pictures.dali-dsl"), "--set", "data=" + samples, "--epochs", "4", "--save", path("out")},
      folder_);
  ASSERT_EQ(o.status, 0) << o.err;
  std::map<std::string, int64_t> seen;
  int64_t unchanged = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "out/out0")) {
    const std::string before = read_file(entry.path()),
                      after = read_file(folder_ / "out/out1" / entry.path().filename());
    ASSERT_EQ(before.size(), after.size());
    auto all_are = [&](auto mark) {
      for (size_t i = before.size() - size_t{16} * 16 * 3; i < before.size(); ++i)
        if (static_cast<unsigned char>(after[i]) != mark(static_cast<unsigned char>(before[i]))) return false;
      return true;
    };
    unchanged += all_are([](int value) { return value; });
    seen["invert"] += all_are([](int value) { return 255 - value; });
    seen["brightness"] += all_are([](int) { return 0; });
    seen["posterize"] += all_are([](int value) { return value & 128; });
  }
  EXPECT_EQ(told, seen);
  EXPECT_EQ(unchanged + seen["invert"] + seen["brightness"] + seen["posterize"], 72);
  EXPECT_GT(seen["posterize"], 0);
  EXPECT_GT(seen["invert"], 0);
}

TEST_F(PolicyCommand, StatsSeeEachDrawOfRepeatedSteps) {
  const std::string samples = build_folder() + "/samples";
  Outcome o = policy(
      {"stats", "rand_augment(n=3, m=9)", "--data", samples, "--samples", "64", "--size", "16", "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  int64_t runs = 0;
  double expected = 0;
  const Json all = parse_json(o.out);
  for (const Json& operation : all["operations"]) {
    runs += operation["runs"].get<int64_t>();
    expected += operation["expected"].get<double>();
  }
  EXPECT_EQ(runs, 3 * 64);
  EXPECT_NEAR(expected, 3, 1e-9);
}

TEST_F(PolicyCommand, RunAppliesSeveralToWhatIsDecodedOnce) {
  const std::string samples = build_folder() + "/samples";
  std::ofstream(path("p.dali-dsl")) << R"(from galatea import fn, pipeline_def, types
from galatea.auto_aug import policy

@pipeline_def(batch_size=4, seed=3)
def p(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[24, 32])
    augment = policy.load("one.json")
    return augment(image), label
)";
  fs::create_directories(folder_ / "other");
  EXPECT_EQ(policy({"convert", "rand_augment(n=2, m=9)", "-o", path("one.json")}).status, 0);
  EXPECT_EQ(policy({"convert", "rand_augment(n=1, m=20)", "-o", path("other/one.json")}).status, 0);
  auto run = [&](const std::string& folder, std::vector<std::string> policies) {
    std::vector<std::string> arguments = {"run",    path("p.dali-dsl"), "--set",       "data=" + samples,
                                          "--save", path(folder),       "--stats=json"};
    if (!policies.empty()) arguments.emplace_back("--policies");
    arguments.insert(arguments.end(), policies.begin(), policies.end());
    Outcome o = galatea::testing::run_galatea(arguments, folder_);
    EXPECT_EQ(o.status, 0) << o.err;
    return parse_json(o.out);
  };
  auto calls = [](const Json& summary, const char* kind) {
    int64_t sum = 0;
    for (const Json& op : summary["operators"])
      if (op["kind"] == kind) sum += op["calls"].get<int64_t>();
    return sum;
  };
  // Files of one name, and a spelling.
  const Json summary =
      run("all", {path("one.json"), path("other/one.json"), "trivial_augment_wide(num_magnitude_bins=7)"});
  const Json alone_summary = run("first", {});
  EXPECT_GT(calls(summary, "decode"), 0);
  EXPECT_EQ(calls(summary, "decode"), calls(alone_summary, "decode"));
  EXPECT_EQ(calls(summary, "read"), summary["samples"].get<int64_t>());
  fs::copy_file(path("other/one.json"), path("one.json"), fs::copy_options::overwrite_existing);
  run("second", {});
  int compared = 0;
  for (const auto& [together, alone] :
       {std::pair{"one/out0", "first/out0"}, {"one-2/out0", "second/out0"}, {"out1", "first/out1"}}) {
    for (const auto& entry : fs::directory_iterator(folder_ / alone)) {
      const fs::path there = folder_ / "all" / together / entry.path().filename();
      ASSERT_TRUE(fs::exists(there)) << there;
      EXPECT_EQ(read_file(there), read_file(entry.path())) << there;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 3 * summary["samples"].get<int>());
  EXPECT_TRUE(fs::exists(folder_ / "all/trivial_augment_wide-num_magnitude_bins-7/out0/000000.npy"));
  EXPECT_FALSE(fs::exists(folder_ / "all/one/out1"));
}

TEST_F(PolicyCommand, SearchFindsTheBestAndGoesOn) {
  std::ofstream(path("space.json")) << R"({"format": "augment-policy", "version": 1, "bins": 11,
    "augmentations": {"rotate": {"range": [0, 30], "negate": true}},
    "policy": ["rotate", {"$choice": [0.5, 1]}, {"$int": [0, 4]}]})";
  // The score of a policy is its bin; one probability fails.
  const std::string objective =
      "grep -q '0.5, ' {policy} && exit 2; sed -n 's/.*\"rotate\", 1, \\([0-9]*\\).*/\\1/p' {policy}";
  const std::vector<std::string> search = {
      "search", path("space.json"), "--objective", objective,        "--strategy", "grid", "--jobs",
      "2",      "--json",           "-o",          path("best.json")};
  auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = search;
    all.insert(all.end(), more.begin(), more.end());
    return policy(all);
  };
  Outcome first = with({"--trials", "4"});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(parse_json(first.out)["trials"].size(), 4u);
  Outcome rest = with({"--trials", "99", "--report", path("report.html")});
  EXPECT_EQ(rest.status, 0) << rest.err;
  EXPECT_TRUE(contains(rest.err, "goes on after 4 trials")) << rest.err;
  EXPECT_TRUE(contains(rest.err, "; 10 of 10, best 4")) << "a grid has an end\n" << rest.err;
  const Json found = parse_json(rest.out);
  ASSERT_EQ(found["trials"].size(), 10u) << "two probabilities, five bins";
  size_t failed = 0;
  for (const Json& trial : found["trials"])
    if (trial["score"].is_null()) {
      ++failed;
      EXPECT_EQ(trial["failed"], "it ended with status 2");
    }
  EXPECT_EQ(failed, 5u);
  EXPECT_EQ(parse_json(read_file(path("best.json")))["policy"], parse_json("[\"rotate\", 1, 4]"));
  const std::string page = read_file(path("report.html"));
  EXPECT_TRUE(contains(page, "<svg")) << page;
  EXPECT_TRUE(contains(page, "policy.define(")) << page;
  Outcome other = policy({"search", path("space.json"), "--objective", "echo 1"});
  EXPECT_EQ(other.status, 1);
  EXPECT_TRUE(contains(other.err, "G1017")) << other.err;
  Outcome hopeless = policy(
      {"search", path("space.json"), "--objective", "false", "--folder", path("second"), "--trials", "3"});
  EXPECT_EQ(hopeless.status, 1);
  EXPECT_TRUE(contains(hopeless.err, "no trial gave a score: it ended with status 1")) << hopeless.err;
}

TEST_F(PolicyCommand, APipelineLoadsAPolicyAndDependsOnItsText) {
  const std::string samples = build_folder() + "/samples";
  std::ofstream(path("train.dali-dsl"))
      << "from galatea import fn, pipeline_def\n"
         "from galatea.auto_aug import policy\n"
         "\n"
         "@pipeline_def(batch_size=4, seed=5)\n"
         "def train(data: str):\n"
         "    encoded, label = fn.readers.file(file_root=data)\n"
         "    image = fn.resize(fn.decoders.image(encoded), size=[32, 32])\n"
         "    return image, policy.load(\"policy.json\")(image)\n";
  auto run = [&](const std::string& policy_text) {
    std::ofstream(path("policy.json")) << "{\"format\": \"augment-policy\", \"version\": 1, "
                                          "\"augmentations\": {\"invert\": {}}, \"policy\": " +
                                              policy_text + "}";
    Outcome o = galatea::testing::run_galatea(
        {"run", path("train.dali-dsl"), "--set", "data=" + samples, "--batches", "1", "--save", path("out")},
        folder_);
    EXPECT_EQ(o.status, 0) << o.err;
    return std::pair(read_file(path("out/out0/000000.npy")), read_file(path("out/out1/000000.npy")));
  };
  const auto [image, inverted] = run("[\"invert\", 1, null]");
  ASSERT_EQ(image.size(), inverted.size());
  const size_t header = image.size() - 32 * 32 * 3;
  for (size_t i = header; i < image.size(); ++i)
    ASSERT_EQ(static_cast<unsigned char>(image[i]) + static_cast<unsigned char>(inverted[i]), 255) << i;
  const auto [same, twice] = run("{\"seq\": [[\"invert\", 1, null], [\"invert\", 1, null]]}");
  EXPECT_EQ(same, twice);
}

/// examples/policy_speech: a document that names functions of a file beside it, and a pipeline that loads it.
TEST_F(PolicyCommand, TheExampleOfSpeechIsSeenAndRuns) {
  const std::string example = GALATEA_SOURCE_DIR "/examples/policy_speech/";
  const fs::path recorded = GALATEA_SOURCE_DIR "/tests/readers/recorded/speech";
  Outcome checked = policy({"validate", example + "speech.json"});
  EXPECT_EQ(checked.out, example + "speech.json: fine\n") << checked.err;
  fs::create_directories(folder_ / "recordings/one");
  fs::copy(recorded / "mono.wav", folder_ / "recordings/one/mono.wav");
  Outcome seen =
      policy({"view", example + "speech.json", "--data", path("recordings"), "-o", path("sheet.png")});
  EXPECT_EQ(seen.status, 0) << seen.err;
  EXPECT_TRUE(read_file(path("sheet.png")).starts_with("\x89PNG"));
  std::map<std::string, std::string> runs;
  for (const char* name : {"speech.json", "none.json"}) {
    std::ofstream(path("none.json"))
        << R"({"format": "augment-policy", "version": 1, "bins": 2, "augmentations": {"louder": {"op": "sound.gain"}},
            "policy": {"seq": []}})";
    const std::string document = name == std::string("none.json") ? path(name) : example + name;
    Outcome run = galatea::testing::run_galatea(
        {"run", example + "train.dali-dsl", "--set", "data=" + recorded.string(), "--policies", document,
         "--save", path("out")},
        folder_);
    ASSERT_EQ(run.status, 0) << run.err;
    runs[name] = read_file(folder_ / "out" / fs::path(name).stem() / "out0/000000.npy");
    EXPECT_TRUE(contains(runs[name].substr(0, 128), "'shape': (80, ")) << runs[name].substr(0, 128);
  }
  EXPECT_NE(runs["speech.json"], runs["none.json"]);
}

}  // namespace
