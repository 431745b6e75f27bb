// Files that were damaged on the way: a few bytes changed, left out, doubled, or moved; by a number, the same each time.
//
// Comes in: a file's bytes. Goes out: the bytes of one that is damaged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace galatea::testing {

/// Half of the changes are near the ends, where headers and tables are.
class Damager {
 public:
  explicit Damager(uint32_t seed) : random_(seed) {}

  std::vector<uint8_t> damaged(std::vector<uint8_t> file) {
    for (size_t k = 0, count = 1 + below(6); k < count && file.size() > 8; ++k) change(file);
    return file;
  }

 private:
  size_t below(size_t bound) { return random_() % std::max<size_t>(bound, 1); }

  size_t place(size_t size) {
    constexpr size_t kHeader = 600;
    const size_t near = below(std::min(size, kHeader));
    const size_t kind = below(4);
    return kind == 0 ? near : kind == 1 ? size - 1 - near : below(size);
  }

  void change(std::vector<uint8_t>& file) {
    constexpr uint8_t kEdges[] = {0, 1, 0x7F, 0x80, 0xFF};
    const size_t at = place(file.size());
    const size_t length = std::min(1 + below(16), file.size() - at);
    const auto from = file.begin() + static_cast<ptrdiff_t>(at), to = from + static_cast<ptrdiff_t>(length);
    switch (below(6)) {
      case 0:
        *from = static_cast<uint8_t>(random_());
        break;
      case 1:
        *from = static_cast<uint8_t>(*from ^ (1U << below(8)));
        break;
      case 2:  // a number of two or four bytes becomes a large one, or nothing
        std::fill(from, from + static_cast<ptrdiff_t>(std::min<size_t>(length, 4)), kEdges[below(5)]);
        break;
      case 3:
        file.erase(from, to);
        break;
      case 4: {
        const std::vector<uint8_t> twice(from, to);
        file.insert(from, twice.begin(), twice.end());
        break;
      }
      default: {
        const std::vector<uint8_t> moved(from, to);
        const size_t other = std::min(place(file.size()), file.size() - length);
        std::copy(moved.begin(), moved.end(), file.begin() + static_cast<ptrdiff_t>(other));
      }
    }
  }

  std::mt19937 random_;
};

}  // namespace galatea::testing
