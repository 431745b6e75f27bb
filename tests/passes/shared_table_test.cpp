// One table of values for all who ask, until the graph changes.
#include "compiler/values/shared_table.h"

#include <gtest/gtest.h>

#include "compiler/passes/pass_runner.h"
#include "tests/passes/staged.h"

namespace galatea::values {
namespace {

using testing::staged;

TEST(SharedTable, IsMadeOnceUntilTheGraphChanges) {
  const auto graph = staged("    return fn.resize(image, size=[32, 48])\n");
  ASSERT_TRUE(graph);
  const ir::ValueId resized = graph->block(0).terminator.results.at(0);
  SharedTable table(*graph);
  const ValueTable* first = &table.get();
  EXPECT_EQ(&table.get(), first);
  EXPECT_EQ(kernel::const_value(first->info(resized).extents.at(0)), 32);
  graph->values[resized].type.extents[0] = 7;
  table.forget();
  EXPECT_EQ(kernel::const_value(table.get().info(resized).extents.at(0)), 7);
  const ValueTable* second = &table.get();
  const std::unique_ptr<ValueTable> taken = table.take();
  EXPECT_EQ(taken.get(), second);
  // What was taken is its owner's; who asks again gets another.
  EXPECT_NE(&table.get(), taken.get());
}

/// The plan behind the passes gets the table that the last of them looked at, if that changed nothing.
TEST(SharedTable, OutlivesThePassesThatChangeNothing) {
  const auto graph = staged("    return fn.brightness_contrast(image, brightness=2.0)\n");
  ASSERT_TRUE(graph);
  ASSERT_TRUE(passes::run_passes(*graph, testing::all_operators(), {}));
  SharedTable table(*graph);
  const ValueTable* before = &table.get();
  const auto reports = passes::run_passes(*graph, testing::all_operators(), {}, table);
  ASSERT_TRUE(reports);
  for (const passes::PassReport& report : *reports) EXPECT_FALSE(report.changed) << report.name;
  EXPECT_EQ(&table.get(), before);
}

/// A pass that changes the graph leaves a table of the new one.
TEST(SharedTable, IsForgottenByThePassesThatChangeTheGraph) {
  const auto graph =
      staged("    return fn.crop(fn.brightness_contrast(image, brightness=2.0), crop=[8, 8])\n");
  ASSERT_TRUE(graph);
  SharedTable table(*graph);
  table.get();
  ASSERT_TRUE(passes::run_passes(*graph, testing::all_operators(), {}, table));
  SharedTable fresh(*graph);
  for (ir::ValueId value = 0; value < static_cast<ir::ValueId>(graph->values.size()); ++value) {
    const ValueInfo& mine = table.get().info(value);
    const ValueInfo& wanted = fresh.get().info(value);
    ASSERT_EQ(mine.window.size(), wanted.window.size()) << value;
    ASSERT_EQ(mine.extents.size(), wanted.extents.size()) << value;
    for (size_t d = 0; d < mine.extents.size(); ++d)
      EXPECT_TRUE(kernel::same(mine.extents[d], wanted.extents[d])) << value;
  }
}

}  // namespace
}  // namespace galatea::values
