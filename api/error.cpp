#include <cstdlib>
#include <cstring>

#include "api/guard.h"
#include "runtime/fault.h"
#include "runtime/messages.h"

struct galatea_error {
  galatea_error_kind kind = GALATEA_ERROR_INTERNAL;
  std::string code, message, text, json;
};

namespace galatea::api {
namespace {

galatea_error_kind kind_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUser:
      return GALATEA_ERROR_USER;
    case ErrorKind::kSystem:
      return GALATEA_ERROR_SYSTEM;
    case ErrorKind::kInternal:
      break;
  }
  return GALATEA_ERROR_INTERNAL;
}

/// Made before memory can run out, by out_of_memory()'s first caller at the latest; short enough for strings
/// without heap memory where it matters.
galatea_error& memory_error() {
  static galatea_error error{
      GALATEA_ERROR_SYSTEM, "G0921", "out of memory", "error[G0921]: out of memory\n",
      R"({"diagnostics":[{"code":"G0921","severity":"error","message":"out of memory",)"
      R"("file":null,"line":null,"column":null,"end_line":null,"end_column":null,)"
      R"("labels":[],"calls":[],"notes":[],"help":null}]})"};
  return error;
}
/// Makes it while the library is loaded.
const galatea_error& kMemoryErrorIsMade = memory_error();

}  // namespace

galatea_error* out_of_memory() noexcept { return const_cast<galatea_error*>(&kMemoryErrorIsMade); }

galatea_error* make_api_error(const Error& error, const SourceMap& sources) noexcept {
  // For want of memory it has no words.
  if (error.diagnostics.empty() && error.kind == ErrorKind::kSystem) return out_of_memory();
  try {
    auto out = std::make_unique<galatea_error>();
    out->kind = kind_of(error.kind);
    if (!error.diagnostics.empty()) out->code = error.diagnostics.front().code;
    out->message = error.message();
    for (const Diagnostic& diagnostic : error.diagnostics) out->text += render_text(diagnostic, sources);
    out->json = render_json(error.diagnostics, sources);
    return out.release();
  } catch (...) {
    return out_of_memory();
  }
}

galatea_error* make_api_error(const Error& error) noexcept {
  try {
    return make_api_error(error, SourceMap());
  } catch (...) {
    return out_of_memory();
  }
}

galatea_error* error_in_call(std::string_view note) noexcept {
  Error error = runtime::error_in_flight(note);
  if (error.kind == ErrorKind::kInternal && !error.diagnostics.empty())
    error.diagnostics.front().code = "G0941";
  return make_api_error(error);
}

galatea_error* misuse(std::string_view message) noexcept {
  try {
    return make_api_error(
        make_error(ErrorKind::kUser, "G0940", std::string(message), "see the function's comment in galatea.h")
            .error());
  } catch (...) {
    return out_of_memory();
  }
}

Error take_error(galatea_error* error) {
  const ErrorKind kind = error->kind == GALATEA_ERROR_USER     ? ErrorKind::kUser
                         : error->kind == GALATEA_ERROR_SYSTEM ? ErrorKind::kSystem
                                                               : ErrorKind::kInternal;
  Error out = make_error(kind, error->code, error->message).error();
  galatea_error_destroy(error);
  return out;
}

galatea_error* take_string(const std::string& text, char** out) noexcept {
  *out = static_cast<char*>(std::malloc(text.size() + 1));
  if (!*out) return out_of_memory();
  std::memcpy(*out, text.c_str(), text.size() + 1);
  return nullptr;
}

}  // namespace galatea::api

extern "C" {

galatea_error* galatea_error_create(const char* message) {
  return galatea::api::guard([&]() -> galatea_error* {
    return galatea::api::make_api_error(
        galatea::runtime::make_error(galatea::runtime::message::kHostError,
                                     message && *message ? message : "an error without words")
            .error());
  });
}

void galatea_string_destroy(char* string) { std::free(string); }

galatea_error_kind galatea_error_get_kind(const galatea_error* error) { return error->kind; }
const char* galatea_error_code_borrow(const galatea_error* error) { return error->code.c_str(); }
const char* galatea_error_message_borrow(const galatea_error* error) { return error->message.c_str(); }
const char* galatea_error_text_borrow(const galatea_error* error) { return error->text.c_str(); }
const char* galatea_error_json_borrow(const galatea_error* error) { return error->json.c_str(); }
void galatea_error_destroy(galatea_error* error) {
  if (error != galatea::api::out_of_memory()) delete error;
}

}  // extern "C"
