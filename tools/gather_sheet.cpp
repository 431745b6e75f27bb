#include "tools/gather_sheet.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tools/drawings.h"
#include "tools/interrupt.h"
#include "tools/messages.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

std::string elements_text(const runtime::Tensor& tensor) {
  constexpr int64_t kShown = 48;
  const int64_t count = tensor.volume();
  std::string text;
  int64_t index[runtime::kMaxRank] = {};
  for (int64_t n = 0; n < std::min(count, kShown); ++n) {
    int64_t offset = 0;
    for (int d = 0; d < tensor.ndim; ++d) offset += index[d] * tensor.strides[d];
    const Cell cell = load_cell(tensor.dtype, tensor.data + offset * size_of(tensor.dtype));
    if (n > 0) text += ' ';
    text += is_float(tensor.dtype) ? fmt::format("{:.4g}", cell_to_double(tensor.dtype, cell))
                                   : fmt::format("{}", cell_to_int(tensor.dtype, cell));
    for (int d = tensor.ndim - 1; d >= 0 && ++index[d] == tensor.extents[d]; --d) index[d] = 0;
  }
  if (count > kShown) text += " ...";
  return count == 0 ? "(empty)" : text;
}

std::string caption_of(const runtime::Tensor& tensor, const Layout& layout) {
  std::string extents;
  for (int d = 0; d < tensor.ndim; ++d) extents += fmt::format("{}{}", d > 0 ? "x" : "", tensor.extents[d]);
  return fmt::format("{} {}{}{}", short_name(tensor.dtype), tensor.ndim == 0 ? "scalar" : extents,
                     layout.empty() ? "" : " ", layout.str());
}

/// The columns of a row of outputs with marks on its pictures.
class Marker {
 public:
  Marker(const SheetMarks& marks, const runtime::Batch& batch, size_t sample)
      : marks_(marks), batch_(batch), sample_(sample) {}

  void mark(std::vector<SheetCell>& row) const {
    for (const auto& [picture, boxes] : marks_.boxes) mark_boxes(row[column(picture)], boxes);
    for (const auto& [picture, points] : marks_.points) mark_points(row[column(picture)], points);
  }

 private:
  size_t column(const std::string& name) const {
    size_t k = 0;
    while (batch_.outputs[k].spec.port.name != name) ++k;  // check_marks() has found it
    return k;
  }
  std::vector<double> numbers(const std::string& name) const {
    return numbers_of(batch_.outputs[column(name)].samples[sample_]);
  }
  /// What one unit along columns or rows is of the picture.
  double unit(int extent) const { return marks_.relative ? 1 : 1.0 / std::max(extent, 1); }

  void mark_boxes(SheetCell& cell, const std::string& boxes) const {
    if (!cell.picture) return;
    const std::vector<double> b = numbers(boxes);
    std::vector<double> labels;
    for (const auto& [of, name] : marks_.labels)
      if (of == boxes) labels = numbers(name);
    const double w = unit(cell.picture->width), h = unit(cell.picture->height);
    for (size_t i = 0; i + 3 < b.size(); i += 4) {
      if (b[i] == 0 && b[i + 1] == 0 && b[i + 2] == 0 && b[i + 3] == 0) continue;  // is none
      const size_t n = i / 4;
      SheetMark mark{
          .x0 = b[i], .y0 = b[i + 1], .x1 = b[i + 2], .y1 = b[i + 3], .color = static_cast<int>(n)};
      if (marks_.format == "xywh") mark.x1 += mark.x0, mark.y1 += mark.y0;
      if (marks_.format == "cxcywh")
        mark = {.x0 = b[i] - b[i + 2] / 2,
                .y0 = b[i + 1] - b[i + 3] / 2,
                .x1 = b[i] + b[i + 2] / 2,
                .y1 = b[i + 1] + b[i + 3] / 2,
                .color = static_cast<int>(n)};
      mark.x0 *= w, mark.x1 *= w, mark.y0 *= h, mark.y1 *= h;
      if (n < labels.size()) {
        mark.name = fmt::format("{:g}", labels[n]);
        mark.color = static_cast<int>(labels[n]);
      }
      cell.marks.push_back(std::move(mark));
    }
  }

  void mark_points(SheetCell& cell, const std::string& points) const {
    if (!cell.picture) return;
    const std::vector<double> p = numbers(points);
    const double w = unit(cell.picture->width), h = unit(cell.picture->height);
    for (size_t i = 0; i + 1 < p.size(); i += 2)
      cell.marks.push_back({.x0 = p[i] * w,
                            .y0 = p[i + 1] * h,
                            .color = static_cast<int>(i / 2),
                            .name = {},
                            .is_point = true});
  }

  const SheetMarks& marks_;
  const runtime::Batch& batch_;
  size_t sample_;
};

