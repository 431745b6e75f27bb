// Filling contact sheets: the samples of a graph as rows of pictures.
#pragma once

#include <string>

#include "compiler/ir/graph.h"
#include "tools/contact_sheet.h"
#include "tools/pipeline_host.h"

namespace galatea::tools {

/// Runs the graph until the sheet has `limit` rows or the epoch ends. False: an error was reported.
bool gather(const PipelineHost& host, const ir::Graph& graph, const CompileChoice& choice, size_t limit,
            const std::string& label, ContactSheet& sheet, Reporter& reporter);
/// Writes the sheet as PNG, its path to stdout; where Ctrl-C came before, says so and writes none. Returns
/// the exit status.
int finish_sheet(const ContactSheet& sheet, const std::string& path, Reporter& reporter);

}  // namespace galatea::tools
