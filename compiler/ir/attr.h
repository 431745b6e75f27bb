// Reading static arguments as one kind of number, whatever they were written as.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace galatea::ir {

inline bool is_none(const Attr& attr) { return std::holds_alternative<None>(attr); }
/// Numbers and bools convert into each other where nothing is lost; anything else is a bug of the caller, who
/// has checked the schema.
bool attr_flag(const Attr& attr);
int64_t attr_integer(const Attr& attr);
double attr_number(const Attr& attr);
std::string attr_text(const Attr& attr);
/// Lists; a scalar gives one element, None gives none.
std::vector<int64_t> attr_integers(const Attr& attr);
std::vector<double> attr_numbers(const Attr& attr);
std::vector<std::string> attr_texts(const Attr& attr);
/// Number of elements of a list; 1 for a scalar, 0 for None.
int attr_length(const Attr& attr);

/// A list in its one form: of integers (also an empty one), of numbers, of texts, or of anything.
Attr list_attr(std::vector<Attr> items);
inline bool is_nested(const Attr& attr) {
  return std::holds_alternative<AttrList>(attr) || std::holds_alternative<AttrDict>(attr);
}

}  // namespace galatea::ir
