// Journals of searches.
//
// Must hold: no crash; a journal is refused with a reason, or read, and then reading it again gives the same.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "policy/search/journal.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_journal {

GALATEA_FUZZ_TARGET(journal, 1000)(const uint8_t* data, size_t size) {
  using namespace galatea::policy;
  const int memory = ::memfd_create("journal", MFD_CLOEXEC);
  require(memory >= 0);
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  const JournalHead head = {"space", {}, "objective", false};
  // The head as it is written, so that the input is what follows it.
  require(Journal::open(path, head).has_value());
  require(::lseek(memory, 0, SEEK_END) > 0);
  require(size == 0 || ::write(memory, data, size) == static_cast<ssize_t>(size));
  size_t ended = 0, open = 0;
  {
    const auto journal = Journal::open(path, head);
    if (!journal) {
      require(!journal.error().message().empty());
      ::close(memory);
      return;
    }
    require(journal->cut_off() <= size);
    ended = journal->ended().size();
    open = journal->open_trials().size();
  }
  const auto again = Journal::open(path, head);
  require(again && again->cut_off() == 0);
  require(again->ended().size() == ended && again->open_trials().size() == open);
  ::close(memory);
}

}  // namespace galatea::fuzz::of_journal
