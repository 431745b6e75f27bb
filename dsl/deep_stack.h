// A stack of known size, for what recurses as deeply as the text nests: parser, evaluator, formatter.
#pragma once

#include <functional>

namespace galatea::dsl {

/// Runs the work to its end on a thread with a deep stack; what it throws comes out here. A thread
/// that the system refuses is a std::system_error.
void run_deep(const std::function<void()>& work);

}  // namespace galatea::dsl
