// One run of the language on any bytes: lexer, parser, evaluator, GraphBuilder, verifier.
#pragma once

#include <string>

namespace galatea::fuzz {

/// Returns what is wrong, or nothing: no crash, an error where no graph comes out, and only legal graphs.
std::string run_dsl(const std::string& text);

}  // namespace galatea::fuzz
