#include "stdlib_ops/native/jpeg_rows.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace galatea::native {
namespace {

/// The numbers of ITU-T T.81: a code has at most 16 bits, a DC difference at most 11 behind it, an AC
/// value 10.
constexpr int kLongestCode = 16, kMaxDcSize = 11;
constexpr int kMaxBlocksInMcu = 10;
constexpr int kBlockEnd = 64;
/// Far beyond what 8 bits a sample come to; differences without end add up to more.
constexpr int kMaxPredictor = 1 << 16;

/// One Huffman table in canonical form.
struct Code {
  const JHUFF_TBL* table = nullptr;
  int32_t first[kLongestCode + 2] = {};  ///< first code of each length
  int32_t index[kLongestCode + 2] = {};  ///< of its symbol

  /// False where the lengths are those of no code.
  bool make(const JHUFF_TBL* from) {
    table = from;
    int32_t code = 0, count = 0;
    for (int length = 1; length <= kLongestCode; ++length) {
      first[length] = code;
      index[length] = count;
      code += from->bits[length];
      count += from->bits[length];
      if (code > int32_t{1} << length || count > 256) return false;
      code <<= 1;
    }
    return true;
  }
  /// Length of the code that `word` begins with, and its symbol; 0: there is none.
  int match(uint64_t word, int& symbol) const {
    for (int length = 1; length <= kLongestCode; ++length) {
      const auto code = static_cast<int32_t>(word >> (64 - length));
      const int32_t offset = code - first[length];
      if (offset >= 0 && offset < table->bits[length]) {
        symbol = table->huffval[index[length] + offset];
        return length;
      }
    }
    return 0;
  }
  /// The code of a symbol: its length, 0 where it has none.
  int code_of(int symbol, uint32_t& code) const {
    for (int length = 1; length <= kLongestCode; ++length)
      for (int i = 0; i < table->bits[length]; ++i)
        if (table->huffval[index[length] + i] == symbol) {
          code = static_cast<uint32_t>(first[length] + i);
          return length;
        }
    return 0;
  }
};

/// What symbols of AC coefficients mean to who steps over them: how many bits they take with the value behind
/// them, and how many coefficients. Both in one number, so that those of symbols in a row are added.
using Step = uint16_t;
constexpr int kAdvanceShift = 6;           ///< below it: bits
constexpr int kEnd = 256, kUnknown = 512;  ///< added to the advance, which is at most 9 * 16
constexpr Step kUnknownStep = kUnknown << kAdvanceShift;
constexpr int bits_of(Step step) { return step & 63; }
constexpr int advance_of(Step step) { return step >> kAdvanceShift; }

Step step_of(int symbol, int length) {
  const int run = symbol >> 4, size = symbol & 15;
  // As the library has it, whatever is neither a value nor sixteen zeros ends the block.
  const int advance = size > 0 ? run + 1 : run == 15 ? 16 : kEnd;
  return static_cast<Step>(advance << kAdvanceShift | (length + size));
}

/// As many whole symbols as lie in the next kWidth bits, at one look.
struct AcSteps {
  static constexpr int kWidth = 11;
  static constexpr int kMostBits = 18;  ///< of one step: three of them fit where 56 bits are at hand
  Step steps[1 << kWidth];
  Code code;

  bool make(const JHUFF_TBL* from) {
    if (!code.make(from)) return false;
    // Tables of 0, 1, 2, … bits: each is made from smaller ones, by what remains behind its first symbol.
    // Zero stands for "no whole symbol" until the last is ready.
    Step smaller[1 << kWidth];  // of `width` bits from 2^width on
    smaller[1] = 0;
    for (int width = 1; width <= kWidth; ++width) {
      Step* out = width < kWidth ? smaller + (1 << width) : steps;
      fill(width, smaller, out);
    }
    for (Step& step : steps) step = step == 0 ? kUnknownStep : step;
    return true;
  }

