// Sources and native functions that do not deliver what their ports say: each is told as such, by name, and
// nothing of it reaches what comes behind.
#include "runtime/delivery.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <mutex>
#include <set>

#include "program_maker.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT
using Extents = std::vector<int64_t>;

/// Three outputs: boxes f32[n,4], classes i32[n], and a mask u8[?] that may be left out.
std::vector<Port> scene_ports() {
  return {{.name = "boxes", .dtypes = {DType::kF32}, .extents = {"n", 4}},
          {.name = "classes", .dtypes = {DType::kI32}, .extents = {"n"}},
          {.name = "mask", .dtypes = {DType::kU8}, .ndim = 1, .optional = true}};
}

using Read = std::function<Status(int64_t index, const SampleSource::AllocateOutput& allocate)>;

class ScriptedSource final : public SampleSource {
 public:
  explicit ScriptedSource(Read script) : script_(std::move(script)) {}
  int64_t size() const override { return 3; }
  std::string describe(int64_t index) const override { return "scene " + std::to_string(index); }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    return script_(index, allocate);
  }

 private:
  Read script_;
};

/// One output of a sample, all elements `value`.
Status give(const SampleSource::AllocateOutput& allocate, int k, DType dtype, const Extents& extents,
            int value = 0) {
  GALATEA_ASSIGN(Tensor * out, allocate(k, dtype, extents));
  std::memset(out->data, value, static_cast<size_t>(out->num_bytes()));
  return {};
}

Status honest(int64_t index, const SampleSource::AllocateOutput& allocate) {
  GALATEA_TRY(give(allocate, 0, DType::kF32, {index, 4}));
  GALATEA_TRY(give(allocate, 1, DType::kI32, {index}, 1));
  return give(allocate, 2, DType::kU8, {5}, 7);
}

NativeTable natives_with(Read script, std::vector<Port> declared = {}) {
  NativeTable table = test_natives();
  table.add(SourceFactory{"test.scenes",
                          [script](const std::string&) -> Result<std::unique_ptr<SampleSource>> {
                            return std::make_unique<ScriptedSource>(script);
                          },
                          std::move(declared)});
  return table;
}

/// Hands out what the source delivers, a sample a batch.
std::shared_ptr<const Program> scene_program(OnErrorPolicy on_error = OnErrorPolicy::kRaise) {
  ProgramMaker m;
  m.program.batch_size = 1;
  m.program.on_error = on_error;
  m.at_line(3, "readers.scenes");
  SourceSpec spec;
  spec.factory = "test.scenes";
  spec.name = "Reader";
  spec.outputs = scene_ports();
  m.program.sources.push_back(spec);
  const std::vector<int32_t> slots = {m.slot(), m.slot(), m.slot()};
  m.add(Opcode::kRead).a = m.list(slots);
  m.program.code.back().b = 0;
  m.output("boxes", DType::kF32, {-1, 4});
  m.output("classes", DType::kI32, {-1});
  m.output("mask", DType::kU8, {-1});
  return m.finish(slots);
}

Result<Delivered> run(const std::shared_ptr<const Program>& program, const NativeTable& natives) {
  GALATEA_ASSIGN(auto session, Session::create(program, natives));
  return deliver(*session, 1);
}

TEST(Delivery, WhatFitsIsDelivered) {
  const auto all = run(scene_program(), natives_with(honest, scene_ports()));
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->errors, std::vector<std::string>());
  ASSERT_EQ(all->samples[0].size(), 3u);
  EXPECT_EQ(all->samples[0][2].size(), 2u * 16 + 2 * 4 + 5);
  EXPECT_EQ(all->samples[0][2].back(), 7);
}

