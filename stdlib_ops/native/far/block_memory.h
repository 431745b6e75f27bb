// Blocks of far files in memory: those that are there, and those that somebody brings.
//
// Comes in: blocks as they are claimed and come. Goes out: the bytes of those that are there. Over its limit the
// blocks go that were not used for longest. Not safe for threads: the store's lock is held around each call.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace galatea::native::far {

using BlockBytes = std::vector<uint8_t>;
using SharedBlock = std::shared_ptr<const BlockBytes>;

class BlockMemory {
 public:
  /// Of a file and its version, the number of a block.
  using Key = std::pair<std::string, int64_t>;

  explicit BlockMemory(int64_t limit) : limit_(limit) {}

  /// There, or on its way.
  bool contains(const Key& key) const { return blocks_.contains(key); }
  /// A block for a reader, which makes it the last used; null where it is on its way or unknown.
  SharedBlock use(const Key& key);
  /// It is on its way. `is_ahead`: nobody has asked for it yet.
  void claim(const Key& key, int64_t size, bool is_ahead);
  /// It is there, claimed before or not.
  void put(const Key& key, SharedBlock bytes, bool is_ahead);
  /// It is nobody's again, on its way or there.
  void drop(const Key& key);

  /// Of blocks that were read ahead, or are being, and that nobody has read yet.
  int64_t ahead_bytes() const { return ahead_bytes_; }

 private:
  struct Block {
    SharedBlock bytes;  ///< null: on its way
    int64_t size = 0;
    bool is_ahead = false;
    std::list<Key>::iterator use;  ///< once it is there
  };

  int64_t limit_;
  std::map<Key, Block> blocks_;
  std::list<Key> used_;     ///< blocks that are there, the last used first
  int64_t held_bytes_ = 0;  ///< of blocks that are there
  int64_t ahead_bytes_ = 0;
};

}  // namespace galatea::native::far
