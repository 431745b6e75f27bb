// What galatea lacks of DALI's operators and arguments, by name: lists that may only become shorter.
//
// In: dali_facts.json, what DALI's own schemas say (make_facts.py), and the registry. A name of DALI's that
// is neither there nor listed here fails the test, and so does one that is listed although it is there.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "base/json.h"
#include "compiler/op/operator.h"
#include "compiler/op/operator_json.h"
#include "dsl/dali_names.h"
#include "stdlib_ops/register_all.h"

namespace galatea::testing {
namespace {

using Json = nlohmann::ordered_json;

/// Readers, sound, video, other decoders, and functions of the host: later work.
const std::set<std::string> kLater = {
    "dump_image",
    "optical_flow",
    "python_function",
};

/// Where an argument differs on purpose ("operator.argument: what"), and why.
const std::map<std::string, std::string> kDifferent = {
    {"brightness_contrast.contrast_center: default", "the middle of the input's type, not 0.5 of a byte"},
    {"contrast.contrast_center: default", "the middle of the input's type, not 0.5 of a byte"},
    {"erase.axes: default", "all but C: what DALI does, whatever its schema says"},
    {"erase.axis_names: default", "all but C: what DALI does, whatever its schema says"},
    {"readers.file.file_filters: default", "the endings that the decoders of galatea read"},
    {"readers.mxnet.index_path: required", "without an index the files are looked through"},
    {"decoders.video.pad_mode: per sample", "a word: how many frames there are would depend on the sample"},
    {"experimental.readers.video.pad_mode: per sample", "a reader has no sample before it reads"},
    {"squeeze.axes: per sample", "DALI refuses it when it runs; the axes decide how many are left"},
};

Json load_facts() {
  std::ifstream file(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/dali_facts.json");
  return Json::parse(file).at("operators");
}

class DaliFacts : public ::testing::Test {
 protected:
  DaliFacts() : facts_(load_facts()) { ops::register_all(registry_); }

  /// The operator that a text gets by this name, by an old one too.
  const op::Operator* find(const std::string& name) const {
    const std::string_view today = dsl::renamed_operator(name);
    return registry_.find(today.empty() ? std::string_view(name) : today);
  }

  op::Registry registry_;
  const Json facts_;
};

TEST_F(DaliFacts, Operators) {
  ASSERT_GE(facts_.size(), 170U);
  std::set<std::string> lacking;
  for (const auto& [name, arguments] : facts_.items())
    if (find(name) == nullptr) lacking.insert(name);
  for (const std::string& name : lacking) EXPECT_TRUE(kLater.contains(name)) << name << " is lacking";
  for (const std::string& name : kLater)
    EXPECT_TRUE(lacking.contains(name)) << name << " is there: it must leave the list";
}

// ---- arguments

/// Nothing, an empty list and an empty text all say that nothing was given.
bool is_empty(const Json& value) {
  return value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty();
}

/// DALI prints numbers with six digits behind the point.
bool same_number(const Json& a, const Json& b) {
  if (a.is_boolean() || b.is_boolean()) return a == b;
  return a.is_number() && b.is_number() && std::abs(a.get<double>() - b.get<double>()) < 1e-6;
}

bool same_default(const Json& dali, const op::ArgSpec& ours) {
  const Json own = op::to_json(ours.default_value);
  if (is_empty(dali)) return is_empty(own);
  if (same_number(dali, own)) return true;
  if (dali.is_array() && own.is_array() && dali.size() == own.size()) {
    for (size_t i = 0; i < dali.size(); ++i)
      if (!same_number(dali[i], own[i])) return dali == own;
    return true;
  }
  // A default that depends on what else is given stands in the words.
  const std::string words = dali.is_string() ? dali.get<std::string>() : "";
  return dali == own || (!words.empty() && ours.documentation.contains(words + " if not given"));
}

/// What differs of one argument: nothing, "absent", "required", "per sample" or "default".
std::vector<std::string> differences(const op::Operator& op, const std::string& name, const Json& facts) {
  const op::ArgSpec* own = op.find_arg(name);
  if (facts.contains("renamed") && dsl::renamed_argument(op.name, name) != nullptr) return {};
  if (own == nullptr && name == "seed" && op.random) return {};
  if (own == nullptr) return {"absent"};
  std::vector<std::string> found;
  if (!own->refused.empty() || own->no_effect) return found;
  if (own->required != facts.contains("required")) found.emplace_back("required");
  if (facts.contains("per_sample") && !own->per_sample) found.emplace_back("per sample");
  if (facts.contains("default") && !own->required && !same_default(facts["default"], *own))
    found.emplace_back("default");
  return found;
}

TEST_F(DaliFacts, Arguments) {
  std::set<std::string> found;
  size_t compared = 0;
  for (const auto& [name, arguments] : facts_.items()) {
    const op::Operator* op = find(name);
    if (op == nullptr) continue;
    for (const auto& [argument, facts] : arguments.items()) {
      ++compared;
      for (const std::string& what : differences(*op, argument, facts))
        found.insert(op->name + "." + argument + ": " + what);
    }
  }
  EXPECT_GE(compared, 700U);
  for (const std::string& difference : found)
    EXPECT_TRUE(kDifferent.contains(difference)) << difference << " differs from DALI's";
  for (const auto& [difference, why] : kDifferent)
    EXPECT_TRUE(found.contains(difference)) << difference << " is DALI's now: it must leave the list";
}

}  // namespace
}  // namespace galatea::testing