void add_batch(const runtime::Batch& batch, size_t limit, const std::string& label, const SheetMarks& marks,
               ContactSheet& sheet) {
  if (sheet.column_labels.empty()) {
    for (size_t k = 0; k < batch.outputs.size(); ++k) {
      const std::string& name = batch.outputs[k].spec.port.name;
      sheet.column_labels.push_back(name.empty() ? fmt::format("output {}", k) : name);
    }
  }
  for (int i = 0; i < batch.num_samples() && sheet.rows.size() < limit; ++i) {
    const auto at = static_cast<size_t>(i);
    std::vector<SheetCell> row;
    for (const runtime::Batch::Output& output : batch.outputs)
      row.push_back(cell_of(output.samples[at], output.spec.port.layout()));
    Marker(marks, batch, at).mark(row);
    sheet.rows.push_back(std::move(row));
    std::string name = at < batch.sample_names.size() ? batch.sample_names[at] : "";
    sheet.row_labels.push_back(fmt::format("{}sample {}  {}", label, batch.sample_ids[at], name));
  }
}

}  // namespace

SheetCell cell_of(const runtime::Tensor& tensor, const Layout& layout) {
  SheetCell cell;
  // Without a layout only bytes are taken for a picture: a small matrix is easier to read as numbers.
  const bool may_be_picture = !layout.empty() || (tensor.ndim == 3 && tensor.dtype == DType::kU8);
  if (may_be_picture) cell.picture = to_pixels(tensor, layout, true);
  cell.caption = caption_of(tensor, layout);
  if (cell.picture) return cell;
  if (std::optional<Drawing> drawn = drawing_of(tensor, layout)) {
    cell.picture = std::move(drawn->picture);
    cell.caption += "  " + drawn->range;
  } else {
    cell.text = elements_text(tensor);
  }
  return cell;
}

std::vector<double> numbers_of(const runtime::Tensor& tensor) {
  std::vector<double> out;
  int64_t index[runtime::kMaxRank] = {};
  for (int64_t n = 0; n < tensor.volume(); ++n) {
    int64_t offset = 0;
    for (int d = 0; d < tensor.ndim; ++d) offset += index[d] * tensor.strides[d];
    out.push_back(
        cell_to_double(tensor.dtype, load_cell(tensor.dtype, tensor.data + offset * size_of(tensor.dtype))));
    for (int d = tensor.ndim - 1; d >= 0 && ++index[d] == tensor.extents[d]; --d) index[d] = 0;
  }
  return out;
}

bool check_marks(const SheetMarks& marks, const ir::Graph& graph, Reporter& reporter) {
  const std::vector<ir::ValueId>& outputs = graph.block(graph.exit_block()).terminator.results;
  const std::string known = fmt::format("`{}`", fmt::join(graph.output_names, "`, `"));
  bool good = true;
  const auto refuse = [&](const std::string& name, const std::string& why) {
    reporter.report(tool_error(Message::kNothingToDraw, name, why).error());
    good = false;
  };
  // The last axis of what is drawn has so many numbers; 0: it is a picture, or a list.
  const auto look = [&](const std::string& name, int64_t numbers, const char* what) {
    const auto found = std::ranges::find(graph.output_names, name);
    if (found == graph.output_names.end()) return refuse(name, "the outputs are " + known);
    const ir::Type& type = graph.type(outputs[static_cast<size_t>(found - graph.output_names.begin())]);
    const bool fits =
        numbers == 0 || (type.ndim >= 2 && (type.extents.back() < 0 || type.extents.back() == numbers));
    if (!fits) refuse(name, fmt::format("it is {}, {}", ir::to_text(type), what));
  };
  for (const auto& [picture, boxes] : marks.boxes)
    look(picture, 0, ""), look(boxes, 4, "boxes are rows of four numbers");
  for (const auto& [picture, points] : marks.points)
    look(picture, 0, ""), look(points, 2, "points are rows of two numbers");
  for (const auto& [boxes, labels] : marks.labels) {
    look(labels, 0, "");
    if (std::ranges::find(marks.boxes, boxes, &SheetMarks::Pairs::value_type::second) == marks.boxes.end())
      refuse(boxes, "--labels names boxes that --boxes draws");
  }
  return good;
}

bool gather(const PipelineHost& host, const ir::Graph& graph, const CompileChoice& choice, size_t limit,
            const std::string& label, ContactSheet& sheet, Reporter& reporter, const SheetMarks& marks) {
  if (is_interrupted()) return true;
  auto program = host.compile(graph, choice, nullptr, reporter);
  if (program == nullptr) return false;
  auto session = host.open(program, nullptr, reporter);
  if (session == nullptr) return false;
  const OrderlyEnd orderly;  // not while it compiles: nothing is half done then
  while (sheet.rows.size() < limit && !is_interrupted()) {
    auto next = session->next(std::chrono::milliseconds(100));
    if (!next) {
      if (!next.error().diagnostics.empty() && next.error().diagnostics[0].code == "G0901") continue;
      reporter.report(next.error());
      return false;
    }
    if (!next->has_value()) break;
    add_batch(***next, limit, label, marks, sheet);
  }
  return true;
}

int finish_sheet(const ContactSheet& sheet, const std::string& path, Reporter& reporter) {
  const OrderlyEnd orderly;
  if (is_interrupted()) {
    say("galatea: interrupted after {} samples; no sheet was written\n", sheet.rows.size());
    return kInterrupted;
  }
  auto png = to_png(draw(sheet));
  if (!png) {
    reporter.report(png.error());
  } else if (auto written = write_file(path, *png); !written) {
    reporter.report(written.error());
  } else {
    reporter.print(path + "\n");
  }
  return reporter.status();
}

}  // namespace galatea::tools
