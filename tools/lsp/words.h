// What is no name of the file's and no operator: the options of `@pipeline_def`, constants, types of annotations,
// modules of the library.
//
// Comes in: the word and what stands around it. Goes out: Markdown, as short as a pop-up wants it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dsl/pipeline_options.h"
#include "tools/lsp/cursor.h"
#include "tools/lsp/names.h"

namespace galatea::tools::lsp {

/// Whether the brackets are those of `pipeline_def`, by whatever path it was imported.
bool is_pipeline_def(const Names& names, const CallAround& call);
/// "batch_size: int = 1".
std::string option_label(const dsl::PipelineOption& option);
std::string option_markdown(const dsl::PipelineOption& option);
/// `True`, `None`, `int`, `str`, …; empty: it is none of them.
std::string constant_or_type_markdown(std::string_view word);
/// `pipeline_def`, `galatea.pixel`, `len`, …; empty: it is none of those that are described.
std::string library_function_markdown(std::string_view name);
/// What the library's own text says of a function: of which module it is, how it is decorated, its first paragraph;
/// empty: the library has no public function of that name.
std::string library_text_markdown(std::string_view name);
/// The values of an argument that is a text: what its documentation quotes, if it quotes several.
std::vector<std::string> quoted_values(std::string_view documentation);
/// An argument that every operator takes, such as `name`; empty: it is none of them.
std::string call_argument_markdown(std::string_view name);
/// A module of the library, or a package above some: "nvidia.dali"; empty: there is none of the path.
std::string module_markdown(const std::vector<std::string>& modules, const std::string& path);

}  // namespace galatea::tools::lsp
