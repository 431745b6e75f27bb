// galatea.color_jitter against torchvision: what it makes of an image is what torchvision makes of it in one of the
// orders (peers/jitter.json, by make_peers.py), and each order is as likely.
#include <gtest/gtest.h>

#include <map>

#include "tests/oracle/run_case.h"
#include "tests/support/statistics.h"

namespace galatea::testing {
namespace {

/// Of the cases of one kind, `bytes_bcsh` and so on, which differ in their order alone.
std::map<std::string, std::vector<OracleCase>> cases_by_kind() {
  std::map<std::string, std::vector<OracleCase>> kinds;
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/peers", "jitter");
  EXPECT_TRUE(group) << group.error();
  if (!group) return kinds;
  for (OracleCase& one : group->cases)
    kinds[one.name.substr(0, one.name.find('_'))].push_back(std::move(one));
  return kinds;
}

/// How often each order was drawn for so many samples.
std::vector<int> counts_of_orders(const std::vector<OracleCase>& orders, int samples) {
  std::vector<int> counts(orders.size());
  const auto got = outputs_of(orders.front(), samples);
  EXPECT_TRUE(got) << got.error();
  if (!got) return counts;
  EXPECT_EQ(got->layouts, orders.front().layouts);
  for (const RecordedArray& image : got->samples.front()) {
    int fitting = 0;
    for (size_t n = 0; n < orders.size(); ++n) {
      if (compare(orders[n], 0, 0, image)) continue;
      ++counts[n];
      ++fitting;
    }
    EXPECT_EQ(fitting, 1) << orders.front().name;
  }
  return counts;
}

TEST(ColorJitter, DrawsEachOrderOfTorchvisionAsOften) {
  const auto kinds = cases_by_kind();
  ASSERT_EQ(kinds.size(), 4u);
  // At the level 0.001, with as many degrees of freedom as orders less one.
  const std::map<std::string, std::pair<size_t, double>> wanted = {
      {"bytes", {24, 49.73}}, {"floats", {24, 49.73}}, {"flat", {6, 20.52}}, {"grey", {2, 10.83}}};
  for (const auto& [kind, orders] : kinds) {
    const auto [count, critical] = wanted.at(kind);
    ASSERT_EQ(orders.size(), count) << kind;
    const int samples = static_cast<int>(count) * 12;
    EXPECT_LT(chi_square(counts_of_orders(orders, samples)), critical) << kind;
  }
}

}  // namespace
}  // namespace galatea::testing