/// Where `lists[c …]` of a read says so, the source writes into the batch itself, and what it leaves there with an error
/// is nobody's.
TEST(Delivery, AnOutputIsReadWhereTheBatchHasIt) {
  for (const int64_t limit : {int64_t{0}, int64_t{1} << 20}) {
    Program program = *scene_program(OnErrorPolicy::kReplace);
    program.memory_limit = limit;
    program.code.front().c = static_cast<int32_t>(program.lists.size());
    for (const int32_t output : {0, 1, -1}) program.lists.push_back(output);
    std::mutex mutex;
    std::array<std::set<const uint8_t*>, 3> seen;  // other samples are read ahead
    const Read read = [&](int64_t index, const SampleSource::AllocateOutput& allocate) -> Status {
      for (int k = 0; k < 3; ++k) {
        const DType types[] = {DType::kF32, DType::kI32, DType::kU8};
        const Extents shapes[] = {{2 + index, 4}, {2 + index}, {5}};
        GALATEA_ASSIGN(Tensor * out, allocate(k, types[k], shapes[static_cast<size_t>(k)]));
        {
          const std::lock_guard lock(mutex);
          seen[static_cast<size_t>(k)].insert(out->data);
        }
        std::memset(out->data, static_cast<int>(index) + 1, static_cast<size_t>(out->num_bytes()));
        if (index == 0 && k == 1) return make_error(ErrorKind::kUser, "G0802", "the first is damaged", "");
      }
      return {};
    };
    const auto session =
        Session::create(std::make_shared<const Program>(std::move(program)), natives_with(read));
    ASSERT_TRUE(session) << session.error().message();
    const auto batch = (*session)->next();
    ASSERT_TRUE(batch) << batch.error().message();
    ASSERT_TRUE(*batch);
    for (size_t k = 0; k < 3; ++k) {
      const Tensor& given = (**batch)->outputs[k].samples[0];
      const std::lock_guard lock(mutex);
      EXPECT_EQ(seen[k].contains(given.data), k < 2) << k;
      EXPECT_GT(given.data[0], 1) << "another sample than the first";
      EXPECT_EQ(given.extents[0], k == 2 ? 5 : 1 + given.data[0]);
    }
  }
  Program program = *scene_program();
  program.code.front().c = static_cast<int32_t>(program.lists.size());
  for (const int32_t output : {0, 3, -1}) program.lists.push_back(output);
  const auto session =
      Session::create(std::make_shared<const Program>(std::move(program)), natives_with(honest));
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().message().find("output"), std::string::npos) << session.error().message();
}

struct Lie {
  const char* says;
  Read read;
};

TEST(Delivery, ASourceThatLiesIsToldAsSuch) {
  using Allocate = SampleSource::AllocateOutput;
  /// The third sample differs, at one output; the error is passed on.
  auto with = [](int lie_at, DType dtype, Extents extents) -> Read {
    return [=](int64_t index, const Allocate& allocate) -> Status {
      if (index != 2) return honest(index, allocate);
      const DType types[] = {DType::kF32, DType::kI32, DType::kU8};
      const Extents shapes[] = {{2, 4}, {2}, {5}};
      for (int k = 0; k < 3; ++k)
        GALATEA_TRY(k == lie_at ? give(allocate, k, dtype, extents) : give(allocate, k, types[k], shapes[k]));
      return {};
    };
  };
  auto then = [](const std::function<void(const Allocate&)>& also) -> Read {
    return [=](int64_t index, const Allocate& allocate) -> Status {
      GALATEA_TRY(honest(index, allocate));
      if (index == 2) also(allocate);
      return {};
    };
  };
  const Lie lies[] = {
      {"output 1 (classes) is f32[2], but its port is i32[n]", with(1, DType::kF32, {2})},
      {"output 1 (classes) is i32[2,1], but its port is i32[n]", with(1, DType::kI32, {2, 1})},
      {"output 0 (boxes) is f32[], but its port is f32[n,4]", with(0, DType::kF32, {})},
      {"output 0 (boxes) is f32[2,5], but its port is f32[n,4]", with(0, DType::kF32, {2, 5})},
      {"output 1 (classes) is i32[3], but its port is i32[n], where n is 2 in this sample",
       with(1, DType::kI32, {3})},
      {"output 2 (mask) is u8[-1], but its port is u8[?]", with(2, DType::kU8, {-1})},
      {"output 0 (boxes) is f32[-2,4], but its port is f32[n,4]", with(0, DType::kF32, {-2, 4})},
      {"output 0 (boxes) is f32[1,1,1,1,1,1,1,1,1,1], but", with(0, DType::kF32, Extents(10, 1))},
      {"output 1 (classes) was not delivered",
       [](int64_t index, const Allocate& allocate) -> Status {
         return index == 2 ? give(allocate, 0, DType::kF32, {2, 4}) : honest(index, allocate);
       }},
      // Errors that the source keeps to itself.
      {"output 0 (boxes) was delivered twice",
       then([](const Allocate& allocate) { static_cast<void>(allocate(0, DType::kF32, {2, 4})); })},
      {"output 3 was delivered, but there are 3 outputs",
       then([](const Allocate& allocate) { static_cast<void>(allocate(3, DType::kU8, {1})); })},
      {"output -1 was delivered, but there are 3 outputs",
       then([](const Allocate& allocate) { static_cast<void>(allocate(-1, DType::kU8, {1})); })},
  };
  auto session = Session::create(scene_program(), natives_with(with(0, DType::kU8, {1})));
  ASSERT_TRUE(session);
  ASSERT_TRUE((*session)->next());
  ASSERT_TRUE((*session)->next());
  const auto third = (*session)->next();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().diagnostics.front().code, "G0858");
  for (const Lie& lie : lies) {
    const auto all = run(scene_program(), natives_with(lie.read));
    ASSERT_TRUE(all) << all.error().message();
    ASSERT_EQ(all->errors.size(), 1u) << lie.says;
    EXPECT_NE(all->errors[0].find(lie.says), std::string::npos) << all->errors[0];
    EXPECT_NE(all->errors[0].find("reader 'Reader', scene 2: "), std::string::npos) << all->errors[0];
    EXPECT_EQ(all->samples[0].size(), 2u) << lie.says;
    const auto skipped = run(scene_program(OnErrorPolicy::kSkip), natives_with(lie.read));
    ASSERT_TRUE(skipped);
    EXPECT_EQ(skipped->ids[0], (Extents{0, 1})) << lie.says;
    EXPECT_TRUE(skipped->errors.empty()) << lie.says;
  }
}

