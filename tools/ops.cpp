// galatea ops [NAME] [--json | --pages FOLDER]: the operators, from the registry.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/core.h>

#include "compiler/op/operator_json.h"
#include "tools/operator_page.h"
#include "tools/pipeline_host.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

namespace fs = std::filesystem;

struct OpsOptions {
  std::string name, pages;
  bool json = false;
};

/// False: it could not be written.
bool write_page(const fs::path& file, const std::string& text) {
  if (text.empty()) return true;
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) say("galatea: {} cannot be written\n", file.string());
  return static_cast<bool>(out);
}

int write_pages(const fs::path& folder, const std::vector<const op::Operator*>& operators,
                const op::Registry& registry) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  bool written = write_page(folder / "README.md", markdown_index(operators));
  for (const op::Operator* op : operators) {
    if (!written) return kMissing;
    written = write_page(folder / page_file(*op, ".md"), markdown_page(*op, failures_of(*op, registry))) &&
              write_page(folder / page_file(*op, ".dali-dsl"), effect_file(*op));
  }
  return written ? kFine : kMissing;
}

int run(const OpsOptions& options, Reporter& reporter) {
  const PipelineHost host;
  std::vector<const op::Operator*> chosen = op::listed(host.registry());
  if (!options.name.empty()) {
    std::string name = options.name.starts_with("fn.") ? options.name.substr(3) : options.name;
    const op::Operator* op = host.registry().find(name);
    if (op == nullptr) {
      auto nearest = closest_match(name, host.registry().public_names());
      say("galatea: there is no operator `{}`{}\n  `galatea ops` lists all\n", name,
          nearest ? fmt::format("; did you mean `{}`?", *nearest) : "");
      return kUsage;
    }
    chosen = {op};
  }
  if (!options.pages.empty()) return write_pages(options.pages, chosen, host.registry());
  if (options.json) {
    reporter.print(json_text(op::to_json(chosen)) + "\n");
  } else if (!options.name.empty()) {
    reporter.print(terminal_page(*chosen[0], failures_of(*chosen[0], host.registry())));
  } else {
    size_t width = 0;
    for (const op::Operator* op : chosen) width = std::max(width, op->name.size());
    std::string text;
    for (const op::Operator* op : chosen) text += fmt::format("{:<{}}  {}\n", op->name, width, op->summary);
    reporter.print(text);
  }
  return kFine;
}

}  // namespace

Command add_ops(CLI::App& parent) {
  auto options = std::make_shared<OpsOptions>();
  CLI::App* app = add_subcommand(parent, "ops", "The operators: one line each, or one in full");
  add_option(app, "name", options->name,
             {"NAME", "", "an operator, as written after `fn.`", "random.uniform"});
  add_flag(app, "--json", options->json, "as one JSON object (example: --json)");
  add_option(app, "--pages", options->pages,
             {"FOLDER", "",
              "writes a page for each into this folder, as Markdown, and a pipeline that shows "
              "its effect on a photograph",
              "docs/ops"});
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
