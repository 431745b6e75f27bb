// What the reader accepts, what it refuses, and where it points.
#include "policy/reader.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/policy/read.h"
#include "tests/support/own_folder.h"

namespace galatea::policy {
namespace {

using testing::read;
using testing::whole;

std::string report(const std::string& text) { return read(text).report(); }

TEST(PolicyReader, ReadsEveryPart) {
  const auto made = read(R"({
    "format": "augment-policy", "version": 1, "name": "mine", "bins": 5,
    "extras": {"fill_value": [1, 2, 3.5], "interp_type": "linear"},
    "augmentations": {
      "turn": {"op": "rotate", "range": [30, 0], "negate": true, "quantize": "ceil", "clamp": [null, 20]},
      "solarize": {"values": [1, 2, 3, 4, 5]},
      "equalize": {}
    },
    "definitions": {"often": {"apply": "turn", "mag": {"level": 3, "max": 4, "std": 0.5, "clip": [0, 4]}}},
    "policy": {"seq": [
      ["turn", 0.25, 2],
      {"ref": "often", "p": 0.5},
      {"choose": [1, 2], "from": ["equalize", "turn", {"seq": []}], "replace": false, "weights": [1, 2, 0.5],
       "each": {"p": 0.75, "mag": {"uniform_bin": [1, 3]}}},
      {"mix": {"chains": 2, "alpha": 0.5, "chain": {"choose": 1, "from": "*", "weights": {"turn": 3},
       "each": {"mag": {"uniform_bin": [0, 4]}}}}},
      {"apply": "turn", "mag": {"value": 7.5}, "extras": {"fill_value": null}}
    ]}
  })");
  ASSERT_TRUE(made.result.document) << made.report();
  EXPECT_EQ(made.report(), "");
  const Document& document = *made.result.document;
  EXPECT_EQ(document.name, "mine");
  EXPECT_EQ(document.bins, 5);
  ASSERT_EQ(document.extras.size(), 2u);
  EXPECT_EQ(document.extras[0].value.items[2].number, 3.5);
  const Augmentation& turn = document.augmentations[0];
  EXPECT_EQ(turn.op, "rotate");
  EXPECT_EQ(turn.range, std::pair(30.0, 0.0));
  EXPECT_EQ(turn.quantize, Quantize::kCeil);
  EXPECT_TRUE(turn.negate);
  EXPECT_FALSE(turn.clamp_low);
  EXPECT_EQ(turn.clamp_high, 20);
  EXPECT_EQ(document.augmentations[1].values, (std::vector<double>{1, 2, 3, 4, 5}));
  const Node& often = *document.definition("often");
  EXPECT_EQ(often.magnitude.kind, Magnitude::Kind::kLevel);
  EXPECT_EQ(often.magnitude.max, 4);
  EXPECT_EQ(often.magnitude.deviation, 0.5);
  const auto& steps = document.policy.children;
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].probability, 0.25);
  EXPECT_EQ(steps[0].magnitude.bin, 2);
  EXPECT_EQ(steps[1].kind, Node::Kind::kReference);
  EXPECT_EQ(steps[2].least, 1);
  EXPECT_EQ(steps[2].most, 2);
  EXPECT_FALSE(steps[2].replace);
  EXPECT_EQ(steps[2].each.probability, 0.75);
  EXPECT_EQ(steps[2].weights.by_place, (std::vector<double>{1, 2, 0.5}));
  EXPECT_EQ(steps[3].chains, 2);
  EXPECT_EQ(steps[3].alpha, 0.5);
  EXPECT_TRUE(steps[3].children[0].from_all);
  EXPECT_EQ(steps[4].magnitude.value, 7.5);
}

TEST(PolicyReader, PlacesAreThoseOfTheText) {
  EXPECT_EQ(report("{\n  \"format\": \"x\"\n}"),
            "G1005 at 1:1: a policy needs the keys `version`, `augmentations` and `policy`\n"
            "G1008 at 2:13: \"x\" is no format of policies\n");
  // Escapes, characters of several bytes and a byte order mark in front move nothing.
  EXPECT_EQ(report("\xEF\xBB\xBF{\"a\\\"}\": \"é\", \"b\": [1, {\"é\": 2, \"é\" : 3}]}"),
            "G1004 at 1:34: the key `é` is given twice\n");
  EXPECT_EQ(report(whole("[\"rotate\", 0.5, -3]")), "G1007 at 5:17: a bin is at least 0, found -3\n");
  EXPECT_EQ(report(whole("[\"rotate\", 1.5 , 3]")),
            "G1007 at 5:12: a probability is from 0 to 1, found 1.5\n");
}

