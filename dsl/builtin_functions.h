// Python's built-in functions by topic, and what they share. Their table stands in builtins.cpp.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "dsl/evaluator.h"

namespace galatea::dsl::builtin {

/// Whether the call has between `least` and `most` positional arguments and only the named keywords; reports
/// otherwise.
bool check_shape(Evaluator& ev, const CallArguments& a, size_t least, size_t most,
                 std::initializer_list<std::string_view> keywords = {});
const CallArguments::Keyword* keyword_of(const CallArguments& a, std::string_view name);
/// Reports that the function takes no data node, and what to write instead.
Value no_node(Evaluator& ev, const CallArguments& a, std::string help);
/// Reports that positional argument `i` is not what is `wanted`.
Value wrong_kind(Evaluator& ev, const CallArguments& a, size_t i, std::string wanted);

// ---- builtins_convert.cpp ----
Value fn_bool(Evaluator& ev, CallArguments& a);
Value fn_int(Evaluator& ev, CallArguments& a);
Value fn_float(Evaluator& ev, CallArguments& a);
Value fn_str(Evaluator& ev, CallArguments& a);
Value fn_repr(Evaluator& ev, CallArguments& a);
Value fn_ascii(Evaluator& ev, CallArguments& a);
Value fn_format(Evaluator& ev, CallArguments& a);
Value fn_chr(Evaluator& ev, CallArguments& a);
Value fn_ord(Evaluator& ev, CallArguments& a);
Value fn_digits(Evaluator& ev, CallArguments& a);
Value fn_divmod(Evaluator& ev, CallArguments& a);
Value fn_pow(Evaluator& ev, CallArguments& a);
Value fn_list(Evaluator& ev, CallArguments& a);
Value fn_tuple(Evaluator& ev, CallArguments& a);
Value fn_dict(Evaluator& ev, CallArguments& a);

// ---- builtins_sequence.cpp ----
Value fn_all(Evaluator& ev, CallArguments& a);
Value fn_any(Evaluator& ev, CallArguments& a);
Value fn_len(Evaluator& ev, CallArguments& a);
Value fn_range(Evaluator& ev, CallArguments& a);
Value fn_enumerate(Evaluator& ev, CallArguments& a);
Value fn_zip(Evaluator& ev, CallArguments& a);
Value fn_map(Evaluator& ev, CallArguments& a);
Value fn_filter(Evaluator& ev, CallArguments& a);
Value fn_min(Evaluator& ev, CallArguments& a);
Value fn_max(Evaluator& ev, CallArguments& a);
Value fn_sorted(Evaluator& ev, CallArguments& a);
Value fn_sum(Evaluator& ev, CallArguments& a);
Value fn_reversed(Evaluator& ev, CallArguments& a);

}  // namespace galatea::dsl::builtin
