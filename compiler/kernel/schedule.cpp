// Where each stage is kept and which lanes compute it.
//
// Comes in: a kernel and a target. Goes out: a placement per stage with its reason in words. Values never
// depend on it; lower() corrects nothing silently but takes an impossible placement (a ring that is not
// legal) as "whole".
#include "compiler/kernel/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text_writer.h"
#include "compiler/kernel/cost.h"
#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"
#include "compiler/kernel/narrow_integers.h"

namespace galatea::kernel {

namespace {

using lowering::any_node;

constexpr size_t kMaxPixelChannels = 4;  ///< loops repeat so many inside
constexpr int64_t kMostLookedUp = 4096;
constexpr int kLanesOfFloats = 4;  ///< so many registers hold as many floats as one holds bytes
constexpr int kThereAndBack = 80;  ///< from lanes of floats to bytes and back, in operations on bytes

/// The readers of a stage, and how they read.
struct Readers {
  int loads = 0;
  int looked_up = 0;  ///< loads whose place is data: an index that is itself loaded
  bool only_maps = true;
  bool constant_border = false;
};

/// An element that the loops of a stage read: of the stage's own expressions, or of those inlined into it.
struct Use {
  int loops = 0;         ///< the stage
  std::vector<Expr> at;  ///< indices over its axes
  friend bool operator==(const Use& a, const Use& b) {
    return a.loops == b.loops && std::equal(a.at.begin(), a.at.end(), b.at.begin(), b.at.end(), same);
  }
};

class Scheduler {
 public:
  Scheduler(const Kernel& kernel, const ScheduleOptions& options)
      : kernel_(kernel), options_(options), state_(options.random_seed * 2 + 1) {}

  Schedule run() {
    const size_t n = kernel_.stages.size();
    if (!options_.gpu && options_.fuse) small_ = narrow_for_small_numbers(kernel_);
    readers_.resize(n);
    tables_.resize(n);
    outputs_.assign(n, false);
    for (const KernelOutput& output : kernel_.outputs) outputs_[static_cast<size_t>(output.stage)] = true;
    for (const Stage& stage : kernel_.stages) count_loads(stage);
    uses_.resize(n);
    schedule_.stages.resize(n);
    // Consumers first: whether rows may be kept depends on how their reader is placed.
    for (size_t s = n; s-- > 0;) {
      StageSchedule& to = schedule_.stages[s];
      if (options_.random_seed != 0)
        place_at_random(static_cast<int>(s), &to);
      else
        place(static_cast<int>(s), &to);
      choose_lanes(kernel_.stages[s], &to);
      add_uses(static_cast<int>(s));
      to.reason += words_about_arithmetic(s);
    }
    if (options_.gpu && options_.fuse && (options_.random_seed == 0 || random(2) == 0)) choose_tiles();
    return std::move(schedule_);
  }

 private:
  void count_loads(const Stage& stage) {
    lowering::for_each_stage_expr(stage, [&](const Expr& e) {
      any_node(e, [&](const ExprNode& node) {
        if (node.kind != ExprKind::kLoad || node.target.kind != LoadTarget::Kind::kStage) return false;
        Readers& readers = readers_[static_cast<size_t>(node.target.index)];
        ++readers.loads;
        readers.looked_up += std::any_of(node.args.begin(), node.args.end(),
                                         [](const Expr& index) { return contains(index, ExprKind::kLoad); });
        readers.only_maps &= stage.form == StageForm::kMap;
        readers.constant_border |= node.border == Border::kConstant;
        return false;
      });
    });
  }

  /// Small and independent of what is in the images: filter tables and the like.
  bool is_table(size_t s) {
    std::optional<bool>& known = tables_[s];
    if (!known) known = finds_table(kernel_.stages[s]);
    return *known;
  }
  bool finds_table(const Stage& stage) {
    if (stage.rank() > 2 || stage.form == StageForm::kBand) return false;
    bool independent = true;
    lowering::for_each_stage_expr(stage, [&](const Expr& e) {
      independent =
          independent && !any_node(e, [&](const ExprNode& node) {
            return node.kind == ExprKind::kLoad && (node.target.kind != LoadTarget::Kind::kStage ||
                                                    !is_table(static_cast<size_t>(node.target.index)));
          });
    });
    return independent;
  }

