// Tensors of one value, axes of extent 1, copies and bytes read as another type, against their definitions.
#include <cstring>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Kind = op::LoweredOutput::Kind;
using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;

TEST(Fill, ZerosAndOnesOfAShape) {
  for (const bool ones : {false, true}) {
    const std::string name = ones ? "ones" : "zeros";
    const double value = ones ? 1 : 0;
    const Tensor number = OpRun(name).result();
    EXPECT_EQ(number.dtype, DType::kI32);
    EXPECT_EQ(number.extents, Extents{});
    EXPECT_EQ(number.numbers(), Numbers{value});
    for (const DType type :
         {DType::kU8, DType::kI64, DType::kU64, DType::kF16, DType::kF32, DType::kF64, DType::kBool}) {
      const OpRun::Outcome large =
          OpRun(name).arg("shape", Extents{5, 7}).arg("dtype", type).arg("layout", std::string("HW")).run();
      ASSERT_TRUE(large.ok()) << large.error << large.failed_check;
      EXPECT_EQ(large.kinds[0], Kind::kStage);
      EXPECT_EQ(large.outputs[0].dtype, type);
      EXPECT_EQ(large.outputs[0].layout.str(), "HW");
      EXPECT_EQ(large.outputs[0].numbers(), Numbers(35, value)) << short_name(type);
    }
    EXPECT_EQ(OpRun(name).arg("shape", Extents{2, 3}).run().kinds[0], Kind::kScalars);
    EXPECT_EQ(OpRun(name).arg("shape", Extents{0, 3}).result().extents, (Extents{0, 3}));
    EXPECT_EQ(OpRun(name).arg("shape", tensor(DType::kI32, {2}, {3, 4})).result().numbers(),
              Numbers(12, value));
    EXPECT_TRUE(says(OpRun(name).arg("shape", Extents{2, -1}).failure(), "negative extent -1"));
    EXPECT_TRUE(
        says(OpRun(name).arg("shape", tensor(DType::kI32, {2}, {3, -4})).failure(), "negative extent -4"));
    EXPECT_TRUE(
        says(OpRun(name).arg("shape", Extents{2}).arg("layout", std::string("HW")).failure(), "1 letters"));
  }
}

TEST(Fill, LikeAnotherTensor) {
  const Tensor in = random_tensor(DType::kI16, {4, 6, 3}, "HWC", 3);
  const Tensor same = OpRun("ones_like").input(in).result();
  EXPECT_EQ(same.dtype, DType::kI16);
  EXPECT_EQ(same.extents, in.extents);
  EXPECT_EQ(same.layout.str(), "HWC");
  EXPECT_EQ(same.numbers(), Numbers(72, 1));
  const Tensor typed = OpRun("zeros_like").input(in).arg("dtype", DType::kF32).result();
  EXPECT_EQ(typed.dtype, DType::kF32);
  EXPECT_EQ(typed.numbers(), Numbers(72, 0));
  EXPECT_EQ(OpRun("ones_like").input(tensor(DType::kU8, {0, 3}, {})).result().extents, (Extents{0, 3}));
  EXPECT_EQ(OpRun("ones_like").fixed(tensor(DType::kU8, {2}, {7, 8})).run().kinds[0], Kind::kScalars);
}

/// What NumPy's broadcast_to gives of `value`, by counting places.
Numbers stretched(const Tensor& value, const Extents& shape) {
  Numbers out;
  int64_t volume = 1;
  for (const int64_t e : shape) volume *= e;
  for (int64_t n = 0; n < volume; ++n) {
    int64_t rest = n, flat = 0, stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      const int64_t at = rest % shape[d];
      rest /= shape[d];
      const size_t missing = shape.size() - value.extents.size();
      if (d < missing) continue;
      const int64_t own = value.extents[d - missing];
      if (own != 1) flat += at * stride;
      stride *= own;
    }
    out.push_back(value[static_cast<size_t>(flat)]);
  }
  return out;
}

