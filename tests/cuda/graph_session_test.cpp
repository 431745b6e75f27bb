// Whole programs whose batches come again: fewer calls of the driver, the bytes of the CPU.
#include "tests/cuda/twin_program.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

using runtime::DeviceStatistics;
using runtime::ExecutorKind;
using runtime::Session;
using runtime::SessionOptions;

/// Three launches a batch, or four in every second batch of 8: bytes of 1 to 7, outputs of 7.
TwinRecipe chain(bool alternates, int size = 64) {
  return [alternates, size](TwinMaker& m) {
    const int32_t source = m.source("{\"size\": " + std::to_string(size) + "}");
    const auto data = m.read(source);
    const int32_t n = m.extent(data[0], 0);
    m.device_output("bytes", DType::kU8, {7});
    int32_t bytes = m.call("scale", {data[0]}, {n, m.real(1.5), m.real(2)}, DType::kU8, {n});
    if (alternates) {
      const int32_t merged = m.slot();
      m.branch(
          m.scalar(ScalarOp::kAnd, DType::kI64, {m.load(data[1], 0, DType::kI64), m.value(8)}),
          [&] { m.copy(merged, m.call("scale", {bytes}, {n, m.real(3), m.real(1)}, DType::kU8, {n})); },
          [&] { m.copy(merged, bytes); });
      bytes = merged;
    }
    const int32_t second = m.call("scale", {bytes}, {n, m.real(0.5), m.real(-2)}, DType::kU8, {n});
    const int32_t seven = m.value(7);
    const int32_t first = m.strided(second, seven, m.value(0), 0);
    return std::vector<int32_t>{
        m.call_output(0, "scale", {first}, {seven, m.real(1), m.real(3)}, DType::kU8, {seven})};
  };
}

SessionOptions with(ExecutorKind executor, int threads, bool graphs = true) {
  SessionOptions options;
  options.executor = executor;
  options.num_threads = threads;
  options.device.graphs = graphs;
  return options;
}

struct Ran {
  TwinDelivered delivered;
  DeviceStatistics device;
  int64_t calls = 0;
};
Ran run(const FakeCuda& fake, const TwinProgram& twins, int epochs, const SessionOptions& options) {
  Ran out;
  auto session = Session::create(twins.gpu, twin_natives(), options);
  EXPECT_TRUE(session) << (session ? "" : session.error().message());
  if (!session) return out;
  fake.reset();
  out.delivered = deliver_all(**session, epochs);
  out.calls = fake.counters().calls;
  out.device = (*session)->statistics().device;
  return out;
}

TEST(GraphSession, EqualBatchesTakeFewerCalls) {
  FakeCuda fake;
  constexpr int kEpochs = 4, kBatches = 8 * kEpochs;
  const TwinProgram twins = make_twins(chain(false), 8, 2);
  const TwinDelivered expected = judge(twins, kEpochs);
  const Ran plain = run(fake, twins, kEpochs, with(ExecutorKind::kInline, 1, false));
  const Ran graphs = run(fake, twins, kEpochs, with(ExecutorKind::kInline, 1));
  EXPECT_TRUE(plain.delivered == expected);
  EXPECT_TRUE(graphs.delivered == expected);
  EXPECT_EQ(fake.errors(), "");
  EXPECT_EQ(plain.device.launches, 3 * kBatches);
  EXPECT_EQ(graphs.device.launches, 3 * kBatches);
  EXPECT_EQ(plain.device.graphs_off, "the session's options");
  EXPECT_EQ(plain.device.graph_launches + plain.device.plain_runs, 0);
  // Each batch has one run of three launches. Two places for descriptors take turns, so that there are two
  // graphs.
  EXPECT_EQ(graphs.device.graphs_off, "");
  EXPECT_EQ(graphs.device.graphs_made, 2);
  EXPECT_EQ(graphs.device.graph_launches + graphs.device.plain_runs, kBatches);
  EXPECT_EQ(graphs.device.graph_commands, 3 * graphs.device.graph_launches);
  EXPECT_LE(graphs.device.plain_runs, 8);
  // A launch instead of three; a graph of three nodes is made by six calls.
  EXPECT_EQ(plain.calls - graphs.calls, 2 * graphs.device.graph_launches - 6 * graphs.device.graphs_made);
}

TEST(GraphSession, TwoShapesInTurn) {
  FakeCuda fake;
  constexpr int kEpochs = 8, kBatches = 8 * kEpochs;
  const TwinProgram twins = make_twins(chain(true), 8, 2);
  const TwinDelivered expected = judge(twins, kEpochs);
  const Ran graphs = run(fake, twins, kEpochs, with(ExecutorKind::kInline, 1));
  EXPECT_TRUE(graphs.delivered == expected);
  EXPECT_EQ(fake.errors(), "");
  EXPECT_EQ(graphs.device.launches, 3 * kBatches + kBatches / 2);
  EXPECT_EQ(graphs.device.graph_launches + graphs.device.plain_runs, kBatches);
  EXPECT_GT(graphs.device.graph_launches, kBatches / 2);
  EXPECT_GE(graphs.device.graphs_made, 2);
}

