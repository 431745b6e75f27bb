// The messages of all layers in one table, from their messages.def files.
#include <algorithm>

#include "tools/messages.h"

namespace galatea::tools {
namespace {

// Readers, codecs and the C API word each failure where it is found; these are what their
// codes have in common.
constexpr DiagnosticPage kWordedElsewhere[] = {
    {"G0801",
     "a source of samples cannot be opened: its folder, list or files are missing, empty or malformed",
     "check the path (relative to the working directory) and what is in it"},
    {"G0802",
     "a container of records is damaged, or is another kind of file, or a record lacks what is wanted",
     "copy or make the file again; on_error=\"skip\" lets the run go on without records that fail"},
    {"G0803", "data that lies on another machine cannot be read: what its server answers does not allow it",
     "check the address, and what this account may read"},
    {"G0810",
     "the bytes of a sample are not an image that can be decoded: cut off, damaged, or of another format",
     "check or remove the file; on_error=\"skip\" or \"replace\" lets the run go on without it"},
    {"G0995", "data that lies on another machine could not be read, however often it was tried",
     "look at the network and the server; GALATEA_FAR_TRIES and GALATEA_FAR_TIME_LIMIT say how long it is tried"},
    {"G0996", "libcurl, by which far data is read, cannot be used",
     "install it (the Debian package is libcurl4), or copy the data to this machine"},
    {"G0998", "films cannot be decoded: the module for them, or libav, is missing",
     "install libav (Debian's packages are libavformat59, libavcodec59 and libavutil57)"},
    {"G0940", "a function of the C API was called wrongly: {}", "see the function's comment in galatea.h"},
    {"G0941", "something that must not happen was stopped at the C API: {}",
     "please report this: it is a bug in galatea"},
};
/// The tables of all layers.
constexpr DiagnosticPage kTables[] = {
#define GALATEA_MESSAGE(name, code, kind, text, help) {code, text, help},
#include "compiler/messages/messages.def"
#include "dsl/messages.def"
#include "policy/messages.def"
#include "runtime/messages.def"
#include "tools/messages.def"
#undef GALATEA_MESSAGE
};

}  // namespace

std::vector<DiagnosticPage> all_diagnostic_pages() {
  std::vector<DiagnosticPage> pages(std::begin(kTables), std::end(kTables));
  pages.insert(pages.end(), std::begin(kWordedElsewhere), std::end(kWordedElsewhere));
  std::stable_sort(pages.begin(), pages.end(), [](const auto& a, const auto& b) { return a.code < b.code; });
  return pages;
}

}  // namespace galatea::tools
