// Runs of commands as graphs: when they are made, what that saves, and that nothing but the number of calls
// depends on it.
#include <cstring>

#include "runtime/cuda/graph_cache.h"
#include "runtime/cuda/memory_pool.h"
#include "tests/cuda/fake_cuda_control.h"
#include "tests/support/build_folder.h"

namespace galatea::testing {
namespace {

using namespace runtime::cuda;  // NOLINT(google-build-using-namespace): everything of the wrapper

constexpr int64_t kGraphBytes = 1000;
constexpr int kPatience = GraphCache::kFirstPatience;

/// Three places on the device, and two on the host.
struct Fixture {
  explicit Fixture(const FakeSettings& settings = {}, bool is_wanted = true)
      : fake(settings),
        context(fake_context()),
        stream(*Stream::create(context)),
        other(*Stream::create(context)),
        device(MemoryPool::make(context, MemoryKind::kDevice)),
        pinned(MemoryPool::make(context, MemoryKind::kPinned)),
        graphs(std::make_unique<GraphCache>(context, is_wanted)) {
    if (graphs->freed()) {
      device->tell(graphs->freed());
      pinned->tell(graphs->freed());
    }
    take_places();
  }
  void take_places() {
    for (MemoryBlock& place : places) place = *device->acquire(kGraphBytes, stream);
    from = *pinned->acquire(kGraphBytes, stream);
    to = *pinned->acquire(kGraphBytes, stream);
  }
  /// Up, from place to place, and down again: `bytes` of them.
  std::vector<Command> chain(int64_t bytes = kGraphBytes) const {
    CommandList out;
    out.upload(places[0].device(), from.host(), bytes);
    out.copy(places[1].device(), places[0].device(), bytes);
    out.copy(places[2].device(), places[1].device(), bytes);
    out.download(to.host(), places[2].device(), bytes);
    return {out.commands().begin(), out.commands().end()};
  }
  /// Submits the chain and waits: the bytes must have arrived.
  void run(int64_t bytes = kGraphBytes) {
    std::memset(from.host(), ++value, kGraphBytes);
    std::memset(to.host(), 0, kGraphBytes);
    ASSERT_TRUE(graphs->submit(*stream, chain(bytes)));
    ASSERT_TRUE(stream->synchronize());
    EXPECT_EQ(to.host()[0], value);
    EXPECT_EQ(to.host()[bytes - 1], value);
    if (bytes < kGraphBytes) {
      EXPECT_EQ(to.host()[bytes], 0);
    }
  }

