// Whole programs on the fake device: the bytes of the CPU, in the order of streams, in few calls.
#include <thread>

#include "runtime/cuda/context.h"
#include "tests/cuda/twin_program.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

using runtime::ExecutorKind;
using runtime::OnErrorPolicy;
using runtime::Session;
using runtime::SessionOptions;

SessionOptions with_executor(ExecutorKind executor, int threads) {
  SessionOptions options;
  options.executor = executor;
  options.num_threads = threads;
  return options;
}

std::unique_ptr<Session> open_session(const std::shared_ptr<const runtime::Program>& program,
                                      SessionOptions options = {}) {
  auto session = Session::create(program, twin_natives(), std::move(options));
  EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message());
  return session ? std::move(*session) : nullptr;
}

const std::vector<std::pair<ExecutorKind, int>> kExecutors = {
    {ExecutorKind::kInline, 1}, {ExecutorKind::kCpu, 1}, {ExecutorKind::kCpu, 3}};

class DeviceSessions : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  FakeSettings settings() const { return GetParam().first ? FakeSettings{GetParam()} : FakeSettings{}; }
};

void expect_equal(const TwinDelivered& found, const TwinDelivered& expected, const std::string& when) {
  EXPECT_EQ(found.errors, expected.errors) << when;
  EXPECT_EQ(found.ids, expected.ids) << when;
  ASSERT_EQ(found.outputs.size(), expected.outputs.size()) << when;
  for (size_t epoch = 0; epoch < found.outputs.size(); ++epoch) {
    ASSERT_EQ(found.outputs[epoch].size(), expected.outputs[epoch].size()) << when;
    for (size_t k = 0; k < found.outputs[epoch].size(); ++k)
      for (size_t output = 0; output < found.outputs[epoch][k].size(); ++output)
        EXPECT_TRUE(found.outputs[epoch][k][output] == expected.outputs[epoch][k][output])
            << when << ", sample " << k << ", output " << output;
  }
}

TEST_P(DeviceSessions, EqualTheCpu) {
  FakeCuda fake(settings());
  for (const auto& [name, recipe] :
       {std::pair<std::string, TwinRecipe>{"everything", everything()}, {"round_trip", round_trip()}}) {
    for (const int batch_size : {1, 4, 32}) {
      const TwinProgram twins = make_twins(recipe, batch_size, batch_size == 4 ? 3 : 1);
      const TwinDelivered expected = judge(twins, 2);
      EXPECT_TRUE(expected.errors.empty());
      for (const auto& [executor, threads] : kExecutors) {
        fake.reset();
        expect_equal(
            deliver_all(*open_session(twins.gpu, with_executor(executor, threads)), 2), expected,
            name + ", batch of " + std::to_string(batch_size) + ", " + std::to_string(threads) + " threads");
        EXPECT_EQ(fake.errors(), "");
        if (HasFatalFailure()) return;
      }
    }
  }
  expect_nothing_lives(fake.counters(), "afterwards");
}

INSTANTIATE_TEST_SUITE_P(Schedules, DeviceSessions,
                         ::testing::Values(std::pair<const char*, const char*>{nullptr, nullptr},
                                           std::pair{"FAKE_CUDA_EAGER", "1"},
                                           std::pair{"FAKE_CUDA_PERMUTED", "1"}));

// ---- what a batch takes

