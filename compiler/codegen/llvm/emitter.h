// Loops to LLVM IR, with explicit vectors. Shared by the files of this folder; the entry is generate.h.
//
// A value is a scalar or a vector of `lanes_` elements; uniform expressions stay scalar and are spread where
// a vector needs them. A vector loop is emitted twice (whole vectors, then one masked iteration for the
// rest), or once with a mask all along. bool is i1 in registers and a byte in memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/codegen/llvm/value_memo.h"
#include "compiler/codegen/target.h"
#include "compiler/kernel/loops.h"

namespace galatea::codegen {

class FunctionEmitter {
 public:
  FunctionEmitter(const kernel::LoopKernel& kernel, const Target& target, llvm::Module& module);
  void run(const std::string& symbol);

 private:
  using Expr = kernel::Expr;
  using Value = llvm::Value;

  // emit_statements.cpp
  void emit_entry();
  void set_target(llvm::Function* function) const;
  void place_buffers(Value* scratch);
  void emit_block(const kernel::Block& block);
  void emit_for(const kernel::For& loop);
  void emit_serial(Value* begin, Value* end, int var, const kernel::Block& body);
  void counted_loop(Value* begin, Value* end, const std::function<void(Value*)>& body, int64_t step = 1);
  void emit_vector(const kernel::For& loop);
  Value* lanes_below(Value* base, Value* end, int lanes);
  void emit_vector_body(const kernel::For& loop, Value* base, Value* mask, int lanes);
  void emit_masked(const kernel::For& loop, Value* begin, Value* end);
  void emit_side_by_side(const kernel::For& loop, Value* begin, Value* end);
  static bool may_run_twice(const kernel::For& loop);
  void emit_if(const kernel::If& branch);
  void emit_store(const kernel::Store& store);
  void define(int var, Value* value);

  // emit_expr.cpp
  Value* emit(const Expr& e);
  Value* emit_uncached(const Expr& e);
  Value* emit_op(const kernel::ExprNode& e);
  Value* emit_arithmetic(ScalarOp op, DType type, std::vector<Value*>& args);
  Value* emit_compare(ScalarOp op, DType type, Value* a, Value* b);
  Value* emit_division(ScalarOp op, DType type, Value* a, Value* b);
  Value* emit_convert(DType from, DType to, Value* value);
  Value* emit_truncate(DType to, Value* value);
  static bool is_at_least(Value* value, double low);
  static bool is_below(Value* value, double high);
  Value* emit_saturate(DType from, DType to, Value* value);
  Value* emit_philox(const kernel::ExprNode& e);
  Value* emit_round_away(Value* value);
  Value* emit_float_rem(Value* a, Value* b);  // emit_rem.cpp
  Value* multiply_high(Value* a, Value* b, bool is_signed);

  // emit_memory.cpp
  Value* emit_load(const kernel::ExprNode& e);
  Value* load_word(const kernel::ExprNode& e);
  void store_vector(const kernel::LoopBuffer& buffer, const kernel::Store& store, Value* value);
  Value* address(int buffer, Value* offset);
  llvm::Instruction* tag(llvm::Instruction* access, int buffer);
  Value* from_memory(DType type, Value* raw);
  Value* to_memory(DType type, Value* value);

  // mirror.cpp
  /// Pixels that a vector loop reads from the end to the beginning: lane i takes the one at uniform +
  /// constant
  /// - s * i.
  struct PixelsBackwards {
    int buffer = -1;
    Expr uniform;
    int64_t constant = 0;
  };
  Value* load_backwards(int buffer, Value* base, int s, int64_t constant);
  std::optional<PixelsBackwards> match_backwards(const std::vector<const kernel::Store*>& pixel) const;
  struct PixelStores;
  void store_backwards(const PixelStores& pixel, int buffer, Value* base);
  Value* backwards_part(int buffer, Value* lowest, int s, int first, int unit);

