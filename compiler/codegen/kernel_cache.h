// The program cache: machine code of kernels, kept on disk between processes.
//
// Comes in: a key (kernel_key.h). Goes out: its code, if it is kept and undamaged. One file an entry, named
// by the key's hash; the file repeats the key, so that a file under a wrong name, or two keys with one hash,
// are misses. A file is written under a name of its own and renamed into place: readers see all of it or
// nothing, and any number of processes may share a folder. What cannot be read or written costs a compilation
// and a note, never more.
//
// Only files of this user or of root that nobody else may write to are used: they are executed.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/code_loader.h"

namespace galatea::codegen {

struct CacheOptions {
  bool enabled = false;
  std::filesystem::path folder;  ///< made when the first entry is written
  int64_t max_bytes = 256 << 20;
};

/// What the settings say: GALATEA_CACHE, GALATEA_CACHE_DIR, GALATEA_CACHE_SIZE, else the user's cache folder.
CacheOptions default_cache_options();

class KernelCache {
 public:
  explicit KernelCache(CacheOptions options) : options_(std::move(options)) {}

  /// The code of a key, and what was kept about it; nothing where it is not kept, or cannot be used.
  std::optional<runtime::CodeObject> find(const std::string& key, std::string* facts = nullptr);
  /// Keeps code, in place of what is there, with what its users have to know about it.
  void store(const std::string& key, const runtime::CodeObject& object, const std::string& facts = {});
  /// Counts an entry as unusable whose facts nobody understands.
  void cannot_use(const std::string& key, const std::string& why);
  /// Removes what was used least recently until the folder is within its bound, and what ended processes left
  /// half written. Call after storing.
  void trim();
  /// What the user should know about this use of the cache: at most one line about reading and one about
  /// writing.
  std::vector<std::string> take_notes();
  /// The same folder, for who goes on with the work: of what this one has met it tells nothing again.
  KernelCache successor() const;

 private:
  std::filesystem::path file_of(const std::string& key) const;
  void cannot_write(const std::string& why);

  CacheOptions options_;
  std::set<std::string> unusable_;     ///< names of files, since notes were taken
  std::set<std::string> told_before_;  ///< by whom this one goes on for
  std::string first_unusable_, write_problem_;
  bool told_write_problem_ = false;
};

// The form of a file, for the cache and for tests.
std::string encode_entry(const std::string& key, const runtime::CodeObject& object,
                         const std::string& facts = {});
/// The object, or what is wrong with the file as words. Neither: the file holds another key, which is a miss.
struct DecodedEntry {
  std::optional<runtime::CodeObject> object;
  std::string problem;
  std::string facts;
};
DecodedEntry decode_entry(const std::string& bytes, const std::string& key);

}  // namespace galatea::codegen
