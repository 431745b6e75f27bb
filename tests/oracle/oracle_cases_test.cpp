// Tests of the reader of recorded cases and of its comparison; every recorded file must be readable.
#include "tests/oracle/oracle_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

namespace galatea::testing {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(GALATEA_SOURCE_DIR) / "tests/oracle/data";

std::vector<std::string> group_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  return names;
}

template <typename T>
RecordedArray make_array(const std::string& dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  RecordedArray array{dtype, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

OracleCase make_case(RecordedArray expected, double tolerance,
                     ToleranceKind kind = ToleranceKind::kAbsolute) {
  OracleCase oracle_case;
  oracle_case.name = "made";
  oracle_case.outputs = {{std::move(expected)}};
  oracle_case.layouts = {""};
  oracle_case.tolerance = tolerance;
  oracle_case.kind = kind;
  return oracle_case;
}

std::vector<std::byte> npy(const std::string& header, const std::vector<uint8_t>& values) {
  std::string text = "\x93NUMPY";
  text += std::string("\x01\x00", 2);
  text += static_cast<char>(header.size());
  text += '\0';
  text += header;
  std::vector<std::byte> blob(text.size() + values.size());
  std::memcpy(blob.data(), text.data(), text.size());
  if (!values.empty()) std::memcpy(blob.data() + text.size(), values.data(), values.size());
  return blob;
}

TEST(OracleData, EveryGroupLoads) {
  size_t num_cases = 0;
  for (const std::string& name : group_names()) {
    const auto group = load_group(kFolder, name);
    ASSERT_TRUE(group.has_value()) << group.error();
    EXPECT_EQ(group->dali_version, "2.4.0") << name;
    std::set<std::string> seen;
    for (const OracleCase& oracle_case : group->cases) {
      EXPECT_TRUE(seen.insert(oracle_case.name).second) << name << "/" << oracle_case.name;
      EXPECT_NE(oracle_case.text.find("def p()"), std::string::npos) << name << "/" << oracle_case.name;
      EXPECT_NE(oracle_case.refused.has_value(), !oracle_case.outputs.empty())
          << name << "/" << oracle_case.name;
      EXPECT_EQ(oracle_case.why.empty(), oracle_case.tolerance == 0) << name << "/" << oracle_case.name;
      const size_t size = oracle_case.inputs.begin()->second.size();
      for (const auto& output : oracle_case.outputs) EXPECT_EQ(output.size(), size) << oracle_case.name;
    }
    num_cases += group->cases.size();
  }
  EXPECT_GT(num_cases, 1000u);
}

TEST(OracleData, RecordedSamplesEqualThemselvesAndNothingElse) {
  const auto group = load_group(kFolder, "window");
  ASSERT_TRUE(group.has_value()) << group.error();
  for (const OracleCase& oracle_case : group->cases) {
    if (oracle_case.refused) continue;
    RecordedArray got = oracle_case.outputs[0][0];
    EXPECT_EQ(compare(oracle_case, 0, 0, got), std::nullopt);
    if (got.bytes.empty()) continue;
    got.bytes[got.bytes.size() - 1] ^= std::byte{0x60};  // the top byte of the last element
    EXPECT_NE(compare(oracle_case, 0, 0, got), std::nullopt) << oracle_case.name;
  }
}

TEST(OracleData, MissingFilesAreNamed) {
  const auto group = load_group(kFolder, "no_such_group");
  ASSERT_FALSE(group.has_value());
  EXPECT_NE(group.error().find("no_such_group.json"), std::string::npos);
}

TEST(OracleNpy, ReadsTypesAndShapes) {
  const auto array =
      parse_npy(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }", {0xfe, 0xff, 5, 1}));
  ASSERT_TRUE(array.has_value()) << array.error();
  EXPECT_EQ(array->dtype, "int16");
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(array->element(0), -2);
  EXPECT_EQ(array->element(1), 261);
  const auto scalar = parse_npy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", {1}));
  ASSERT_TRUE(scalar.has_value()) << scalar.error();
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(scalar->element(0), 1);
}

TEST(OracleNpy, RefusesWhatItCannotRead) {
  EXPECT_FALSE(parse_npy({}).has_value());
  EXPECT_FALSE(parse_npy(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (), }", {})).has_value());
  EXPECT_FALSE(parse_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (1,), }", {1})).has_value());
  EXPECT_FALSE(parse_npy(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", {1})).has_value());
  EXPECT_FALSE(parse_npy(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (x,), }", {1})).has_value());
}

TEST(OracleElement, ReadsHalves) {
  const RecordedArray halves =
      make_array<uint16_t>("float16", {6}, {0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0x7e00});
  EXPECT_EQ(halves.element(0), 1);
  EXPECT_EQ(halves.element(1), -2);
  EXPECT_EQ(halves.element(2), std::ldexp(1.0L, -24));
  EXPECT_EQ(halves.element(3), 65504);
  EXPECT_TRUE(std::isinf(halves.element(4)));
  EXPECT_TRUE(std::isnan(halves.element(5)));
}

TEST(OracleCompare, SaysWhereAndByHowMuch) {
  const OracleCase oracle_case = make_case(make_array<uint8_t>("uint8", {2, 2}, {1, 2, 3, 4}), 1);
  EXPECT_EQ(compare(oracle_case, 0, 0, make_array<uint8_t>("uint8", {2, 2}, {2, 1, 3, 4})), std::nullopt);
  const auto text = compare(oracle_case, 0, 0, make_array<uint8_t>("uint8", {2, 2}, {1, 2, 9, 4}));
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text->find("index [1, 0]: got 9, expected 3"), std::string::npos) << *text;
  EXPECT_TRUE(compare(oracle_case, 0, 0, make_array<uint8_t>("uint8", {4}, {1, 2, 3, 4})).has_value());
  EXPECT_TRUE(compare(oracle_case, 0, 0, make_array<int8_t>("int8", {2, 2}, {1, 2, 3, 4})).has_value());
  EXPECT_TRUE(compare(oracle_case, 1, 0, make_array<uint8_t>("uint8", {2, 2}, {1, 2, 3, 4})).has_value());
}

TEST(OracleCompare, TellsLargeIntegersApart) {
  const OracleCase oracle_case = make_case(make_array<uint64_t>("uint64", {1}, {0xffffffffffffffff}), 0);
  EXPECT_FALSE(
      compare(oracle_case, 0, 0, make_array<uint64_t>("uint64", {1}, {0xffffffffffffffff})).has_value());
  EXPECT_TRUE(
      compare(oracle_case, 0, 0, make_array<uint64_t>("uint64", {1}, {0xfffffffffffffffe})).has_value());
}

TEST(OracleCompare, JudgesSpecialFloats) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const auto kind : {ToleranceKind::kAbsolute, ToleranceKind::kRelative, ToleranceKind::kRange}) {
    const OracleCase oracle_case = make_case(make_array<float>("float32", {3}, {kNan, kInf, 1}), 0.5, kind);
    EXPECT_FALSE(
        compare(oracle_case, 0, 0, make_array<float>("float32", {3}, {kNan, kInf, 1.25f})).has_value());
    EXPECT_TRUE(compare(oracle_case, 0, 0, make_array<float>("float32", {3}, {0, kInf, 1})).has_value());
    EXPECT_TRUE(compare(oracle_case, 0, 0, make_array<float>("float32", {3}, {kNan, -kInf, 1})).has_value());
    EXPECT_TRUE(compare(oracle_case, 0, 0, make_array<float>("float32", {3}, {kNan, 1e30f, 1})).has_value());
    EXPECT_TRUE(
        compare(oracle_case, 0, 0, make_array<float>("float32", {3}, {kNan, kInf, kNan})).has_value());
  }
}

TEST(OracleCompare, KindsScaleTheTolerance) {
  const RecordedArray expected = make_array<float>("float32", {2}, {100, 1});
  const RecordedArray both = make_array<float>("float32", {2}, {100.5f, 1.5f});
  EXPECT_FALSE(compare(make_case(expected, 0.01, ToleranceKind::kRange), 0, 0, both).has_value());
  EXPECT_TRUE(compare(make_case(expected, 0.01, ToleranceKind::kRelative), 0, 0, both).has_value());
  EXPECT_FALSE(compare(make_case(expected, 0.5, ToleranceKind::kAbsolute), 0, 0, both).has_value());
}

TEST(OracleCompare, BoundsTheMean) {
  OracleCase oracle_case = make_case(make_array<uint8_t>("uint8", {4}, {1, 2, 3, 4}), 1);
  oracle_case.mean_tolerance = 0.3;
  EXPECT_FALSE(compare(oracle_case, 0, 0, make_array<uint8_t>("uint8", {4}, {1, 2, 3, 5})).has_value());
  EXPECT_TRUE(compare(oracle_case, 0, 0, make_array<uint8_t>("uint8", {4}, {1, 2, 4, 5})).has_value());
}

}  // namespace
}  // namespace galatea::testing
