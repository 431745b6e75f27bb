#include "compiler/codegen/cuda/text_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/codegen/cuda/shim_backend.h"
#include "compiler/codegen/cuda/text_kernel_prelude.h"
#include "compiler/messages/messages.h"

namespace galatea::codegen {

namespace {

using compiler::Message;
using op::TextKernel;

/// Of a thread on the host, where threads wait for each other; and for what is kept of it besides.
constexpr int64_t kStackBytes = 64 * 1024, kFiberBytes = 2048;
constexpr size_t kMostErrors = 8;
/// Of arrays whose size the text says: what every GPU has. And what the prelude keeps of a thread, at most.
constexpr int64_t kMostSharedBytes = 48 * 1024, kOwnThreadBytes = 2048;

int threads_of(const TextKernel& kernel) { return kernel.block[0] * kernel.block[1] * kernel.block[2]; }

bool has_barriers(const TextKernel& kernel) {
  return kernel.text.find("__syncthreads") != std::string::npos ||
         kernel.text.find("__syncwarp") != std::string::npos;
}

/// The line of the first word `__shared__`.
uint32_t line_of_shared(const TextKernel& kernel) {
  const auto end = kernel.text.begin() +
                   static_cast<ptrdiff_t>(std::min(kernel.text.find("__shared__"), kernel.text.size()));
  return kernel.line + static_cast<uint32_t>(std::count(kernel.text.begin(), end, '\n'));
}

/// A file's name between quotes of C.
std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '\n' || c == '\r') continue;
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string arguments_of(const TextKernel& kernel) {
  std::string out;
  int tensor = 0;
  const auto add = [&](const TextKernel::Argument& argument, bool is_read) {
    if (tensor > 0) out += ", ";
    const std::string_view type = op::c_name(argument.type);
    if (argument.by_value)
      out += fmt::format("*(const {}*)call.tensors[{}].data", type, tensor);
    else
      out += fmt::format("galatea_view<{}{}, {}>(call.tensors[{}], {})", is_read ? "const " : "", type,
                         argument.ndim, tensor, tensor + 1);
    ++tensor;
  };
  for (const TextKernel::Argument& argument : kernel.inputs) add(argument, true);
  for (const TextKernel::Argument& argument : kernel.outputs) add(argument, false);
  return out;
}

/// What a compiler says of a line.
struct Complaint {
  std::string file, text;
  uint32_t line = 0, column = 0;
};

std::optional<uint32_t> number_of(std::string_view text) {
  uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

/// "FILE:LINE:COLUMN" or "FILE(LINE)".
bool read_place(std::string_view place, Complaint& out) {
  if (place.ends_with(')')) {
    const size_t open = place.rfind('(');
    const auto line = open == std::string_view::npos
                          ? std::nullopt
                          : number_of(place.substr(open + 1, place.size() - open - 2));
    if (!line) return false;
    out.file = place.substr(0, open);
    out.line = *line;
    return true;
  }
  std::vector<uint32_t> numbers;
  for (size_t colon = place.rfind(':'); colon != std::string_view::npos && numbers.size() < 2;
       colon = place.rfind(':')) {
    const auto number = number_of(place.substr(colon + 1));
    if (!number) break;
    numbers.insert(numbers.begin(), *number);
    place = place.substr(0, colon);
  }
  if (numbers.empty()) return false;
  out.file = place;
  out.line = numbers.front();
  out.column = numbers.size() > 1 ? numbers[1] : 0;
  return true;
}

std::optional<Complaint> read_complaint(std::string_view line) {
  for (const std::string_view word :
       {": fatal error: ", ": catastrophic error: ", ": error: ", ": error #", ": catastrophic error #"}) {
    const size_t at = line.find(word);
    if (at == std::string_view::npos) continue;
    Complaint out;
    if (!read_place(line.substr(0, at), out)) continue;
    std::string_view text = line.substr(at + word.size());
    if (word.ends_with('#')) text = text.substr(std::min(text.size(), text.find(": ") + 2));
    out.text = text;
    return out;
  }
  return std::nullopt;
}

/// At which place of the user's a template of ours was made. NVRTC says "… at line 9 of FILE", clang
/// "FILE:9:5: note: in instantiation of … requested here".
void note_instantiation(std::string_view line, const std::string& file, Complaint& complaint) {
  if (const size_t note = line.find(": note: in instantiation of "); note != std::string_view::npos) {
    Complaint place;
    if (!read_place(line.substr(0, note), place) || place.file != file) return;
    place.text = std::move(complaint.text);
    complaint = std::move(place);
    return;
  }
  constexpr std::string_view kBegin = " at line ", kMiddle = " of ";
  const size_t begin = line.rfind(kBegin);
  if (begin == std::string_view::npos) return;
  const std::string_view rest = line.substr(begin + kBegin.size());
  const size_t middle = rest.find(kMiddle);
  if (middle == std::string_view::npos || rest.substr(middle + kMiddle.size()) != file) return;
  if (const auto number = number_of(rest.substr(0, middle))) {
    complaint.file = file;
    complaint.line = *number;
    complaint.column = 0;
  }
}

/// The line in the user's file; nothing where the sources have no such file.
Span span_of(const SourceMap& sources, const Complaint& complaint, bool is_first_line) {
  for (uint32_t id = 1; const SourceFile* file = sources.file(id); ++id) {
    if (file->name() != complaint.file) continue;
    const std::string_view line = file->line(complaint.line);
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    const uint32_t begin = file->offset({complaint.line, 1});
    const uint32_t end = begin + static_cast<uint32_t>(line.find_last_not_of(" \t\r") + 1);
    // A column that a compiler counts is one of bytes. On the text's first line it is not the file's.
    if (!is_first_line && complaint.column > 0 && complaint.column <= line.size())
      return {id, begin + complaint.column - 1, std::max(begin + complaint.column, end)};
    return {id, begin + static_cast<uint32_t>(first), end};
  }
  return {};
}

/// A text that a compiler refuses is the user's; whatever else fails is as it was.
Error of_user(const TextKernel& kernel, Error error, const SourceMap& sources) {
  if (error.kind != ErrorKind::kInternal || error.diagnostics.empty()) return error;
  return error_of_text(kernel, error.diagnostics.front().message, sources);
}

}  // namespace

std::string emit_text_kernel(const TextKernel& kernel) {
  std::string out;
  const char* const axes[] = {"X", "Y", "Z"};
  for (size_t i = 0; i < 3; ++i)
    out += fmt::format("#define GALATEA_BLOCK_{} {}u\n", axes[i], kernel.block[i]);
  if (has_barriers(kernel))
    out += fmt::format(
        "#define GALATEA_BARRIERS\n#define GALATEA_STACK_BYTES {}\n#define GALATEA_FIBER_BYTES {}\n",
        kStackBytes, kFiberBytes);
  out += text_kernel_prelude();
  out += fmt::format("#line {} {}\n{}\n#line 1 \"the call of {}\"\n", kernel.line, quoted(kernel.file),
                     kernel.text, kernel.function);
  out += text_kernel_epilogue();
  out += fmt::format(
      R"(GALATEA_TEXT_KERNEL({}, {}) {{
  GALATEA_SAMPLE
  const u32 x = (u32)call.params[0], y = (u32)call.params[1], z = (u32)call.params[2], blocks = x * y * z;
  for (u32 number_of_block = tile; number_of_block < blocks; number_of_block += tiles)
    GALATEA_RUN_BLOCK(number_of_block, x, y, z, ::{}({}))
}}
)",
      kernel.inputs.size(), kernel.outputs.size(), kernel.function, arguments_of(kernel));
  return out;
}

