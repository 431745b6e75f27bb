// galatea: the command line's main(). It turns what program.cpp throws into an exit status, and has words for
// where there is no memory.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>
#include <span>
#include <string_view>

#include "runtime/messages.h"
#include "tools/command.h"
#include "tools/program.h"

namespace galatea::tools {
namespace {

/// Words without memory: pieces that lie ready.
void write_pieces(int descriptor, std::initializer_list<std::string_view> pieces) noexcept {
  for (const std::string_view piece : pieces) {
    [[maybe_unused]] const ssize_t written = ::write(descriptor, piece.data(), piece.size());
  }
}

// Set before anything that needs memory.
constinit std::span<char*> g_arguments;

bool wants_json() noexcept {
  for (size_t k = 1; k < g_arguments.size(); ++k) {
    const std::string_view word = g_arguments[k];
    if (word == "--diagnostics=json") return true;
    if (word == "--diagnostics" && k + 1 < g_arguments.size() &&
        g_arguments[k + 1] == std::string_view("json"))
      return true;
  }
  return false;
}

/// The command line, which holds the file's name. JSON: without what a string there cannot hold as it is.
void write_command(int descriptor, bool for_json) noexcept {
  write_pieces(descriptor, {"during `galatea"});
  for (const std::string_view word : g_arguments.subspan(std::min<size_t>(1, g_arguments.size()))) {
    write_pieces(descriptor, {" "});
    for (size_t k = 0; k < word.size(); ++k) {
      const bool is_plain = static_cast<unsigned char>(word[k]) >= ' ' && word[k] != '"' && word[k] != '\\';
      write_pieces(descriptor, {for_json && !is_plain ? "?" : word.substr(k, 1)});
    }
  }
  write_pieces(descriptor, {"`"});
}

/// What there is to say where there is no memory.
int out_of_memory() noexcept {
  constexpr runtime::Message kWords = runtime::message::kNoMemory;
  if (wants_json()) {
    write_pieces(
        STDOUT_FILENO,
        {R"({"diagnostics":[{"code":")", kWords.code, R"(","severity":"error","message":")", kWords.text,
         R"(","file":null,"line":null,"column":null,"end_line":null,"end_column":null,)",
         R"("labels":[],"calls":[],"notes":[")"});
    write_command(STDOUT_FILENO, true);
    write_pieces(STDOUT_FILENO, {R"("],"help":")", kWords.help, "\"}]}\n"});
    return kMissing;
  }
  write_pieces(STDERR_FILENO, {"error[", kWords.code, "]: ", kWords.text, "\n  = note: "});
  write_command(STDERR_FILENO, false);
  write_pieces(STDERR_FILENO, {"\n  = help: ", kWords.help, "\n"});
  return kMissing;
}

constinit std::terminate_handler g_default_end = nullptr;

/// Of what no wall has stopped: before main(), behind it, or where memory for an exception itself is missing.
[[noreturn]] void on_terminate() noexcept {
  bool is_lack_of_memory = false;
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      is_lack_of_memory = true;
    } catch (...) {
    }
  } else {
    void* const probe = std::malloc(1024);
    is_lack_of_memory = probe == nullptr;
    std::free(probe);
  }
  if (is_lack_of_memory) ::_exit(out_of_memory());
  if (g_default_end) g_default_end();
  std::abort();
}

/// Before the constructors of all static objects; glibc passes what main() is given.
__attribute__((constructor(101))) void watch_over_constructors(int argc, char** argv) {
  g_arguments = {argv, static_cast<size_t>(argc)};
  g_default_end = std::set_terminate(on_terminate);
}

}  // namespace
}  // namespace galatea::tools

int main(int argc, char** argv) {
  try {
    return galatea_program(argc, argv);
  } catch (const std::bad_alloc&) {
    return galatea::tools::out_of_memory();
  }
}
