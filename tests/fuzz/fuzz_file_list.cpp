// The text of a file_list.
//
// Must hold: no crash; what is accepted can be written again line by line and gives the same list; errors
// name the list.
#include <cstdlib>
#include <sstream>

#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/file_source.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_file_list {

GALATEA_FUZZ_TARGET(file_list, 10000)(const uint8_t* data, size_t size) {
  using namespace galatea::native;
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  auto files = parse_file_list(in, "list.txt", "root");
  if (!files) {
    require(files.error().message().find("list.txt") != std::string::npos);
    return;
  }
  require(!files->empty());
  std::ostringstream text;
  for (const FileEntry& file : *files) {
    require(!file.path.empty() && file.label >= 0);
    if (far::is_far(file.path)) return;  // its name leaves out what may be secret
    text << file.name << ' ' << file.label << '\n';
  }
  std::istringstream again_in(text.str());
  auto again = parse_file_list(again_in, "again.txt", "root");
  if (!again) return;  // a line at the limit of its length may have grown past it
  require(again->size() == files->size());
  for (size_t i = 0; i < files->size(); ++i) {
    require((*again)[i].path == (*files)[i].path && (*again)[i].name == (*files)[i].name &&
            (*again)[i].label == (*files)[i].label);
  }
}

}  // namespace galatea::fuzz::of_file_list
