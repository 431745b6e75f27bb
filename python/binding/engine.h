// An engine and what it has to tell.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "binding/handles.h"

namespace galatea_python {

/// Messages of an engine, kept until Python asks for them. The library logs on threads of its own and under
/// locks of its own: waiting there for the GIL could wait for ever.
class Log {
 public:
  void add(galatea_log_level level, const char* message);
  /// The messages so far as a list of (level, text), and forgets them.
  nb::list take();

 private:
  static constexpr size_t kMost = 10000;
  std::mutex mutex_;
  std::deque<std::pair<int, std::string>> messages_;
  size_t dropped_ = 0;
};

class Engine {
 public:
  galatea_engine* get() const { return engine_.get(); }
  Owner<galatea_engine, galatea_engine_destroy>& owner() { return engine_; }
  /// The library calls the log as long as a program of the engine lives: it is never ended.
  Log* log = nullptr;

 private:
  Owner<galatea_engine, galatea_engine_destroy> engine_{"engine"};
};

}  // namespace galatea_python
