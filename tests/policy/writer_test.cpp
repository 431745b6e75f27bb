// The canonical form: it is read back as the same document, and the schema says the same as the reader.
#include "policy/writer.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include <gtest/gtest.h>

#include "base/json.h"
#include "policy/difference.h"
#include "policy/mutate.h"
#include "policy/spelling.h"
#include "policy/trim.h"
#include "tests/policy/read.h"

namespace galatea::policy {
namespace {

using Json = nlohmann::json;
using testing::read;

std::string corpus_file(const std::string& name) {
  std::ifstream file(std::string(GALATEA_SOURCE_DIR) + "/tests/fuzz/corpus/policy/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PolicyWriter, WhatIsWrittenReadsBackAsTheSame) {
  for (const char* name :
       {"rand_augment.json", "trivial.json", "image_net.json", "timm.json", "augmix.json", "nested.json"}) {
    const auto first = read(corpus_file(name));
    ASSERT_TRUE(first.result.document) << name << "\n" << first.report();
    const std::string written = to_json(*first.result.document);
    const auto second = read(written);
    ASSERT_TRUE(second.result.document) << name << "\n" << second.report();
    EXPECT_EQ(to_json(*second.result.document), written) << name;
    EXPECT_TRUE(differences(*first.result.document, *second.result.document).empty()) << name;
  }
}

TEST(PolicyWriter, NothingIsLost) {
  // Numbers, names and structure of the text, compared by another reader of JSON; defaults are filled in
  // first.
  const Json text = parse_json(corpus_file("timm.json"));
  const Json written = parse_json(to_json(*read(corpus_file("timm.json")).result.document));
  EXPECT_EQ(written["augmentations"], text["augmentations"]);
  EXPECT_EQ(written["extras"], text["extras"]);
  EXPECT_EQ(written["bins"], 31) << "the default is written";
  Json policy = text["policy"];
  policy["each"]["mag"].erase("max");  // 10, the default
  EXPECT_EQ(written["policy"], policy);
}

TEST(PolicyWriter, TheCanonicalFormIsReadable) {
  const auto made = read(testing::whole(
      "{\"seq\":[{\"apply\":\"rotate\",\"p\":0.50,\"mag\":{\"bin\":3}},[\"equalize\",1.0,null]]}"));
  EXPECT_EQ(to_json(*made.result.document), R"({
  "format": "augment-policy",
  "version": 1,
  "bins": 11,
  "augmentations": {
    "rotate": {"range": [0, 30], "negate": true},
    "equalize": {}
  },
  "policy": {"seq": [["rotate", 0.5, 3], ["equalize", 1, null]]}
}
)");
}

TEST(PolicyWriter, DifferencesAreNamedByTheirPath) {
  const auto left = read(testing::whole("{\"seq\": [[\"rotate\", 0.5, 3], [\"equalize\", 1, null]]}"));
  const auto right =
      read(testing::whole("{\"seq\": [[\"rotate\", 0.5, 4]]}",
                          "\"rotate\": {\"range\": [0, 40], \"negate\": true}, \"invert\": {}"));
  const auto found = differences(*left.result.document, *right.result.document);
  std::string text;
  for (const Difference& each : found) text += each.path + ": " + each.left + " | " + each.right + "\n";
  EXPECT_EQ(text,
            "augmentations.rotate.range: [0, 30] | [0, 40]\n"
            "augmentations.equalize: {} | \n"
            "augmentations.invert:  | {}\n"
            "policy.seq[0]: [\"rotate\", 0.5, 3] | [\"rotate\", 0.5, 4]\n"
            "policy.seq[1]: [\"equalize\", 1, null] | \n");
}

// Every key that the schema knows is one that the reader takes, and the other way round.
TEST(PolicyWriter, TheSchemaHasTheKeysOfTheReader) {
  const Json schema = parse_json(schema_text());
  auto keys = [](const Json& object) {
    std::string text;
    for (const auto& [key, value] : object.at("properties").items()) text += key + " ";
    return text;
  };
  auto refused = [](const std::string& text) {
    const std::string found = read(text).report();
    return found.find("G1003") != std::string::npos;
  };
  EXPECT_EQ(keys(schema), "augmentations bins definitions extras format imports name policy version ");
  for (const auto& [key, value] : schema.at("properties").items())
    EXPECT_FALSE(refused("{\"" + key + "\": 1}")) << key;
  for (const auto& [key, value] : schema.at("$defs").at("aug").at("properties").items())
    EXPECT_FALSE(refused(testing::whole("{\"seq\": []}", "\"rotate\": {\"" + key + "\": 1}"))) << key;
  size_t nodes = 0;
  for (const Json& node : schema.at("$defs").at("node").at("oneOf")) {
    if (!node.contains("properties")) continue;
    ++nodes;
    const std::string kind = node.at("required")[0];
    for (const auto& [key, value] : node.at("properties").items())
      EXPECT_FALSE(
          refused(testing::whole("{\"" + kind + "\": 1" + (key == kind ? "" : ", \"" + key + "\": 1") + "}")))
          << kind << " " << key;
    EXPECT_TRUE(refused(testing::whole("{\"" + kind + "\": 1, \"other\": 1}"))) << kind;
  }
  EXPECT_EQ(nodes, 5u);
}

TEST(PolicyMutation, IsSeededSoundAndSmall) {
  for (const char* spelling : {"image_net", "svhn", "rand_augment(n=2, m=9)", "trivial_augment_wide()",
                               "augmix-m3-w3", "rand-m9-mstd0.5-inc1"}) {
    const Document document = *document_of(spelling);
    std::set<std::string> seen;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const Mutation mutation = mutate(document, seed, 1);
      ASSERT_EQ(mutation.changes.size(), 1u) << spelling;
      EXPECT_EQ(to_json(mutate(document, seed, 1).document), to_json(mutation.document));
      const auto again = read(to_json(mutation.document));
      ASSERT_TRUE(again.result.document) << spelling << " " << seed << "\n" << again.report();
      const auto found = differences(document, mutation.document);
      ASSERT_EQ(found.size(), 1u) << spelling << ": " << mutation.changes[0];
      seen.insert(mutation.changes[0]);
    }
    EXPECT_GT(seen.size(), 3u) << spelling;
    EXPECT_EQ(mutate(document, 1, 3).changes.size(), 3u) << spelling;
  }
}

TEST(PolicyTrim, TakesOutWhatNothingUses) {
  const auto with_rest = read(testing::whole(
      R"({"seq": [{"ref": "often"}, {"choose": 1, "from": ["invert", ["posterize", 0.5, 2]]}]})",
      R"("rotate": {"range": [0, 30]}, "equalize": {}, "invert": {}, "posterize": {"range": [8, 4], "param": "posterize_mask"}, "solarize": {"range": [256, 0]})",
      R"("extras": {"fill_value": 3}, "definitions": {"often": {"ref": "inner", "p": 0.5}, "inner": ["equalize", 1, null], "never": ["rotate", 1, 2]},)"));
  ASSERT_TRUE(with_rest.result.document) << with_rest.report();
  const Document left = trimmed(*with_rest.result.document);
  std::vector<std::string> names;
  for (const Augmentation& entry : left.augmentations) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"equalize", "invert", "posterize"}));
  EXPECT_EQ(left.definitions.size(), 2u);
  EXPECT_TRUE(left.extras.empty()) << "only the rotation took a fill value";
  EXPECT_EQ(to_json(left.policy), to_json(with_rest.result.document->policy));
  EXPECT_EQ(read(to_json(left)).report(), "") << "nothing is wrong, and nothing is warned about";
  for (const KnownPolicy& known : known_policies()) {
    const Document document = *document_of(known.spelling);
    EXPECT_EQ(to_json(trimmed(document)), to_json(document)) << known.spelling;
  }
}

}  // namespace
}  // namespace galatea::policy