/// The tensor that a source is given is its own: what it writes over it is not believed.
TEST(Delivery, ATensorKeepsItsTypeWhateverTheSourceWritesOverIt) {
  const auto all = run(scene_program(), natives_with([](int64_t index, const auto& allocate) -> Status {
                         GALATEA_TRY(honest(index, [&](int k, DType dtype, const Extents& extents) {
                           Result<Tensor*> out = allocate(k, dtype, extents);
                           if (out && k == 1) {
                             std::memset((*out)->data, 0, static_cast<size_t>((*out)->num_bytes()));
                             static Tensor decoy;
                             decoy = **out;
                             **out = Tensor{};
                             return Result<Tensor*>(&decoy);
                           }
                           return out;
                         }));
                         return {};
                       }));
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->errors, std::vector<std::string>());
  ASSERT_EQ(all->samples[0].size(), 3u);
  EXPECT_EQ(all->samples[0][2].size(), 2u * 16 + 2 * 4 + 5);
}

TEST(Delivery, AnOptionalOutputThatIsLeftOutHasNoElements) {
  const auto all = run(scene_program(), natives_with([](int64_t index, const auto& allocate) -> Status {
                         GALATEA_TRY(give(allocate, 0, DType::kF32, {index, 4}));
                         return give(allocate, 1, DType::kI32, {index});
                       }));
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->errors, std::vector<std::string>());
  ASSERT_EQ(all->samples[0].size(), 3u);
  EXPECT_EQ(all->samples[0][2].size(), 2u * 16 + 2 * 4);
}

TEST(Delivery, AProgramForOtherPortsIsRefused) {
  auto refusal = [](std::vector<Port> declared) {
    const auto session = Session::create(scene_program(), natives_with(honest, std::move(declared)));
    return session ? std::string() : session.error().message();
  };
  EXPECT_EQ(refusal(scene_ports()), "");
  std::vector<Port> fewer = scene_ports(), other = scene_ports();
  fewer.pop_back();
  other[0].extents = {"n", 5};
  const auto refused = Session::create(scene_program(), natives_with(honest, fewer));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().diagnostics.front().code, "G0859");
  EXPECT_NE(refusal(fewer).find("reader 'Reader' has 2 outputs, not 3"), std::string::npos) << refusal(fewer);
  EXPECT_NE(refusal(other).find("reader 'Reader' has output 0 (boxes) as f32[n,5], not f32[n,4]"),
            std::string::npos)
      << refusal(other);
}

/// One native call behind "test.numbers": a function that makes an output, or results.
std::shared_ptr<const Program> native_program(bool allocates) {
  ProgramMaker m;
  m.program.batch_size = 1;
  m.at_line(3, "readers.file");
  const auto data = m.read(m.source("{\"size\": 2}"));
  m.at_line(4, "made.up");
  int32_t slot = data[0];
  if (allocates) {
    slot = m.native("test.lie", "", {data[0]}, true);
    m.program.natives.back().port = {.name = "out", .dtypes = {DType::kU8}, .extents = {Extent(), 2}};
    m.output("out", DType::kU8, {-1, 2});
  } else {
    NativeCallSpec call;
    call.function = "test.lie";
    call.inputs = {data[0]};
    call.scalar_results = {m.reg(), m.reg()};
    call.ranges = {{1, 4}, {-8, 8}};
    m.program.natives.push_back(call);
    m.add(Opcode::kCallNative).a = 0;
    m.output("bytes", DType::kU8, {-1});
  }
  return m.finish({slot});
}