  /// A function of one byte and nothing else (passes/tabulate.cpp).
  static bool is_byte_table(const Stage& stage) {
    return stage.form == StageForm::kMap && stage.type == DType::kU8 && stage.rank() == 1 &&
           is_const_int(stage.extents[0], 256) && !contains(stage.body, ExprKind::kLoad);
  }
  /// Operations on bytes that its expression is worth: each costs as its lanes are wide.
  static int cost_of(const Stage& stage) {
    int cost = 0;
    any_node(stage.body, [&](const ExprNode& node) {
      // The byte itself costs nothing: computed anew, it is there.
      if (node.kind != ExprKind::kOp || node.args[0]->kind == ExprKind::kAxis) return false;
      int width = size_of(node.type);
      for (const Expr& arg : node.args) width = std::max(width, size_of(arg.type()));
      const bool long_operation = node.op == ScalarOp::kDiv || node.op == ScalarOp::kSqrt;
      const bool two = node.op == ScalarOp::kSaturate || node.op == ScalarOp::kRound;
      cost += width * (long_operation ? 8 : two ? 3 : 1);
      return false;
    });
    return cost;
  }

  /// Whether the bytes are what a window or a warp interpolates: in lanes of floats, few to a look-up.
  bool follows_resampling(int s) const {
    const auto is_place = [](const ExprNode& n) {
      return n.kind == ExprKind::kOp && n.op == ScalarOp::kConvert && !is_float(n.type) &&
             is_float(n.args[0].type());
    };
    const auto is_warped = [&](const ExprNode& n) {
      return n.kind == ExprKind::kLoad && std::any_of(n.args.begin(), n.args.end(), [&](const Expr& index) {
               return any_node(index, is_place);
             });
    };
    const std::vector<Use>& uses = uses_[static_cast<size_t>(s)];
    return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      const Expr& byte = use.at[0]->kind == ExprKind::kOp ? use.at[0]->args[0] : use.at[0];
      if (byte->kind == ExprKind::kLoad) return false;
      return kernel_.stages[static_cast<size_t>(use.loops)].form == StageForm::kBand ||
             any_node(byte, is_warped);
    });
  }

  int cost_of_look_up(int s) const {
    return follows_resampling(s) ? kLanesOfFloats * options_.look_up_cost + kThereAndBack
                                 : options_.look_up_cost;
  }

  /// Few elements that data choose among: as many are computed as there are, not as many as are read.
  bool is_lookup(int s) const {
    int64_t volume = 1;
    for (const Expr& extent : kernel_.stages[static_cast<size_t>(s)].extents) {
      if (!is_const(extent) || const_value(extent) > kMostLookedUp) return false;
      volume *= std::max<int64_t>(const_value(extent), 0);
    }
    return readers_[static_cast<size_t>(s)].looked_up > 0 && volume <= kMostLookedUp;
  }