 private:
  void fill(int width, const Step* smaller, Step* out) const {
    Step* at = out;
    for (int length = 1; length <= width; ++length) {
      for (int i = 0; i < code.table->bits[length]; ++i) {
        const Step step = step_of(code.table->huffval[code.index[length] + i], length);
        const int places = 1 << (width - length), behind = width - bits_of(step);
        if (bits_of(step) > kMostBits) {
          std::memset(at, 0, sizeof(Step) * static_cast<size_t>(places));
        } else if (advance_of(step) >= kEnd || behind <= 0) {
          for (int k = 0; k < places; ++k) at[k] = step;
        } else {
          const Step* next = smaller + (1 << behind);
          for (int k = 0; k < places; k += 1 << behind)
            for (int j = 0; j < 1 << behind; ++j) at[k + j] = joined(step, next[j]);
        }
        at += places;
      }
    }
    std::memset(at, 0, sizeof(Step) * static_cast<size_t>(out + (1 << width) - at));
  }
  static Step joined(Step first, Step next) {
    return bits_of(first) + bits_of(next) <= kMostBits ? static_cast<Step>(first + next) : first;
  }
};

/// Sizes of DC differences, and how long code and difference are together.
struct DcSizes {
  static constexpr int kWidth = 8;
  uint8_t length[1 << kWidth], size[1 << kWidth];  ///< length 0: a code longer than kWidth
  Code code;

  bool make(const JHUFF_TBL* from) {
    if (!code.make(from)) return false;
    std::memset(length, 0, sizeof length);
    int at = 0;
    for (int bits = 1; bits <= kWidth; ++bits)
      for (int i = 0; i < from->bits[bits]; ++i) {
        const int places = 1 << (kWidth - bits);
        const int symbol = from->huffval[code.index[bits] + i];
        std::memset(length + at, bits + std::min(symbol, kMaxDcSize + 1), static_cast<size_t>(places));
        std::memset(size + at, symbol, static_cast<size_t>(places));
        at += places;
      }
    return true;
  }
};

/// Bits of the scan, most significant first, without the zeros that are stuffed behind 0xFF.
class Bits {
 public:
  Bits(const uint8_t* begin, const uint8_t* end) : at_(begin), begin_(begin), end_(end) {}

  /// At least 56 bits at hand; false where the data ends or a marker comes before that.
  bool refill() {
    if (end_ - at_ >= 8) {
      uint64_t next = 0;
      std::memcpy(&next, at_, 8);
      if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
      constexpr uint64_t kOnes = 0x0101010101010101;
      // No byte is 0xFF: no byte of the complement is zero.
      if (((~next - kOnes) & next & (kOnes << 7)) == 0) {
        word_ |= next >> count_;
        at_ += (63 - count_) >> 3;
        count_ |= 56;
        return true;
      }
    }
    return refill_bytewise();
  }
  uint64_t word() const { return word_; }
  void drop(int bits) {
    word_ <<= bits & 63;
    count_ -= bits;
  }
  /// The byte that holds the next bit, and how many of its bits are gone.
  const uint8_t* place(int& bits_gone) const {
    const uint8_t* at = at_;
    for (int left = (count_ + 7) / 8; left > 0; --left)
      at -= at - begin_ >= 2 && at[-1] == 0 && at[-2] == 0xFF ? 2 : 1;
    bits_gone = -count_ & 7;
    return at;
  }

 private:
  bool refill_bytewise() {
    word_ &= count_ == 0 ? 0 : ~uint64_t{0} << (64 - count_);
    while (count_ < 56) {
      if (at_ == end_) return false;
      const uint8_t byte = *at_;
      if (byte == 0xFF && (end_ - at_ < 2 || at_[1] != 0)) return false;
      word_ |= uint64_t{byte} << (56 - count_);
      at_ += byte == 0xFF ? 2 : 1;
      count_ += 8;
    }
    return true;
  }

  uint64_t word_ = 0;  ///< below the bits that count: zeros, or what will come there anyway
  int count_ = 0;
  const uint8_t *at_, *begin_, *end_;
};

/// The blocks of an MCU and their tables.
struct Scan {
  DcSizes dc[NUM_HUFF_TBLS];
  AcSteps ac[NUM_HUFF_TBLS];
  struct Block {
    int component;
    const DcSizes* dc;
    const AcSteps* ac;
  };
  Block blocks[kMaxBlocksInMcu];
  int num_blocks = 0, mcus_per_row = 0;

