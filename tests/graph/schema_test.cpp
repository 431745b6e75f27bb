// Calls against schemas: what is converted, what is refused and in which words.
#include "compiler/op/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compiler/ir/attr.h"
#include "compiler/messages/messages.h"
#include "tests/graph/graph_text.h"
#include "tests/graph/sample_operators.h"

namespace galatea::testing {
namespace {

using namespace op;
using ir::Attr;
using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;
using Texts = std::vector<std::string>;

TEST(ConvertAttr, LosesNothing) {
  EXPECT_EQ(convert_attr(Attr(int64_t{3}), ArgKind::kFloat), Attr(3.0));
  EXPECT_EQ(convert_attr(Attr(3.0), ArgKind::kInt), Attr(int64_t{3}));
  EXPECT_EQ(convert_attr(Attr(3.5), ArgKind::kInt), std::nullopt);
  EXPECT_EQ(convert_attr(Attr(int64_t{9007199254740993}), ArgKind::kFloat), std::nullopt);
  EXPECT_EQ(convert_attr(Attr(true), ArgKind::kInt), Attr(int64_t{1}));
  EXPECT_EQ(convert_attr(Attr(int64_t{1}), ArgKind::kBool), Attr(true));
  EXPECT_EQ(convert_attr(Attr(int64_t{2}), ArgKind::kBool), std::nullopt);
  EXPECT_EQ(convert_attr(Attr(int64_t{7}), ArgKind::kIntList), Attr(Ints{7}));
  EXPECT_EQ(convert_attr(Attr(Ints{1, 2}), ArgKind::kFloatList), Attr(Floats{1, 2}));
  EXPECT_EQ(convert_attr(Attr(Floats{1, 2.5}), ArgKind::kIntList), std::nullopt);
  EXPECT_EQ(convert_attr(Attr(Ints{}), ArgKind::kFloatList), Attr(Floats{}));
  EXPECT_EQ(convert_attr(Attr(Ints{}), ArgKind::kStringList), Attr(Texts{}));
  EXPECT_EQ(convert_attr(Attr(std::string("a")), ArgKind::kStringList), Attr(Texts{"a"}));
  EXPECT_EQ(convert_attr(Attr(std::string("3")), ArgKind::kInt), std::nullopt);
  EXPECT_EQ(convert_attr(Attr(DType::kF32), ArgKind::kDType), Attr(DType::kF32));
  EXPECT_EQ(convert_attr(Attr(int64_t{9}), ArgKind::kDType), std::nullopt);
  EXPECT_EQ(convert_attr(Attr(int64_t{5}), ArgKind::kInterp), Attr(int64_t{5}));
  EXPECT_EQ(convert_attr(Attr(int64_t{8}), ArgKind::kInterp), std::nullopt);
  EXPECT_EQ(convert_attr(Attr(ir::None{}), ArgKind::kInt), Attr(ir::None{}));
  const Attr nested(ir::AttrDict{{{"a", ir::list_attr({Attr(int64_t{1}), Attr(std::string("b"))})}}});
  EXPECT_EQ(convert_attr(nested, ArgKind::kDict), nested);
  EXPECT_EQ(convert_attr(nested, ArgKind::kAny), std::nullopt);
  EXPECT_EQ(convert_attr(Attr(Ints{1}), ArgKind::kDict), std::nullopt);
}

/// An operator with one argument of every kind, and the error of a call.
const Operator& every_kind() {
  static const Operator kOperator = [] {
    Operator op;
    op.name = "every";
    op.min_inputs = 1;
    op.max_inputs = 2;
    op.inputs = {{"image", "", {"HWC", "CHW"}, {DType::kU8, DType::kF32}}};
    op.args = {{"flag", ArgKind::kBool, false},
               {"count", ArgKind::kInt, ir::None{}, false, true},
               {"sizes", ArgKind::kFloatList, ir::None{}, false, true},
               {"dtype", ArgKind::kDType},
               {"old", ArgKind::kInt, int64_t{3}, false, false, false, "", false, "it was never any use"},
               {"must", ArgKind::kString, ir::None{}, true, false, false, "the name of it"}};
    op.type_rule = [](const TypeContext& c) -> Result<std::vector<ir::Type>> {
      if (!c.is_per_sample("count") && c.given("count") && c.integer("count") > 9)
        return c.error("every: count is above 9", "make it smaller", "count");
      return std::vector{c.input(0)};
    };
    return op;
  }();
  return kOperator;
}

struct Call {
  ir::Graph graph;
  op::GraphBuilder::NodeSpec spec;