TEST(Fill, FullBroadcastsItsValue) {
  const Extents shape{4, 5, 3};
  for (const Extents& own : {Extents{}, {1}, {3}, {5, 1}, {5, 3}, {4, 1, 1}, {1, 5, 1}, {4, 5, 3}}) {
    const Tensor value = random_tensor(DType::kF32, own, {}, 5);
    for (const bool known : {false, true}) {
      const OpRun run = known ? OpRun("full").fixed(value) : OpRun("full").input(value);
      const Tensor out = OpRun(run).arg("shape", shape).result();
      EXPECT_EQ(out.dtype, DType::kF32);
      EXPECT_EQ(out.extents, shape);
      EXPECT_EQ(out.numbers(), stretched(value, shape)) << own.size() << known;
    }
  }
  const OpRun::Outcome small =
      OpRun("full").fixed(tensor(DType::kI32, {2, 1}, {7, 9})).arg("shape", Extents{2, 3}).run();
  EXPECT_EQ(small.kinds[0], Kind::kScalars);
  EXPECT_EQ(small.outputs[0].numbers(), (Numbers{7, 7, 7, 9, 9, 9}));
  // Leading extents of 1 fall away.
  EXPECT_EQ(
      OpRun("full").fixed(tensor(DType::kI32, {1, 3}, {1, 2, 3})).arg("shape", Extents{3}).result().numbers(),
      (Numbers{1, 2, 3}));
  const Tensor pair = tensor(DType::kF32, {2}, {1, 2});
  EXPECT_TRUE(says(OpRun("full").fixed(pair).arg("shape", shape).failure(), "cannot be stretched"));
  EXPECT_TRUE(says(OpRun("full").input(pair).arg("shape", shape).failure(), "extent 2 along its axis 0"));
  EXPECT_TRUE(says(OpRun("full").fixed(pair).failure(), "cannot be stretched"));
}

TEST(Fill, FullLikeKeepsTheType) {
  const Tensor in = random_tensor(DType::kU8, {4, 6, 3}, "HWC", 3);
  const Tensor value = tensor(DType::kF32, {3}, {1.5, 300, -2});
  const Tensor out = OpRun("full_like").input(in).input(value).result();
  EXPECT_EQ(out.dtype, DType::kU8);
  EXPECT_EQ(out.layout.str(), "HWC");
  for (size_t n = 0; n < out.size(); ++n) EXPECT_EQ(out[n], saturate(DType::kU8, value[n % 3])) << n;
  EXPECT_TRUE(
      says(OpRun("full_like").fixed(in).fixed(tensor(DType::kF32, {2}, {1, 2})).failure(), "stretched"));
}

TEST(Copy, IsAView) {
  const Tensor in = random_tensor(DType::kI16, {4, 6, 3}, "HWC", 9);
  const OpRun::Outcome out = OpRun("copy").input(in).run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  EXPECT_EQ(out.kinds[0], Kind::kView);
  EXPECT_EQ(out.outputs[0].layout.str(), "HWC");
  EXPECT_EQ(out.outputs[0].numbers(), in.numbers());
}

TEST(ExpandDims, InsertsAxes) {
  const Tensor in = random_tensor(DType::kU8, {4, 6, 3}, "HWC", 4);
  const OpRun::Outcome out = OpRun("expand_dims")
                                 .input(in)
                                 .arg("axes", Extents{4, 0})
                                 .arg("new_axis_names", std::string("XF"))
                                 .run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  EXPECT_EQ(out.kinds[0], Kind::kView);
  EXPECT_EQ(out.outputs[0].extents, (Extents{1, 4, 6, 3, 1}));
  EXPECT_EQ(out.outputs[0].layout.str(), "FHWCX");
  EXPECT_EQ(out.outputs[0].numbers(), in.numbers());
  const Tensor unnamed = OpRun("expand_dims").input(in).arg("axes", Extents{1, 2}).result();
  EXPECT_EQ(unnamed.extents, (Extents{4, 1, 1, 6, 3}));
  EXPECT_TRUE(unnamed.layout.empty());
  EXPECT_EQ(OpRun("expand_dims").input(in).arg("axes", Extents{}).result().layout.str(), "HWC");
  const OpRun::Outcome number = OpRun("expand_dims")
                                    .input(scalar(DType::kF32, 2))
                                    .arg("axes", Extents{0})
                                    .arg("new_axis_names", std::string("F"))
                                    .run();
  EXPECT_EQ(number.kinds[0], Kind::kScalars);
  EXPECT_EQ(number.outputs[0].extents, Extents{1});
  EXPECT_EQ(number.outputs[0].layout.str(), "F");
  auto refused = [&](Extents axes, const std::string& names = "") {
    return OpRun("expand_dims").input(in).arg("axes", std::move(axes)).arg("new_axis_names", names).failure();
  };
  EXPECT_TRUE(says(refused({-1}), "axis -1"));
  EXPECT_TRUE(says(refused({4}), "axis 4"));
  EXPECT_TRUE(says(refused({1, 1}), "twice"));
  EXPECT_TRUE(says(refused({0, 1}, "F"), "1 letters for 2 axes"));
  EXPECT_TRUE(says(OpRun("expand_dims")
                       .input(random_tensor(DType::kU8, {2, 3}, {}, 1))
                       .arg("axes", Extents{0})
                       .arg("new_axis_names", std::string("F"))
                       .failure(),
                   "needs an input with a layout"));
}

