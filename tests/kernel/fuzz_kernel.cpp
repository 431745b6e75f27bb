// Making random kernels. Every kernel made here is legal by construction; verify() checks it nonetheless.
#include "tests/kernel/fuzz_kernel_maker.h"

#include "base/result.h"

namespace galatea::testing {

FuzzCase KernelMaker::run() {
  num_channels_ = pick(1, 4);
  channels_ = chance(6) ? int_param(num_channels_, num_channels_) : const_int(num_channels_);
  bool empty_rows = chance(12);
  bool empty_columns = chance(12);
  // Nothing of some extent may be read from something empty; swapped axes would mix the two.
  may_swap_ = !empty_rows && !empty_columns;
  for (int i = 0; i < 4; ++i) {
    bool empty = i % 2 == 0 ? empty_rows : empty_columns;
    case_.extent_params.push_back(static_cast<int>(case_.params.size()));
    extents_.push_back(add_param(DType::kI64, static_cast<uint64_t>(empty ? 0 : random_extent())));
  }
  int num_inputs = chance(4) ? 2 : 1;
  for (int i = 0; i < num_inputs; ++i) add_input();
  int steps = pick(1, 5);
  for (int i = 0; i < steps; ++i) add_step();
  if (may_swap_ && case_.seed % 8 == 3) add_groups();
  if (may_swap_ && chance(4)) add_transpose();
  if (images_.back().target.kind == LoadTarget::Kind::kInput) add_pointwise();
  add_output(images_.back());
  if (chance(5)) {
    for (const Image& image : images_) {
      if (image.target.kind == LoadTarget::Kind::kStage && chance(3)) return add_output(image), finish();
    }
  }
  return finish();
}

void KernelMaker::add_input() {
  KernelInput input;
  input.type = choose({DType::kU8, DType::kU8, DType::kU8, DType::kI16, DType::kF32, DType::kU16});
  input.extents = {extents_[0], extents_[1], channels_};
  input.dense_axes = choose({3, 3, 2, 1, 0});
  images_.push_back(
      {{LoadTarget::Kind::kInput, static_cast<int>(case_.kernel.inputs.size())}, input.type, input.extents});
  case_.kernel.inputs.push_back(std::move(input));
}

KernelMaker::Image KernelMaker::add_stage(Stage stage) {
  Image image{
      {LoadTarget::Kind::kStage, static_cast<int>(case_.kernel.stages.size())}, stage.type, stage.extents};
  stage.name = "s" + std::to_string(image.target.index);
  case_.kernel.stages.push_back(std::move(stage));
  return image;
}

void KernelMaker::add_output(const Image& image) {
  KernelOutput output;
  output.stage = image.target.index;
  output.axis_of = choose<std::vector<int>>({{0, 1, 2}, {0, 1, 2}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}});
  output.dense_axes = choose({3, 3, 2, 0});
  output.streaming = chance(3);
  case_.kernel.outputs.push_back(std::move(output));
}

const KernelMaker::Image& KernelMaker::some_image() {
  return chance(4) ? images_[static_cast<size_t>(pick(0, static_cast<int>(images_.size()) - 1))]
                   : images_.back();
}

Expr KernelMaker::read(const Image& image, std::vector<Expr> at, Border border) {
  Cell fill = cell_from_double(image.type, static_cast<double>(pick(0, 9)));
  return load(image.target, image.type, std::move(at), border, fill);
}

void KernelMaker::add_step() {
  switch (pick(0, 24)) {
    case 0:
    case 1:
      return add_pointwise();
    case 10:
    case 11:
      return add_crop();
    case 12:
      return add_twin();
    case 13:
    case 14:
      return add_histogram();
    case 15:
      return add_scan();
    case 16:
    case 17:
    case 18:
      return add_warp();
    case 2:
      return add_window_map();
    case 3:
      return add_transpose();
    case 4:
    case 5:
      return add_resampling();
    case 6:
    case 19:
      return add_filter();
    case 7:
      return add_channel_mix();
    case 20:
      return add_curve();
    case 21:
      return add_choice();
    case 22:
      return add_small_integers();
    case 23:
    case 24:
      return add_box();
    default:
      return add_reduction();
  }
}

FuzzCase make_fuzz_case(uint64_t seed) {
  FuzzCase out = KernelMaker(seed).run();
  auto status = verify(out.kernel);
  GALATEA_CHECK(status.has_value(),
                "the fuzzer made an illegal kernel: " + (status ? "" : status.error().message()) + "\n" +
                    to_text(out.kernel));
  return out;
}

}  // namespace galatea::testing