  explicit Call(std::vector<ir::Arg> args,
                std::vector<ir::Type> inputs = {{DType::kU8, 3, "HWC", ir::Device::kCpu, {-1, -1, 3}}}) {
    spec.op = &every_kind();
    for (ir::Type& type : inputs) spec.inputs.push_back(value(std::move(type)));
    spec.args = std::move(args);
    if (std::none_of(spec.args.begin(), spec.args.end(),
                     [](const ir::Arg& arg) { return arg.name == "must"; }))
      spec.args.push_back({"must", Attr(std::string("x"))});
    spec.span = {1, 10, 90};
  }
  ir::ValueId value(ir::Type type) {
    graph.values.push_back({std::move(type), ir::kNoId, 0, 0, {}});
    return static_cast<ir::ValueId>(graph.values.size() - 1);
  }
  Diagnostic error() {
    auto types = check_call(graph, spec);
    if (types) {
      ADD_FAILURE() << "the call is accepted";
      return {};
    }
    EXPECT_EQ(types.error().kind, ErrorKind::kUser);
    return types.error().diagnostics.front();
  }
};

TEST(CheckCall, ConvertsAndDropsNone) {
  Call call({{"flag", Attr(int64_t{1})},
             {"count", Attr(2.0)},
             {"sizes", Attr(int64_t{4})},
             {"dtype", Attr(ir::None{})},
             {"old", Attr(int64_t{3})}});
  ASSERT_TRUE(check_call(call.graph, call.spec));
  ASSERT_EQ(call.spec.args.size(), 5u);
  EXPECT_EQ(call.spec.args[0].as_attr(), Attr(true));
  EXPECT_EQ(call.spec.args[1].as_attr(), Attr(int64_t{2}));
  EXPECT_EQ(call.spec.args[2].as_attr(), Attr(Floats{4}));
}

TEST(CheckCall, ErrorsOfArguments) {
  EXPECT_EQ(Call({{"cuont", Attr(int64_t{1}), {1, 20, 27}}}).error().message,
            "fn.every has no argument cuont");
  EXPECT_EQ(Call({{"cuont", Attr(int64_t{1})}}).error().code, "G0450");
  EXPECT_EQ(Call({{"cuont", Attr(int64_t{1}), {1, 20, 27}}}).error().span, (Span{1, 20, 27}));
  EXPECT_EQ(Call({{"count", Attr(int64_t{1})}, {"count", Attr(int64_t{1})}}).error().code, "G0451");
  EXPECT_EQ(Call({{"must", Attr(ir::None{})}}).error().message, "fn.every needs the argument must");
  EXPECT_EQ(Call({{"must", Attr(ir::None{})}}).error().help, "the name of it");
  EXPECT_EQ(Call({{"must", Attr(ir::None{})}}).error().code, "G0452");
  EXPECT_EQ(Call({{"count", Attr(1.5)}}).error().message,
            "argument count of fn.every must be an integer, but is the number 1.5");
  EXPECT_EQ(Call({{"dtype", Attr(std::string("float"))}}).error().message,
            "argument dtype of fn.every must be an element type, but is the text \"float\"");
  EXPECT_EQ(Call({{"dtype", Attr(std::string("float"))}}).error().help, "write a type, as in types.FLOAT");
  EXPECT_EQ(Call({{"old", Attr(int64_t{4})}}).error().message,
            "argument old of fn.every is not supported: it was never any use");
}

TEST(CheckCall, PerSampleArguments) {
  auto with = [](const char* name, ir::Type type) {
    Call call({});
    call.spec.args.push_back({name, call.value(std::move(type)), {1, 30, 40}});
    return call;
  };
  ir::Type i32{DType::kI32, 0, {}, ir::Device::kCpu, {}}, f32{DType::kF32, 0, {}, ir::Device::kCpu, {}};
  ir::Type one{DType::kI32, 1, {}, ir::Device::kCpu, {1}}, many{DType::kI32, 1, {}, ir::Device::kCpu, {-1}},
      two{DType::kI32, 1, {}, ir::Device::kCpu, {2}}, square{DType::kF32, 2, {}, ir::Device::kCpu, {2, 2}};
  Call whole = with("count", i32), single = with("count", one), list = with("sizes", many);
  EXPECT_TRUE(check_call(whole.graph, whole.spec));
  EXPECT_TRUE(check_call(single.graph, single.spec));
  EXPECT_TRUE(check_call(list.graph, list.spec));
  EXPECT_EQ(with("flag", i32).error().code, "G0454");
  EXPECT_EQ(with("count", f32).error().message,
            "argument count of fn.every must be an integer, but the data node given is f32[]");
  EXPECT_EQ(with("count", f32).error().span, (Span{1, 30, 40}));
  Call perhaps_one = with("count", many);
  EXPECT_TRUE(check_call(perhaps_one.graph, perhaps_one.spec)) << "the run tells";
  EXPECT_EQ(with("count", two).error().help, "pick one element, as in `x[0]`");
  EXPECT_EQ(with("sizes", square).error().help, "pass a 1-D tensor");
  EXPECT_EQ(with("old", i32).error().code, "G0455");
}

TEST(CheckCall, Inputs) {
  ir::Type image{DType::kU8, 3, "HWC", ir::Device::kCpu, {-1, -1, 3}};
  ir::Type wide = image, planes = image, bare = image,
           video{DType::kU8, 4, "FWHC", ir::Device::kCpu, {-1, -1, -1, 3}},
           flat{DType::kU8, 1, {}, ir::Device::kCpu, {-1}};
  wide.dtype = DType::kI64;
  planes.layout = "CHW";
  bare.layout = {};
  Call two({}, {planes, bare});
  EXPECT_TRUE(check_call(two.graph, two.spec))
      << "a tensor without a layout is taken as the first of its rank";
  EXPECT_EQ(Call({}, {}).error().message, "fn.every takes at least 1 input, but 0 are given");
  EXPECT_EQ(Call({}, {image, image, image}).error().message,
            "fn.every takes at most 2 inputs, but 3 are given");
  EXPECT_EQ(Call({}, {wide}).error().message,
            "fn.every takes UINT8 or FLOAT as input 0 (image), but gets INT64");
  EXPECT_EQ(Call({}, {image, video}).error().message,
            "fn.every takes the layout HWC or CHW for input 1 (image), but gets FWHC");
  EXPECT_EQ(Call({}, {image, video}).error().help,
            "rearrange the axes with fn.transpose, or name them with fn.reshape(layout=…)");
  video.layout = "FCHW";
  Call lifted({}, {image, video});
  EXPECT_TRUE(check_call(lifted.graph, lifted.spec)) << "over all other axes the operator is lifted";
  EXPECT_EQ(Call({}, {flat}).error().code, "G0458");
}

TEST(CheckCall, TheTypeRulesOwnWords) {
  Diagnostic error = Call({{"count", Attr(int64_t{10}), {1, 50, 60}}}).error();
  EXPECT_EQ(error.message, "fn.every: count is above 9");
  EXPECT_EQ(error.help, "make it smaller");
  EXPECT_EQ(error.span, (Span{1, 50, 60}));
}

TEST(Registry, NamesAndAliases) {
  Registry registry;
  Operator op = every_kind();
  op.aliases = {"all_kinds"};
  registry.add(op);
  EXPECT_EQ(registry.find("all_kinds"), registry.find("every"));
  EXPECT_EQ(registry.find("none"), nullptr);
  EXPECT_EQ(registry.public_names(), Texts{"every"});
  EXPECT_THROW(registry.add(op), InternalError);
  op.name = "other";
  EXPECT_THROW(registry.add(op), InternalError) << "the alias is taken";
}

TEST(Messages, CodesAreDistinct) {
  std::set<std::string> codes;
  for (int k = 0; k < compiler::num_messages(); ++k)
    EXPECT_TRUE(codes.insert(compiler::entry(static_cast<compiler::Message>(k)).code).second);
}

}  // namespace
}  // namespace galatea::testing
