// Sequences and volumes: every operator on images does to each frame what it does to that frame alone, bit
// for bit, and takes the layouts that DALI takes (tests/oracle/layouts.json).
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "base/json.h"
#include "compiler/op/lifting.h"
#include "tests/ops/op_tester.h"
#include "tests/support/cases.h"

namespace galatea::ops_test {
namespace {

using Doubles = std::vector<double>;
using Integers = std::vector<int64_t>;

/// A call on an image. `axes`: those of D, H, W that the operator sees.
struct Call {
  std::string op, name;
  std::function<void(OpRun&, const std::string& axes)> args;
};

Tensor window() { return tensor(DType::kF32, {2, 3}, {0.5, -0.25, 0.125, 1, 0.25, -0.5}); }

bool has_depth(const std::string& axes) { return axes.starts_with("D"); }

/// Calls of every operator that is lifted, and of some that work on all axes and are told on which. Where one
/// works along D itself, it is asked to leave D alone.
const std::vector<Call>& calls() {
  static const std::vector<Call> all = {
      {"brightness", "", [](OpRun& r, const std::string&) { r.arg("brightness", 1.3); }},
      {"contrast", "", [](OpRun& r, const std::string&) { r.arg("contrast", 0.7); }},
      {"brightness_contrast", "",
       [](OpRun& r, const std::string&) {
         r.arg("contrast", 0.7).arg("brightness", scalar(DType::kF32, 1.2));
       }},
      {"hue", "", [](OpRun& r, const std::string&) { r.arg("hue", 40.0); }},
      {"saturation", "", [](OpRun& r, const std::string&) { r.arg("saturation", scalar(DType::kF32, 0.4)); }},
      {"hsv", "", [](OpRun& r, const std::string&) { r.arg("hue", 40.0).arg("value", 1.1); }},
      {"color_twist", "", [](OpRun& r, const std::string&) { r.arg("hue", 40.0).arg("contrast", 1.2); }},
      {"color_space_conversion", "",
       [](OpRun& r, const std::string&) { r.arg("image_type", int64_t{0}).arg("output_type", int64_t{3}); }},
      {"color_space_conversion", "to grey",
       [](OpRun& r, const std::string&) { r.arg("image_type", int64_t{0}).arg("output_type", int64_t{2}); }},
      {"equalize", "", [](OpRun&, const std::string&) {}},
      {"clahe", "",
       [](OpRun& r, const std::string&) {
         r.arg("tiles_x", int64_t{2}).arg("tiles_y", int64_t{2}).arg("clip_limit", 2.0);
       }},
      {"slice", "",
       [](OpRun& r, const std::string&) {
         r.arg("rel_start", Doubles{0.2, 0.1}).arg("rel_shape", Doubles{0.5, 0.6});
       }},
      {"erase", "",
       [](OpRun& r, const std::string&) {
         r.arg("axis_names", std::string("HW")).arg("anchor", Doubles{1, 2}).arg("shape", Doubles{2, 3});
       }},
      {"normalize", "", [](OpRun& r, const std::string&) { r.arg("axis_names", std::string("HW")); }},
      {"pad", "",
       [](OpRun& r, const std::string&) {
         r.arg("axis_names", std::string("HW")).arg("shape", Integers{8, 9}).arg("fill_value", 5.0);
       }},
      {"crop", "",
       [](OpRun& r, const std::string&) {
         r.arg("crop", Doubles{3, 4}).arg("crop_pos_x", scalar(DType::kF32, 0.8));
       }},
      {"crop", "padded",
       [](OpRun& r, const std::string&) {
         r.arg("crop_h", 9.0)
             .arg("crop_w", 5.0)
             .arg("out_of_bounds_policy", std::string("pad"))
             .arg("fill_values", Doubles{1, 2, 3});
       }},
      {"crop_mirror_normalize", "",
       [](OpRun& r, const std::string&) {
         r.arg("crop", Doubles{3, 4}).arg("mirror", scalar(DType::kI32, 1)).arg("mean", Doubles{1, 2, 3});
       }},
      {"crop_mirror_normalize", "as it lies",
       [](OpRun& r, const std::string&) { r.arg("output_layout", std::string()).arg("pad_output", true); }},
      {"flip", "", [](OpRun& r, const std::string&) { r.arg("vertical", scalar(DType::kI32, 1)); }},
      {"resize", "", [](OpRun& r, const std::string&) { r.arg("size", Doubles{4, 11}); }},
      {"resize", "nearest",
       [](OpRun& r, const std::string&) {
         r.arg("size", tensor(DType::kF32, {2}, {9, 3})).arg("interp_type", int64_t{0});
       }},
      {"resize", "with extents",
       [](OpRun& r, const std::string&) { r.arg("size", Doubles{4, 4}).arg("save_attrs", true); }},
      {"resize_crop_mirror", "",
       [](OpRun& r, const std::string&) {
         r.arg("size", Doubles{4, 11}).arg("crop", Doubles{3, 5}).arg("mirror", scalar(DType::kI32, 1));
       }},
      {"fast_resize_crop_mirror", "",
       [](OpRun& r, const std::string&) {
         r.arg("size", Doubles{5, 8}).arg("crop_h", 4.0).arg("crop_w", 9.0).arg("mirror", int64_t{3});
       }},
      {"grid_mask", "", [](OpRun& r, const std::string&) { r.arg("tile", int64_t{4}).arg("angle", 0.4); }},
      {"sphere", "", [](OpRun& r, const std::string&) { r.arg("interp_type", int64_t{1}); }},
      {"water", "", [](OpRun& r, const std::string&) { r.arg("mask", scalar(DType::kI32, 1)); }},
      {"random_resized_crop", "", [](OpRun& r, const std::string&) { r.arg("size", Integers{4, 5}); }},
      {"rotate", "", [](OpRun& r, const std::string&) { r.arg("angle", 33.0).arg("fill_value", 7.0); }},
      {"rotate", "a quarter", [](OpRun& r, const std::string&) { r.arg("angle", 90.0); }},
      {"warp_affine", "",
       [](OpRun& r, const std::string&) {
         r.arg("matrix", Doubles{1, 0.2, -1, 0.1, 0.9, 0.5}).arg("fill_value", Doubles{1, 2, 3});
       }},
      {"warp_affine", "by an input",
       [](OpRun& r, const std::string&) { r.fixed(tensor(DType::kF32, {2, 3}, {1, 0, 0.5, 0.25, 1, 0})); }},
      {"experimental.warp_perspective", "",
       [](OpRun& r, const std::string&) {
         r.arg("matrix", Doubles{1, 0.2, -1, 0.1, 0.9, 0.5, 0.01, 0.02, 1}).arg("size", Doubles{5, 9});
       }},
      {"warp_affine", "of OpenCV",
       [](OpRun& r, const std::string&) {
         r.arg("matrix", Doubles{1, 0.2, -1, 0.1, 0.9, 0.5})
             .arg("interp_type", int64_t{2})
             .arg("compat", std::string("opencv"));
       }},
      {"experimental.warp_perspective", "of Pillow",
       [](OpRun& r, const std::string&) {
         r.arg("matrix", Doubles{1, 0.2, -1, 0.1, 0.9, 0.5, 0.01, 0.02, 1}).arg("compat", std::string("pil"));
       }},
      {"random_resized_crop", "of torchvision",
       [](OpRun& r, const std::string&) {
         r.arg("size", Integers{4, 5}).arg("compat", std::string("torchvision"));
       }},
      {"experimental.remap", "",
       [](OpRun& r, const std::string&) {
         r.fixed(tensor(DType::kF32, {2, 2}, {0.5, 3.7, 2.2, 9}, "HW"))
             .fixed(tensor(DType::kF32, {2, 2}, {1.5, 0.7, 2.6, 4.4}, "HW"));
       }},
      {"paste", "",
       [](OpRun& r, const std::string&) {
         r.arg("ratio", 1.5).arg("paste_x", scalar(DType::kF32, 0.3)).arg("fill_value", Integers{1, 2, 3});
       }},
      {"multi_paste", "",
       [](OpRun& r, const std::string&) {
         r.arg("output_size", Integers{9, 9})
             .arg("shapes", Integers{2, 3})
             .arg("out_anchors", Integers{1, 4});
       }},
      {"galatea.random_perspective", "", [](OpRun& r, const std::string&) { r.arg("p", 1.0); }},
      {"galatea.elastic", "", [](OpRun& r, const std::string&) { r.arg("alpha", 20.0).arg("sigma", 1.0); }},
      {"galatea.color_jitter", "",
       [](OpRun& r, const std::string&) { r.arg("brightness", 0.5).arg("contrast", 0.5).arg("hue", 0.3); }},
      {"galatea.auto_orient", "", [](OpRun& r, const std::string&) { r.arg("orientation", int64_t{6}); }},
      {"galatea.auto_orient", "of a sample",
       [](OpRun& r, const std::string&) { r.arg("orientation", scalar(DType::kI32, 7)); }},
      {"galatea.cutout", "", [](OpRun& r, const std::string&) { r.arg("size", 3.0); }},
      {"filter", "", [](OpRun& r, const std::string&) { r.fixed(window()); }},
      {"median_blur", "", [](OpRun& r, const std::string&) { r.arg("window_size", Integers{3, 1}); }},
      {"dilate", "", [](OpRun& r, const std::string&) { r.arg("mask_size", Integers{2, 10}); }},
      {"erode", "", [](OpRun& r, const std::string&) { r.arg("mask_size", scalar(DType::kI32, 2)); }},
      {"jitter", "", [](OpRun& r, const std::string&) { r.arg("nDegree", int64_t{4}); }},
      {"gaussian_blur", "",
       [](OpRun& r, const std::string& axes) {
         r.arg("sigma", 1.1).arg("window_size", has_depth(axes) ? Integers{1, 5, 5} : Integers{5, 5});
       }},
      {"laplacian", "",
       [](OpRun& r, const std::string& axes) {
         r.arg("smoothing_size", has_depth(axes) ? Integers{1, 3, 5} : Integers{3, 5});
         r.arg("scale", has_depth(axes) ? Doubles{0, 0.5, 0.25} : Doubles{0.5, 0.25});
       }},
  };
  return all;
}

int64_t extent_of(char letter) {
  return letter == 'F'   ? 2
         : letter == 'D' ? 3
         : letter == 'H' ? 6
         : letter == 'W' ? 7
         : letter == 'C' ? 3
                         : 2;
}

Tensor data_of(const std::string& layout) {
  std::vector<int64_t> extents;
  for (const char letter : layout) extents.push_back(extent_of(letter));
  return random_tensor(DType::kU8, extents, Layout(layout), 77);
}

/// The part at one place along some axes, which are gone.
Tensor part(const Tensor& t, const std::string& letters, const std::vector<int64_t>& place) {
  Tensor out{t.dtype, {}, {}, {}};
  std::string kept;
  for (int d = 0; d < t.layout.size(); ++d)
    if (!letters.contains(t.layout[d])) {
      kept += t.layout[d];
      out.extents.push_back(t.extents[static_cast<size_t>(d)]);
    }
  out.layout = Layout(kept);
  for (size_t n = 0; n < t.size(); ++n) {
    auto rest = static_cast<int64_t>(n);
    bool here = true;
    for (int d = t.layout.size(); d-- > 0;) {
      const int64_t at = rest % t.extents[static_cast<size_t>(d)];
      rest /= t.extents[static_cast<size_t>(d)];
      if (const size_t l = letters.find(t.layout[d]); l != std::string::npos) here = here && at == place[l];
    }
    if (here) out.cells.push_back(t.cells[n]);
  }
  return out;
}

OpRun run_of(const Call& call, const Tensor& data, const std::string& axes, bool fixed = false) {
  OpRun run(call.op);
  if (fixed)
    run.fixed(data);
  else
    run.input(data);
  call.args(run, axes);
  return run;
}

std::string spatial(const std::string& layout) {
  std::string out;
  for (const char letter : {'D', 'H', 'W'})
    if (layout.contains(letter)) out += letter;
  return out;
}

/// What an operator sees of a layout.
std::string frame_of(const op::Operator& op, const std::string& layout) {
  std::string out;
  for (const char letter : layout)
    if (op::works_on(op.inputs[0], letter)) out += letter;
  return out;
}

void expect_same(const Tensor& actual, const Tensor& expected, const std::string& what) {
  EXPECT_EQ(actual.extents, expected.extents) << what;
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t n = 0; n < actual.size(); ++n)
    ASSERT_EQ(actual.cells[n].bits, expected.cells[n].bits) << what << ", element " << n;
}

/// Each frame of the call's outputs against the call on that frame; false where it takes no such layout.
bool check_frames(const Call& call, const std::string& layout, const std::string& over, bool fixed) {
  const op::Operator& op = *registry().find(call.op);
  const std::string what = call.op + " " + call.name + " " + layout;
  const Tensor data = data_of(layout);
  const OpRun::Outcome all = run_of(call, data, spatial(frame_of(op, layout)), fixed).run();
  if (!all.error.empty()) return false;
  EXPECT_EQ(all.failed_check, "") << what;
  std::vector<int64_t> place(over.size(), 0);
  for (bool more = true; more;) {
    const Tensor frame = part(data, over, place);
    const OpRun::Outcome one = run_of(call, frame, spatial(frame_of(op, frame.layout.str())), fixed).run();
    EXPECT_EQ(one.error + one.failed_check, "") << what;
    EXPECT_EQ(one.outputs.size(), all.outputs.size()) << what;
    for (size_t k = 0; k < std::min(one.outputs.size(), all.outputs.size()); ++k) {
      // What an operator tells of an image besides has no axis on which the operator works itself.
      const Tensor& whole = all.outputs[k];
      for (const char letter : over)
        EXPECT_TRUE(whole.layout.contains(letter) || (k > 0 && op::works_on(op.inputs[0], letter)))
            << what << " gives " << whole.layout.str();
      expect_same(whole.layout.empty() ? whole : part(whole, over, place), one.outputs[k], what);
    }
    more = false;
    for (size_t l = over.size(); l-- > 0 && !more;) {
      more = ++place[l] < extent_of(over[l]);
      if (!more) place[l] = 0;
    }
  }
  return true;
}

TEST(Frames, EveryOperatorOnImagesIsCalled) {
  std::set<std::string> called;
  for (const Call& call : calls()) called.insert(call.op);
  // points_test.cpp, boxes_test.cpp, native_test, detection_test.cpp; debayer, which takes one channel, in the
  // oracle's cases
  const std::set<std::string> of_points = {"bb_flip",
                                           "bbox_paste",
                                           "box_encoder",
                                           "coord_flip",
                                           "coord_transform",
                                           "debayer",
                                           "jpeg_compression_distortion",
                                           "galatea.roi_align"};
  for (const auto& op : registry().all()) {
    if (op->inputs.empty() || op->internal || of_points.contains(op->name)) continue;
    // An operator that accepts any layout and names no axes works on all of them: there is nothing to lift.
    const Port& input = op->inputs[0];
    if (!input.axes.empty() || !input.layouts.empty()) {
      EXPECT_TRUE(called.contains(op->name)) << op->name;
    }
  }
}

TEST(Frames, AreWhatTheyAreAlone) {
  const auto is_taken = [](const Call& call, const std::string& layout) {
    return testing::takes(call.op + call.name + layout);
  };
  size_t compared = 0;
  for (const Call& call : calls())
    for (const std::string layout : {"FHWC", "FCHW", "CFHW", "FHW"})
      if (is_taken(call, layout)) compared += check_frames(call, layout, "F", false) ? 1 : 0;
  EXPECT_GT(compared, 60U / (testing::scale() == testing::kWhole ? 1 : 2 * testing::one_of()));
  for (const Call& call : calls()) {
    EXPECT_TRUE(check_frames(call, "FHWC", "F", true)) << call.op;
    for (const auto& [layout, over] : {std::pair{"DHWC", "D"}, {"FDHWC", "FD"}, {"HWFC", "F"}})
      EXPECT_TRUE(!is_taken(call, layout) || check_frames(call, layout, over, false))
          << call.op << " " << layout;
    EXPECT_TRUE(!is_taken(call, "NFHWC") || check_frames(call, "NFHWC", "NF", false) ||
                call.op == "gaussian_blur" || call.op == "laplacian" || call.op == "filter")
        << call.op;
    if (is_taken(call, "DCHW") && check_frames(call, "FCHW", "F", false))
      check_frames(call, "DCHW", "D", false);
  }
}

TEST(Frames, TakeTheLayoutsThatDaliTakes) {
  std::ifstream file(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/layouts.json");
  const auto recorded = parse_json(std::string(std::istreambuf_iterator<char>(file), {}));
  std::set<std::string> seen;
  for (const Call& call : calls()) {
    const Port& input = registry().find(call.op)->inputs[0];
    if ((input.axes.empty() && input.layouts.empty()) || !seen.insert(call.op).second) continue;
    if (call.op.starts_with("galatea.") || call.op == "experimental.remap") continue;  // none on DALI's CPU
    ASSERT_TRUE(recorded["layouts"].contains(call.op)) << call.op;
    const op::Operator& op = *registry().find(call.op);
    for (const std::string layout : recorded["layouts"][call.op]) {
      const OpRun::Outcome outcome = run_of(call, data_of(layout), spatial(frame_of(op, layout))).run();
      EXPECT_EQ(outcome.error + outcome.failed_check, "") << call.op << " " << layout;
    }
  }
  for (const std::string layout : recorded["layouts"]["crop (d, h, w)"]) {
    if (!layout.contains('D')) continue;
    const Tensor out = OpRun("crop").input(data_of(layout)).arg("crop", Doubles{2, 4, 5}).result();
    EXPECT_EQ(out.extents[static_cast<size_t>(out.layout.find('D'))], 2) << layout;
  }
}

/// As DALI: the first layout of so many letters that the operator's schema names.
TEST(Frames, WithoutALayoutAreOfPictures) {
  size_t films = 0, volumes = 0;
  for (const Call& call : calls()) {
    const Port& input = registry().find(call.op)->inputs[0];
    if (input.layouts.empty() || !input.axes.empty()) continue;
    const bool takes_volumes = std::ranges::find(input.layouts, "DHWC") != input.layouts.end();
    for (const std::string layout : {"FHWC", "FDHWC"}) {
      if (layout == "FDHWC" && !takes_volumes) continue;
      const bool is_volume = layout == "FHWC" && (call.op == "crop" || call.op == "crop_mirror_normalize");
      Tensor named = data_of(layout), bare = named;
      bare.layout = {};
      if (is_volume) named.layout = "DHWC";
      const std::string what = call.op + " " + call.name + " " + named.layout.str();
      const auto outcome_of = [&](const Tensor& data) {
        return run_of(call, data, layout == "FDHWC" || is_volume ? "DHW" : "HW").run();
      };
      const OpRun::Outcome expected = outcome_of(named), actual = outcome_of(bare);
      ASSERT_EQ(expected.error + expected.failed_check, "") << what;
      ASSERT_EQ(actual.error + actual.failed_check, "") << what;
      EXPECT_EQ(actual.outputs[0].layout, expected.outputs[0].layout) << what;
      expect_same(actual.outputs[0], expected.outputs[0], what);
      ++(is_volume ? volumes : films);
    }
  }
  EXPECT_GT(films, 40U);
  EXPECT_GT(volumes, 3U);
  const OpRun::Outcome outcome =
      OpRun("brightness").input(Tensor{DType::kU8, {2, 3, 6, 7, 3}, {}, {}}).arg("brightness", 1.3).run();
  EXPECT_TRUE(outcome.error.contains("5 dimensions without a layout")) << outcome.error;
}

TEST(Frames, NoneAtAll) {
  const Tensor none{DType::kU8, {0, 6, 7, 3}, "FHWC", {}};
  for (const bool fixed : {false, true})
    for (const Call& call : calls()) {
      const OpRun::Outcome outcome = run_of(call, none, "HW", fixed).run();
      ASSERT_EQ(outcome.error + outcome.failed_check, "") << call.op;
      EXPECT_EQ(outcome.outputs[0].size(), 0U) << call.op;
    }
}

TEST(Frames, WindowsAreBoxesOverNamedAxes) {
  const Tensor data = data_of("DHWC");
  const Tensor cut = OpRun("crop")
                         .input(data)
                         .arg("crop_d", 2.0)
                         .arg("crop_h", 4.0)
                         .arg("crop_w", 5.0)
                         .arg("crop_pos_z", 1.0)
                         .arg("crop_pos_y", 0.0)
                         .arg("crop_pos_x", 0.0)
                         .result();
  EXPECT_EQ(cut.extents, (Integers{2, 4, 5, 3}));
  EXPECT_EQ(cut[0], part(data, "D", {1})[0]);
  const Tensor turned =
      OpRun("flip").input(data).arg("horizontal", int64_t{0}).arg("depthwise", int64_t{1}).result();
  for (int64_t d = 0; d < 3; ++d) expect_same(part(turned, "D", {d}), part(data, "D", {2 - d}), "depthwise");
  const Tensor normalized = OpRun("crop_mirror_normalize").input(data).arg("crop", Doubles{1, 6, 7}).result();
  EXPECT_EQ(normalized.layout.str(), "DCHW");
  EXPECT_EQ(normalized.extents, (Integers{1, 3, 6, 7}));
  // A picture has no depth that could be cropped.
  const Tensor picture = data_of("HWC");
  expect_same(OpRun("crop").input(picture).arg("crop", Doubles{2, 4, 5}).result(),
              OpRun("crop").input(picture).arg("crop", Doubles{4, 5}).result(), "a depth of a picture");
  // Two numbers leave the depth as it is, three and resize_z do not.
  const Tensor floats = random_tensor(DType::kF32, {3, 6, 7, 2}, "DHWC", 5);
  const Tensor whole = OpRun("resize").input(floats).arg("size", Doubles{5, 6, 7}).result();
  EXPECT_EQ(whole.extents, (Integers{5, 6, 7, 2}));
  const auto slice_of = [](const Tensor& t, int64_t d) { return part(t, "D", {d}); };
  // Cell 2 of 5 lies on the middle of the second slice; the linear filter takes nothing else.
  expect_near(slice_of(whole, 2), slice_of(floats, 1).numbers(), 1e-6);
  // By itself an extent follows the mean of the others' ratios: 3 * sqrt(2 * 3 / (6 * 7)) rounds to 1.
  EXPECT_EQ(OpRun("resize").input(floats).arg("resize_y", 2.0).arg("resize_x", 3.0).result().extents,
            (Integers{1, 2, 3, 2}));
  EXPECT_EQ(OpRun("resize").input(floats).arg("resize_z", 6.0).result().extents, (Integers{6, 12, 14, 2}));
  EXPECT_EQ(OpRun("resize").input(floats).arg("resize_shorter", 6.0).result().extents,
            (Integers{6, 12, 14, 2}));
  EXPECT_EQ(
      OpRun("resize").input(floats).arg("resize_longer", 14.0).arg("save_attrs", true).result(1).numbers(),
      (Doubles{3, 6, 7}));
  EXPECT_EQ(OpRun("crop_mirror_normalize")
                .input(data_of("FHWC"))
                .arg("output_layout", std::string("FCHW"))
                .result()
                .layout.str(),
            "FCHW");
}

/// A call on a sequence with an argument per frame, against the call on each frame with the value of its own.
void check_per_frame(const std::string& op, const std::string& arg, const Tensor& values,
                     const std::function<void(OpRun&)>& more, const std::string& layout = "FHWC") {
  const auto run_with = [&](const Tensor& data, const Tensor& value) {
    OpRun run(op);
    run.input(data);
    if (arg.empty())
      run.fixed(value);
    else
      run.arg(arg, value);
    more(run);
    return run.run();
  };
  const Tensor data = data_of(layout);
  const OpRun::Outcome all = run_with(data, values);
  ASSERT_EQ(all.error + all.failed_check, "") << op << " " << arg;
  for (int64_t f = 0; f < extent_of('F'); ++f) {
    Tensor value = part(values, "F", {f});
    value.layout = {};
    const OpRun::Outcome one = run_with(part(data, "F", {f}), value);
    ASSERT_EQ(one.error + one.failed_check, "") << op << " " << arg;
    expect_same(part(all.outputs[0], "F", {f}), one.outputs[0], op + " " + arg + " " + layout);
  }
}

Tensor per_frame(std::vector<int64_t> extents, const Doubles& values, DType dtype = DType::kF32) {
  return tensor(dtype, extents, values, Layout("F" + std::string(extents.size() - 1, '*')));
}

TEST(PerFrame, NamesTheFirstAxis) {
  const Tensor bare = tensor(DType::kF32, {2, 3}, Doubles(6, 1)),
               named = tensor(DType::kF32, {2, 3}, Doubles(6, 1), "AB");
  EXPECT_EQ(OpRun("per_frame").input(bare).result().layout.str(), "F*");
  EXPECT_EQ(OpRun("per_frame").input(named).arg("replace", true).result().layout.str(), "FB");
  EXPECT_NE(OpRun("per_frame").input(named).failure().find("another first axis"), std::string::npos);
  EXPECT_NE(OpRun("per_frame").input(scalar(DType::kF32, 1)).failure().find("no axis"), std::string::npos);
}

TEST(PerFrame, EachFrameHasItsValue) {
  const auto nothing = [](OpRun&) {};
  check_per_frame("brightness", "brightness", per_frame({2}, {0.5, 1.5}), nothing);
  check_per_frame("brightness", "brightness", per_frame({2}, {0.5, 1.5}), nothing, "FDHWC");
  check_per_frame("hue", "hue", per_frame({2}, {-30, 80}), nothing);
  check_per_frame("rotate", "angle", per_frame({2}, {15, 200}), [](OpRun& r) { r.arg("keep_size", true); });
  // The canvas of both is the same.
  check_per_frame("rotate", "angle", per_frame({2}, {20, -20}), nothing);
  check_per_frame("gaussian_blur", "sigma", per_frame({2, 2}, {0.5, 1, 2, 3}),
                  [](OpRun& r) { r.arg("window_size", int64_t{5}); });
  check_per_frame("laplacian", "scale", per_frame({2}, {0.5, 0.25}), nothing, "FCHW");
  check_per_frame("warp_affine", "matrix", per_frame({2, 2, 3}, {1, 0, 1, 0, 1, 0, 1, 0.5, 0, 0.25, 1, 0}),
                  nothing);
  check_per_frame("warp_affine", "", per_frame({2, 2, 3}, {1, 0, 1, 0, 1, 0, 1, 0.5, 0, 0.25, 1, 0}), nothing,
                  "FDHWC");
  check_per_frame("filter", "", per_frame({2, 1, 3}, {1, 2, 3, 0.5, 0.25, 0.125}), nothing);
  check_per_frame("filter", "anchor", per_frame({2, 2}, {0, 0, 1, 2}, DType::kI32),
                  [](OpRun& r) { r.fixed(window()); });
  // Views that differ from frame to frame.
  check_per_frame("flip", "horizontal", per_frame({2}, {0, 1}, DType::kI32), nothing);
  check_per_frame("crop", "crop_pos_x", per_frame({2}, {0.125, 0.875}),
                  [](OpRun& r) { r.arg("crop", Doubles{3, 3}); });
  check_per_frame("crop_mirror_normalize", "mirror", per_frame({2}, {1, 0}, DType::kI32), nothing);
}

TEST(PerFrame, SaysWhatCannotDiffer) {
  const Tensor video = data_of("FHWC");
  const auto contains = [](const std::string& text, const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  contains(OpRun("brightness").input(data_of("HWC")).arg("brightness", per_frame({2}, {1, 2})).failure(),
           "no input has frames");
  contains(OpRun("brightness").input(data_of("DHWC")).arg("brightness", per_frame({3}, {1, 2, 3})).failure(),
           "no input has frames");
  contains(OpRun("brightness").input(video).arg("brightness", per_frame({3}, {1, 2, 3})).failure(),
           "brightness has 3 frames (axis F), the input has 2");
  contains(OpRun("brightness").input(video).arg("brightness", per_frame({2, 1, 2}, {1, 2, 3, 4})).failure(),
           "must be a number");
  contains(OpRun("resize").input(video).arg("size", per_frame({2}, {4, 5})).failure(),
           "frames differ in an extent");
  contains(OpRun("noise.salt_and_pepper").input(video).arg("prob", per_frame({2}, {0, 1})).failure(),
           "no input has frames");
  // A check holds for every frame; its words are those of the frame that fails.
  contains(OpRun("crop")
               .input(video)
               .arg("crop", Doubles{3, 3})
               .arg("crop_pos_y", per_frame({2}, {0.5, 1.5}))
               .failure(),
           "crop_pos_y must lie in [0, 1], not 1.5");
  contains(OpRun("resize")
               .input(video)
               .arg("size", Doubles{4, 4})
               .arg("roi_start", per_frame({2, 2}, {0, 0, 1, 1}))
               .arg("roi_end", Doubles{3, 3})
               .failure(),
           "which part of the input is resampled");
  const Tensor matrices = per_frame({2, 2, 3}, {1, 0, 1, 0, 1, 0, 1, 0.5, 0, 0.25, 1, 0});
  EXPECT_EQ(OpRun("warp_affine").input(video).input(matrices, {false, true, true}).result().numbers(),
            OpRun("warp_affine").input(video).fixed(matrices).result().numbers())
      << "the run tells how many frames there are";
  EXPECT_NE(OpRun("flip")
                .input(data_of("FHWC"))
                .arg("horizontal", per_frame({65}, Doubles(65, 1), DType::kI32))
                .failure(),
            "");
}

/// Frames that turn by angles of their own share a canvas: the largest one, in the parity of most. Of 6 x 7, at 0
/// degrees 6 x 7, at 90 degrees 7 x 6, at 30 degrees 8.70 x 9.06 before parities, which are even and odd.
TEST(PerFrame, TurnsOnTheLargestCanvas) {
  using Angles = std::vector<double>;
  for (const auto& [angles, rows, columns] : std::vector<std::tuple<Angles, int64_t, int64_t>>{
           {{0, 90}, 8, 8}, {{0, 0, 90}, 8, 7}, {{0, 90, 90}, 7, 8}, {{0, 30, 90}, 10, 11}}) {
    const auto count = static_cast<int64_t>(angles.size());
    const Tensor video = random_tensor(DType::kU8, {count, 6, 7, 2}, "FHWC", 12);
    const auto turned = [&](OpRun run) { return run.input(video).arg("fill_value", 5.0).result(); };
    OpRun known("rotate"), fed("rotate"), sized("rotate");
    known.arg("angle", per_frame({count}, angles));
    fed.fed_arg("angle", per_frame({count}, angles));
    sized.arg("angle", per_frame({count}, angles)).arg("size", Doubles{double(rows), double(columns)});
    const Tensor out = turned(known);
    EXPECT_EQ(out.extents, (std::vector<int64_t>{count, rows, columns, 2}));
    EXPECT_EQ(turned(fed).numbers(), out.numbers());
    EXPECT_EQ(turned(sized).numbers(), out.numbers());
  }
}

TEST(PerFrame, ChecksAsManyFramesAsTheRunTells) {
  const auto contains = [](const std::string& text, const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  const Tensor video = random_tensor(DType::kU8, {3, 5, 6, 2}, "FHWC", 12);
  auto crop = [](const Tensor& data, const Doubles& places) {
    return OpRun("crop")
        .input(data)
        .arg("crop", Doubles{3, 3})
        .fed_arg("crop_pos_y", per_frame({static_cast<int64_t>(places.size())}, places));
  };
  const Tensor known = OpRun("crop")
                           .input(video)
                           .arg("crop", Doubles{3, 3})
                           .arg("crop_pos_y", per_frame({3}, {0, 0.5, 1}))
                           .result();
  EXPECT_EQ(crop(video, {0, 0.5, 1}).result().numbers(), known.numbers());
  contains(crop(video, {0.5, 0.5, 1.5}).failure(), "crop_pos_y must lie in [0, 1], not 1.5");
  contains(crop(video, {0.5, 1}).failure(), "crop_pos_y has 2 frames (axis F), the input has 3");
  const Tensor many = random_tensor(DType::kU8, {65, 3, 3, 1}, "FHWC", 13);
  contains(crop(many, Doubles(65, 0)).failure(), "is given for 65 frames");
  contains(OpRun("resize").input(video).fed_arg("size", per_frame({3}, {4, 4, 5})).failure(),
           "frames differ in an extent");
}

}  // namespace
}  // namespace galatea::ops_test