TEST(DeviceSession, OneParameterUploadALaunchASiteAndNoWaiting) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_EAGER", "1"}});
  // 23 samples in one batch: both arms are met.
  const TwinProgram twins = make_twins(everything(), 32, 1);
  SessionOptions options = with_executor(ExecutorKind::kInline, 1);
  auto session = open_session(twins.gpu, options);
  for (int epoch = 0; epoch < 2; ++epoch) {
    ASSERT_TRUE(session->next().value());
    EXPECT_FALSE(*session->next());  // the end of the epoch
  }
  fake.reset();
  auto batch = session->next();
  ASSERT_TRUE(batch && *batch);
  const FakeCudaCounters counters = fake.counters();
  EXPECT_EQ(counters.launches, static_cast<int64_t>(twins.gpu->kernel_calls.size()));
  // Host bytes in one chunk; parameters; outputs that the host makes: "number", "read", parts of "either".
  const auto statistics = session->statistics().device;
  EXPECT_EQ(statistics.enqueues, 3);
  EXPECT_EQ(statistics.parameter_uploads, 3);
  EXPECT_EQ(statistics.launches, 3 * counters.launches);
  EXPECT_EQ(counters.uploads, 1 + 1 + 1 + 1 + 12);
  EXPECT_EQ(counters.downloads, 0);
  EXPECT_EQ(counters.synchronizations, 0);
  EXPECT_EQ(counters.pageable_copies, 0);
  EXPECT_EQ(counters.allocations, 0);  // everything is used again
  EXPECT_EQ(statistics.waits, 0);
  EXPECT_EQ(statistics.device, "GPU 0 (Fake GPU A)");
}

TEST(DeviceSession, ABarrierInAnArmWaitsOnce) {
  FakeCuda fake;
  const TwinProgram twins = make_twins(round_trip(), 17, 1);
  auto session = open_session(twins.gpu, with_executor(ExecutorKind::kInline, 1));
  ASSERT_TRUE(session->next().has_value());
  const auto statistics = session->statistics().device;
  // Odd samples meet two barriers, even ones one; the first enqueue takes what both recorded until then.
  EXPECT_EQ(statistics.waits, 2);
  EXPECT_EQ(statistics.enqueues, 2);
  EXPECT_EQ(statistics.downloads, 17 + 2 * 8);
}

TEST(DeviceSession, ArmsMayShareALaunch) {
  FakeCuda fake;
  const auto recipe = [](int32_t launch) {
    return [launch](TwinMaker& m) {
      const int32_t source = m.source("{\"size\": 12}");
      const auto data = m.read(source);
      const int32_t n = m.extent(data[0], 0), merged = m.slot();
      const int32_t number = m.load(data[1], 0, DType::kI64);
      m.branch(
          m.scalar(ScalarOp::kAnd, DType::kI64, {number, m.value(1)}),
          [&] {
            m.copy(merged, m.call("scale", {data[0]}, {n, m.real(2), m.real(1)}, DType::kU8, {n}, launch));
          },
          [&] {
            m.copy(merged, m.call("scale", {data[0]}, {n, m.real(3), m.real(0)}, DType::kU8, {n}, launch));
          });
      m.device_output("bytes", DType::kU8, {-1});
      return std::vector<int32_t>{m.call_output(0, "add", {merged, merged}, {n}, DType::kU8, {n})};
    };
  };
  for (const int32_t launch : {-1, 4}) {
    const TwinProgram twins = make_twins(recipe(launch), 12);
    fake.reset();
    auto session = open_session(twins.gpu, with_executor(ExecutorKind::kCpu, 2));
    expect_equal(deliver_all(*session, 1), judge(twins, 1), "launch " + std::to_string(launch));
    EXPECT_EQ(session->statistics().device.launches, launch < 0 ? 3 : 2);
    EXPECT_EQ(fake.errors(), "");
  }
}

// ---- what fails

/// 1000 / (byte - 7): samples whose bytes hold a 7 fail; every third of program_maker's begins with one.
TwinRecipe dividing(bool waits, int64_t size) {
  return [waits, size](TwinMaker& m) {
    const int32_t source = m.source("{\"size\": " + std::to_string(size) + "}");
    m.at_line(3, "readers.file");
    const auto data = m.read(source);
    const int32_t n = m.extent(data[0], 0);
    m.at_line(4, "arith.div");
    m.device_output("quotients", DType::kI64, {-1});
    m.device_output("first", DType::kU8, {1});
    const int32_t one = m.value(1), zero = m.value(0);
    const int32_t first = m.call_output(1, "pick", {data[0]}, {one, n, zero}, DType::kU8, {one});
    const int32_t out = m.call_output(0, "divide", {data[0]}, {n, m.value(7)}, DType::kI64, {n});
    if (waits) m.barrier(true);
    return std::vector<int32_t>{out, first};
  };
}

