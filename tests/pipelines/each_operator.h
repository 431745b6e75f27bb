// Pipelines of one operator on images: every element type, layout, number of channels and degenerate extent that it
// accepts, arguments as numbers and per sample, and once more in an arm that samples skip.
//
// Comes in: a seed, which names the operator and draws the rest. Goes out: a text whose input is "image".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace galatea::testing {

struct EachOperator {
  std::string name, text;
};
EachOperator each_operator(uint64_t seed);
/// Those that seeds name, in turn; an operator with several forms of arguments stands here several times.
std::vector<std::string> each_operator_names();

}  // namespace galatea::testing