  bool make(const jpeg_decompress_struct& info) {
    bool has_dc[NUM_HUFF_TBLS] = {}, has_ac[NUM_HUFF_TBLS] = {};
    for (int i = 0; i < info.comps_in_scan; ++i) {
      const jpeg_component_info& component = *info.cur_comp_info[i];
      const int d = component.dc_tbl_no, a = component.ac_tbl_no;
      if (d < 0 || d >= NUM_HUFF_TBLS || a < 0 || a >= NUM_HUFF_TBLS) return false;
      if (!info.dc_huff_tbl_ptrs[d] || !info.ac_huff_tbl_ptrs[a]) return false;
      if (!has_dc[d] && !dc[d].make(info.dc_huff_tbl_ptrs[d])) return false;
      if (!has_ac[a] && !ac[a].make(info.ac_huff_tbl_ptrs[a])) return false;
      has_dc[d] = has_ac[a] = true;
      for (int k = component.h_samp_factor * component.v_samp_factor; k > 0; --k) {
        if (num_blocks == kMaxBlocksInMcu) return false;
        blocks[num_blocks++] = {i, &dc[d], &ac[a]};
      }
    }
    const auto mcu_width = static_cast<unsigned>(info.max_h_samp_factor * DCTSIZE);
    mcus_per_row = static_cast<int>((info.image_width + mcu_width - 1) / mcu_width);
    return true;
  }
};

/// One AC symbol by itself; false: no such code.
bool step_once(const AcSteps& ac, Bits& bits, int& k) {
  int symbol = 0;
  const int length = ac.code.match(bits.word(), symbol);
  if (length == 0) return false;
  const Step step = step_of(symbol, length);
  bits.drop(bits_of(step));
  k += advance_of(step);
  return true;
}

/// What step() came to.
enum class Walk : uint8_t { kGoesOn, kDone, kLost };

/// The symbols of one look. The bits for them are at hand.
inline Walk step(const AcSteps& ac, Bits& bits, int& k) {
  const Step next = ac.steps[bits.word() >> (64 - AcSteps::kWidth)];
  const int after = k + advance_of(next);
  if (after < kBlockEnd) [[likely]] {
    bits.drop(bits_of(next));
    k = after;
    return Walk::kGoesOn;
  }
  // The end, by its symbol or by the last coefficient; else a long code, or symbols of which not all are this
  // block's.
  if (after == kBlockEnd || (after >= kEnd && after < kEnd + kBlockEnd)) {
    bits.drop(bits_of(next));
    return Walk::kDone;
  }
  if (!bits.refill() || !step_once(ac, bits, k) || !bits.refill()) return Walk::kLost;
  if (k < kBlockEnd) return Walk::kGoesOn;
  return k == kBlockEnd || (k >= kEnd && k < kEnd + kBlockEnd) ? Walk::kDone : Walk::kLost;
}

/// Steps over one block; false: it is not one that the library would decode without a word.
inline bool step_over_block(const DcSizes& dc, const AcSteps& ac, Bits& bits, int& predictor) {
  if (!bits.refill()) return false;
  const uint64_t word = bits.word();
  const auto look = static_cast<size_t>(word >> (64 - DcSizes::kWidth));
  int length = dc.length[look], size = dc.size[look];
  if (length == 0) {
    length = dc.code.match(word, size);
    if (length == 0) return false;
    length += size;
  }
  if (size > kMaxDcSize) return false;
  bits.drop(length);
  const auto value = static_cast<int>((word << (length - size) >> 1) >> (63 - size));
  predictor += value < (1 << size) >> 1 ? value - (1 << size) + 1 : value;
  int k = 1;
  Walk walk = step(ac, bits, k);
  while (walk == Walk::kGoesOn) {
    if (!bits.refill()) return false;
    walk = step(ac, bits, k);
    if (walk == Walk::kGoesOn) walk = step(ac, bits, k);
    if (walk == Walk::kGoesOn) walk = step(ac, bits, k);
  }
  return walk == Walk::kDone && std::abs(predictor) <= kMaxPredictor;
}

bool step_over_rows(const Scan& scan, int rows, Bits& bits, int* predictors) {
  Bits local = bits;  // in registers
  for (int64_t mcu = int64_t{rows} * scan.mcus_per_row; mcu > 0; --mcu)
    for (int i = 0; i < scan.num_blocks; ++i) {
      const Scan::Block& block = scan.blocks[i];
      if (!step_over_block(*block.dc, *block.ac, local, predictors[block.component])) return false;
    }
  bits = local;
  return true;
}

/// Writes the made-up row.
class Writer {
 public:
  explicit Writer(JpegSplice& splice) : splice_(splice) { splice_.size = 0; }
  void put(uint32_t bits, int count) {
    word_ = word_ << count | bits;
    for (count_ += count; count_ >= 8; count_ -= 8) {
      const auto byte = static_cast<uint8_t>(word_ >> (count_ - 8));
      if (is_full()) continue;
      splice_.bytes[splice_.size++] = byte;
      if (byte == 0xFF) splice_.bytes[splice_.size++] = 0;
    }
  }
  int bits_in_byte() const { return count_; }
  bool is_full() const { return splice_.size >= JpegSplice::kCapacity; }