TEST(DeviceErrors, AFlagIsTheErrorOfItsSample) {
  FakeCuda fake;
  for (const bool waits : {true, false}) {
    const TwinProgram twins = make_twins(dividing(waits, 20), 5);
    const TwinDelivered expected = judge(twins, 1);
    EXPECT_EQ(expected.errors, (std::vector<std::string>{"integer division by zero"}));
    for (const auto& [executor, threads] : kExecutors)
      expect_equal(deliver_all(*open_session(twins.gpu, with_executor(executor, threads)), 1), expected,
                   waits ? "waits" : "does not wait");
  }
  // It says where.
  const TwinProgram twins = make_twins(dividing(false, 20), 20);
  auto session = open_session(twins.gpu);
  auto batch = session->next();
  ASSERT_FALSE(batch);
  const Diagnostic& diagnostic = batch.error().diagnostics.front();
  EXPECT_EQ(diagnostic.code, "G0911");
  EXPECT_EQ(session->sources().describe(diagnostic.span), "test.dali-dsl:4:5");
  ASSERT_FALSE(diagnostic.notes.empty());
  EXPECT_EQ(diagnostic.notes.front(), "sample 7 of batch 0 in epoch 0: number 7");
  EXPECT_EQ(fake.errors(), "");
}

TEST(DeviceErrors, SkippedAndReplacedSamplesLeaveNoGap) {
  FakeCuda fake;
  for (const auto policy : {OnErrorPolicy::kSkip, OnErrorPolicy::kReplace}) {
    const TwinProgram twins = make_twins(dividing(true, 20), 6, 2, policy);
    const TwinDelivered expected = judge(twins, 2);
    EXPECT_TRUE(expected.errors.empty());
    EXPECT_EQ(expected.ids[0].size(), policy == OnErrorPolicy::kSkip ? 19U : 20U);
    for (const auto& [executor, threads] : kExecutors)
      expect_equal(deliver_all(*open_session(twins.gpu, with_executor(executor, threads)), 2), expected,
                   std::to_string(threads) + " threads");
    EXPECT_EQ(fake.errors(), "");
  }
}

TEST(DeviceErrors, ErrorsOfTheHostLeaveNoGapEither) {
  FakeCuda fake;
  for (const auto policy : {OnErrorPolicy::kRaise, OnErrorPolicy::kSkip, OnErrorPolicy::kReplace}) {
    for (const auto& recipe : {everything(R"("size": 23, "bad": [2, 3, 9, 22])"),
                               round_trip(R"("size": 17, "bad": [0, 1, 5, 16])")}) {
      const TwinProgram twins = make_twins(recipe, 6, 2, policy);
      const TwinDelivered expected = judge(twins, 2);
      for (const auto& [executor, threads] : kExecutors)
        expect_equal(deliver_all(*open_session(twins.gpu, with_executor(executor, threads)), 2), expected,
                     std::to_string(threads) + " threads");
      EXPECT_EQ(fake.errors(), "");
    }
  }
  expect_nothing_lives(fake.counters(), "afterwards");
}

TEST(DeviceErrors, ADeviceThatIsNotThere) {
  FakeCuda fake;
  const TwinProgram twins = make_twins(everything(), 4);
  SessionOptions options;
  options.device.number = 5;
  auto session = Session::create(twins.gpu, twin_natives(), options);
  ASSERT_FALSE(session);
  EXPECT_EQ(code_of(session.error()), "G0954");
  runtime::Program planned = *twins.gpu;
  for (auto& kernel : planned.kernels) {
    auto device = std::make_shared<runtime::DeviceKernel>(*kernel.device);
    device->cubin = nullptr;
    kernel.device = device;
  }
  auto empty = Session::create(std::make_shared<runtime::Program>(planned), twin_natives(), {});
  ASSERT_FALSE(empty);
  EXPECT_EQ(code_of(empty.error()), "G0931");
  expect_nothing_lives(fake.counters(), "afterwards");
}

