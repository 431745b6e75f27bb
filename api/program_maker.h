// Compiles a pipeline for the types of its inputs, once for each choice of them.
//
// Comes in: a file or a text, the host's options, types of inputs. Goes out: a program; or, where the text
// leaves the type of an input open and the host has not said it either, what is known of the pipeline until
// the first batch is fed (late_session.h).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/tiers.h"
#include "compiler/op/operator.h"
#include "dsl/frontend.h"
#include "runtime/native.h"
#include "runtime/program.h"

namespace galatea::api {

/// Operators and natives, registered once; shared by an engine and what it made.
struct Library {
  op::Registry operators;
  runtime::NativeTable natives;
};

using InputTypes = std::map<std::string, dsl::InputType>;

/// How the program's code is made.
struct CodeChoice {
  std::string backend = "llvm";
  runtime::ImageDecoder decoder = runtime::ImageDecoder::kAuto;
  std::optional<codegen::Tiers> tiers;  ///< not given: as the settings say
};

class ProgramMaker {
 public:
  ProgramMaker(std::shared_ptr<const Library> library, std::string file, std::optional<std::string> text,
               dsl::FrontendOptions options, CodeChoice code)
      : library_(std::move(library)),
        file_(std::move(file)),
        text_(std::move(text)),
        options_(std::move(options)),
        code_(std::move(code)) {}

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
  void fix_what_was_read(dsl::LatePipeline& late, const SourceMap& sources);

  std::shared_ptr<const Library> library_;
  std::string file_;
  std::optional<std::string> text_;
  dsl::FrontendOptions options_;
  CodeChoice code_;
  std::mutex mutex_;
  std::vector<std::pair<InputTypes, std::shared_ptr<const runtime::Program>>> made_;
};

}  // namespace galatea::api