/// The same batch in each epoch, of every kind of command, in every schedule of the device.
class GraphSchedules : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(GraphSchedules, EqualTheCpu) {
  FakeCuda fake(GetParam().first ? FakeSettings{GetParam()} : FakeSettings{});
  constexpr int kEpochs = 16;
  for (const auto& [name, recipe] :
       {std::pair<std::string, TwinRecipe>{"everything", everything()}, {"round_trip", round_trip()}}) {
    const TwinProgram twins = make_twins(recipe, 32, 1);
    const TwinDelivered expected = judge(twins, kEpochs);
    EXPECT_TRUE(expected.errors.empty());
    for (const auto& [executor, threads] : {std::pair{ExecutorKind::kInline, 1}, {ExecutorKind::kCpu, 3}}) {
      const Ran found = run(fake, twins, kEpochs, with(executor, threads));
      EXPECT_TRUE(found.delivered == expected) << name << ", " << threads << " threads";
      EXPECT_EQ(fake.errors(), "") << name << ", " << threads << " threads";
      EXPECT_EQ(found.device.graphs_off, "");
      if (threads > 1) continue;  // samples take their places in the order of threads
      // Launches, and rows of outputs that go up one by one; or launches and downloads.
      EXPECT_GE(found.device.graphs_made, 2) << name;
      EXPECT_GE(found.device.graph_launches, kEpochs / 2) << name;
    }
  }
  expect_nothing_lives(fake.counters(), "afterwards");
}

INSTANTIATE_TEST_SUITE_P(Schedules, GraphSchedules,
                         ::testing::Values(std::pair<const char*, const char*>{nullptr, nullptr},
                                           std::pair{"FAKE_CUDA_EAGER", "1"},
                                           std::pair{"FAKE_CUDA_PERMUTED", "1"}));

/// Memory that goes back to the driver now and then takes its graphs with it.
TEST(GraphSession, UnderALimitOfMemory) {
  FakeCuda fake;
  constexpr int kEpochs = 10;
  const TwinProgram twins = make_twins(everything(), 32, 1);
  const TwinDelivered expected = judge(twins, kEpochs);
  const Ran free = run(fake, twins, kEpochs, with(ExecutorKind::kInline, 1));
  int fitted = 0;
  for (const int64_t share : {1, 2, 3, 4, 6, 8}) {
    SessionOptions options = with(ExecutorKind::kInline, 1);
    options.device.memory_limit = free.device.peak_bytes * share / 8;
    const Ran found = run(fake, twins, kEpochs, options);
    EXPECT_EQ(fake.errors(), "") << share;
    EXPECT_LE(found.device.peak_bytes, options.device.memory_limit) << share;
    if (!found.delivered.errors.empty()) continue;
    EXPECT_TRUE(found.delivered == expected) << share;
    ++fitted;
  }
  EXPECT_GE(fitted, 1);
}

/// Each call of the driver fails once, also those of graphs: the same bytes or a clean error.
class GraphSessionFaults : public ::testing::TestWithParam<size_t> {};

TEST_P(GraphSessionFaults, EveryCallOnce) {
  FakeCuda fake;
  const int fault = kFaultCodes[GetParam()];
  const bool is_lost = runtime::cuda::is_device_lost(fault);
  const TwinProgram twins = make_twins(chain(false, 8), 4, 1);
  constexpr int kEpochs = 7;
  const TwinDelivered expected = judge(twins, kEpochs);
  const auto open = [&] {
    return Session::create(twins.gpu, twin_natives(), with(ExecutorKind::kInline, 1));
  };
  // The calls of the epochs in which graphs are made, and of some that use them.
  int64_t first = 0, last = 0;
  {
    fake.reset();
    auto session = *open();
    for (int epoch = 0; epoch < kEpochs && fake.calls("cuGraphLaunch") < 4; ++epoch) {
      const int64_t before = fake.counters().calls;
      deliver_all(*session, 1);
      if (first == 0 && fake.calls("cuGraphCreate") > 0) first = before + 1;
      last = fake.counters().calls;
    }
    ASSERT_EQ(fake.calls("cuGraphInstantiateWithFlags"), 2);
  }
  int64_t turned_off = 0;
  for (int64_t call = first; call <= last; ++call) {
    if (!takes_turn(call, GetParam(), kFaultCodes.size())) continue;
    const std::string when = "call " + std::to_string(call);
    fake.reset();
    fake.fail(call, fault);
    auto session = open();
    ASSERT_TRUE(session) << when;
    const TwinDelivered found = deliver_all(**session, kEpochs);
    const std::string off = (*session)->statistics().device.graphs_off;
    fake.fail(0, 0);
    session->reset();
    EXPECT_EQ(fake.errors(), "") << when;
    expect_nothing_lives(fake.counters(), when);
    EXPECT_TRUE(found == expected || !found.errors.empty()) << when;
    if (!off.empty()) {
      ++turned_off;
      EXPECT_TRUE(off.starts_with("cuGraph")) << when << off;
      EXPECT_TRUE(found == expected) << when;
    }
    if (HasFailure()) return;
  }
  // Seven calls to make a graph, of which giving back what it was made from may fail, and its launches.
  if (is_lost) EXPECT_EQ(turned_off, 0);
  if (!is_lost && !kSanitizesThreads) EXPECT_GT(turned_off, scale() == kWhole ? 8 : 0);
}

INSTANTIATE_TEST_SUITE_P(Codes, GraphSessionFaults, ::testing::Range<size_t>(0, kFaultCodes.size()));

}  // namespace
}  // namespace galatea::testing
