// Kernels from text; the grammar is in reader.h.
#include "compiler/kernel/reader.h"

#include <fmt/format.h>

namespace galatea::kernel {
namespace {

class KernelReader {
 public:
  KernelReader(std::string_view text, uint32_t file) : in_(text, file) {}

  Result<Kernel> run() {
    GALATEA_TRY(in_.expect("kernel"));
    GALATEA_TRY(optional_name(&kernel_.name));
    GALATEA_TRY(in_.expect("{"));
    while (!in_.accept("}")) GALATEA_TRY(entry());
    if (!in_.at_end()) return in_.error("text after the kernel");
    return std::move(kernel_);
  }

 private:
  Status entry() {
    if (in_.accept("param")) return read_param();
    if (in_.accept("input")) return read_input();
    if (in_.accept("map")) return read_stage(StageForm::kMap);
    if (in_.accept("band")) return read_stage(StageForm::kBand);
    if (in_.accept("reduce")) return read_stage(StageForm::kReduce);
    if (in_.accept("histogram")) return read_stage(StageForm::kHistogram);
    if (in_.accept("scan")) return read_stage(StageForm::kScan);
    if (in_.accept("output")) return read_output();
    return in_.error(fmt::format("expected param, input, a stage or output, found '{}'",
                                 in_.at_end() ? "the end of the text" : in_.token()));
  }

  Status optional_name(std::string* name) {
    if (!in_.at_string()) return {};
    GALATEA_ASSIGN(*name, in_.take_string());
    return {};
  }

  /// Entries are numbered in order, so that a reader of the text can count on the names.
  Status numbered(std::string_view prefix, size_t number) {
    TextReader before = in_;
    GALATEA_ASSIGN(int found, in_.take_numbered(prefix));
    if (static_cast<size_t>(found) != number) {
      return before.error(fmt::format("expected {}{}, found {}{}", prefix, number, prefix, found));
    }
    return in_.expect(":");
  }

  Status optional_dense(int* axes) {
    if (!in_.accept("dense")) return {};
    GALATEA_ASSIGN(int64_t value, in_.take_integer());
    *axes = static_cast<int>(value);
    return {};
  }

  Status read_param() {
    KernelParam param;
    GALATEA_TRY(numbered("p", kernel_.params.size()));
    GALATEA_ASSIGN(param.type, in_.take_type());
    GALATEA_TRY(optional_name(&param.name));
    kernel_.params.push_back(std::move(param));
    return {};
  }

  Status read_input() {
    KernelInput input;
    GALATEA_TRY(numbered("in", kernel_.inputs.size()));
    GALATEA_ASSIGN(input.type, in_.take_type());
    GALATEA_ASSIGN(input.extents, in_.take_list());
    GALATEA_TRY(optional_dense(&input.dense_axes));
    GALATEA_TRY(optional_name(&input.name));
    kernel_.inputs.push_back(std::move(input));
    return {};
  }

  Status read_stage(StageForm form) {
    Stage stage;
    stage.form = form;
    GALATEA_TRY(numbered("stage", kernel_.stages.size()));
    GALATEA_ASSIGN(stage.type, in_.take_type());
    GALATEA_ASSIGN(stage.extents, in_.take_list());
    if (form == StageForm::kBand || form == StageForm::kScan) {
      GALATEA_TRY(in_.expect("axis"));
      GALATEA_ASSIGN(int64_t along, in_.take_integer());
      (form == StageForm::kBand ? stage.band_axis : stage.scan_axis) = static_cast<int>(along);
    }
    if (form == StageForm::kReduce || form == StageForm::kHistogram) {
      GALATEA_TRY(in_.expect("over"));
      GALATEA_ASSIGN(stage.reduce_extents, in_.take_list());
    }
    if (form == StageForm::kReduce || form == StageForm::kScan) {
      if (in_.accept("min")) {
        stage.combiner = Combiner::kMin;
      } else if (in_.accept("max")) {
        stage.combiner = Combiner::kMax;
      } else {
        GALATEA_TRY(in_.expect("sum"));
      }
    }
    if (form != StageForm::kMap) {
      GALATEA_TRY(in_.expect("in"));
      GALATEA_ASSIGN(stage.accumulator, in_.take_type());
    }
    GALATEA_TRY(optional_name(&stage.name));
    GALATEA_TRY(read_fields(stage));
    kernel_.stages.push_back(std::move(stage));
    return {};
  }

  Status read_fields(Stage& stage) {
    GALATEA_TRY(in_.expect("{"));
    const std::pair<std::string_view, Expr*> fields[] = {
        {"first", &stage.first},   {"taps", &stage.taps}, {"weight", &stage.weight},
        {"source", &stage.source}, {"body", &stage.body}, {"finish", &stage.finish}};
    while (!in_.accept("}")) {
      Expr* field = nullptr;
      for (const auto& [label, place] : fields) {
        if (in_.token() == label) field = place;
      }
      if (field == nullptr) return in_.error(fmt::format("'{}' is not a field of a stage", in_.token()));
      if (*field) return in_.error(fmt::format("'{}' is given twice", in_.token()));
      in_.advance();
      GALATEA_TRY(in_.expect("="));
      GALATEA_ASSIGN(*field, in_.take_expr());
    }
    return {};
  }

  Status read_output() {
    KernelOutput output;
    GALATEA_ASSIGN(output.stage, in_.take_numbered("stage"));
    GALATEA_TRY(in_.expect("["));
    while (!in_.accept("]")) {
      if (!output.axis_of.empty()) GALATEA_TRY(in_.expect(","));
      GALATEA_ASSIGN(int64_t number, in_.take_integer());
      output.axis_of.push_back(static_cast<int>(number));
    }
    GALATEA_TRY(optional_dense(&output.dense_axes));
    output.streaming = in_.accept("streaming");
    kernel_.outputs.push_back(std::move(output));
    return {};
  }

  TextReader in_;
  Kernel kernel_;
};

}  // namespace

Result<Kernel> read_kernel(const std::string& text, SourceMap& sources) {
  uint32_t file = sources.add("<kernel>", text);
  return KernelReader(text, file).run();
}

}  // namespace galatea::kernel
