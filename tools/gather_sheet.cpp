#include "tools/gather_sheet.h"

#include <algorithm>

#include <fmt/core.h>

#include "tools/interrupt.h"
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

SheetCell cell_of(const runtime::Tensor& tensor, const Layout& layout) {
  SheetCell cell;
  // Without a layout only bytes are taken for a picture: a small matrix is easier to read as numbers.
  const bool may_be_picture = !layout.empty() || (tensor.ndim == 3 && tensor.dtype == DType::kU8);
  if (may_be_picture) cell.picture = to_pixels(tensor, layout, true);
  if (!cell.picture) cell.text = elements_text(tensor);
  cell.caption = caption_of(tensor, layout);
  return cell;
}

void add_batch(const runtime::Batch& batch, size_t limit, const std::string& label, ContactSheet& sheet) {
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
    sheet.rows.push_back(std::move(row));
    std::string name = at < batch.sample_names.size() ? batch.sample_names[at] : "";
    sheet.row_labels.push_back(fmt::format("{}sample {}  {}", label, batch.sample_ids[at], name));
  }
}

}  // namespace

bool gather(const PipelineHost& host, const ir::Graph& graph, const CompileChoice& choice, size_t limit,
            const std::string& label, ContactSheet& sheet, Reporter& reporter) {
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
    add_batch(***next, limit, label, sheet);
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
