// What the opaque types of the C header hold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/late_session.h"
#include "api/program_maker.h"
#include "api/waiting_session.h"
#include "base/source.h"
#include "include/galatea.h"
#include "runtime/session.h"

namespace galatea::api {
/// Inputs and outputs as galatea_program_ports_json_take() gives them; `late` is read where there is no program.
std::string ports_json(const runtime::Program* program, const dsl::LatePipeline* late);
}  // namespace galatea::api

struct galatea_engine {
  std::shared_ptr<galatea::api::Library> library;
};

struct galatea_engine_options {
  galatea::api::CacheChoice cache;
  std::vector<std::string> plugin_folders;
  galatea::api::HostLog::Function log = nullptr;
  void* log_context = nullptr;
};

struct galatea_program_options {
  galatea::dsl::FrontendOptions frontend;
  galatea::api::CodeChoice code;
  galatea::api::LookChoice look;
};

struct galatea_program {
  std::shared_ptr<const galatea::api::Library> library;
  std::shared_ptr<galatea::api::ProgramMaker> maker;
  std::shared_ptr<const galatea::runtime::Program> program;  ///< null: late says what is known
  std::optional<galatea::dsl::LatePipeline> late;
  galatea::SourceMap sources;  ///< what the spans of `late` point into
  std::string warnings_text, warnings_json;
};

struct galatea_session {
  std::shared_ptr<const galatea::api::Library> library;
  std::shared_ptr<const galatea::runtime::Program> program;
  std::unique_ptr<galatea::SourceMap> sources;     ///< what the session's diagnostics point into
  std::optional<galatea::dsl::LatePipeline> late;  ///< of a program that was late when the session was made
  std::unique_ptr<galatea::runtime::Session> session;
  galatea::api::WaitingSession::Shape shape;
  galatea::api::WaitingSession* waiting = nullptr;  ///< the session, where its consumer waits for a feed
};

struct galatea_batch {
  std::shared_ptr<const galatea::runtime::Batch> batch;
  std::vector<std::string> dense_layouts;  ///< per output: "N" and the layout of a sample
};
