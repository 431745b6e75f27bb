// Pipelines of a test, from the body of their function.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "compiler/op/operator.h"
#include "runtime/program.h"
#include "runtime/session.h"

namespace galatea::testing {

struct CompiledText {
  std::vector<std::string> errors;  ///< "CODE message"
  std::string graph;
  std::shared_ptr<runtime::Program> program;  ///< null where there are errors
};
/// `body` is the body of the pipeline's function, `options` what its decorator is given.
CompiledText compile_text(const std::string& body, const std::string& options, const op::Registry& registry);
std::string code_and_message(const Error& error);

struct TextRun {
  std::vector<std::string> errors;
  std::unique_ptr<runtime::Session> session;
  std::shared_ptr<runtime::Batch> batch;  ///< the first
};
/// With galatea's own operators.
TextRun run_text(const std::string& body, const std::string& options);

}  // namespace galatea::testing