/// Everything that a session does, with each call of the driver failing once.
class DeviceFaults : public ::testing::TestWithParam<size_t> {};

TEST_P(DeviceFaults, EveryCallOnce) {
  const int fault = kFaultCodes[GetParam()];
  FakeCuda fake;
  struct Case {
    std::string name;
    TwinProgram twins;
    TwinDelivered expected;
  };
  std::vector<Case> cases;
  for (const auto& [name, recipe] :
       {std::pair<std::string, TwinRecipe>{"everything", everything("\"size\": 6")},
        {"round_trip", round_trip("\"size\": 6")},
        {"dividing", dividing(false, 5)}}) {
    Case one{name, make_twins(recipe, 3), {}};
    one.expected = judge(one.twins, 1);
    cases.push_back(std::move(one));
  }
  for (const Case& one : cases) {
    const auto run = [&]() -> Result<TwinDelivered> {
      GALATEA_ASSIGN(auto session,
                     Session::create(one.twins.gpu, twin_natives(), with_executor(ExecutorKind::kInline, 1)));
      TwinDelivered out;
      auto& samples = out.outputs.emplace_back();
      auto& ids = out.ids.emplace_back();
      for (int turn = 0; turn < 4; ++turn) {
        GALATEA_ASSIGN(auto batch, session->next());
        if (!batch) break;
        for (size_t k = 0; k < batch->get()->sample_ids.size(); ++k) {
          ids.push_back((*batch)->sample_ids[k]);
          auto& sample = samples.emplace_back();
          for (const auto& output : (*batch)->outputs) {
            const runtime::Tensor& tensor = output.samples[k];
            std::vector<uint8_t> bytes(static_cast<size_t>(tensor.num_bytes()));
            if (tensor.memory == runtime::Memory::kHost)
              bytes = runtime::testing::bytes_of(tensor);
            else
              GALATEA_TRY((*batch)->device->download(tensor, bytes.data()));
            sample.push_back(std::move(bytes));
          }
        }
      }
      return out;
    };
    fake.reset();
    auto fine = run();
    ASSERT_TRUE(fine) << fine.error().message();
    EXPECT_TRUE(*fine == one.expected) << one.name;
    const int64_t calls = fake.counters().calls;
    int64_t tried = 0, failures = 0;
    for (int64_t call = 1; call <= calls; ++call) {
      if (!takes_turn(call, GetParam(), kFaultCodes.size())) continue;
      ++tried;
      const std::string when = one.name + ", call " + std::to_string(call);
      fake.reset();
      fake.fail(call, fault);
      const auto result = run();
      fake.fail(0, 0);
      expect_nothing_lives(fake.counters(), when);
      EXPECT_EQ(fake.errors(), "") << when;
      if (result) {
        EXPECT_TRUE(*result == one.expected) << when;
        continue;
      }
      ++failures;
      const std::string code = code_of(result.error());
      EXPECT_TRUE(code == "G0951" || code == "G0953" || code == "G0955" || code == "G0957" ||
                  code == "G0958" || code == "G0959" || code == "G0921")
          << when << ": " << code << " " << result.error().message();
      if (fault == runtime::cuda::code::kOutOfMemory) {
        EXPECT_NE(code, "G0958") << when << ": " << result.error().message();
      }
      if (HasFailure()) return;
    }
    // Of one call in four, few may be of the kind that ends a session.
    EXPECT_GT(failures, kSanitizesThreads ? 0 : tried / 4);
    // The process goes on, on the CPU and on the device.
    EXPECT_TRUE(judge(one.twins, 1) == one.expected);
    auto after = run();
    ASSERT_TRUE(after) << after.error().message();
    EXPECT_TRUE(*after == one.expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Codes, DeviceFaults, ::testing::Range<size_t>(0, kFaultCodes.size()));

}  // namespace
}  // namespace galatea::testing
