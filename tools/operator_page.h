// The page of an operator: what the registry knows of it, for a terminal and for docs/ops/.
//
// Comes in: operators. Goes out: text, Markdown, and pipeline files: the example, and the effect on a
// photograph.
#pragma once

#include <string>
#include <vector>

#include "compiler/op/operator.h"

namespace galatea::tools {

/// What makes a sample fail, of the example: words with … for what the sample says, and what to do.
struct Failure {
  std::string message, help;
};
/// From the checks of the definition: those of the nodes that the example makes of the operator.
std::vector<Failure> failures_of(const op::Operator& op, const op::Registry& registry);

std::string terminal_page(const op::Operator& op, const std::vector<Failure>& failures);
std::string markdown_page(const op::Operator& op, const std::vector<Failure>& failures);
/// The page that leads to all others.
std::string markdown_index(const std::vector<const op::Operator*>& operators);

/// The name of a file that belongs to the page: "random.uniform" + ".md".
std::string page_file(const op::Operator& op, const char* ending);
/// The example as a pipeline file, whose parameter `data` is a folder of photographs.
std::string example_file(const op::Operator& op);
/// A photograph, and what the operator makes of it at each strength; empty: there is no such picture.
std::string effect_file(const op::Operator& op);

}  // namespace galatea::tools
