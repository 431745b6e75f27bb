// What an engine tells its host beside errors: one function of the host, called by one thread at a time.
#pragma once

#include <mutex>
#include <string>

#include "base/diagnostic.h"
#include "base/source.h"
#include "include/galatea.h"

namespace galatea::api {

class HostLog {
 public:
  using Function = void (*)(void* context, galatea_log_level level, const char* message);
  HostLog() = default;
  HostLog(Function function, void* context) : function_(function), context_(context) {}
  HostLog(const HostLog&) = delete;
  HostLog& operator=(const HostLog&) = delete;

  void tell(galatea_log_level level, const std::string& message) const;
  /// Warnings and notes, with their places; errors go to whoever called.
  void tell(const Diagnostic& diagnostic, const SourceMap& sources) const;
  explicit operator bool() const { return function_ != nullptr; }

 private:
  Function function_ = nullptr;
  void* context_ = nullptr;
  mutable std::mutex mutex_;
};

}  // namespace galatea::api
