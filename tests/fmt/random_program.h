// Random programs of the language, and careless spellings of a program.
#pragma once

#include <cstdint>
#include <string>

namespace galatea::dsl::testing {

/// A program that parses; which one depends on the seed only.
std::string random_program(uint32_t seed);
/// The same program with other blanks, line breaks, quotes, redundant brackets, semicolons and comments.
/// `num_comments` gets the number of comments in it.
std::string careless_spelling(const std::string& program, uint32_t seed, int& num_comments);

}  // namespace galatea::dsl::testing