  bool may_inline(int s) const {
    const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
    return stage.form == StageForm::kMap && readers_[static_cast<size_t>(s)].loads > 0 &&
           !readers_[static_cast<size_t>(s)].constant_border && !may_raise_flag(stage);
  }
  /// Adds the elements that stage `s` reads, as its loops see them; all later stages have been placed.
  void add_uses(int s) {
    const auto i = static_cast<size_t>(s);
    const bool inlined = schedule_.stages[i].placement == Placement::kInlined;
    const std::vector<Use> own = {{s, {}}};
    for (const Use& seen : inlined ? uses_[i] : own)
      lowering::for_each_stage_expr(kernel_.stages[i], [&](const Expr& e) {
        any_node(e, [&](const ExprNode& node) {
          if (node.kind != ExprKind::kLoad || node.target.kind != LoadTarget::Kind::kStage) return false;
          Use use{seen.loops, {}};
          for (const Expr& index : node.args)
            use.at.push_back(rewrite(index, [&](const Expr& x) {
              return inlined && x->kind == ExprKind::kAxis ? seen.at[static_cast<size_t>(x->index)] : Expr();
            }));
          std::vector<Use>& uses = uses_[static_cast<size_t>(node.target.index)];
          if (uses.size() <= kMaxPixelChannels + 1 && std::find(uses.begin(), uses.end(), use) == uses.end())
            uses.push_back(std::move(use));
          return false;
        });
      });
  }
  /// Whether one stage's loops want it, each pixel for one pixel of theirs: computed where it is read, each
  /// element is computed once, because loops repeat the channels of a pixel inside.
  bool feeds_whole_pixels(int s) const {
    const std::vector<Use>& uses = uses_[static_cast<size_t>(s)];
    if (uses.empty() || uses.size() > kMaxPixelChannels + 1) return false;
    const Stage& loops = kernel_.stages[static_cast<size_t>(uses[0].loops)];
    if (loops.form != StageForm::kMap || uses[0].at.empty()) return false;
    const size_t last = uses[0].at.size() - 1;
    std::vector<bool> moves(loops.extents.size(), false);
    for (const Use& use : uses) {
      if (use.loops != uses[0].loops) return false;
      for (size_t d = 0; d < last; ++d) {
        if (use.at[d]->kind != ExprKind::kAxis || use.at[d]->index != uses[0].at[d]->index) return false;
        moves[static_cast<size_t>(use.at[d]->index)] = true;
      }
      const Expr& channel = use.at[last];
      if (!is_const(channel) && (channel->kind != ExprKind::kAxis || channel->index + 1 != loops.rank()))
        return false;
    }
    for (size_t a = 0; a < moves.size(); ++a) {
      const bool repeated = a + 1 == moves.size() && is_const(loops.extents[a]) &&
                            const_value(loops.extents[a]) <= int64_t{kMaxPixelChannels};
      const bool plain = uses.size() == 1 && uses[0].at[last]->kind == ExprKind::kAxis;
      if (!moves[a] && !repeated && !(plain && uses[0].at[last]->index == static_cast<int>(a))) return false;
    }
    return true;
  }
  bool may_ring(int s) const {
    int consumer = -1;
    return !options_.gpu && lowering::ring_is_legal(kernel_, s, &consumer) && !is_ring(consumer);
  }
  /// Whether it is read by a window, too: its rows are made in bursts.
  bool is_ring(int s) const {
    int consumer = -1;
    return schedule_.stages[static_cast<size_t>(s)].placement == Placement::kRing &&
           lowering::ring_is_legal(kernel_, s, &consumer);
  }
  /// Whether it is a window over rows that lie within another axis, such as frames, and may have them from a ring.
  bool has_ring_in_frames(int s) const {
    const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
    if (stage.form != StageForm::kBand || stage.band_axis == 0 ||
        stage.source->target.kind != LoadTarget::Kind::kStage)
      return false;
    int consumer = -1;
    return lowering::ring_is_legal(kernel_, stage.source->target.index, &consumer) && consumer == s;
  }
  /// Each row may be made just before the row of its reader that wants it.
  bool may_go_beside(int s, int* reader) const {
    return !options_.gpu && lowering::beside_is_legal(kernel_, s, reader) && !is_ring(*reader) &&
           !has_ring_in_frames(s) &&
           schedule_.stages[static_cast<size_t>(*reader)].placement != Placement::kInlined;
  }
  static bool has_wide_rows(const Stage& stage, size_t axis) {
    for (size_t d = axis + 1; d < stage.extents.size(); ++d)
      if (!is_const(stage.extents[d]) || const_value(stage.extents[d]) > 16) return true;
    return false;
  }
  void place(int s, StageSchedule* to) {
    const auto i = static_cast<size_t>(s);
    const Stage& stage = kernel_.stages[i];
    const auto say = [&](Placement placement, std::string reason) {
      to->placement = placement;
      to->reason = std::move(reason);
    };
    if (outputs_[i] && readers_[i].loads == 0)
      return say(Placement::kOutput, "the last stage: stored straight into the output");
    if (!outputs_[i] && readers_[i].loads == 0) return say(Placement::kInlined, "nobody reads it");
    if (!options_.fuse) return say(Placement::kWhole, "fusion is off");
    if (is_byte_table(stage) && may_inline(s)) {
      const bool never = options_.gpu || options_.look_up_cost == 0;
      if (never) return say(Placement::kInlined, "computed anew rather than looked up");
      if (cost_of(stage) <= cost_of_look_up(s))
        return say(Placement::kInlined, "cheaper to compute than to look up");
    }
    if (!outputs_[i] && is_table(i))
      return say(Placement::kTable, "small, and independent of the image: computed once");
    if (!outputs_[i] && (stage.form == StageForm::kHistogram || stage.form == StageForm::kScan))
      return say(Placement::kWhole, stage.form == StageForm::kHistogram
                                        ? "counts are known when all elements are"
                                        : "prefixes are kept: each needs the one before it");
    if (!outputs_[i] && is_lookup(s))
      return say(Placement::kTable, "few elements that data choose among: computed once");
    const Recomputation again = recomputation(kernel_, s);
    const bool inlines = may_inline(s) && !outputs_[i] && readers_[i].only_maps;
    if (inlines && again.pays()) return say(Placement::kInlined, again.words());
    if (may_inline(s) && !outputs_[i] && feeds_whole_pixels(s))
      return say(Placement::kInlined,
                 "the loops that want it take pixel by pixel: each element is computed once");
    int consumer = -1;
    std::string objection = lowering::ring_objection(kernel_, s, &consumer);
    const auto name_of = [&](int number) {
      const std::string& name = kernel_.stages[static_cast<size_t>(number)].name;
      return name.empty() ? fmt::format("stage {}", number) : name;
    };
    if (objection.empty()) {
      if (options_.gpu) return say(Placement::kWhole, "a GPU keeps no rows: all of it, between two phases");
      const bool wide =  // a row of a few channels is not worth a ring
          has_wide_rows(stage, static_cast<size_t>(kernel_.stages[static_cast<size_t>(consumer)].band_axis));
      if (may_ring(s) && wide)
        return say(Placement::kRing,
                   fmt::format("only the rows under the window of {} are kept", name_of(consumer)));
      objection =
          wide ? "its reader is itself made row by row on demand" : "its rows are only a few elements long";
    }
    if (may_go_beside(s, &consumer) && has_wide_rows(stage, 0))
      return say(Placement::kRing,
                 fmt::format("each row is made just before the row of {} that reads it", name_of(consumer)));
    say(Placement::kWhole, inlines ? "if computed where it is read, " + again.words() : objection);
  }

