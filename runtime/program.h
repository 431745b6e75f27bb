// A program: what the compiler hands to the runtime. Immutable, shared by sessions, free of compiler types.
//
// The sample program is register bytecode, run once per sample. Registers are Cells (scalars); slots are
// Tensors. Both live in a heap frame, so a sample can wait without holding a thread. Instructions are of one
// size; `operands` lists (for calls, allocations, checks) are ranges of Program::lists.
//
// A program for a GPU is the same bytecode, run on the host: instructions marked `on_device` take memory of
// the device, and their kernel calls are recorded. The device's barrier launches what the samples of a batch
// recorded, each call site once for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/port.h"
#include "base/scalar_op.h"
#include "base/source.h"
#include "runtime/batch_op.h"
#include "runtime/constant_tensor.h"
#include "runtime/kernel_abi.h"
#include "runtime/native.h"

namespace galatea::runtime {

enum class Opcode : uint8_t {
  kConst,        ///< r[dst] = constants[a]
  kScalar,       ///< r[dst] = evaluate(scalar_op, type, from, {r[a], r[b], r[c]}); ORs flags into the status
                 ///< register; a flag raised here is the sample's error "division by zero" at `location`
  kMove,         ///< r[dst] = r[a]
  kPhilox,       ///< r[dst] = philox(r[a] key, r[b] counter low, r[c] counter high, word = imm)
  kSampleIndex,  ///< r[dst] = number in the data set of source a (sources[]); a = -1: running number of the
                 ///< sample since the session began
  kNodeKey,      ///< r[dst] = mix(constants[a], epoch in which the sample of source b (-1: none) is read)
  kBatchSlot,    ///< r[dst] = position in the batch
  kExtent,       ///< r[dst] = extent imm of slot a
  kLoad,    ///< r[dst] = element number r[b] (row-major) of slot a, of type `type`; past the end the last
            ///< one, of none 0
  kJump,    ///< to instruction a
  kBranch,  ///< to a if r[b] != 0, else to c
  kSwitch,  ///< to lists[a + r[b]], r[b] checked to be in [0, imm)
  kCheck,  ///< the sample fails with messages[a] unless r[b]; values = lists[c .. c+imm) (registers; types in
           ///< the message)
  kAdmit,  ///< from here to the next kAdmit or the end the sample takes at most r[a] bytes for intermediates
           ///< and r[b] bytes of outputs whose extents vary; what sources, feeds and natives' own scratch
           ///< take is not in it
  kAllocate,        ///< slot[dst] = new dense tensor of `type`, extents = registers lists[a .. a+imm);
                    ///< b = 1: in memory that may outlive the sample
  kAllocateOutput,  ///< slot[dst] = the batch's slot for output b (recycled; streaming stores), extents as
                    ///< above
  kView,            ///< slot[dst] = view of slot a; views[b] says how; its registers = lists[c …]
  kCopySlot,        ///< slot[dst] = slot[a] (a merge; no bytes move)
  kConstantTensor,  ///< slot[dst] = constant_tensors[a]
  kMakeDense,       ///< slot[dst] = slot[a] if dense, else a dense copy of it
  kLend,            ///< slot[dst] = slot[a] if its memory may outlive the sample, else a copy where it does
  kStoreElements,   ///< slot[dst] = small dense tensor of `type`, extents lists[a .. a+imm) (immediate
                    ///< values), elements = registers lists[b …]
  kRead,            ///< slots lists[a …] = outputs of source b for this sample; lists[c …]: which output of
                    ///< the program each of them is as it stands, -1 none (c = -1: none of them)
  kFeed,            ///< slot[dst] = external input b of this sample, slot[a], if any, which part (i64 [1])
  kCallNative,      ///< native call a (natives[])
  kCallKernel,      ///< kernel call a (kernel_calls[])
  kRelease,         ///< slot[a] is no longer needed
  kToHost,   ///< slot[dst] = dense copy on the host of slot a, which is the device's; its bytes are there
             ///< behind the next barrier of the device, which waits
  kArms,     ///< a branch whose selector only the device knows: all imm arms are recorded, one behind the
             ///< other, and come together at c; their calls have guards. lists[a .. a+2·imm): where each arm
             ///< begins (the first behind this) and what the byte in slot b is for samples that take it
             ///< (one past imm - 1 counts as that). What a sample would fail with in an arm is its error
             ///< only if it takes that
  kNextArm,  ///< end of an arm: to a, where the next begins; c is where all have come together
  kBarrier,  ///< the sample waits for those of its batch that come here, too, for batch step a;
             ///< kDeviceBarrier: what was recorded is launched, and waited for where imm != 0
  kReturn,   ///< the sample is done; outputs = slots lists[a .. a+imm)
};

/// Batch step of a barrier that belongs to the device. Samples of a batch may wait at different ones.
inline constexpr int32_t kDeviceBarrier = -1;

struct Instruction {
  Opcode op = Opcode::kReturn;
  ScalarOp scalar_op = ScalarOp::kAdd;
  DType type = DType::kI64;
  DType from = DType::kI64;
  int32_t dst = -1, a = -1, b = -1, c = -1;
  int32_t imm = 0;
  int32_t location = -1;   ///< index in Program::locations
  bool on_device = false;  ///< kAllocate, kAllocateOutput, kCallKernel: of the GPU; kCallNative: the GPU may
                           ///< do its work instead, and its tensor is there then
};

/// A place in a source file, without the compiler's source map.
struct Place {
  std::string file;
  uint32_t line = 0, column = 0, end_line = 0, end_column = 0;
  std::string text;  ///< the source line
};

/// Where an instruction comes from.
struct Location : Place {
  struct Call {
    Place place;           ///< of the call
    std::string function;  ///< that it stands in
  };
  std::string op;           ///< operator, for messages and the summary
  std::vector<Call> calls;  ///< innermost first
};

struct CheckMessage {
  std::string text;  ///< one {} per value
  std::vector<DType> types;
  std::string help;
};

/// out[i…] = in[start + step·i]; for each output dimension: input_dim (-1: new axis). Registers in order:
/// extents (ndim), start (input ndim), step (ndim).
struct ViewSpec {
  int ndim = 0;
  int input_ndim = 0;
  std::array<int, kMaxRank> input_dim{};
  bool reshape = false;        ///< registers: extents only
  bool window_origin = false;  ///< registers: extents (ndim), origin (ndim): slot a holds only a window
                               ///< starting at origin of a tensor of these extents
};

struct NativeCallSpec {
  std::string function;
  std::string config;
  std::vector<int32_t> inputs;          ///< slots
  std::vector<int32_t> scalars;         ///< registers
  std::vector<int32_t> scalar_results;  ///< registers
  int32_t output = -1;                  ///< slot
  std::string alternative;              ///< what may do its work on a device (device_alternative.h)
  bool allocates = false;               ///< the function makes its output
  Port port;                            ///< of the output, if the function makes it
  /// Between what and what each of the scalar results is, as the program relies on; empty: anything.
  std::vector<std::pair<int64_t, int64_t>> ranges;
};

/// A call of the device runs only if the byte in a slot, or `largest` if that is less, is what it has to be.
struct CallGuard {
  int32_t slot = -1;
  uint32_t wanted = 1, largest = 1;
};
struct KernelCallSpec {
  int32_t kernel = -1;
  std::vector<int32_t> tensors;  ///< slots: inputs, then outputs
  std::vector<int32_t> params;   ///< registers
  int32_t scratch_bytes = -1;    ///< register
  /// On a GPU: calls of equal number are one launch, of one kernel or of several with one cubin; of those
  /// that a sample makes one runs at most. -1: a launch of its own.
  int32_t launch = -1;
  std::vector<CallGuard> guards;  ///< on a GPU: all of them hold where the call runs; outer arms first
  int32_t arms = 0;     ///< not 0: it chooses among so many, and its flag says that the index is of none
  int32_t blocks = -1;  ///< register: on a GPU, how many have work; -1: as many as the outputs are worth
  /// Of the operators in it that divide integers by what may be zero, in their order: its flag is of one of
  /// them.
  std::vector<int32_t> divisions;
};

/// Generated code or interpreter: run(call) must be thread-safe.
class KernelCode {
 public:
  virtual ~KernelCode() = default;
  virtual void run(const KernelCall& call) const = 0;
};
/// The function in every cubin.
inline constexpr const char* kDeviceFunction = "galatea_kernel";
/// Words by which the blocks of a call wait for each other, where they do: a line of the cache.
inline constexpr uint32_t kCallCounters = 32;
/// A kernel of a GPU (compiler/codegen/cuda/device_code.h makes it).
struct DeviceKernel {
  std::shared_ptr<const std::string> cubin;  ///< null: planned for a machine that is not this one
  int inputs = 0;                            ///< tensors of a call that are read; outputs follow
  bool can_be_tiled = false;                 ///< blocks may share a call
  bool may_fail = false;                     ///< it may raise flags, whatever its parameters are
  int32_t opcode = 0;                        ///< among the kernels of the cubin
  bool shares_phases = false;                ///< blocks that share a call wait for each other by its counters
  std::vector<int32_t> divisors;             ///< parameters: a call where one is zero may raise flags, too
  int32_t threads = 0;    ///< of a block, where it is not what kernels of the compiler's have
  bool has_grid = false;  ///< a kernel of the user's own: the first three parameters are its blocks. It is
                          ///< launched alone
};
struct ProgramKernel {
  std::string name;
  std::vector<std::string> operators;  ///< fused, for the summary
  std::shared_ptr<const KernelCode> code;
  std::shared_ptr<const DeviceKernel> device;  ///< in place of `code`: it runs on the GPU
};

/// What is done where samples of one batch meet (kBarrier), once all that ever will are there: a block of the
/// graph is a partition of the batch. No pixels move; results are registers, and slots with tensors that
/// several samples share.
struct BatchStep {
  struct Scalar {
    BatchOp op = BatchOp::kSum;
    int32_t from = -1, to = -1;  ///< registers, i64
  };
  /// Element by element, of tensors of equal extents: kSum, kMin or kMax.
  struct Total {
    BatchOp op = BatchOp::kSum;
    int32_t from = -1, to = -1;  ///< slots
  };
  /// The tensor of the sample in some place; one where nobody meets is the sample's error.
  struct Take {
    int32_t from = -1, to = -1;  ///< slots; what kLend gave
    int32_t place = -1;          ///< register, i64
  };
  std::vector<Scalar> scalars;
  std::vector<Total> totals;
  std::vector<Take> takes;
};

/// The ports of a program are concrete. What a source, a native function or a host delivers is compared with
/// them at delivery (delivery.h).
struct SourceSpec {
  std::string factory;  ///< "readers.file"
  std::string name;     ///< name= of the node, or empty
  std::string config;   ///< arguments as JSON (also shuffling, shards, padding: read by the runtime's reader
                        ///< loop)
  std::vector<Port> outputs;
  int32_t location = -1;
};
struct ExternalInput {
  Port port;
  int32_t location = -1;
  int32_t parts = -1;  ///< native call that says how many samples a tensor is, its only result; -1: one
};
struct OutputSpec {
  Port port;               ///< extents all known: one contiguous buffer per batch
  bool on_device = false;  ///< handed out in memory of the GPU
};

enum class OnErrorPolicy : uint8_t { kRaise, kSkip, kReplace };

/// Who decodes for device="mixed": the alternatives on the device that are there, the host, or the
/// alternatives, which must be there. Samples that do not suit these are the host's in any case.
enum class DecodeChoice : uint8_t { kAuto, kHost, kDevice };

struct Program {
  std::string name;
  int batch_size = 1;
  int num_threads = 1;
  int prefetch_depth = 2;
  uint64_t seed = 0;
  OnErrorPolicy on_error = OnErrorPolicy::kRaise;
  int64_t memory_limit = 0;
  int device = -1;  ///< number of the GPU that it needs, as in --device gpu:N; -1: none
  std::shared_ptr<const void> device_context;  ///< if any: keeps what the GPU was tried with, for sessions
  DecodeChoice decoder = DecodeChoice::kAuto;

