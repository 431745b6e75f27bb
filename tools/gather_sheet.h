// Filling contact sheets: the samples of a graph as rows of pictures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "tools/contact_sheet.h"
#include "tools/pipeline_host.h"

namespace galatea::tools {

/// What is drawn on pictures: outputs by name.
struct SheetMarks {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Pairs boxes;                  ///< a picture, and boxes on it
  Pairs points;                 ///< a picture, and points on it
  Pairs labels;                 ///< boxes, and an integer for each
  std::string format = "xyxy";  ///< of boxes: "xyxy", "xywh" or "cxcywh"
  bool relative = false;        ///< in fractions of the picture, else in pixels
};

/// A tensor as a picture or a drawing, or as its first numbers, with its type below.
SheetCell cell_of(const runtime::Tensor& tensor, const Layout& layout);
/// All elements, row by row.
std::vector<double> numbers_of(const runtime::Tensor& tensor);

/// Whether the graph has outputs of these names that can be drawn; reports what is wrong with them.
bool check_marks(const SheetMarks& marks, const ir::Graph& graph, Reporter& reporter);

/// Runs the graph until the sheet has `limit` rows or the epoch ends. False: an error was reported.
bool gather(const PipelineHost& host, const ir::Graph& graph, const CompileChoice& choice, size_t limit,
            const std::string& label, ContactSheet& sheet, Reporter& reporter, const SheetMarks& marks = {});
/// Writes the sheet as PNG, its path to stdout; where Ctrl-C came before, says so and writes none. Returns
/// the exit status.
int finish_sheet(const ContactSheet& sheet, const std::string& path, Reporter& reporter);

}  // namespace galatea::tools