  // interleave.cpp
  /// Stores of one pixel's channels, and what of them has been computed.
  struct PixelStores {
    Expr uniform;
    int64_t constant = 0;
    bool streaming = false;
    int table = -1;                       ///< the values are bytes to look up in this buffer
    std::optional<PixelsBackwards> from;  ///< the values are these pixels as they are
    std::vector<Value*> values;
    size_t num = 0;
  };
  static constexpr int64_t kMaxInterleaved = 4;
  int shuffle_unit(int element_bytes) const;
  Value* slice(Value* vector, int first, int count);
  Value* concatenate(std::vector<Value*> parts);
  Value* pick_strided(const std::vector<Value*>& run, int channel);
  Value* interleaved_part(const std::vector<Value*>& channels, int part);
  Value* run_mask(int s, int first, int count);
  bool has_wide_bytes() const;
  bool for_each_register(const std::function<void(int)>& emit);
  Value* pixels_to_lanes(Value* run, int s, bool backwards);
  Value* load_wide_bytes(int buffer, Value* base, int s, int channel, int table, bool backwards = false);
  void store_wide_bytes(int buffer, Value* base, std::vector<Value*> channels, int table);
  Value* load_strided(int buffer, Value* base, int s, int channel, bool backwards = false);
  void find_pixel_stores(const kernel::Block& block);
  bool add_to_pixel(const kernel::Store& store);

  // pack_bytes.cpp
  /// Bytes that a loop rounds floats to and stores side by side, or as pixels of three.
  struct Packing {
    std::vector<Expr> rounded;  ///< what is stored: conversions with saturation
    int table = -1;             ///< the bytes are looked up in this buffer
    bool is_bounded = false;    ///< a conversion to 32 bits holds the floats, if these scalars are small:
    std::vector<Expr> asked;
    double scalars = 0;
    // While it is emitted:
    std::vector<Value*> words;           ///< per register and channel
    std::vector<Value*>::iterator next;  ///< where the next store's first word goes
    Value* base = nullptr;               ///< offset of the first
    int buffer = -1;
    bool streaming = false;
  };
  std::optional<Packing> match_packing(const kernel::For& loop);
  std::optional<Packing> match_packed_stores(const std::vector<const kernel::Store*>& stores,
                                             int64_t s) const;
  bool is_worth_packing(const kernel::For& loop) const;
  Value* scalars_are_small(const Packing& packing);
  void emit_packed(const kernel::For& loop, Packing packing, Value* begin, Value* end);
  void add_to_packing(const kernel::Store& store);
  Value* pack(Value* a, Value* b, Value* c, Value* d);
  Value* permute_words(Value* bytes, const std::function<int(int)>& from);
  void store_packed(const Packing& packing);
  void store_packed_pixels(const Packing& packing);
  Packing* packing_ = nullptr;  ///< of the vector loop being emitted

  // turn.cpp
  /// A loop that copies pixels rows for columns: rows of the destination, `columns` inside of them.
  struct Turn {
    const kernel::For* columns = nullptr;
    int from = -1, to = -1;  ///< buffers
    int elements = 1;        ///< of a pixel
    int lane = 1;            ///< bytes of a pixel in a register
    int parts = 1;           ///< of 128 bits in a register
    bool backwards = false;  ///< the first row of the destination is the source's last column
    Expr begin, end;         ///< of columns
    Expr from_start, to_start, from_step, to_step;  ///< steps: from row to row of either; empty starts: 0
    int64_t from_constant = 0, to_constant = 0;
    int pixels() const { return 16 / lane * parts; }  ///< of a block, either way
  };
  struct TurnPlaces {
    Value *from = nullptr, *to = nullptr, *from_step = nullptr, *to_step = nullptr;
  };
  std::optional<Turn> match_turn(const kernel::For& rows) const;
  void emit_turned(const kernel::For& rows, const Turn& turn);
  void emit_turned_block(const Turn& turn, const TurnPlaces& at, Value* row, Value* column);
  std::vector<Value*> turn_in_parts(std::vector<Value*> rows, int lane, int parts);
  std::vector<Value*> turn_lanes(std::vector<Value*> rows, int lane, int parts);
  Value* spread_pixels(Value* run, int lane, int parts, bool back);