 private:
  JpegSplice& splice_;
  uint64_t word_ = 0;
  int count_ = 0;
};

int size_of_difference(int value) { return std::bit_width(static_cast<unsigned>(std::abs(value))); }

/// A difference of DC coefficients as near to `wanted` as the table can say, but not beyond.
void put_difference(const Code& code, int& wanted, Writer& writer) {
  uint32_t bits = 0;
  for (int size = std::min(size_of_difference(wanted), kMaxDcSize); size >= 0; --size) {
    const int length = code.code_of(size, bits);
    if (length == 0) continue;
    const int limit = (1 << size) - 1;
    const int value = std::clamp(wanted, -limit, limit);
    writer.put(bits, length);
    writer.put(static_cast<uint32_t>(value < 0 ? value + limit : value), size);
    wanted -= value;
    return;
  }
}

/// AC coefficients that take the row's end to `bits` bits of a byte, before the end of its last block.
bool put_filler(const Code& code, int end_length, int bits, Writer& writer) {
  const int missing = (bits - writer.bits_in_byte() - end_length) & 7;
  if (missing == 0) return true;
  // Some symbol takes an odd number of bits; up to seven of it end anywhere.
  for (int symbol = 1; symbol < 0x90; ++symbol) {
    const int size = symbol & 15;
    uint32_t bits_of_code = 0;
    const int length = size > 0 && size <= 10 ? code.code_of(symbol, bits_of_code) : 0;
    if (length == 0 || (length + size) % 2 == 0) continue;
    for (int filled = 0; filled != missing; filled = (filled + length + size) & 7) {
      writer.put(bits_of_code, length);
      writer.put(1U << (size - 1), size);
    }
    return true;
  }
  return false;
}

/// "No difference" and "end of block", without which there is no such row.
struct EmptyBlock {
  uint32_t none = 0, end = 0;
  int none_length = 0, end_length = 0;
};

/// A row of MCUs whose DC coefficients end at `predictors`, and which ends in the midst of the byte at
/// `place` as the row does that is left out before it.
bool make_row(const Scan& scan, const int* predictors, const uint8_t* place, int bits_gone,
              JpegSplice& splice) {
  EmptyBlock empty[kMaxBlocksInMcu];
  for (int i = 0; i < scan.num_blocks; ++i) {
    empty[i].none_length = scan.blocks[i].dc->code.code_of(0, empty[i].none);
    empty[i].end_length = scan.blocks[i].ac->code.code_of(0, empty[i].end);
    if (empty[i].none_length == 0 || empty[i].end_length == 0) return false;
  }
  int wanted[MAX_COMPS_IN_SCAN];
  std::copy(predictors, predictors + MAX_COMPS_IN_SCAN, wanted);
  Writer writer(splice);
  for (int mcu = 0; mcu < scan.mcus_per_row && !writer.is_full(); ++mcu)
    for (int i = 0; i < scan.num_blocks; ++i) {
      const Scan::Block& block = scan.blocks[i];
      if (wanted[block.component] == 0)
        writer.put(empty[i].none, empty[i].none_length);
      else
        put_difference(block.dc->code, wanted[block.component], writer);
      const bool is_last = mcu == scan.mcus_per_row - 1 && i == scan.num_blocks - 1;
      if (is_last && !put_filler(block.ac->code, empty[i].end_length, bits_gone, writer)) return false;
      writer.put(empty[i].end, empty[i].end_length);
    }
  for (const int left : wanted)
    if (left != 0) return false;
  splice.rest = place;
  if (bits_gone > 0) {
    writer.put(*place & (0xFFU >> bits_gone), 8 - bits_gone);
    splice.rest += *place == 0xFF ? 2 : 1;
  }
  return !writer.is_full();
}

/// The source has given the made-up row; what follows is the file's.
boolean go_on_in_file(j_decompress_ptr info) {
  auto* splice = static_cast<JpegSplice*>(info->client_data);
  info->src->next_input_byte = splice->rest;
  info->src->bytes_in_buffer = static_cast<size_t>(splice->end - splice->rest);
  info->src->fill_input_buffer = splice->fill_at_end;
  return info->src->bytes_in_buffer > 0 ? boolean{TRUE} : splice->fill_at_end(info);
}

bool is_plain(const jpeg_decompress_struct& info) {
  if (info.progressive_mode || info.arith_code || info.restart_interval != 0 || info.unread_marker != 0 ||
      info.comps_in_scan != info.num_components || info.Ss != 0 || info.Se != DCTSIZE2 - 1)
    return false;
  return info.num_components > 1 || (info.max_h_samp_factor == 1 && info.max_v_samp_factor == 1);
}

}  // namespace

