#include "api/host_log.h"

#include <fmt/format.h>

namespace galatea::api {

void HostLog::tell(galatea_log_level level, const std::string& message) const {
  if (!function_) return;
  std::lock_guard lock(mutex_);
  function_(context_, level, message.c_str());
}

void HostLog::tell(const Diagnostic& diagnostic, const SourceMap& sources) const {
  if (!function_ || diagnostic.severity == Severity::kError) return;
  const std::string place = diagnostic.span.valid() ? sources.describe(diagnostic.span) + ": " : "";
  const std::string code = diagnostic.code.empty() ? "" : fmt::format("[{}] ", diagnostic.code);
  tell(diagnostic.severity == Severity::kWarning ? GALATEA_LOG_WARNING : GALATEA_LOG_NOTE,
       place + code + diagnostic.message);
}

}  // namespace galatea::api
