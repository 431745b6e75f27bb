// Whole programs on the fake device: the bytes of the CPU, in the order of streams, in few calls.
#include <thread>

#include "runtime/cuda/context.h"
#include "tests/cuda/twin_program.h"

namespace galatea::testing {
namespace {

using runtime::ExecutorKind;
using runtime::OnErrorPolicy;
using runtime::Session;
using runtime::SessionOptions;

SessionOptions with(ExecutorKind executor, int threads) {
  SessionOptions options;
  options.executor = executor;
  options.num_threads = threads;
  return options;
}

std::unique_ptr<Session> open(const std::shared_ptr<const runtime::Program>& program,
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
            deliver_all(*open(twins.gpu, with(executor, threads)), 2), expected,
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

}  // namespace
}  // namespace galatea::testing
