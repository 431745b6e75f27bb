// A reader as its author writes it down: what it is called, what it takes, what it delivers, and how it is
// opened. The rest (shards, shuffling, padding, seeds, epochs, skipping, meta data) is declared, checked and
// documented here for all readers at once; runtime/reader_loop.h does it.
//
// Comes in: a SourceDeclaration. Goes out: an operator `fn.readers.…` and the source behind it.
// docs/add-a-reader.md says how to write one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/op/operator.h"
#include "runtime/native.h"

namespace galatea::op {

struct SourceDeclaration {
  std::string name;     ///< as written after `fn.`: "readers.flat"
  std::string summary;  ///< one line
  std::string documentation;
  std::vector<ArgSpec> args;  ///< its own; common_reader_args() follow
  /// What a sample consists of: concrete ports.
  std::vector<Port> outputs;
  /// The same where arguments decide it; an error is the call's.
  std::function<Result<std::vector<Port>>(const TypeContext&)> outputs_of = {};
  bool gives_dictionary = false;                    ///< a call gives its outputs by name
  std::string outputs_argument = {};                ///< as Operator::outputs_argument
  std::vector<std::string> output_needs = {};       ///< as Operator::output_needs
  std::vector<std::string> types_declared_by = {};  ///< as Operator::types_declared_by
  /// Of its own arguments, what their kinds do not say; may be empty.
  std::function<Status(const TypeContext&)> check = {};
  std::vector<std::string> aliases = {};
  std::string example = {};  ///< a pipeline body, run as a test where the reader is galatea's
  std::vector<runtime::OwnCode> codes = {};
  /// Opens the source: `config` is JSON with all arguments. What is wrong with the data is a user error.
  std::function<Result<std::unique_ptr<runtime::SampleSource>>(const std::string& config)> open = {};
};

/// The arguments that every reader has, by DALI's names.
std::vector<ArgSpec> common_reader_args();

/// The operator, and the source that its programs open.
Operator reader_operator(const SourceDeclaration& declaration);
runtime::SourceFactory reader_factory(const SourceDeclaration& declaration);

/// Adds both. An error (of code G0863) says what a declaration lacks, or whose names it takes.
Status register_source(Registry& registry, runtime::NativeTable& natives, SourceDeclaration declaration);

}  // namespace galatea::op
