// Compiles a pipeline for the types of its inputs, once for each choice of them.
//
// Comes in: a file or a text, the host's options, types of inputs. Goes out: a program; or, where the text
// leaves the type of an input open and the host has not said it either, what is known of the pipeline until
// the first batch is fed (late_session.h).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/host_log.h"
#include "compiler/codegen/kernel_cache.h"
#include "compiler/codegen/tiers.h"
#include "compiler/op/operator.h"
#include "dsl/frontend.h"
#include "runtime/native.h"
#include "runtime/program.h"

namespace galatea::api {

/// Where compiled code is kept; what is not given is as the settings say.
struct CacheChoice {
  std::optional<std::string> folder;  ///< empty: nothing is kept
  std::optional<int64_t> max_bytes;
  codegen::CacheOptions options() const;
};

/// Operators and natives, registered once; shared by an engine and what it made.
struct Library {
  op::Registry operators;
  runtime::NativeTable natives;
  CacheChoice cache;
  std::shared_ptr<const HostLog> log = std::make_shared<HostLog>();
  std::mutex registering;
  /// A program was made: nothing is added any more, so that programs need no lock.
  std::atomic<bool> is_in_use{false};
};

using InputTypes = std::map<std::string, dsl::InputType>;

/// How the program's code is made.
struct CodeChoice {
  std::string backend = "llvm";
  runtime::DecodeChoice decoder = runtime::DecodeChoice::kAuto;
  std::optional<codegen::Tiers> tiers;  ///< not given: as the settings say
};

/// What is added for people who look at a pipeline (compiler/look_inside.h).
struct LookChoice {
  bool nodes = false;
  int draw = 0;
};

class ProgramMaker {
 public:
  ProgramMaker(std::shared_ptr<const Library> library, std::string file, std::optional<std::string> text,
               dsl::FrontendOptions options, CodeChoice code, LookChoice look)
      : library_(std::move(library)),
        file_(std::move(file)),
        text_(std::move(text)),
        options_(std::move(options)),
        code_(std::move(code)),
        look_(look) {}

  struct Made {
    std::shared_ptr<const runtime::Program> program;  ///< null: late says which types are missing
    std::optional<dsl::LatePipeline> late;
    std::vector<Diagnostic> diagnostics;  ///< warnings and notes
  };
  /// Thread-safe. A program made before for the same types is given again, without diagnostics.
  Result<Made> make(const InputTypes& types, SourceMap& sources);
  const Library& library() const { return *library_; }

 private:
  Result<Made> compile(const InputTypes& types, SourceMap& sources);
  void tell(const Made& made, const SourceMap& sources) const;
  void fix_what_was_read(dsl::LatePipeline& late, const SourceMap& sources);

  std::shared_ptr<const Library> library_;
  std::string file_;
  std::optional<std::string> text_;
  dsl::FrontendOptions options_;
  CodeChoice code_;
  LookChoice look_;
  std::mutex mutex_;
  std::vector<std::pair<InputTypes, std::shared_ptr<const runtime::Program>>> made_;
};

}  // namespace galatea::api
