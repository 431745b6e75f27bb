// The options of `@pipeline_def`: what may be written in its brackets, for the evaluator and for editors.
#pragma once

#include <span>
#include <string_view>

namespace galatea::dsl {

struct PipelineOption {
  std::string_view name;
  std::string_view type;           ///< as an annotation says it
  std::string_view default_value;  ///< as the language writes it
  std::string_view documentation;  ///< one sentence or two; empty: accepted for compatibility, has no effect
};

/// Those with an effect first.
std::span<const PipelineOption> pipeline_options();
/// nullptr: there is none of the name.
const PipelineOption* find_pipeline_option(std::string_view name);

}  // namespace galatea::dsl