// At the text that is wrong, and once.
TEST(PolicyReader, NamesOfTheTableAreUnderlinedWhereTheyStand) {
  const auto with_row = [](const std::string& row) {
    return "{\"format\": \"augment-policy\", \"version\": 1, \"bins\": 11,\n\"augmentations\": {\"a\":\n" +
           row + "},\n\"policy\": {\"seq\": []}}";
  };
  EXPECT_EQ(report(with_row("{\"op\": \"rotat\", \"range\": [0, 1]}")).substr(0, 12), "G1009 at 3:8");
  EXPECT_EQ(report(with_row("{\"op\": \"rotate\", \"param\": \"vec_z\", \"range\": [0, 1]}")).substr(0, 13),
            "G1009 at 3:27");
  EXPECT_EQ(report(whole("{\"sequ\": []}")), "G1003 at 5:2: a node has no key `sequ`\n");
}

TEST(PolicyReader, MistakesInJsonAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"{\"a\": NaN}", "G1001 at 1:7: this is not JSON: it has no `NaN`\n"},
      {"{\"a\": -Infinity}", "G1001 at 1:7: this is not JSON: it has no `Infinity`\n"},
      {"[1, True]", "G1001 at 1:5: this is not JSON: it has no `True`\n"},
      {"[1, 2,]", "G1001 at 1:7: this is not JSON: a comma stands before the closing bracket\n"},
      {"{'a': 1}", "G1001 at 1:2: this is not JSON: strings stand in double quotes\n"},
      {"{\"a\": 1 // one\n}", "G1001 at 1:9: this is not JSON: it has no comments\n"},
      {"{\"a\": 1,, \"b\": 2}", "G1001 at 1:9: this is not JSON: two commas stand side by side\n"},
      {"format: augment-policy\nversion: 1\n", "G1001 at 1:1: this is not JSON: it begins as YAML does\n"},
      {"{\"a\": [1, 2", "G1001 at 1:12: this is not JSON: it ends too early\n"},
      {"", "G1001 at 1:1: this is not JSON: it is empty\n"},
      {" \n\n", "G1001 at 3:1: this is not JSON: it is empty\n"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(report(text), expected) << text;
  EXPECT_TRUE(report("{} {}").starts_with("G1001 at 1:4")) << report("{} {}");
  EXPECT_TRUE(report("[1e999]").starts_with("G1001 at 1:2")) << report("[1e999]");
  EXPECT_TRUE(report("[\"\xFF\"]").starts_with("G1001 at 1:2")) << report("[\"\xFF\"]");
}

TEST(PolicyReader, SizeDepthAndCountAreBounded) {
  EXPECT_TRUE(report(std::string(1000, '[')).starts_with("G1002 at 1:65: "))
      << report(std::string(1000, '['));
  std::string deep(64, '[');
  EXPECT_TRUE(report(deep + std::string(64, ']')).starts_with("G1006")) << "64 levels are read";
  std::string many = "[0";
  for (int i = 0; i < 200'000; ++i) many += ",0";
  EXPECT_TRUE(report(many + "]").starts_with("G1002 at 1:"));
  const std::string large(size_t{5} << 20, ' ');
  EXPECT_TRUE(report(large).starts_with("G1002"));
  // Each definition doubles the one before: 2^30 steps.
  std::string doubling = "\"d0\": [\"equalize\", 1, null]";
  for (int i = 1; i < 30; ++i)
    doubling += ", \"d" + std::to_string(i) + "\": {\"seq\": [{\"ref\": \"d" + std::to_string(i - 1) +
                "\"}, {\"ref\": \"d" + std::to_string(i - 1) + "\"}]}";
  EXPECT_TRUE(report(whole("{\"ref\": \"d29\"}", "\"equalize\": {}", "\"definitions\": {" + doubling + "},"))
                  .starts_with("G1002 at 5:1: "));
}

TEST(PolicyReader, AHugeFileIsNotReadWhole) {
  const std::filesystem::path folder = galatea::testing::make_own_folder("galatea_huge"),
                              path = folder / "huge.json";
  std::ofstream(path) << "{}";
  std::filesystem::resize_file(path, 100 << 20);  // a hole: no disk is written
  SourceMap sources;
  const ReadResult result = read_policy_file(path.string(), sources);
  EXPECT_FALSE(result.document);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].code, "G1002");
  EXPECT_NE(result.diagnostics[0].message.find("104857600 bytes"), std::string::npos);
  std::filesystem::remove(path);
  const ReadResult missing = read_policy_file(path.string(), sources);
  ASSERT_EQ(missing.diagnostics.size(), 1u);
  EXPECT_EQ(missing.diagnostics[0].code, "G1014");
  std::filesystem::remove_all(folder);
}

