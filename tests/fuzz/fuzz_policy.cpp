// Policy documents, search spaces and spellings of policies.
//
// Must hold: no crash; what is refused says why, with places inside of the text; what is accepted is written
// and reads back as the same text, in its canonical form and with its parts shown and changed.
#include <cstdlib>
#include <string>

#include "policy/difference.h"
#include "policy/mutate.h"
#include "policy/pipeline_text.h"
#include "policy/reader.h"
#include "policy/search/space.h"
#include "policy/spelling.h"
#include "policy/table.h"
#include "policy/trim.h"
#include "policy/writer.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_policy {

GALATEA_FUZZ_TARGET(policy, 100)(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // The same bytes as a call or as a string of another library.
  if (Result<policy::Document> made = policy::document_of(text); !made)
    require(!made.error().message().empty());

  SourceMap sources;
  DiagnosticSink sink;
  if (const auto space = policy::Space::read(sources.add("space.json", text), sources, sink)) {
    policy::Random random(size);
    const policy::Point point = space->mutated(space->random(random), random);
    require(space->contains(point) && space->counted(0, 2).has_value());
    policy::read_policy_tree(space->at(point));
  } else {
    require(sink.has_errors());
  }
  const policy::ReadResult read = policy::read_policy(sources.add("fuzz.json", text), sources);
  for (const Diagnostic& diagnostic : read.diagnostics) {
    require(!diagnostic.message.empty() && diagnostic.span.begin <= diagnostic.span.end);
    require(diagnostic.span.end <= text.size());
    render_text(diagnostic, sources);
  }
  if (!read.document) {
    require(!read.diagnostics.empty());
    return;
  }
  const std::string written = policy::to_json(*read.document);
  const policy::ReadResult again = policy::read_policy(sources.add("again.json", written), sources);
  require(again.document && policy::to_json(*again.document) == written);
  require(policy::differences(*read.document, *again.document).empty());
  policy::policy_table(*read.document, {});
  policy::policy_table_json(*read.document);
  const policy::Mutation changed = policy::mutate(*read.document, size, 2);
  const std::string mutant = policy::to_json(changed.document);
  require(policy::read_policy(sources.add("mutant.json", mutant), sources).document.has_value());
  const std::string trimmed = policy::to_json(policy::trimmed(*read.document));
  require(policy::read_policy(sources.add("trimmed.json", trimmed), sources).document.has_value());
  require(!policy::pipeline_of(*read.document).empty());
}

}  // namespace galatea::fuzz::of_policy
