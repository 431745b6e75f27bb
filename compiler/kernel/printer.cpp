// Kernels as text (grammar: compiler/kernel/reader.h).
//
// Comes in: a kernel. Goes out: its text, with names and spans (to_text) or in the form that equal kernels
// share (canonical_text).
#include <fmt/format.h>

#include "base/text_writer.h"
#include "compiler/kernel/expr_text.h"
#include "compiler/kernel/kernel.h"

namespace galatea::kernel {
namespace {

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

std::string list_text(const std::vector<Expr>& exprs) {
  std::string out = "[";
  for (size_t i = 0; i < exprs.size(); ++i) out += (i > 0 ? ", " : "") + to_text(exprs[i]);
  return out + "]";
}

class KernelPrinter {
 public:
  explicit KernelPrinter(bool names) : names_(names) {}

  std::string run(const Kernel& kernel) {
    writer_.line(names_ ? fmt::format("kernel {} {{", quoted(kernel.name)) : "kernel {");
    writer_.indent();
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      writer_.line(
          fmt::format("param p{}:{}{}", i, short_name(kernel.params[i].type), name(kernel.params[i].name)));
    }
    for (size_t i = 0; i < kernel.inputs.size(); ++i) {
      const KernelInput& input = kernel.inputs[i];
      writer_.line(fmt::format("input in{}:{} {}{}{}", i, short_name(input.type), list_text(input.extents),
                               dense(input.dense_axes), name(input.name)));
    }
    for (size_t i = 0; i < kernel.stages.size(); ++i) print_stage(kernel.stages[i], i);
    for (const KernelOutput& output : kernel.outputs) print_output(output);
    writer_.dedent();
    writer_.line("}");
    return writer_.take();
  }

 private:
  std::string name(const std::string& text) const {
    return names_ && !text.empty() ? " " + quoted(text) : "";
  }
  static std::string dense(int axes) { return axes == 0 ? "" : fmt::format(" dense {}", axes); }

  void print_stage(const Stage& stage, size_t number) {
    std::string head = fmt::format("stage{}:{} {}", number, short_name(stage.type), list_text(stage.extents));
    switch (stage.form) {
      case StageForm::kMap:
        head = "map " + head;
        break;
      case StageForm::kBand:
        head = fmt::format("band {} axis {} in {}", head, stage.band_axis, short_name(stage.accumulator));
        break;
      case StageForm::kReduce:
        head = fmt::format("reduce {} over {} {} in {}", head, list_text(stage.reduce_extents),
                           name_of(stage.combiner), short_name(stage.accumulator));
        break;
      case StageForm::kHistogram:
        head = fmt::format("histogram {} over {} in {}", head, list_text(stage.reduce_extents),
                           short_name(stage.accumulator));
        break;
      case StageForm::kScan:
        head = fmt::format("scan {} axis {} {} in {}", head, stage.scan_axis, name_of(stage.combiner),
                           short_name(stage.accumulator));
        break;
    }
    writer_.line(head + name(stage.name) + " {");
    writer_.indent();
    field("first", stage.first);
    field("taps", stage.taps);
    field("weight", stage.weight);
    field("source", stage.source);
    field("body", stage.body);
    field("finish", stage.finish);
    writer_.dedent();
    writer_.line("}");
  }

  void field(std::string_view label, const Expr& value) {
    if (!value) return;
    ExprText text = print_expr(value);
    if (text.bindings.empty()) {
      writer_.line(fmt::format("{} = {}", label, text.root));
      return;
    }
    writer_.line(fmt::format("{} = {{", label));
    writer_.indent();
    for (const auto& [binding, part] : text.bindings) writer_.line(fmt::format("{} = {};", binding, part));
    writer_.line(text.root);
    writer_.dedent();
    writer_.line("}");
  }

  void print_output(const KernelOutput& output) {
    std::string axes;
    for (size_t i = 0; i < output.axis_of.size(); ++i)
      axes += fmt::format("{}{}", i > 0 ? ", " : "", output.axis_of[i]);
    writer_.line(fmt::format("output stage{} [{}]{}{}", output.stage, axes, dense(output.dense_axes),
                             output.streaming ? " streaming" : ""));
  }

  static std::string_view name_of(Combiner combiner) {
    return combiner == Combiner::kSum ? "sum" : combiner == Combiner::kMin ? "min" : "max";
  }

  bool names_;
  TextWriter writer_;
};

}  // namespace

std::string to_text(const Kernel& kernel) { return KernelPrinter(true).run(kernel); }

std::string canonical_text(const Kernel& kernel) { return KernelPrinter(false).run(kernel); }

uint64_t hash_of(const Kernel& kernel) {
  // FNV-1a over the canonical text: stable from run to run, so it may name files.
  uint64_t hash = 0xCBF29CE484222325U;
  for (unsigned char c : canonical_text(kernel)) hash = (hash ^ c) * 0x100000001B3U;
  return hash;
}

}  // namespace galatea::kernel
