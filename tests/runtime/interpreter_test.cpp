// Single instructions, and errors that say where they arose. Each program has one sample unless it says
// otherwise.
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "program_maker.h"
#include "runtime/random.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT

/// Runs one batch in order.
Result<std::shared_ptr<Batch>> run(const std::shared_ptr<const Program>& program,
                                   std::string* rendered = nullptr) {
  static const NativeTable natives = test_natives();
  SessionOptions options;
  options.executor = ExecutorKind::kInline;
  auto session = Session::create(program, natives, options);
  if (!session) return std::unexpected(session.error());
  auto batch = (*session)->next();
  if (!batch) {
    if (rendered) *rendered = render_text(batch.error().diagnostics[0], (*session)->sources());
    return std::unexpected(batch.error());
  }
  return **batch;
}

template <typename T>
std::vector<T> first_output(const std::shared_ptr<const Program>& program) {
  auto batch = run(program);
  EXPECT_TRUE(batch.has_value()) << (batch ? "" : batch.error().message());
  return batch ? elements_of<T>((*batch)->outputs[0].samples[0]) : std::vector<T>();
}

TEST(Interpreter, ScalarsAreStored) {
  ProgramMaker m;
  m.output("x", DType::kI32, {2, 2});
  int32_t sum = m.scalar(ScalarOp::kAdd, DType::kI32, {m.value(40), m.value(2)});
  int32_t product = m.scalar(ScalarOp::kMul, DType::kI32, {sum, m.value(-1)});
  int32_t stored = m.store(DType::kI32, {2, 2}, {sum, product, m.value(7), sum});
  EXPECT_EQ(first_output<int32_t>(m.finish({stored})), (std::vector<int32_t>{42, -42, 7, 42}));
}

TEST(Interpreter, DrawsFollowKeyAndCounter) {
  ProgramMaker m;
  m.output("x", DType::kU32, {2});
  int32_t key_constant = m.constant(77);
  Instruction& key = m.add(Opcode::kNodeKey);
  key.dst = m.reg(), key.a = key_constant, key.b = -1;
  int32_t key_register = key.dst;
  int32_t low = m.value(5), high = m.value(6);
  std::vector<int32_t> words;
  for (int word : {0, 3}) {
    Instruction& draw = m.add(Opcode::kPhilox);
    draw.dst = m.reg(), draw.a = key_register, draw.b = low, draw.c = high, draw.imm = word;
    words.push_back(draw.dst);
  }
  int32_t stored = m.store(DType::kU32, {2}, words);
  EXPECT_EQ(first_output<uint32_t>(m.finish({stored})),
            (std::vector<uint32_t>{philox(mix(77, 0), 5, 6, 0), philox(mix(77, 0), 5, 6, 3)}));
}

/// A 3 × 4 tensor of 0 … 11 and a view of it.
std::vector<int32_t> view_of_3x4(const ViewSpec& spec, const std::vector<int64_t>& registers,
                                 std::vector<int64_t> extents, bool load_last = false) {
  ProgramMaker m;
  m.output("x", DType::kI32, extents);
  std::vector<int32_t> elements;
  for (int64_t k = 0; k < 12; ++k) elements.push_back(m.value(k));
  int32_t tensor = m.store(DType::kI32, {3, 4}, elements);
  m.program.views.push_back(spec);
  std::vector<int32_t> values;
  for (int64_t value : registers) values.push_back(m.value(value));
  int32_t first = m.list(values);
  Instruction& view = m.add(Opcode::kView);
  view.dst = m.slot(), view.a = tensor, view.b = 0, view.c = first;
  int32_t viewed = view.dst;
  m.add(Opcode::kRelease).a = tensor;  // the view keeps the memory
  m.store(DType::kI32, {3, 4}, std::vector<int32_t>(12, elements[0]));
  if (load_last) {
    int32_t loaded = m.load(viewed, 1, DType::kI32);
    viewed = m.store(DType::kI32, {1}, {loaded});
  }
  return first_output<int32_t>(m.finish({viewed}));
}