TEST(PolicyReader, WhatDoesNotFitIsRefusedInItsPlace) {
  struct Case {
    const char *policy, *expected;
  };
  const Case cases[] = {
      {"[\"rotat\", 1, 3]", "G1009 at 5:2: there is no augmentation `rotat`\n"},
      {"[\"\", 1, 3]", "G1009 at 5:2: there is no augmentation ``\n"},
      {"{\"choose\": 1, \"from\": [\"\"]}",
       "G1006 at 5:24: the name of an augmentation is letters, digits and _, and begins with no digit, found "
       "\"\"\n"},
      {"[\"rotate\", 1, 11]", "G1007 at 5:15: a bin is from 0 to 10, found 11\n"},
      {"[\"rotate\", 1, null]", "G1012 at 5:1: `rotate` needs a magnitude\n"},
      {"[\"rotate\", 1]",
       "G1006 at 5:1: a step is [augmentation, probability, bin or null], found a list of 2\n"},
      {"{\"ref\": \"nothing\"}", "G1009 at 5:9: there is no definition `nothing`\n"},
      {"{\"choose\": 1, \"from\": []}", "G1011 at 5:23: what a choice is made from is empty\n"},
      {"{\"choose\": {\"$int\": [1, 2]}, \"from\": [\"equalize\"]}",
       "G1006 at 5:12: how many are chosen is a whole number, found a `$int` of a search space, which "
       "`galatea policy search` takes\n"},
      {"{\"choose\": 65, \"from\": \"*\"}", "G1007 at 5:12: how many are chosen is from 0 to 64, found 65\n"},
      {"{\"choose\": [2, 1], \"from\": [\"equalize\"]}",
       "G1007 at 5:12: how many are chosen is from its least to its greatest, found [2, 1]\n"},
      {"{\"choose\": 1, \"from\": [\"equalize\"], \"weights\": [1, 2]}",
       "G1007 at 5:48: the number of weights is that of what is chosen from, 1, found 2\n"},
      {"{\"choose\": 1, \"from\": [\"equalize\"], \"weights\": [0]}",
       "G1007 at 5:48: the sum of the weights is more than 0, found 0\n"},
      {"{\"choose\": 1, \"from\": [\"equalize\"], \"weights\": [-1]}",
       "G1007 at 5:49: a weight is at least 0, found -1\n"},
      {"{\"choose\": 1, \"from\": [\"equalize\"], \"weights\": {\"equalise\": 1}}",
       "G1009 at 5:48: there is no choice `equalise`\n"},
      {"{\"choose\": 2, \"from\": [\"equalize\"], \"replace\": false}",
       "G1007 at 5:1: how many are chosen without replacement is at most 1, which is all there is, found "
       "2\n"},
      {"{\"mix\": {\"chains\": 0, \"chain\": {\"seq\": []}}}",
       "G1007 at 5:20: the number of chains is from 1 to 16, found 0\n"},
      {"{\"mix\": {\"chains\": 1, \"alpha\": 0, \"chain\": {\"seq\": []}}}",
       "G1007 at 5:32: alpha is more than 0, found 0\n"},
      {"{\"apply\": \"rotate\", \"mag\": {\"level\": 1, \"bin\": 2}}",
       "G1003 at 5:29: a magnitude has no key `level`\n"},
      {"{\"apply\": \"rotate\", \"mag\": {\"$int\": [0, 3]}}",
       "G1003 at 5:29: a magnitude has no key `$int`\n"},
      {"7", "G1006 at 5:1: a node is an object, or [augmentation, probability, bin], found 7\n"},
      {"{}", "G1005 at 5:1: a node needs one of the keys `apply`, `seq`, `choose`, `mix` and `ref`\n"},
  };
  for (const Case& each : cases) {
    const std::string found = report(whole(each.policy));
    EXPECT_EQ(found.substr(0, found.find('\n') + 1), each.expected) << each.policy;
    EXPECT_FALSE(read(whole(each.policy)).result.document) << each.policy;
  }
  const Case tables[] = {
      {"\"rotate\": {\"op\": \"rotat\"}", "G1009 at 3:18: there is no operation `rotat`\n"},
      {"\"shear_x\": {\"range\": [0, 1]}",
       "G1012 at 3:1: `shear_x` does not take what the parameter function `identity` gives\n"},
      {"\"equalize\": {\"range\": [0, 1]}", "G1012 at 3:1: `equalize` takes no magnitude\n"},
      {"\"rotate\": {\"range\": [0, 1], \"values\": [1]}",
       "G1012 at 3:39: an augmentation has a `range` or `values`, not both\n"},
      {"\"rotate\": {\"values\": [1, 2]}", "G1012 at 3:1: `rotate` has 2 values, and there are 11 bins\n"},
      {"\"rotate\": {\"values\": []}", "G1011 at 3:22: this list of values is empty\n"},
      {"\"rotate\": {\"range\": [0, 30], \"quantize\": \"up\"}",
       "G1009 at 3:42: there is no rounding `up`\n"},
      {"\"rotate\": {\"range\": [0, 1e31]}", "G1007 at 3:25: a range is at most 1e+30, found 1e+31\n"},
      {"\"rotate\": {\"range\": [0, 30], \"extras\": {\"fil_value\": 1}}",
       "G1009 at 3:41: there is no argument `fil_value`\n"},
      {"\"rotate\": {\"range\": [0, 30], \"extras\": {\"fill_value\": \"red\"}}",
       "G1006 at 3:41: `fill_value` is a number, a list of numbers, one for each channel, or null, which "
       "repeats the edge, found \"red\"\n"},
      {"\"rotate\": {\"range\": [0, 30], \"extras\": {\"rotate_keep_size\": 1}}",
       "G1006 at 3:41: `rotate_keep_size` is true or false, found 1\n"},
      {"\"rotate\": {\"range\": [0, 30], \"extras\": {\"interp_type\": \"bilinear\"}}",
       "G1009 at 3:41: there is no interpolation `bilinear`\n"},
      {"\"rotate\": {\"range\": [0, 30], \"extras\": {\"interp_type\": \"random:linear,\"}}",
       "G1009 at 3:41: there is no interpolation ``\n"},
      {"\"solarize_add\": {\"range\": [0, 400]}",
       "G1007 at 3:1: what `solarize_add` adds to a byte is from 0 to 255, found 400\n"},
      {"\"solarize_add\": {\"range\": [0, 110], \"negate\": true}",
       "G1012 at 3:1: `solarize_add` only adds: its magnitude has no sign\n"},
      {"\"1\": {}",
       "G1006 at 3:1: the name of an augmentation is letters, digits and _, and begins with no digit, "
       "found \"1\"\n"},
      {"", "G1011 at 2:18: the table of augmentations is empty\n"},
  };
  for (const Case& each : tables) {
    const std::string found = report(whole("{\"seq\": []}", each.policy));
    EXPECT_EQ(found.substr(0, found.find('\n') + 1), each.expected) << each.policy;
    EXPECT_FALSE(read(whole("{\"seq\": []}", each.policy)).result.document) << each.policy;
  }
}