  uint64_t random(uint64_t below) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % below;
  }
  void place_at_random(int s, StageSchedule* to) {
    std::vector<Placement> choices = {Placement::kWhole};
    if (may_inline(s)) choices.push_back(Placement::kInlined);
    int reader = -1;
    if (may_ring(s) || may_go_beside(s, &reader)) choices.push_back(Placement::kRing);
    to->placement = choices[random(choices.size())];
    to->reason = "chosen at random";
    if (random(4) == 0) to->lanes = LaneMapping::kPlanar;  // marks "scalar" for choose_lanes
  }

  std::string words_about_arithmetic(size_t s) const {
    if (const std::string words = narrow_arithmetic_of(kernel_.stages[s]); !words.empty())
      return "; " + words;
    const std::string words =
        small_ ? narrow_arithmetic_of(small_->kernel.stages[s], small_->range) : std::string();
    return words.empty() ? words : "; where numbers are small, " + words;
  }

  /// Stages between the input and the output go to the memory of the block that has the tile.
  void choose_tiles() {
    for (const int s : lowering::Lowering(kernel_, schedule_, options_).stages_of_tiles()) {
      StageSchedule& to = schedule_.stages[static_cast<size_t>(s)];
      to.placement = Placement::kTile;
      to.reason = "each block makes what its tile of the output needs, in its own memory";
    }
  }

  void choose_lanes(const Stage& stage, StageSchedule* to) const {
    if (to->lanes == LaneMapping::kPlanar || options_.vector_bits < 64) {
      to->lanes = LaneMapping::kScalar;
      return;
    }
    const bool channels =
        stage.rank() >= 2 && is_const(stage.extents.back()) && const_value(stage.extents.back()) <= 4;
    const bool flat = stage.form == StageForm::kMap &&
                      !any_node(stage.body, [](const ExprNode& n) { return n.kind == ExprKind::kAxis; });
    to->lanes = flat ? LaneMapping::kFlat : channels ? LaneMapping::kPixel : LaneMapping::kPlanar;
    to->vector_width = std::max(
        1, options_.vector_bits / 8 / std::max(size_of(stage.type), is_float(stage.accumulator) ? 4 : 1));
  }

  const Kernel& kernel_;
  const ScheduleOptions& options_;
  uint64_t state_;
  std::vector<Readers> readers_;
  std::vector<std::vector<Use>> uses_;  ///< per stage: what loops read of it; cut off where they are many
  std::vector<bool> outputs_;
  std::vector<std::optional<bool>> tables_;  ///< by stage, as far as is known
  std::optional<SmallNumbers> small_;        ///< the form that lower() makes besides
  Schedule schedule_;
};

}  // namespace

Schedule make_schedule(const Kernel& kernel, const ScheduleOptions& options) {
  return Scheduler(kernel, options).run();
}

std::string to_text(const Kernel& kernel, const Schedule& schedule) {
  static constexpr const char* kPlacements[] = {"inlined", "row ring", "whole", "table", "output", "tile"};
  static constexpr const char* kLanes[] = {"flat", "pixel", "planar", "scalar"};
  TextWriter out;
  out.line(fmt::format("schedule of \"{}\" {{", kernel.name));
  out.indent();
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const StageSchedule& stage = schedule.stages[s];
    const std::string& name = kernel.stages[s].name;
    out.line(fmt::format("{}: {}, {} lanes x {}  // {}", name.empty() ? fmt::format("stage {}", s) : name,
                         kPlacements[static_cast<int>(stage.placement)],
                         kLanes[static_cast<int>(stage.lanes)], stage.vector_width, stage.reason));
  }
  out.dedent();
  out.line("}");
  return out.take();
}

}  // namespace galatea::kernel
