#include "runtime/arena.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/huge_page.h"
#include "runtime/messages.h"

namespace galatea::runtime {

int64_t round_up_capacity(int64_t bytes) {
  if (bytes <= 512) return (bytes + 63) / 64 * 64;
  int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes))) / 8;
  return (bytes + step - 1) / step * step;
}

namespace {

/// From here on an arena takes whole huge pages: below, most of one would lie idle.
constexpr int64_t kHugeFrom = kHugePage / 4;
/// A piece of this size is not kept beside free ones that were too small: hours of sound, long clips.
constexpr int64_t kInsteadFrom = 8 * kHugePage;

int64_t round_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Arena::~Arena() {
  if (!gate_) return;
  const int64_t kept = retained_bytes_;
  pieces_.clear();
  awake_ ? gate_->release(budget_) : gate_->idle_shrank(kept);
}

int64_t Arena::need_of(int64_t bytes) const {
  return gate_ ? round_up_capacity(bytes) + kBufferPadding
               : round_up(bytes + kBufferPadding, kBufferAlignment);
}

int64_t Arena::size_of_piece(int64_t need) const {
  if (gate_) return need;
  const int64_t wanted = retained_bytes_ == 0 ? std::max(need, expected_bytes_) : need;
  if (pieces_of_ == Pieces::kHugePages && retained_bytes_ + wanted >= kHugeFrom)
    return round_up(wanted, kHugePage);
  return round_up_capacity(wanted);
}

int32_t Arena::new_block() {
  auto unused = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& block) { return !block.data; });
  if (unused == blocks_.end()) unused = blocks_.emplace(blocks_.end());
  return static_cast<int32_t>(unused - blocks_.begin());
}

int32_t Arena::cut(int64_t need) {
  for (size_t at = 0; at < pieces_.size(); ++at) {
    Piece& piece = pieces_[at];
    // A budget knows nothing of larger blocks.
    const int64_t begin = piece.buffer ? piece.free.cut(need, gate_ != nullptr) : -1;
    if (begin < 0) continue;
    const int32_t id = new_block();
    blocks_[static_cast<size_t>(id)] = {piece.buffer->data() + begin, at, begin, need, 1};
    piece.last_use = ++clock_;
    return id;
  }
  return -1;
}

void Arena::drop_piece(size_t at) {
  retained_bytes_ -= pieces_[at].size();
  pieces_[at] = Piece{};  // others keep their numbers
}

void Arena::drop_free_pieces() {
  for (size_t at = 0; at < pieces_.size(); ++at) {
    if (pieces_[at].buffer && pieces_[at].is_free()) drop_piece(at);
  }
}

Status Arena::stay_within_budget(int64_t bytes) {
  lacking_ = 0;
  if (!gate_ || retained_bytes_ + bytes <= budget_) return {};
  drop_free_pieces();
  const int64_t missing = retained_bytes_ + bytes - budget_;
  if (missing <= 0) return {};
  if (budget_ + missing > limit_)
    return make_error(message::kMemoryLimit, budget_ + missing, gate_->limit(), limit_);
  if (!gate_->try_claim(missing)) {
    lacking_ = missing;
    return make_error(message::kNoRoom, missing, gate_->limit(), gate_->limit() - gate_->bytes_free());
  }
  budget_ += missing;
  return {};
}

int64_t Arena::cede(int64_t bytes) {
  if (budget_ - retained_bytes_ < bytes) drop_free_pieces();
  const int64_t ceded = std::clamp<int64_t>(budget_ - retained_bytes_, 0, bytes);
  budget_ -= ceded;
  return ceded;
}

Status Arena::grow(int64_t need) {
  const int64_t size = size_of_piece(need);
  if (size >= kInsteadFrom) drop_free_pieces();
  GALATEA_TRY(stay_within_budget(size));
  constexpr bool kInArena = true;
  auto buffer = allocator_.allocate(size - kBufferPadding, kInArena);
  if (!buffer) {
    drop_free_pieces();
    buffer = allocator_.allocate(need - kBufferPadding, kInArena);
  }
  if (!buffer) return std::unexpected(std::move(buffer.error()));
  FreeRanges free((*buffer)->size() + kBufferPadding);
  auto unused =
      std::find_if(pieces_.begin(), pieces_.end(), [](const Piece& piece) { return !piece.buffer; });
  if (unused == pieces_.end()) unused = pieces_.emplace(pieces_.end());
  unused->buffer = std::move(*buffer);
  unused->free = std::move(free);
  retained_bytes_ += unused->size();
  return {};
}

Result<int32_t> Arena::acquire(int64_t bytes) {
  const int64_t need = need_of(bytes);
  int32_t id = cut(need);
  if (id < 0) {
    GALATEA_TRY(grow(need));
    id = cut(need);
  }
  live_bytes_ += need;
  peak_live_bytes_ = std::max(peak_live_bytes_, live_bytes_);
  return id;
}

void Arena::retain(int32_t block) {
  if (block >= 0) ++blocks_[static_cast<size_t>(block)].references;
}

void Arena::release(int32_t id) {
  if (id < 0) return;
  Block& block = blocks_[static_cast<size_t>(id)];
  GALATEA_CHECK(block.references > 0);
  if (--block.references > 0) return;
  live_bytes_ -= block.size;
  pieces_[block.piece].free.give_back(block.begin, block.size);
  block = Block{};
}

void Arena::reset() {
  blocks_.clear();
  live_bytes_ = 0;
  size_t num_pieces = 0;
  for (Piece& piece : pieces_) {
    if (!piece.buffer) continue;
    piece.free.reset(piece.size());
    ++num_pieces;
  }
  if (!gate_ && num_pieces > 1) {
    // The next sample takes one for all. Where even that was not enough, blocks left gaps.
    expected_bytes_ = std::min(retained_bytes_, std::max(expected_bytes_, peak_live_bytes_) * 5 / 4);
    drop_free_pieces();
    pieces_.clear();
  }
  while (gate_ && retained_bytes_ > 2 * peak_live_bytes_) {
    auto oldest = pieces_.end();
    for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece) {
      if (piece->buffer && (oldest == pieces_.end() || piece->last_use < oldest->last_use)) oldest = piece;
    }
    if (oldest == pieces_.end()) return;
    drop_piece(static_cast<size_t>(oldest - pieces_.begin()));
  }
}

void Arena::wake(int64_t limit) {
  awake_ = true;
  limit_ = limit;
  lacking_ = 0;
  budget_ = retained_bytes_;
  gate_->wake(budget_);
}

void Arena::sleep() {
  if (!awake_) return;
  awake_ = false;
  gate_->rest(std::exchange(budget_, 0), retained_bytes_);
}

void Arena::shrink_idle() {
  const int64_t before = retained_bytes_;
  drop_free_pieces();
  gate_->idle_shrank(before - retained_bytes_);
}

}  // namespace galatea::runtime