TEST(PolicyReader, OnePassFindsAllMistakes) {
  const std::string found =
      report(whole("{\"seq\": [[\"rotate\", 2, 1], [\"rotate\", -1, \"x\"], {\"chose\": 1}]}",
                   "\"rotate\": {\"rang\": [0, 1]}"));
  for (const char* place :
       {"G1003 at 3:12", "G1007 at 5:21", "G1007 at 5:39", "G1006 at 5:43", "G1003 at 5:50"})
    EXPECT_NE(found.find(place), std::string::npos) << place << " in\n" << found;
}

TEST(PolicyReader, NamesAreLookedForInTheSameGoAsTheForm) {
  // What is wrong with the form comes first, then the names and the numbers of what could be read.
  const std::string policy = R"({"seq": [["rotat", 2, 11], ["rotate", 1, 99], {"ref": "flips"}, )"
                             R"({"choose": 1, "from": ["equalise", "rotate"], "weights": {"rotat": 1}}]})";
  const std::string table =
      R"("rotate": {"range": [0, 30], "param": "identitee", "extras": {"fil_value": 1}}, "mine": {"op": "blob"})";
  EXPECT_EQ(report(whole(policy, table, R"("definitions": {"flip": {"seq": [{"ref": "flip"}]}},)")),
            "G1007 at 5:20: a probability is from 0 to 1, found 2\n"
            "G1009 at 3:39: there is no parameter function `identitee`\n"
            "G1009 at 3:96: there is no operation `blob`\n"
            "G1009 at 5:11: there is no augmentation `rotat`\n"
            "G1007 at 5:23: a bin is from 0 to 10, found 11\n"
            "G1007 at 5:42: a bin is from 0 to 10, found 99\n"
            "G1009 at 5:55: there is no definition `flips`\n"
            "G1009 at 5:88: there is no augmentation `equalise`\n"
            "G1009 at 5:122: there is no choice `rotat`\n"
            "G1009 at 3:63: there is no argument `fil_value`\n"
            "G1010 at 1:88: the definition `flip` contains itself: flip → flip\n");
}

