// An editor that says anything: lines of the input are messages, as they stand or, from a letter, short for one
// about the document that is open.
//
// Must hold: no crash; nothing is answered but requests, each once; texts stay those of the changes.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "stdlib_ops/register_all.h"
#include "tests/fuzz/target.h"
#include "tools/lsp/server.h"

namespace galatea::fuzz::of_lsp {
namespace {

using tools::lsp::Json;

constexpr const char* kUri = "file:///fuzz.dali-dsl";

const op::Registry& registry() {
  static const op::Registry& all = *[] {
    auto* made = new op::Registry;  // lives as long as the process
    ops::register_all(*made);
    return made;
  }();
  return all;
}

constexpr const char* kRequests[] = {
    "hover",         "completion",        "signatureHelp",  "definition",      "references",
    "prepareRename", "documentHighlight", "documentSymbol", "foldingRange",    "semanticTokens/full",
    "inlayHint",     "codeAction",        "formatting",     "rangeFormatting", "rename",
    "codeLens"};

/// `o TEXT` opens, `c LINE COLUMN END_LINE END_COLUMN TEXT` (letters a to z) changes, `q KIND LINE COLUMN` asks.
Json message_of(std::string_view line) {
  if (line.starts_with("{") || line.size() < 2) return parse_json(line);
  auto number = [&](size_t at) { return at < line.size() ? static_cast<uint32_t>(line[at] - 'a') % 26 : 0u; };
  const Json begin = {{"line", number(2)}, {"character", number(3)}};
  const Json end = {{"line", number(4)}, {"character", number(5)}};
  const Json range = {{"start", begin}, {"end", end}};
  std::string text(line.substr(std::min<size_t>(line[0] == 'o' ? 1 : 6, line.size())));
  for (char& c : text)
    if (c == '\x01') c = '\n';
  if (line[0] == 'o')
    return {{"method", "textDocument/didOpen"},
            {"params", {{"textDocument", {{"uri", kUri}, {"version", 1}, {"text", text}}}}}};
  if (line[0] == 'c')
    return {{"method", "textDocument/didChange"},
            {"params",
             {{"textDocument", {{"uri", kUri}}}, {"contentChanges", {{{"range", range}, {"text", text}}}}}}};
  const char* kind = kRequests[number(1) % std::size(kRequests)];
  return {{"id", 1},
          {"method", std::string("textDocument/") + kind},
          {"params",
           {{"textDocument", {{"uri", kUri}}}, {"position", begin}, {"range", range}, {"newName", "other"}}}};
}

}  // namespace

GALATEA_FUZZ_TARGET(lsp, 15)(const uint8_t* data, size_t size) {
  if (size > 4096) return;
  size_t answers = 0;
  tools::lsp::Server server(registry(),
                            [&](const Json& message) { answers += message.contains("id") ? 1 : 0; });
  server.receive({{"id", 0}, {"method", "initialize"}, {"params", {{"capabilities", Json::object()}}}});
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::atomic<bool> never = false;
  while (!rest.empty() && !server.has_ended()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const Json message = message_of(rest.substr(0, end));
    const size_t before = answers;
    server.receive(message);
    if (answers > before + 1) std::abort();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  server.work(never);
}

}  // namespace galatea::fuzz::of_lsp