  // look_up.cpp
  /// A load from a table of 256 bytes.
  struct LookUp {
    int table = -1;
    Expr byte;  ///< u8: which entry
    Expr base;  ///< where the table begins in its buffer, the same for all lanes; empty: at 0
  };
  std::optional<LookUp> match_look_up(const kernel::ExprNode& e) const;
  bool match_entry(const Expr& offset, LookUp* out) const;
  Value* emit_look_up(const LookUp& load);
  Value* look_up(int table, Value* bytes, Value* base = nullptr);
  Value* look_up_register(int table, Value* bytes, Value* base);

  // gather.cpp
  /// Where offsets that differ from lane to lane begin: an address, and elements after it.
  struct GatherPlace {
    Value *base = nullptr, *lanes = nullptr;
    bool leave = false;  ///< offsets can be taken out of `lanes`
    bool quads = false;  ///< runs of more than two elements are read as quads
  };
  /// Loads of one block that differ in the constant of their offsets only.
  struct GatherGroup {
    int buffer = -1;
    std::vector<Expr> terms;         ///< of the offset, without its constant
    std::vector<int64_t> constants;  ///< in ascending order
    GatherPlace place;               ///< once a load is emitted
    /// Loaded already, by their first constant: words, or vectors of the elements of quads.
    std::vector<std::pair<int64_t, Value*>> words;
    std::vector<std::pair<int64_t, std::vector<Value*>>> quads;
  };
  /// Elements that one load a lane reads.
  struct GatherRun {
    int64_t first, last;
  };
  void find_gathers(const kernel::Block& block);
  static GatherGroup gather_of(int buffer, const Expr& offset);
  static GatherGroup* find_group(std::vector<GatherGroup>& groups, const GatherGroup& wanted);
  static void add_to_group(std::vector<GatherGroup>& groups, GatherGroup load);
  static std::vector<GatherRun> runs_of(const GatherGroup& group, int64_t most);
  int num_runs(int buffer, int64_t most) const;
  Value* gather(const kernel::ExprNode& e);
  const GatherPlace& place_of(GatherGroup& group);
  Value* gather_words(GatherGroup& group, int64_t first, int size, int bytes);
  const std::vector<Value*>& gather_quads(GatherGroup& group, int64_t first);
  Value* gather_one_by_one(Value* base, llvm::Type* element, Value* lanes, int bytes);
  const std::vector<Value*>& offsets_of(Value* lanes);
  Value* pick_element(DType type, Value* words, int64_t element);
  std::vector<std::vector<GatherGroup>> gathers_;  ///< of the blocks being emitted; vector loops only
  struct ScalarOffsets {
    Value* lanes = nullptr;
    llvm::BasicBlock* block = nullptr;
    std::vector<Value*> values;
  };
  ScalarOffsets offsets_;  ///< those last taken out of a vector

  // gather_ahead.cpp
  /// An input that a loop gathers from, and how far ahead of each place the one lies that is asked for.
  struct GatheredRows {
    int buffer = -1;
    Value* ahead = nullptr;
  };
  void find_gathered_rows(const kernel::For& loop);
  Value* rows_ahead(int buffer) const;
  void prefetch_rows_ahead(const GatherGroup& group);
  std::vector<GatheredRows> gathered_rows_;  ///< of the vector loop being emitted

  // stream_store.cpp
  void prepare_streams();
  void end_streams();
  void store_whole(Value* vector, Value* pointer, int buffer, bool streaming);

  void store_past(Value* vector, Value* pointer, int buffer, Value* bits);

  // stream_rows.cpp
  /// The beginning of a line of an output that is not stored yet: variables.
  struct KeptLine {
    llvm::AllocaInst *value, *at, *count;  ///< its elements; its address; how many of them are there
  };
  const kernel::Store* streamed_row(const kernel::For& loop) const;
  void emit_streamed_row(const kernel::For& loop, const kernel::Store& store, Value* begin, Value* end);
  KeptLine& kept_line(int buffer);
  void store_kept(int buffer, const KeptLine& kept);
  void when(Value* condition, const std::function<void()>& then);
  std::unordered_map<int, KeptLine> kept_lines_;  ///< per buffer
  Value** sink_ = nullptr;                        ///< where a store's vector goes instead of to memory