TEST(PolicyReader, AMisspeltKeyIsNotMissingBesides) {
  EXPECT_EQ(
      report(R"({"format": "augment-policy", "version": 1, "augmentations": {"rotate": {"range": [0, 30]}}, )"
             R"("polcy": ["rotate", 1, 3]})"),
      "G1003 at 1:93: a policy has no key `polcy`\n");
}

TEST(PolicyReader, WhatBelongsToAMisspeltKeyIsKnown) {
  EXPECT_EQ(report(whole(R"({"chose": 1, "from": ["rotate"]})", R"("rotate": {"range": [0, 30]})")),
            "G1003 at 5:2: a node has no key `chose`\n");
}

TEST(PolicyReader, AWrongTypeHidesNoRange) {
  const std::string table = R"("rotate": {"range": [0, 30], "clamp": [5, 1], "negate": "x"}, )"
                            R"("turn": {"op": "rotate", "values": [1, 2]}, "invert": {})";
  const std::string policy = R"({"seq": [["rotate", 1, 30], )"
                             R"({"choose": 3, "from": ["rotate", "invert"], "replace": false}]})";
  EXPECT_EQ(
      report(whole(policy, table)),
      "G1006 at 3:57: `negate` is true or false, found \"x\"\n"
      "G1007 at 3:1: a clamp is from its least to its greatest, found [5, 1]\n"
      "G1012 at 3:63: `turn` has 2 values, and there are 11 bins\n"
      "G1007 at 5:24: a bin is from 0 to 10, found 30\n"
      "G1007 at 5:29: how many are chosen without replacement is at most 2, which is all there is, found 3\n");
  // Without the number of bins nobody knows which there are.
  EXPECT_EQ(report(R"({"format": "augment-policy", "version": 1, "bins": "x", )"
                   R"("augmentations": {"rotate": {"range": [0, 30]}}, "policy": ["rotate", 1, 30]})"),
            "G1006 at 1:52: the number of bins is a whole number, found \"x\"\n");
}

