// Kernels of the user's own: `warp = galatea.cuda_kernel(source="warp.cu", name="warp", …)`. In: what the
// user says of the kernel. Out: the operator `cuda_kernel` with these arguments, which `warp(image)` calls.
//
// A source that is no text is a file beside the one that names it. Where the text stands, whether in that
// file or in this one, goes along: compilers say what is wrong by lines.
#include <algorithm>
#include <filesystem>

#include "base/fault.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostTextBytes = 1 << 20;

bool is_cuda_text(const std::string& source) {
  return source.find('\n') != std::string::npos || source.find("__global__") != std::string::npos;
}

CallArguments::Keyword* find_keyword(CallArguments& arguments, std::string_view name) {
  const auto found = std::ranges::find(arguments.keywords, name, &CallArguments::Keyword::name);
  return found == arguments.keywords.end() ? nullptr : &*found;
}

}  // namespace

Value Evaluator::make_cuda_kernel(CallArguments& arguments) {
  if (!arguments.positional.empty())
    return fail(Message::kBadArgument, arguments.spans[0],
                {"galatea.cuda_kernel", "keyword arguments; the inputs come with the call of what it gives"});
  auto* kernel = arena.make<OperatorObject>();
  kernel->op = registry_.find("cuda_kernel");
  kernel->path = "cuda_kernel";
  if (!kernel->op) return fail(Message::kMissingOperator, arguments.span, {"cuda_kernel"});
  for (const CallArguments::Keyword& keyword : arguments.keywords) {
    if (has_poison(keyword.value)) return Value::poison();
    if (!kernel->op->find_arg(keyword.name) && keyword.name != "device")
      return fail(Message::kUnknownParameter, keyword.name_span,
                  {"galatea.cuda_kernel", keyword.name, "it takes source, name, inputs, outputs and launch"});
  }
  CallArguments::Keyword* source = find_keyword(arguments, "source");
  if (!source || !source->value.is(ValueKind::kString))
    return fail(Message::kWrongArgument, source ? source->span : arguments.span,
                {"galatea.cuda_kernel", "`source`, a CUDA text or the name of a file",
                 source ? describe_kind(source->value) : "nothing"});
  if (!find_keyword(arguments, "file")) {
    const Span span = source->span;
    std::string file = "the text of the kernel";
    int64_t line = 1;
    const SourceFile* asking = sources_.file(span.file);
    if (is_cuda_text(source->value.text())) {
      // As it stands there, unless it is put together or has escapes.
      const size_t at = asking ? asking->text().find(source->value.text()) : std::string::npos;
      if (at != std::string::npos) {
        file = asking->name();
        line = asking->position(static_cast<uint32_t>(at)).line;
      }
    } else {
      const fs::path folder = asking ? fs::path(asking->name()).parent_path() : fs::path(main_folder_);
      file = (folder / source->value.text()).lexically_normal().string();
      if (!inside_root(file)) return fail(Message::kOutsideRoot, span, {file, root_});
      auto text = read_whole_file(file, kMostTextBytes);
      if (!text) {
        const bool is_wrong = text.error().kind == ErrorKind::kUser;
        return fail(is_wrong ? Message::kCannotRead : Message::kReadFault, span, {file, text.error().why});
      }
      add_source(file, *text);
      source->value = make_string(std::move(*text));
    }
    arguments.keywords.push_back({"file", make_string(std::move(file)), span, span});
    arguments.keywords.push_back({"line", Value::of(line), span, span});
  }
  for (const CallArguments::Keyword& keyword : arguments.keywords) {
    kernel->arguments.emplace_back(keyword.name, keyword.value);
    kernel->argument_spans.emplace_back(keyword.span, keyword.name_span);
  }
  return Value(ValueKind::kOperator, kernel);
}

/// A text that messages point into, once.
void Evaluator::add_source(const std::string& name, const std::string& text) {
  for (uint32_t id = 1; const SourceFile* file = sources_.file(id); ++id)
    if (file->name() == name && file->text() == text) return;
  sources_.add(name, text);
}

}  // namespace galatea::dsl
