// Mutations of a text at its tokens, so that most of what comes out passes the lexer and reaches what lies
// behind.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace galatea::fuzz {

/// Drops, doubles, swaps, replaces and moves tokens (some taken from `other`), and changes names to others of
/// the text, numbers to awkward ones, and indentation. The same state gives the same text.
std::string mutate_tokens(const std::string& text, const std::string& other, std::mt19937& random);

}  // namespace galatea::fuzz