std::string native_error(bool allocates, const std::function<Status(NativeContext&)>& call,
                         std::vector<Port> inputs = {}) {
  NativeTable table = test_natives();
  NativeFunction function;
  function.name = "test.lie";
  function.category = "compute";
  function.call = call;
  function.inputs = std::move(inputs);
  table.add(std::move(function));
  const auto all = run(native_program(allocates), table);
  if (!all) return all.error().message();
  EXPECT_EQ(all->errors.size() + all->samples[0].size(), 2u);
  return all->errors.empty() ? "" : all->errors[0];
}

TEST(Delivery, ANativeFunctionThatLiesIsToldAsSuch) {
  auto makes = [](DType dtype, Extents extents) {
    return [=](NativeContext& context) -> Status {
      GALATEA_TRY(context.allocate_output(dtype, extents));
      std::memset(context.output->data, 0, static_cast<size_t>(context.output->num_bytes()));
      return {};
    };
  };
  EXPECT_EQ(native_error(true, makes(DType::kU8, {3, 2})), "");
  const std::vector<Port> one = {{.name = "data"}}, two = {{.name = "data"}, {.name = "more"}};
  EXPECT_EQ(native_error(true, makes(DType::kU8, {3, 2}), one), "");
  EXPECT_NE(native_error(true, makes(DType::kU8, {3, 2}), two).find("has 2 inputs, not 1"),
            std::string::npos);
  const std::string who = "native function 'test.lie', number 0: ";
  auto says = [&](const std::string& error, const std::string& what) {
    EXPECT_NE(error.find(who + what), std::string::npos) << error;
  };
  says(native_error(true, makes(DType::kF32, {3, 2})), "output 0 (out) is f32[3,2], but its port is u8[?,2]");
  says(native_error(true, makes(DType::kU8, {3})), "output 0 (out) is u8[3], but its port is u8[?,2]");
  says(native_error(true, makes(DType::kU8, {3, 3})), "output 0 (out) is u8[3,3], but its port is u8[?,2]");
  says(native_error(true, [](NativeContext&) -> Status { return {}; }), "it made no output");
  // An error that the function keeps to itself.
  says(native_error(true,
                    [&](NativeContext& context) -> Status {
                      GALATEA_TRY(makes(DType::kU8, {3, 2})(context));
                      static_cast<void>(context.allocate_output(DType::kU8, {3, 2}));
                      return {};
                    }),
       "output 0 (out) was delivered twice");
  // Its copy of the tensor is its own.
  EXPECT_EQ(native_error(true,
                         [&](NativeContext& context) -> Status {
                           GALATEA_TRY(makes(DType::kU8, {3, 2})(context));
                           *context.output = Tensor{};
                           context.output = nullptr;
                           return {};
                         }),
            "");
  auto results = [](int64_t a, int64_t b) {
    return [=](NativeContext& context) -> Status {
      context.scalar_results[0] = cell_from_int(DType::kI64, a);
      context.scalar_results[1] = cell_from_int(DType::kI64, b);
      return {};
    };
  };
  EXPECT_EQ(native_error(false, results(4, -8)), "");
  says(native_error(false, results(5, 0)), "result 0 is 5, which is not in 1 … 4");
  says(native_error(false, results(1, -9)), "result 1 is -9, which is not in -8 … 8");
  says(native_error(false,
                    [](NativeContext& context) -> Status {
                      context.scalar_results[0] = cell_from_int(DType::kI64, 1);
                      static_cast<void>(context.allocate_output(DType::kU8, {1}));
                      return {};
                    }),
       "it makes an output, but has none of its own to make");
}

TEST(Delivery, AHostThatFeedsOtherExtentsIsRefused) {
  ProgramMaker m;
  m.program.batch_size = 2;
  m.program.external_inputs = {{{.name = "points", .dtypes = {DType::kF32}, .extents = {Extent(), 3}}}};
  Instruction& feed = m.add(Opcode::kFeed);
  feed.dst = m.slot(), feed.b = 0;
  const int32_t slot = feed.dst;
  m.output("points", DType::kF32, {-1, 3});
  const auto program = m.finish({slot});
  auto session = Session::create(program, test_natives());
  ASSERT_TRUE(session) << session.error().message();
  Allocator allocator;
  auto tensor = [&](const Extents& extents) {
    Tensor made = *allocate_tensor(allocator, DType::kF32, extents);
    std::memset(made.data, 0, static_cast<size_t>(made.num_bytes()));
    return made;
  };
  EXPECT_TRUE((*session)->feed("points", {tensor({5, 3}), tensor({0, 3})}));
  const Status refused = (*session)->feed("points", {tensor({5, 3}), tensor({5, 4})});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("sample 1 is f32[5,4], not f32[?,3]"), std::string::npos)
      << refused.error().message();
}

}  // namespace
}  // namespace galatea::runtime