  std::vector<Instruction> code;
  std::vector<int32_t> lists;
  std::vector<Cell> constants;
  std::vector<std::shared_ptr<const ConstantTensor>> constant_tensors;  ///< all different
  std::vector<Location> locations;
  std::vector<CheckMessage> messages;
  std::vector<ViewSpec> views;
  std::vector<NativeCallSpec> natives;
  std::vector<KernelCallSpec> kernel_calls;
  std::vector<ProgramKernel> kernels;
  std::vector<BatchStep> batch_steps;
  std::vector<SourceSpec> sources;
  std::vector<ExternalInput> external_inputs;
  std::vector<OutputSpec> outputs;
  int32_t num_registers = 0;
  int32_t num_slots = 0;
  uint64_t fingerprint = 0;  ///< of what decides the values (ir/text/fingerprint.h); 0: not known
  int kernels_compiled = 0, kernels_cached = 0;
  double compile_seconds = 0;
};

/// Whether a device may do the work of any of its native functions.
bool may_decode_on_device(const Program& program);

/// Of kArms: where an arm begins, and the byte of samples that take it.
inline int32_t start_of_arm(const Program& program, const Instruction& i, int32_t arm) {
  return program.lists[static_cast<size_t>(i.a + 2 * arm)];
}
inline uint32_t wanted_in_arm(const Program& program, const Instruction& i, int32_t arm) {
  return static_cast<uint32_t>(program.lists[static_cast<size_t>(i.a + 2 * arm + 1)]);
}

/// Bytes of a sample of this output, -1 where they vary.
int64_t fixed_bytes(const OutputSpec& spec);

/// One line per instruction (explain --emit=plan).
std::string to_text(const Program& program);
std::string_view name_of(Opcode op);

/// Whether every index is in range, so that the interpreter need not look. An error is a bug of whoever made
/// the program.
Status verify(const Program& program);

/// A location in a source map.
struct LocationSpans {
  Span span;
  std::vector<CallSite> calls;
};

/// The place of each of Program::locations in `sources`: in the file of that name, if the map has it with the
/// same lines; else in a file that is added, made of the lines that the program knows. Same program and map,
/// same spans.
std::vector<LocationSpans> location_spans(const Program& program, SourceMap& sources);

}  // namespace galatea::runtime
