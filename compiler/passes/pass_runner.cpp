#include "compiler/passes/pass_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/settings.h"
#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/verifier.h"
#include "compiler/messages/messages.h"

namespace galatea::passes {
namespace {

Status check_names(const PassOptions& options) {
  std::vector<std::string> known;
  for (const PassEntry& pass : pass_list()) known.emplace_back(pass.name);
  std::vector<std::string> asked = options.skip;
  if (!options.stop_after.empty()) asked.push_back(options.stop_after);
  for (const std::string& name : asked) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    auto near = closest_match(name, known);
    return compiler::user_error(compiler::Message::kUnknownPass, {}, name,
                                near ? fmt::format("did you mean {}?", *near) : "");
  }
  return {};
}

Status dump(const ir::Graph& graph, const PassOptions& options, int number, std::string_view name) {
  std::error_code failure;
  std::filesystem::create_directories(options.dump_folder, failure);
  std::string path = fmt::format("{}/{:02}-{}.graph", options.dump_folder, number, name);
  std::ofstream file(path);
  file << to_text(graph);
  file.flush();
  if (!file) {
    auto diagnostic = compiler::diagnostic(compiler::Message::kCannotDump, {}, path);
    return make_error(ErrorKind::kSystem, std::move(diagnostic));
  }
  return {};
}

Status with_note(Status found, std::string note) {
  if (!found) found.error().diagnostics.front().notes.push_back(std::move(note));
  return found;
}

}  // namespace

PassOptions default_pass_options() {
  PassOptions options;
  options.dump_folder = setting("GALATEA_DUMP");
  options.stop_after = setting("GALATEA_STOP_AFTER");
  options.verify = setting("GALATEA_VERIFY") == "each" ? VerifyPasses::kAfterEach
                   : setting_bool("GALATEA_VERIFY")    ? VerifyPasses::kTypesAtEnd
                                                       : VerifyPasses::kNever;
  std::istringstream names(setting("GALATEA_SKIP_PASSES"));
  for (std::string name; std::getline(names, name, ',');) options.skip.push_back(name);
  return options;
}

Result<std::vector<PassReport>> run_passes(ir::Graph& graph, const op::Registry& registry,
                                           const PassOptions& options) {
  values::SharedTable table(graph);
  return run_passes(graph, registry, options, table);
}

Result<std::vector<PassReport>> run_passes(ir::Graph& graph, const op::Registry& registry,
                                           const PassOptions& options, values::SharedTable& table) {
  GALATEA_TRY(check_names(options));
  const std::vector<PassEntry>& passes = pass_list();
  size_t end = passes.size();
  if (!options.stop_after.empty())
    while (passes[end - 1].name != options.stop_after) --end;
  std::vector<PassReport> reports;
  bool any_changed = false;
  for (size_t k = 0; k < end; ++k) {
    const PassEntry& pass = passes[k];
    std::string name(pass.name);
    if (std::find(options.skip.begin(), options.skip.end(), name) != options.skip.end()) continue;
    TraceScope scope(options.trace, name, "compile");
    auto begin = std::chrono::steady_clock::now();
    std::vector<Remark> remarks;
    const bool changed =
        pass.run(graph, {registry, table, options.remarks ? &remarks : nullptr, options.for_gpu});
    if (changed) table.forget();
    any_changed |= changed;
    std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    reports.push_back({name, changed, taken.count(), std::move(remarks)});
    if (changed && options.verify != VerifyPasses::kNever)
      GALATEA_TRY(with_note(options.verify == VerifyPasses::kAfterEach ? verify(graph) : verify_form(graph),
                            "after the pass " + name));
    if (changed && !options.dump_folder.empty())
      GALATEA_TRY(dump(graph, options, options.first_dump_number + static_cast<int>(k), name));
  }
  if (any_changed && options.verify == VerifyPasses::kTypesAtEnd)
    GALATEA_TRY(with_note(verify(graph), "after the passes"));
  return reports;
}

}  // namespace galatea::passes