  // next_row.cpp
  /// What a loop reads: lane i takes the element at start + constant + step * i; `next` is where that is
  /// asked for which comes later: a page ahead, or the start that is expected of the next row.
  struct Row {
    int buffer = -1;
    int64_t step = 1, constant = 0;
    Value* next = nullptr;
  };
  static void add_row(const Row& row, const Expr& start, std::vector<Row>* rows, std::vector<Expr>* starts);
  void find_runs(const kernel::For& loop);
  Value* page_of_rows(Value* distance, int buffer);
  void find_rows(const kernel::For& loop);
  void prefetch_next_rows();
  void prefetch_lines(Value* pointer, int64_t bytes);
  void prefetch_of_fold(int buffer, const kernel::VectorOffset& place, Value* pointer);
  int fold_var_ = -1;      ///< of the loop within a vector loop, but in no other, that is being emitted
  std::vector<Row> rows_;  ///< of the vector loop being emitted

  // band_row.cpp
  /// A hand-made form of a row: source columns lie in planes; sixteen pixels are a group, for which
  /// `prepared` has tables, by steps of some taps.
  struct BandForm {
    int log_taps;        ///< taps a step, as a power of two
    int log_pixels;      ///< pixels that share a window, as a power of two
    int64_t window;      ///< columns in a window
    int64_t step_bytes;  ///< of a group's tables for one step
    int log_bytes;       ///< bytes of an element in a plane, as a power of two
    bool moves;          ///< each tap may have a window of its own
    int held;            ///< what the header says where windows and weights fit
  };
  static constexpr BandForm kQuads{2, 4, 64, 192, 0, false, 1}, kPairs{1, 2, 16, 128, 0, false, 1},
      kFloats{0, 4, 32, 128, 2, true, 2}, kSpans{4, 0, int64_t{1} << 31, 512, 0, false, 2};
  static constexpr int kGroup = 16;  ///< pixels
  /// Addresses and sizes inside `prepared`.
  struct PreparedLayout {
    Value *start, *base, *tables, *planes;
    Value *width, *taps, *src_width, *groups, *steps, *group_bytes, *plane_bytes;
  };
  const BandForm* form_of(const kernel::BandTables& tables) const;
  PreparedLayout prepared_layout(const kernel::BandTables& tables, const BandForm& form);
  Value* prepared_header(const PreparedLayout& layout, int number);
  void emit_band_prepare(const kernel::BandPrepare& prepare);
  void emit_band_row(const kernel::BandRow& row);
  void emit_plain_row(const kernel::BandRow& row);
  static bool sums_whole_pixels(const kernel::BandTables& tables);
  void emit_pixels_row(const kernel::BandRow& row);
  kernel::Block gathered_row(const kernel::BandRow& row, std::vector<DType>& types);
  void switch_steps(Value* steps, const std::vector<int64_t>& known,
                    const std::function<void(int64_t)>& emit);
  Value* column(const PreparedLayout& layout, Value* position);
  Value* bounded(Value* number, Value* last);
  /// Where a row's sums go: element 0, and elements from channel to channel.
  struct BandTarget {
    Value *start, *plane;
  };
  BandTarget band_target(const kernel::BandRow& row);
  void store_group(const kernel::BandRow& row, const BandTarget& target, Value* x, size_t channel,
                   Value* value, Value* mask);
  void sum_steps(Value* steps, int64_t known, std::vector<Value*>& sums,
                 const std::function<void(Value*, std::vector<Value*>&)>& add);
  // band_tables.cpp
  /// One tap of one pixel of a group, where its table entries go.
  struct BandSlot {
    Value* step;   ///< the step's tables
    Value* lane;   ///< of the group
    Value* tap;    ///< of the step
    Value* index;  ///< of the column in the window
    Value* weight;
    Value* real;  ///< whether the pixel and the tap exist; else the weight is that of others
  };
  void emit_band_tables(const kernel::BandTables& tables, const BandForm& form);
  void clear_spans(const PreparedLayout& layout, Value* group, Value* pixel);
  /// Each writes an entry; returns whether the form can hold the weight, or null: always.
  Value* fill_quad(const BandSlot& slot);
  Value* fill_pair(const BandSlot& slot);
  Value* fill_float(const BandSlot& slot);
  Value* fill_span(const BandSlot& slot);
  // band_planes.cpp
  void take_row_apart(const kernel::BandRow& row, const PreparedLayout& layout);
  Value* pick_channel(const std::vector<Value*>& parts, int c);
  // band_row_vnni.cpp, band_row_pairs.cpp, band_row_floats.cpp, band_row_spans.cpp
  void emit_vnni_row(const kernel::BandRow& row, const PreparedLayout& layout);
  void emit_vnni_groups(const kernel::BandRow& row, const PreparedLayout& layout, int64_t known_steps);
  void emit_pairs_row(const kernel::BandRow& row, const PreparedLayout& layout);
  void emit_pairs_groups(const kernel::BandRow& row, const PreparedLayout& layout, int64_t known_steps);
  void emit_float_row(const kernel::BandRow& row, const PreparedLayout& layout);
  void emit_float_groups(const kernel::BandRow& row, const PreparedLayout& layout, bool one_window,
                         int64_t known_steps);
  void emit_spans_row(const kernel::BandRow& row, const PreparedLayout& layout);
  /// The row as it lies, the last column needed, and the order that takes channels apart.
  struct SpanSource {
    Value *start = nullptr, *last = nullptr, *pick = nullptr;
  };
  SpanSource span_source(const kernel::BandRow& row, const PreparedLayout& layout);
  void add_span_bytes(const kernel::BandRow& row, const SpanSource& source, Value* from, Value* weights,
                      Value*& high, Value*& low);
  void add_span_words(const kernel::BandRow& row, const PreparedLayout& layout, size_t channel, Value* from,
                      Value* weights, Value*& sum);
  Value* add_quarters(const std::vector<Value*>& four);
  Value* quarter(Value* vector, size_t number);

