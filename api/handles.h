// What the opaque types of the C header hold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/source.h"
#include "compiler/op/operator.h"
#include "dsl/frontend.h"
#include "include/galatea.h"
#include "runtime/session.h"

namespace galatea::api {

/// Operators and natives, registered once; shared by an engine and what it made.
struct Library {
  op::Registry operators;
  runtime::NativeTable natives;
};

}  // namespace galatea::api

struct galatea_engine {
  std::shared_ptr<const galatea::api::Library> library;
};

struct galatea_program_options {
  galatea::dsl::FrontendOptions frontend;
  std::string backend = "llvm";
};

struct galatea_program {
  std::shared_ptr<const galatea::api::Library> library;
  std::shared_ptr<const galatea::runtime::Program> program;
  std::string warnings_text, warnings_json;
};

struct galatea_session {
  std::shared_ptr<const galatea::api::Library> library;
  std::shared_ptr<const galatea::runtime::Program> program;
  std::unique_ptr<galatea::SourceMap> sources;  ///< what the session's diagnostics point into
  std::unique_ptr<galatea::runtime::Session> session;
};

struct galatea_batch {
  std::shared_ptr<const galatea::runtime::Batch> batch;
  std::vector<std::string> dense_layouts;  ///< per output: "N" and the layout of a sample
};