  FakeCuda fake;
  std::shared_ptr<const Context> context;
  std::shared_ptr<const Stream> stream, other;
  std::shared_ptr<MemoryPool> device, pinned;
  std::unique_ptr<GraphCache> graphs;
  std::array<MemoryBlock, 3> places;
  MemoryBlock from, to;
  uint8_t value = 0;
};

// ---- when

TEST(Graphs, AnEqualRunIsOneCall) {
  Fixture f;
  constexpr int kTurns = 10;
  for (int turn = 1; turn <= kTurns; ++turn) f.run();
  // The last of the runs that were counted is the graph's first.
  constexpr int kPlain = kPatience - 1;
  EXPECT_EQ(f.graphs->counts().plain, kPlain);
  EXPECT_EQ(f.graphs->counts().launches, kTurns - kPlain);
  EXPECT_EQ(f.graphs->counts().commands, 4 * (kTurns - kPlain));
  EXPECT_EQ(f.graphs->counts().made, 1);
  EXPECT_EQ(f.fake.calls("cuGraphLaunch"), kTurns - kPlain);
  EXPECT_EQ(f.fake.calls("cuGraphInstantiateWithFlags"), 1);
  EXPECT_EQ(f.fake.calls("cuMemcpyHtoDAsync_v2"), kPlain);
  EXPECT_EQ(f.fake.calls("cuMemcpyDtoDAsync_v2"), 2 * kPlain);
  // The same work was done, however it was asked for.
  EXPECT_EQ(f.fake.counters().uploads, kTurns);
  EXPECT_EQ(f.fake.counters().device_copies, 2 * kTurns);
  EXPECT_EQ(f.fake.counters().live_graphs, 0);  // only what was made executable is kept
  EXPECT_EQ(f.fake.counters().live_graph_execs, 1);
  EXPECT_EQ(f.fake.errors(), "");
}

TEST(Graphs, ShortRunsGainNothing) {
  Fixture f;
  const std::vector<Command> chain = f.chain();
  for (int turn = 0; turn < 20; ++turn)
    ASSERT_TRUE(f.graphs->submit(*f.stream, std::span(chain).first(GraphCache::kLeastCommands - 1)));
  EXPECT_EQ(f.fake.counters().graphs_made, 0);
  EXPECT_EQ(f.graphs->counts().plain, 0);
}

TEST(Graphs, WhatNeverComesAgainCostsNoCall) {
  Fixture f;
  for (int turn = 0; turn < 200; ++turn) f.run(kGraphBytes - turn);
  EXPECT_EQ(f.graphs->counts().plain, 200);
  EXPECT_EQ(f.fake.calls("cuGraphCreate"), 0);
  EXPECT_EQ(f.fake.counters().live_graph_execs, 0);
}

TEST(Graphs, AChangedShapeIsAnotherGraph) {
  Fixture f;
  for (int turn = 0; turn < 10; ++turn) f.run();
  for (int turn = 0; turn < 10; ++turn) f.run(kGraphBytes / 2);
  for (int turn = 0; turn < 10; ++turn) f.run();
  EXPECT_EQ(f.graphs->counts().made, 2);
  EXPECT_EQ(f.graphs->counts().plain, 2 * (kPatience - 1));
  EXPECT_EQ(f.fake.errors(), "");
}

TEST(Graphs, TwoShapesInTurn) {
  Fixture f;
  for (int turn = 0; turn < 40; ++turn) f.run(turn % 2 == 0 ? kGraphBytes : kGraphBytes / 2);
  EXPECT_EQ(f.graphs->counts().made, 2);
  EXPECT_EQ(f.graphs->counts().launches, 40 - 2 * (kPatience - 1));
  EXPECT_EQ(f.graphs->counts().gone, 0);
}

TEST(Graphs, MoreShapesThanPlacesKeepTheirGraphs) {
  Fixture f;
  constexpr int kShapes = static_cast<int>(GraphCache::kMostGraphs) + 1, kTurns = 30;
  for (int turn = 0; turn < kTurns; ++turn)
    for (int shape = 0; shape < kShapes; ++shape) f.run(kGraphBytes - shape);
  EXPECT_EQ(f.graphs->counts().made, kShapes - 1);
  EXPECT_EQ(f.graphs->counts().gone, 0);
  EXPECT_EQ(f.graphs->counts().launches, (kShapes - 1) * (kTurns - kPatience + 1));
}

TEST(Graphs, ShapesThatGoTooSoonRaiseThePrice) {
  Fixture f;
  // The worst there is: each comes just often enough to be given a graph.
  constexpr int kShapes = 600;
  for (int shape = 0; shape < kShapes; ++shape)
    for (int turn = 0; turn <= kPatience; ++turn) f.run(kGraphBytes - shape);
  EXPECT_LE(f.graphs->counts().made, static_cast<int64_t>(GraphCache::kMostGraphs) + 8);
  EXPECT_LE(f.graphs->num_graphs(), GraphCache::kMostGraphs);
  // One that stays is given its graph in the end, and those that follow are as before.
  const int64_t made = f.graphs->counts().made;
  for (int turn = 0; turn < 2 * GraphCache::kMostPatience; ++turn) f.run(7);
  EXPECT_EQ(f.graphs->counts().made, made + 1);
  EXPECT_EQ(f.fake.errors(), "");
}

// ---- memory

TEST(Graphs, FreedMemoryTakesItsGraphsWithIt) {
  Fixture f;
  for (int turn = 0; turn < 10; ++turn) f.run();
  const auto before = f.places[1].device();
  f.places[1] = MemoryBlock();
  f.device->drop_idle();
  // The fake driver gives the address out again when it has been through all others.
  for (int turn = 0; turn < 2000 && !f.places[1]; ++turn) {
    MemoryBlock block = *f.device->acquire(kGraphBytes, f.stream);
    if (block.device() == before) {
      f.places[1] = std::move(block);
    } else {
      block = MemoryBlock();
      f.device->drop_idle();
    }
  }
  ASSERT_TRUE(f.places[1]);
  f.run();
  EXPECT_EQ(f.graphs->counts().gone, 1);
  for (int turn = 0; turn < 10; ++turn) f.run();
  EXPECT_EQ(f.graphs->counts().made, 2);
  EXPECT_EQ(f.fake.errors(), "");
}

TEST(Graphs, OtherFreedMemoryDoesNot) {
  Fixture f;
  for (int turn = 0; turn < 10; ++turn) {
    {
      const MemoryBlock unused = *f.device->acquire(64 * kGraphBytes, f.stream);
    }
    f.device->drop_idle();
    f.run();
  }
  EXPECT_EQ(f.graphs->counts().gone, 0);
  EXPECT_GT(f.graphs->counts().launches, 0);
}

// ---- order

TEST(Graphs, ComeBehindWhatTheirStreamWaitsFor) {
  for (const bool waits : {true, false}) {
    Fixture f;
    for (int turn = 0; turn < 10; ++turn) f.run();
    f.from.also_used_by(f.other);
    ASSERT_TRUE(f.other->upload(f.places[1].device(), f.from.host(), kGraphBytes));
    Event event = *Event::create(f.context);
    ASSERT_TRUE(event.record(*f.other));
    if (waits) {
      ASSERT_TRUE(f.stream->wait_for(event));
    }
    ASSERT_TRUE(f.graphs->submit(*f.stream, f.chain()));
    ASSERT_TRUE(f.stream->synchronize());
    ASSERT_TRUE(f.other->synchronize());
    EXPECT_EQ(f.fake.errors().find("nothing orders the two") == std::string::npos, waits) << f.fake.errors();
  }
}

TEST(Graphs, WhatFollowsComesBehindAllOfTheirNodes) {
  for (const bool waits : {true, false}) {
    Fixture f;
    for (int turn = 0; turn < 10; ++turn) f.run();
    ASSERT_TRUE(f.graphs->submit(*f.stream, f.chain()));
    Event event = *Event::create(f.context);
    ASSERT_TRUE(event.record(*f.stream));
    if (waits) {
      ASSERT_TRUE(f.other->wait_for(event));
    }
    f.to.also_used_by(f.other);
    ASSERT_TRUE(f.other->download(f.to.host(), f.places[1].device(), kGraphBytes));
    ASSERT_TRUE(f.other->synchronize());
    ASSERT_TRUE(f.stream->synchronize());
    EXPECT_EQ(f.fake.errors().empty(), waits) << f.fake.errors();
  }
}

/// The model itself: nodes that no edge orders are two streams.
TEST(Graphs, NodesAreOrderedByTheirEdgesAlone) {
  for (const bool has_edge : {true, false}) {
    Fixture f;
    const DriverApi& api = f.context->api();
    GraphHandle graph = nullptr;
    ASSERT_TRUE(f.context->call(api.create_graph, &graph, 0));
    CopyNodeParams up, on;
    up.from.type = memory_type::kHost;
    up.from.host = f.from.host();
    up.to.type = on.from.type = on.to.type = memory_type::kDevice;
    up.to.device = on.from.device = f.places[0].device();
    on.to.device = f.places[1].device();
    up.bytes = on.bytes = kGraphBytes;
    GraphNodeHandle first = nullptr, second = nullptr;
    ASSERT_TRUE(f.context->call(api.add_copy_node, &first, graph, nullptr, 0, &up, f.context->handle()));
    ASSERT_TRUE(f.context->call(api.add_copy_node, &second, graph, &first, has_edge ? 1 : 0, &on,
                                f.context->handle()));
    GraphExecHandle exec = nullptr;
    ASSERT_TRUE(f.context->call(api.instantiate_graph, &exec, graph, 0));
    f.context->release(api.destroy_graph, graph);
    ASSERT_TRUE(f.context->call(api.launch_graph, exec, f.stream->handle()));
    f.context->release(api.destroy_graph_exec, exec);  // goes on
    ASSERT_TRUE(f.stream->synchronize());
    EXPECT_EQ(f.fake.errors().empty(), has_edge) << f.fake.errors();
  }
}

// ---- without

TEST(Graphs, AreNotMadeWhereTheyAreNotWanted) {
  Fixture f({}, false);
  for (int turn = 0; turn < 20; ++turn) f.run();
  EXPECT_EQ(f.graphs->off_because(), "the session's options");
  EXPECT_EQ(f.fake.calls("cuGraphCreate"), 0);
}

TEST(Graphs, AnOldDriverHasNone) {
  FakeCuda fake(FakeSettings{{"GALATEA_CUDA_LIBRARY_PATH", build_folder("/fake_cuda_11")},
                             {"FAKE_CUDA_DRIVER_VERSION", "11040"}});
  const auto context = fake_context();
  ASSERT_NE(context, nullptr);
  GraphCache graphs(context, true);
  EXPECT_EQ(graphs.off_because(), "the driver, for CUDA 11.4, has no cuGraphCreate");
  const std::shared_ptr<const Stream> stream = *Stream::create(context);
  const auto device = MemoryPool::make(context, MemoryKind::kDevice);
  const MemoryBlock block = *device->acquire(kGraphBytes, stream);
  CommandList list;
  for (int k = 0; k < 5; ++k) list.copy(block.device() + 256, block.device(), 100);
  for (int turn = 0; turn < 10; ++turn) EXPECT_TRUE(graphs.submit(*stream, list.commands()));
  EXPECT_TRUE(stream->synchronize());
}

/// A call that fails: plain commands and the same bytes, or the error of a device that is lost.
class GraphFaults : public ::testing::TestWithParam<int> {};

TEST_P(GraphFaults, EveryCallOnce) {
  const bool is_lost = is_device_lost(GetParam());
  // Making the graph is seven calls, and each of three runs is one launch.
  constexpr int kCalls = 10, kDestroy = 7;
  for (int call = 1; call <= kCalls; ++call) {
    const std::string when = "call " + std::to_string(call);
    Fixture f;
    for (int turn = 1; turn < kPatience; ++turn) f.run();
    const Context::Scope scope(*f.context);
    f.fake.reset();
    f.fake.fail(call, GetParam());
    std::memset(f.from.host(), 77, kGraphBytes);
    bool has_failed = false;
    for (int turn = 0; turn < 3 && !has_failed; ++turn)
      has_failed = !f.graphs->submit(*f.stream, f.chain()).has_value();
    EXPECT_GE(f.fake.counters().calls, call) << when;
    f.fake.fail(0, 0);
    EXPECT_EQ(has_failed, is_lost) << when;
    ASSERT_TRUE(f.stream->synchronize());
    if (!has_failed) {
      EXPECT_EQ(f.to.host()[kGraphBytes - 1], 77) << when;
      const std::string& reason = f.graphs->off_because();
      EXPECT_EQ(reason.empty(), call == kDestroy) << when << reason;
      if (call != kDestroy) {
        EXPECT_TRUE(reason.starts_with("cuGraph") && reason.find("CUDA_ERROR") != std::string::npos)
            << reason;
        EXPECT_EQ(f.graphs->num_graphs(), 0U) << when;
        EXPECT_EQ(f.fake.counters().live_graph_execs, 0) << when;
      }
    }
    f.graphs.reset();
    EXPECT_EQ(f.fake.counters().live_graphs, 0) << when;
    EXPECT_EQ(f.fake.counters().live_graph_execs, 0) << when;
    EXPECT_EQ(f.fake.errors(), "") << when;
  }
}

INSTANTIATE_TEST_SUITE_P(Codes, GraphFaults,
                         ::testing::Values(code::kOutOfMemory, code::kInvalidValue, code::kLaunchFailed));

}  // namespace
}  // namespace galatea::testing