TEST(PolicyReader, NamesThatMayStandInWhatCouldNotBeReadAreNotReported) {
  struct Case {
    const char *policy, *table, *more, *expected;
  };
  const Case cases[] = {
      // A key that is misspelt may have had them.
      {R"({"ref": "a"})", R"("equalize": {})", R"("defs": {"a": {"seq": []}},)",
       "G1003 at 1:55: a policy has no key `defs`\n"},
      {R"(["mine", 1, null])", R"("mine": {"oper": "equalize"})", "",
       "G1003 at 3:10: an augmentation has no key `oper`\n"},
      {R"(["mine", 1, null])", R"("mine": {"op": 7, "param": []})", "",
       "G1006 at 3:16: an operation is a string, found 7\n"
       "G1006 at 3:28: a parameter function is a string, found an empty list\n"},
      {R"(["mine", 1, null])", R"("mine": 7)", "", "G1006 at 3:9: an augmentation is an object, found 7\n"},
      {R"(["blob", 1, null])", R"("blob": {})", R"("imports": ["mine.py"],)",
       "G1014 at 1:67: \"mine.py\" is no pipeline file\n"},
      {R"(["blob", 1, null])", R"("blob": {})", R"("imports": 7,)",
       "G1006 at 1:66: `imports` is a list of paths, found 7\n"},
      {R"({"seq": [["blob", 1, null]]})", "", "", "G1011 at 2:18: the table of augmentations is empty\n"},
      {R"({"ref": "a"})", R"("equalize": {})", R"("definitions": 7,)",
       "G1006 at 1:70: `definitions` is an object, found 7\n"},
      {R"({"seq": [[7, 1, null], {"apply": 7}, {"ref": 7}]})", R"("equalize": {})", "",
       "G1006 at 5:11: the name of an augmentation is a string, found 7\n"
       "G1006 at 5:34: the name of an augmentation is a string, found 7\n"
       "G1006 at 5:46: the name of a definition is a string, found 7\n"},
      {R"({"choose": 1, "from": ["1", "equalize"], "weights": {"1": 2}})", R"("equalize": {})", "",
       "G1006 at 5:24: the name of an augmentation is letters, digits and _, and begins with no digit, found "
       "\"1\"\n"},
  };
  for (const Case& each : cases)
    EXPECT_EQ(report(whole(each.policy, each.table, each.more)), each.expected)
        << each.policy << each.table << each.more;
}

TEST(PolicyReader, CyclesAreShownOnce) {
  const std::string found =
      report(whole("{\"ref\": \"a\"}", "\"equalize\": {}",
                   "\"definitions\": {\"a\": {\"ref\": \"b\"}, \"b\": {\"seq\": [{\"ref\": "
                   "\"c\"}]}, \"c\": {\"mix\": {\"chains\": 2, \"chain\": {\"ref\": \"a\"}}}},"));
  EXPECT_EQ(found.substr(0, 5), "G1010");
  EXPECT_NE(found.find("the definition `a` contains itself: a → b → c → a"), std::string::npos) << found;
  EXPECT_EQ(found.find("G1010", 1), std::string::npos) << found;
}

TEST(PolicyReader, WarningsLeaveThePolicy) {
  const auto made = read(whole("[\"rotate\", 0, 3]"));
  EXPECT_TRUE(made.result.document);
  EXPECT_EQ(made.report(),
            "G1013 at 5:1: a probability of 0: this never runs\n"
            "G1013 at 3:47: nothing applies the augmentation `equalize`\n");
}

TEST(PolicyReader, ImportsAreFilesBesideThePolicy) {
  const std::filesystem::path folder = galatea::testing::make_own_folder("galatea_imports");
  const auto path = folder / "policy.json";
  auto codes = [&](const std::string& imports) {
    std::ofstream(path) << whole("[\"mine\", 1, null]", "\"mine\": {\"op\": \"blob\"}",
                                 "\"imports\": " + imports + ",");
    SourceMap sources;
    std::string text;
    for (const Diagnostic& diagnostic : read_policy_file(path.string(), sources).diagnostics)
      text += diagnostic.code + " " + diagnostic.message + "\n";
    return text;
  };
  std::ofstream(folder / "mine.dali-dsl") << "x = 1\n";
  EXPECT_EQ(codes("[\"mine.dali-dsl\"]"), "");
  EXPECT_EQ(codes("[\"other.dali-dsl\"]"), "G1014 the import \"other.dali-dsl\" does not exist\n");
  EXPECT_EQ(codes("[\"/mine.dali-dsl\"]").substr(0, 5), "G1014");
  EXPECT_EQ(codes("[\"mine.py\"]").substr(0, 5), "G1014");
  EXPECT_EQ(codes("[\"mine.dali-dsl\", \"mine.dali-dsl\"]"), "G1014 \"mine.dali-dsl\" is imported twice\n");
  EXPECT_EQ(codes("\"mine.dali-dsl\"").substr(0, 5), "G1006");
  EXPECT_EQ(codes("[]").substr(0, 5), "G1009") << "without imports every operation is one of the library";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace galatea::policy