std::shared_ptr<const runtime::DeviceKernel> describe_text_kernel(const TextKernel& kernel) {
  runtime::DeviceKernel out;
  out.inputs = static_cast<int>(kernel.inputs.size());
  out.threads = threads_of(kernel);
  out.has_grid = true;
  return std::make_shared<const runtime::DeviceKernel>(std::move(out));
}

int64_t host_scratch_bytes(const TextKernel& kernel) {
  return has_barriers(kernel) ? threads_of(kernel) * (kStackBytes + kFiberBytes) : 0;
}

Result<CompiledKernel> compile_for_host(const TextKernel& kernel, const SourceMap& sources) {
  const auto start = std::chrono::steady_clock::now();
  auto library = ShimLibrary::compile(emit_text_kernel(kernel), true);
  if (!library) {
    if (library.error().kind == ErrorKind::kSystem)
      return make_error(ErrorKind::kSystem, compiler::diagnostic(Message::kNoCompilerForText, Span{},
                                                                 kernel.function, library.error().message()));
    return std::unexpected(of_user(kernel, std::move(library.error()), sources));
  }
  // Shared arrays are the thread's here, with a little that the prelude has.
  if (const int64_t bytes = (*library)->bytes_of_threads(); bytes > kMostSharedBytes + kOwnThreadBytes)
    return std::unexpected(error_of_text(
        kernel,
        fmt::format("{}:{}: error: its __shared__ arrays take about {} KiB, and a block of a GPU "
                    "has {} KiB",
                    kernel.file, line_of_shared(kernel), bytes / 1024, kMostSharedBytes / 1024),
        sources));
  CompiledKernel out;
  out.from_cache = (*library)->from_cache();
  out.code = make_shim_code(std::move(*library), "galatea_kernel");
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

Result<DeviceLaunchCode> compile_for_device(const TextKernel& kernel, DeviceCompiler& compiler,
                                            const SourceMap& sources) {
  // A name that no file of the user's has: lines of ours are not his.
  auto code = compiler.compile_text(emit_text_kernel(kernel), "around " + kernel.function);
  if (!code) return std::unexpected(of_user(kernel, std::move(code.error()), sources));
  return code;
}

Error error_of_text(const TextKernel& kernel, const std::string& log, const SourceMap& sources) {
  std::vector<Complaint> complaints;
  Complaint required;  // where the user's text made what the next complaint is about
  for (size_t at = 0; at < log.size() && complaints.size() < kMostErrors;) {
    const size_t end = std::min(log.find('\n', at), log.size());
    const std::string_view line = std::string_view(log).substr(at, end - at);
    at = end + 1;
    if (const size_t here = line.find(":   required from here"); here != std::string_view::npos) {
      Complaint place;
      if (read_place(line.substr(0, here), place) && place.file == kernel.file) required = std::move(place);
    } else if (auto complaint = read_complaint(line)) {
      if (complaint->file != kernel.file && !required.file.empty()) {
        required.text = std::move(complaint->text);
        complaint = std::exchange(required, {});
      }
      complaints.push_back(std::move(*complaint));
    } else if (!complaints.empty() && complaints.back().file != kernel.file) {
      note_instantiation(line, kernel.file, complaints.back());
    }
  }
  if (complaints.empty()) complaints.push_back({kernel.file, log, kernel.line, 0});
  // What stands around the text is right unless the text is wrong.
  const auto is_of_user = [&](const Complaint& complaint) { return complaint.file == kernel.file; };
  if (std::ranges::any_of(complaints, is_of_user))
    std::erase_if(complaints, [&](const Complaint& complaint) { return !is_of_user(complaint); });
  Error out;
  for (const Complaint& complaint : complaints) {
    const Span span =
        is_of_user(complaint) ? span_of(sources, complaint, complaint.line == kernel.line) : Span{};
    const std::string where = span.valid()            ? ""
                              : is_of_user(complaint) ? fmt::format("{}:{}: ", complaint.file, complaint.line)
                                                      : "in the call of it: ";
    out.diagnostics.push_back(
        compiler::diagnostic(Message::kTextRefused, span, kernel.function, where + complaint.text));
    // What to do is said once.
    if (&complaint != &complaints.back()) out.diagnostics.back().help.clear();
  }
  return out;
}

}  // namespace galatea::codegen
