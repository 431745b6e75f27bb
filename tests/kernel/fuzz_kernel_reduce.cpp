// Random reductions, histograms and scans.
#include "tests/kernel/fuzz_kernel_maker.h"

namespace galatea::testing {

void KernelMaker::add_reduction() {
  const Image image = some_image();
  bool per_channel = chance(2);
  Stage reduce;
  reduce.form = StageForm::kReduce;
  reduce.combiner = choose({Combiner::kSum, Combiner::kMin, Combiner::kMax});
  reduce.accumulator = is_float(image.type)
                           ? DType::kF32
                           : choose({DType::kI32, DType::kI64, DType::kU64, DType::kU8, DType::kF32});
  if (reduce.combiner == Combiner::kSum && is_float(reduce.accumulator)) reduce.accumulator = DType::kF64;
  reduce.type = choose({DType::kF32, reduce.accumulator});
  std::vector<Expr> at;
  if (per_channel) {
    reduce.extents = {image.extents[2]};
    reduce.reduce_extents = {image.extents[0], image.extents[1]};
    at = {reduce_axis(0), reduce_axis(1), axis(0)};
  } else {
    reduce.reduce_extents = image.extents;
    at = {reduce_axis(0), reduce_axis(1), reduce_axis(2)};
  }
  // Half of the sums of floats have leaves.
  const bool leaves = reduce.accumulator == DType::kF64 && chance(2);
  reduce.body = convert(read(image, at), leaves ? DType::kF32 : reduce.accumulator);
  if (chance(2)) reduce.finish = to_type(mangle(accumulator(reduce.accumulator)), reduce.type);
  Image statistic = add_stage(std::move(reduce));
  Stage map;
  map.type = random_type();
  map.extents = image.extents;
  Expr value =
      load(statistic.target, statistic.type, per_channel ? std::vector<Expr>{axis(2)} : std::vector<Expr>{});
  map.body = to_type(convert(read(image, axes()), DType::kF32) - convert(value, DType::kF32) * float_param(),
                     map.type);
  images_.push_back(add_stage(std::move(map)));
}

Expr KernelMaker::bin_of(const Expr& x) {
  if (x->type == DType::kU8 && chance(2)) return convert(x, DType::kI64);
  if (x->type == DType::kU8)
    return convert(binary(ScalarOp::kShr, x, const_int(pick(1, 5), DType::kU8)), DType::kI64);
  return convert(saturate(mangle(x), choose({DType::kI8, DType::kI16, DType::kU8})), DType::kI64);
}

void KernelMaker::add_histogram() {
  const Image image = some_image();
  const bool per_channel = chance(2);
  Stage counts;
  counts.form = StageForm::kHistogram;
  counts.accumulator = choose({DType::kI32, DType::kI32, DType::kI64, DType::kU8});
  counts.type = choose({counts.accumulator, DType::kF32, DType::kU8});
  const Expr bins = chance(3)   ? const_int(256)
                    : chance(3) ? int_param(1, 3)
                    : chance(2) ? int_param(4, 40)
                                : const_int(pick(1, 70));
  std::vector<Expr> at = {reduce_axis(0), reduce_axis(1), reduce_axis(2)};
  if (per_channel) {
    at[2] = axis(0);
    counts.extents = {image.extents[2]};
    counts.reduce_extents = {image.extents[0], image.extents[1]};
  } else {
    counts.reduce_extents = image.extents;
  }
  counts.extents.push_back(bins);
  counts.body = bin_of(read(image, at, chance(4) ? random_border() : Border::kNone));
  if (chance(2)) counts.finish = to_type(mangle(accumulator(counts.accumulator)), counts.type);
  Image table = add_stage(std::move(counts));
  if (chance(2)) {
    Stage sums = scan_of(table, per_channel && chance(4) ? 0 : per_channel ? 1 : 0);
    table = add_stage(std::move(sums));
  }
  Stage map;
  map.type = random_type();
  map.extents = image.extents;
  // A byte in a table of all bytes is looked up as it is: there are forms for that.
  const bool bytes = image.type == DType::kU8 && is_const_int(bins, 256) && !chance(4);
  std::vector<Expr> place = {bytes ? convert(read(image, axes()), DType::kI64) : bin_of(read(image, axes()))};
  if (per_channel) place.insert(place.begin(), axis(2));
  const Expr found = read(table, place, bytes ? Border::kNone : random_border());
  map.body = to_type(chance(2) ? mangle(found) : found, map.type);
  images_.push_back(add_stage(std::move(map)));
}

Stage KernelMaker::scan_of(const Image& image, int along) {
  Stage scan;
  scan.form = StageForm::kScan;
  scan.scan_axis = along;
  scan.extents = image.extents;
  scan.combiner = choose({Combiner::kSum, Combiner::kSum, Combiner::kMin, Combiner::kMax});
  scan.accumulator = choose({DType::kI32, DType::kI64, DType::kF32, DType::kU8});
  scan.type = choose({scan.accumulator, DType::kF32, DType::kI32, DType::kU8});
  std::vector<Expr> at;
  for (size_t d = 0; d < image.extents.size(); ++d) at.push_back(axis(static_cast<int>(d)));
  if (chance(4)) at[static_cast<size_t>(along)] = at[static_cast<size_t>(along)] + int_param(-2, 2);
  scan.body = convert(read(image, at, random_border()), scan.accumulator);
  if (chance(2)) scan.finish = to_type(mangle(accumulator(scan.accumulator)), scan.type);
  return scan;
}

void KernelMaker::add_scan() { images_.push_back(add_stage(scan_of(some_image(), pick(0, 2)))); }

}  // namespace galatea::testing