TEST(Interpreter, ViewsSelectReverseTransposeAndAddAxes) {
  ViewSpec spec;
  spec.ndim = 2, spec.input_ndim = 2, spec.input_dim = {0, 1};
  // Registers: extents, start, step.
  EXPECT_EQ(view_of_3x4(spec, {2, 2, 1, 1, 1, 2}, {-1, -1}), (std::vector<int32_t>{5, 7, 9, 11}));
  EXPECT_EQ(view_of_3x4(spec, {1, 4, 2, 3, 1, -1}, {-1, -1}), (std::vector<int32_t>{11, 10, 9, 8}));
  spec.input_dim = {1, 0};
  EXPECT_EQ(view_of_3x4(spec, {4, 3, 0, 0, 1, 1}, {4, 3}),
            (std::vector<int32_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(view_of_3x4(spec, {4, 3, 0, 0, 1, 1}, {1}, true), (std::vector<int32_t>{4}));
  spec.input_dim = {-1, 1};
  EXPECT_EQ(view_of_3x4(spec, {1, 4, 2, 0, 1, 1}, {1, 4}), (std::vector<int32_t>{8, 9, 10, 11}));
  ViewSpec reshape;
  reshape.ndim = 1, reshape.reshape = true;
  EXPECT_EQ(view_of_3x4(reshape, {12}, {12}), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(Interpreter, AViewThatLeavesItsInputIsStopped) {
  ProgramMaker m;
  m.output("x", DType::kI32, {-1});
  int32_t tensor = m.store(DType::kI32, {3}, {m.value(1), m.value(2), m.value(3)});
  ViewSpec spec;
  spec.ndim = 1, spec.input_ndim = 1, spec.input_dim = {0};
  m.program.views.push_back(spec);
  int32_t first = m.list({m.value(3), m.value(1), m.value(1)});
  Instruction& view = m.add(Opcode::kView);
  view.dst = m.slot(), view.a = tensor, view.b = 0, view.c = first;
  int32_t viewed = view.dst;
  auto batch = run(m.finish({viewed}));
  ASSERT_FALSE(batch.has_value());
  EXPECT_EQ(batch.error().kind, ErrorKind::kInternal);
}

TEST(Interpreter, AWindowStandsForTheWholeTensor) {
  ProgramMaker m;
  m.output("x", DType::kI32, {1});
  int32_t window = m.store(DType::kI32, {2, 2}, {m.value(1), m.value(2), m.value(3), m.value(4)});
  ViewSpec spec;
  spec.ndim = spec.input_ndim = 2;
  spec.window_origin = true;
  m.program.views.push_back(spec);
  // A 10 × 10 tensor of which only the window at (5, 7) is there. Element (6, 8) is its last one; strides are
  // the window's.
  int32_t first = m.list({m.value(10), m.value(10), m.value(5), m.value(7)});
  Instruction& view = m.add(Opcode::kView);
  view.dst = m.slot(), view.a = window, view.b = 0, view.c = first;
  int32_t whole = view.dst;
  int32_t element = m.load(whole, 68, DType::kI32);
  EXPECT_EQ(first_output<int32_t>(m.finish({m.store(DType::kI32, {1}, {element})})),
            (std::vector<int32_t>{4}));
}

TEST(Interpreter, SwitchesTakeTheirArmAndRefuseOthers) {
  for (int64_t selector : {0, 1, 2, 3, -1}) {
    ProgramMaker m;
    m.output("x", DType::kI64, {1});
    m.at_line(7, "switch");
    int32_t chosen = m.value(selector), result = m.value(-5);
    int32_t at = m.here();
    int32_t targets = m.list({at + 1, at + 3, at + 5});
    Instruction& jump = m.add(Opcode::kSwitch);
    jump.a = targets, jump.b = chosen, jump.imm = 3;
    for (int64_t arm = 0; arm < 3; ++arm) {
      int32_t number = m.constant(static_cast<uint64_t>(100 + arm));
      Instruction& set = m.add(Opcode::kConst);
      set.dst = result, set.a = number;
      m.add(Opcode::kJump).a = at + 7;
    }
    auto program = m.finish({m.store(DType::kI64, {1}, {result})});
    if (selector >= 0 && selector < 3) {
      EXPECT_EQ(first_output<int64_t>(program), (std::vector<int64_t>{100 + selector}));
    } else {
      auto batch = run(program);
      ASSERT_FALSE(batch.has_value());
      EXPECT_EQ(batch.error().message(),
                "the selector is " + std::to_string(selector) + ", but there are 3 arms");
      EXPECT_EQ(batch.error().diagnostics[0].code, "G0912");
    }
  }
}

TEST(Interpreter, AFailedCheckSaysWhatWhereAndWhichSample) {
  ProgramMaker m;
  m.program.batch_size = 4;
  m.output("x", DType::kI64, {});
  int32_t source = m.source(R"({"size": 9})");
  auto data = m.read(source);
  m.at_line(12, "crop");
  int32_t number = m.load(data[1], 0, DType::kI64);
  int32_t fits = m.scalar(ScalarOp::kLt, DType::kI64, {number, m.value(2)});
  m.check(fits, "the crop of {} rows does not fit {} rows at {}", {number, m.value(2), m.real(0.5)},
          {DType::kI64, DType::kI64, DType::kF32}, "use a smaller crop");
  std::string rendered;
  auto batch = run(m.finish({data[1]}), &rendered);
  ASSERT_FALSE(batch.has_value());
  const Diagnostic& diagnostic = batch.error().diagnostics[0];
  EXPECT_EQ(diagnostic.code, "G0910");
  EXPECT_EQ(diagnostic.message, "the crop of 2 rows does not fit 2 rows at 0.5");
  EXPECT_EQ(diagnostic.help, "use a smaller crop");
  for (const char* part :
       {"test.dali-dsl:12:5", "call(line 12)", "^^^^ in crop", "called: at test.dali-dsl:2:3, in `train`",
        "sample 2 of batch 0 in epoch 0: number 2", "1 more sample of"}) {
    EXPECT_NE(rendered.find(part), std::string::npos) << part << " in\n" << rendered;
  }
}

TEST(Interpreter, DivisionByZeroIsTheSamplesError) {
  ProgramMaker m;
  m.output("x", DType::kI32, {1});
  m.at_line(3, "arith.div");
  int32_t quotient = m.scalar(ScalarOp::kDiv, DType::kI32, {m.value(1), m.value(0)});
  auto batch = run(m.finish({m.store(DType::kI32, {1}, {quotient})}));
  ASSERT_FALSE(batch.has_value());
  EXPECT_EQ(batch.error().diagnostics[0].code, "G0911");
}

TEST(Interpreter, ExtentsThatCannotBeAreRefused) {
  for (auto extents :
       {std::vector<int64_t>{-1, 3}, std::vector<int64_t>{int64_t{1} << 40, int64_t{1} << 40}}) {
    ProgramMaker m;
    m.output("x", DType::kF32, {-1, -1});
    int32_t shape = m.list({m.value(extents[0]), m.value(extents[1])});
    Instruction& allocate = m.add(Opcode::kAllocate);
    allocate.dst = m.slot(), allocate.type = DType::kF32, allocate.a = shape, allocate.imm = 2;
    int32_t made = allocate.dst;
    auto batch = run(m.finish({made}));
    ASSERT_FALSE(batch.has_value());
    EXPECT_EQ(batch.error().diagnostics[0].code, "G0913");
  }
}

TEST(Interpreter, AnOutputMayBeAViewOfItself) {
  // The kernel's place is the output; what is returned is its transpose.
  ProgramMaker m;
  m.output("x", DType::kI32, {2, 2});
  int32_t shape = m.list({m.value(2), m.value(2)});
  Instruction& out = m.add(Opcode::kAllocateOutput);
  out.dst = m.slot(), out.type = DType::kI32, out.a = shape, out.imm = 2, out.b = 0;
  int32_t place = out.dst;
  class Count final : public KernelCode {
    void run(const KernelCall& call) const override {
      for (int k = 0; k < 4; ++k) static_cast<int32_t*>(call.tensors[0].data)[k] = k;
    }
  };
  m.program.kernels.push_back({"count", {}, std::make_shared<Count>()});
  m.program.kernel_calls.push_back({0, {place}, {}, -1});
  m.add(Opcode::kCallKernel).a = 0;
  ViewSpec spec;
  spec.ndim = 2, spec.input_ndim = 2, spec.input_dim = {1, 0};
  m.program.views.push_back(spec);
  int32_t first = m.list({m.value(2), m.value(2), m.value(0), m.value(0), m.value(1), m.value(1)});
  Instruction& view = m.add(Opcode::kView);
  view.dst = m.slot(), view.a = place, view.b = 0, view.c = first;
  int32_t transposed = view.dst;
  EXPECT_EQ(first_output<int32_t>(m.finish({transposed})), (std::vector<int32_t>{0, 2, 1, 3}));
}

TEST(Program, PlacesPointIntoTheHostsFileWhereItHasIt) {
  auto program = mixed_program(10, 4, 2);
  const std::string line_3 = "    call(line 3)", line_5 = "    call(line 5)";
  SourceMap with_file, with_other, empty;
  with_file.add("unrelated", "x");
  with_file.add("test.dali-dsl", "one\n  helper(x)\n" + line_3 + "\n    call(line 4)\r\n" + line_5 +
                                     "\n    call(line 6)\nmore\n");
  with_other.add("test.dali-dsl", "another text");
  auto spans = location_spans(*program, with_file);
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[0].span, (Span{2, 16 + 4, 16 + 8}));
  EXPECT_EQ(with_file.describe(spans[2].span), "test.dali-dsl:5:5");
  EXPECT_EQ(with_file.file(3), nullptr);
  EXPECT_EQ(location_spans(*program, with_other)[0].span.file, 2u);
  EXPECT_EQ(with_other.describe(location_spans(*program, with_other)[1].span), "test.dali-dsl:4:5");
  EXPECT_EQ(empty.describe(location_spans(*program, empty)[3].span), "test.dali-dsl:6:5");
}

TEST(Program, PrintsOneLineAnInstruction) {
  std::string text = to_text(*mixed_program(10, 4, 2));
  for (const char* part : {"program test batch_size=4", "source 0 test.numbers",
                           "read 0 test.numbers -> s0, s1", "call_native test.twice (s0) -> s2 (allocates)",
                           "scalar r", "branch r", "allocate_output s4 = output 1 f32[",
                           "call_kernel add (s0, s4)", "# arith.add, line 6", "return s3, s4, s1"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

}  // namespace
}  // namespace galatea::runtime