TEST(Squeeze, RemovesAxes) {
  const Tensor in = random_tensor(DType::kU8, {1, 4, 1, 3}, "FHWC", 4);
  const OpRun::Outcome out = OpRun("squeeze").input(in).arg("axes", Extents{2, 0}).run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  EXPECT_EQ(out.kinds[0], Kind::kView);
  EXPECT_EQ(out.outputs[0].extents, (Extents{4, 3}));
  EXPECT_EQ(out.outputs[0].layout.str(), "HC");
  EXPECT_EQ(out.outputs[0].numbers(), in.numbers());
  EXPECT_EQ(OpRun("squeeze").input(in).arg("axis_names", std::string("W")).result().layout.str(), "FHC");
  EXPECT_EQ(
      OpRun("squeeze").fixed(tensor(DType::kI32, {1, 1}, {5})).arg("axes", Extents{0, 1}).result().extents,
      Extents{});
  auto refused = [&](Extents axes) {
    return OpRun("squeeze").input(in).arg("axes", std::move(axes)).failure();
  };
  EXPECT_TRUE(says(refused({1}), "of the 12 elements of"));
  EXPECT_TRUE(says(refused({-1}), "axis -1"));
  EXPECT_TRUE(says(refused({4}), "axis 4"));
  EXPECT_TRUE(says(refused({0, 0}), "twice"));
  EXPECT_EQ(
      OpRun("squeeze").input(tensor(DType::kU8, {3, 0, 4}, {})).arg("axes", Extents{2}).result().extents,
      (Extents{3, 0}))
      << "what is empty stays empty";
  EXPECT_TRUE(says(OpRun("squeeze").input(tensor(DType::kU8, {3, 0}, {})).arg("axes", Extents{1}).failure(),
                   "of the 0 elements of"));
  EXPECT_TRUE(says(OpRun("squeeze").fixed(in).arg("axes", Extents{1}).failure(), "would be left"));
  EXPECT_TRUE(says(OpRun("squeeze").input(in).failure(), "exactly one"));
  EXPECT_TRUE(says(OpRun("squeeze").input(in).arg("axis_names", std::string("D")).failure(), "no axis 'D'"));
}

// ---- reinterpret

/// The bytes of a tensor as this machine stores them.
std::vector<uint8_t> bytes_of(const Tensor& t) {
  std::vector<uint8_t> bytes;
  for (const Cell& cell : t.cells)
    for (int k = 0; k < size_of(t.dtype); ++k) bytes.push_back(static_cast<uint8_t>(cell.bits >> (8 * k)));
  return bytes;
}

template <typename T>
Numbers read_as(const std::vector<uint8_t>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return Numbers(values.begin(), values.end());
}

Numbers read_as(DType type, const std::vector<uint8_t>& bytes) {
  switch (type) {
    case DType::kU8:
      return read_as<uint8_t>(bytes);
    case DType::kI8:
      return read_as<int8_t>(bytes);
    case DType::kU16:
      return read_as<uint16_t>(bytes);
    case DType::kI16:
      return read_as<int16_t>(bytes);
    case DType::kU32:
      return read_as<uint32_t>(bytes);
    case DType::kI32:
      return read_as<int32_t>(bytes);
    case DType::kF32:
      return read_as<float>(bytes);
    case DType::kF64:
      return read_as<double>(bytes);
    case DType::kI64:
      return read_as<int64_t>(bytes);
    default:
      ADD_FAILURE() << "no reading of " << short_name(type);
      return {};
  }
}

TEST(Reinterpret, ReadsTheSameBytes) {
  const std::vector<DType> types = {DType::kU8,  DType::kI8,  DType::kU16, DType::kI16, DType::kU32,
                                    DType::kI32, DType::kF32, DType::kI64, DType::kF64};
  for (const DType from : types)
    for (const DType to : types) {
      if (from == to) continue;
      // As floats only patterns that are numbers.
      Tensor in = random_tensor(from, {3, 8}, {}, 11);
      if (is_float(to) && !is_float(from)) {
        std::vector<uint8_t> bytes;
        for (int n = 0; n < 24 * size_of(from) / size_of(to); ++n) {
          const double number = 0.5 * static_cast<double>(n) - 3;
          const Cell cell = cell_from_double(to, number);
          for (int k = 0; k < size_of(to); ++k) bytes.push_back(static_cast<uint8_t>(cell.bits >> (8 * k)));
        }
        const auto width = static_cast<size_t>(size_of(from));
        for (size_t n = 0; n < 24; ++n) {
          uint64_t bits = 0;
          for (size_t k = width; k-- > 0;) bits = bits << 8 | bytes[n * width + k];
          in.cells[n] = cell_from_int(from, static_cast<int64_t>(bits));
        }
      } else if (is_float(to)) {
        in = tensor(from, {3, 8}, Numbers(24, 1.0));
      }
      for (const bool known : {false, true}) {
        const OpRun base = known ? OpRun("reinterpret").fixed(in) : OpRun("reinterpret").input(in);
        const OpRun::Outcome out = OpRun(base).arg("dtype", to).run();
        ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
        const auto row = int64_t{8} * size_of(from) / size_of(to);
        EXPECT_EQ(out.outputs[0].extents, (Extents{3, row}));
        EXPECT_EQ(out.outputs[0].numbers(), read_as(to, bytes_of(in))) << short_name(from) << short_name(to);
        const Tensor shaped = OpRun(base).arg("dtype", to).arg("shape", Extents{-1, 3}).result();
        EXPECT_EQ(shaped.extents, (Extents{row, 3}));
        EXPECT_EQ(shaped.numbers(), read_as(to, bytes_of(in))) << short_name(from) << short_name(to);
      }
    }
}