int rows_above(const jpeg_decompress_struct& info, int64_t y, int eighths) {
  // Below this, making the tables and the row costs more than the library's way.
  constexpr int64_t kFewBlocks = 800;
  if (!is_plain(info)) return 0;
  int64_t rows = y / (int64_t{info.max_v_samp_factor} * eighths);
  // Upsampling looks one row of samples further up.
  if (info.max_v_samp_factor > 1) --rows;
  int64_t blocks_in_mcu = 0;
  for (int i = 0; i < info.comps_in_scan; ++i)
    blocks_in_mcu += int64_t{info.cur_comp_info[i]->h_samp_factor} * info.cur_comp_info[i]->v_samp_factor;
  const int64_t mcus = info.image_width / static_cast<unsigned>(info.max_h_samp_factor * DCTSIZE) + 1;
  return rows >= 2 && rows * mcus * blocks_in_mcu >= kFewBlocks ? static_cast<int>(rows) : 0;
}

bool leave_rows_out(jpeg_decompress_struct& info, int rows, const uint8_t* end, JpegSplice& splice) {
  Scan scan;
  if (!is_plain(info) || rows < 1 || !scan.make(info)) return false;
  Bits bits(info.src->next_input_byte, end);
  int predictors[MAX_COMPS_IN_SCAN] = {};
  if (!step_over_rows(scan, rows, bits, predictors)) return false;
  int bits_gone = 0;
  const uint8_t* place = bits.place(bits_gone);
  if (!make_row(scan, predictors, place, bits_gone, splice)) return false;

  splice.end = end;
  splice.fill_at_end = info.src->fill_input_buffer;
  info.client_data = &splice;
  info.src->next_input_byte = splice.bytes;
  info.src->bytes_in_buffer = splice.size;
  info.src->fill_input_buffer = go_on_in_file;
  // What jpeg_read_header() made of the height.
  const auto mcu_height = static_cast<JDIMENSION>(info.max_v_samp_factor * DCTSIZE);
  info.image_height -= static_cast<JDIMENSION>(rows - 1) * mcu_height;
  info.total_iMCU_rows -= static_cast<JDIMENSION>(rows - 1);
  for (int i = 0; i < info.num_components; ++i)
    info.comp_info[i].height_in_blocks -=
        static_cast<JDIMENSION>((rows - 1) * info.comp_info[i].v_samp_factor);
  return true;
}

}  // namespace galatea::native
