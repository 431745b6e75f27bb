// The parameters of a pipeline as a page needs them: for each a name, a kind, a default.
//
// Comes in: the text of a pipeline file. Goes out: what stands in the head of its function, whether the rest of the
// text is right or not.
#pragma once

#include <string>
#include <vector>

namespace galatea::tools::serve {

struct ParameterText {
  std::string name;
  std::string kind;           ///< "bool", "int", "float", "str", "list" …; empty: nothing says so
  std::string annotation;     ///< as it is written; empty: none
  std::string default_value;  ///< as it is written, without a text's quotes; empty: none
  bool is_required = false;
};

/// Of the pipeline of this name; an empty name: of the first.
std::vector<ParameterText> parameters_of(const std::string& text, const std::string& pipeline);

}  // namespace galatea::tools::serve