TEST(Reinterpret, SmallTensorsAreScalars) {
  const OpRun::Outcome out = OpRun("reinterpret")
                                 .fixed(tensor(DType::kU8, {8}, {0, 1, 2, 3, 4, 5, 6, 7}))
                                 .arg("dtype", DType::kI16)
                                 .run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  EXPECT_EQ(out.kinds[0], Kind::kScalars);
  EXPECT_EQ(out.outputs[0].numbers(), (Numbers{256, 770, 1284, 1798}));
  const OpRun::Outcome wide =
      OpRun("reinterpret").fixed(tensor(DType::kI32, {2}, {258, -1})).arg("dtype", DType::kU8).run();
  EXPECT_EQ(wide.outputs[0].numbers(), (Numbers{2, 1, 0, 0, 255, 255, 255, 255}));
  const OpRun::Outcome number =
      OpRun("reinterpret").input(scalar(DType::kF32, 1.5)).arg("dtype", DType::kI32).run();
  EXPECT_EQ(number.outputs[0].numbers(), Numbers{1069547520});
  const OpRun::Outcome split = OpRun("reinterpret")
                                   .input(scalar(DType::kI32, 258))
                                   .arg("dtype", DType::kU8)
                                   .arg("shape", Extents{4})
                                   .run();
  EXPECT_EQ(split.outputs[0].numbers(), (Numbers{2, 1, 0, 0}));
  EXPECT_EQ(OpRun("reinterpret")
                .fixed(tensor(DType::kU8, {3}, {2, 0, 1}))
                .arg("dtype", DType::kBool)
                .result()
                .numbers(),
            (Numbers{1, 0, 1}));
}

TEST(Reinterpret, IsAViewWithoutAnotherType) {
  const Tensor in = random_tensor(DType::kU8, {4, 6, 3}, "HWC", 6);
  const OpRun::Outcome out = OpRun("reinterpret").input(in).arg("shape", Extents{6, -1}).run();
  EXPECT_EQ(out.kinds[0], Kind::kView);
  EXPECT_EQ(out.outputs[0].extents, (Extents{6, 12}));
  EXPECT_EQ(out.outputs[0].numbers(), in.numbers());
  EXPECT_EQ(OpRun("reinterpret").input(in).arg("layout", std::string("XYZ")).result().layout.str(), "XYZ");
  EXPECT_EQ(OpRun("reinterpret").input(in).arg("dtype", DType::kI8).result().layout.str(), "HWC");
}

TEST(Reinterpret, RefusesBytesThatDoNotFit) {
  const Tensor in = random_tensor(DType::kU8, {4, 7}, {}, 6);
  for (const bool known : {false, true}) {
    const OpRun base = known ? OpRun("reinterpret").fixed(in) : OpRun("reinterpret").input(in);
    EXPECT_TRUE(says(OpRun(base).arg("dtype", DType::kI16).failure(), "7 bytes are not whole elements"));
    EXPECT_TRUE(says(OpRun(base).arg("dtype", DType::kI16).arg("shape", Extents{3, 5}).failure(), "bytes"));
    EXPECT_TRUE(says(OpRun(base).arg("shape", Extents{3, 5}).failure(), "elements"));
    EXPECT_EQ(OpRun(base).arg("dtype", DType::kI16).arg("rel_shape", Numbers{0.5, 1}).result().extents,
              (Extents{2, 7}));
    EXPECT_EQ(OpRun(base).arg("dtype", DType::kI16).arg("src_dims", Extents{1, 0}).result().extents,
              (Extents{7, 2}));
  }
  EXPECT_TRUE(says(OpRun("reinterpret").input(in).failure(), "nothing to do"));
  EXPECT_TRUE(says(OpRun("reinterpret").input(scalar(DType::kF32, 1)).arg("dtype", DType::kU8).failure(),
                   "a number of 4 bytes"));
}

}  // namespace
}  // namespace galatea::ops_test