  // types
  llvm::Type* type_of(DType type) const;      ///< in registers
  llvm::Type* memory_type(DType type) const;  ///< in memory
  llvm::Type* vector_of(llvm::Type* element, int lanes) const {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  }
  Value* spread(Value* value);              ///< a vector of lanes_ (only inside a vector loop)
  Value* like(Value* value, Value* other);  ///< spread if the other is a vector
  static bool is_vector(const Value* value) { return value->getType()->isVectorTy(); }
  llvm::Type* shaped(llvm::Type* element, const Value* like) const;
  Value* constant_like(DType type, Cell cell, const Value* like);
  Value* i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  llvm::AllocaInst* allocate_var(llvm::Type* type, const char* name);

  struct Variable {
    Value* value = nullptr;              ///< Let and loop variables
    llvm::AllocaInst* memory = nullptr;  ///< Declare
  };

  const kernel::LoopKernel& kernel_;
  Target target_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;
  Value* tensors_ = nullptr;
  Value* params_ = nullptr;
  Value* status_ = nullptr;
  std::vector<Value*> param_values_;
  std::vector<Value*> buffers_;  ///< address of element 0
  std::vector<llvm::MDNode*> scopes_, no_alias_;
  /// Per buffer, see stream_store.cpp: of stores that run through the tensor, and of those row by row.
  struct StreamBits {
    Value *run = nullptr, *rows = nullptr;
  };
  std::vector<StreamBits> stream_bits_;
  int serial_loops_ = 0;  ///< about what is being emitted
  std::vector<Variable> vars_;
  std::vector<bool> varying_;  ///< variables that differ between lanes
  ValueMemo memo_;             ///< of the expression being emitted
  int vector_var_ = -1;        ///< -1: not in a vector loop
  int lanes_ = 1;
  Value* vector_base_ = nullptr;
  Value* mask_ = nullptr;  ///< nullptr: every lane
  std::unordered_map<const kernel::Store*, std::shared_ptr<PixelStores>>
      pixel_stores_;                ///< of the vector loop being emitted
  bool makes_tables_only_ = false;  ///< the phase being emitted only prepares tables
};

}  // namespace galatea::codegen
