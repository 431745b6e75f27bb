// The prelude of all CUDA text: one source for device and host.
//
// Goes out: text. Scalar operations mean what base/scalar_op.h says, bit for bit; nothing here includes a
// header, because NVRTC has none.
#include "compiler/codegen/cuda/emit.h"

namespace galatea::codegen {

namespace {

/// What differs between NVRTC and a host compiler.
constexpr const char* kPlatform =
    R"(// galatea: generated text; compiles with NVRTC for a GPU and with a C++17 compiler for the host.
#ifndef GALATEA_PRELUDE
#define GALATEA_PRELUDE
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
struct f16 { u16 bits; };

struct galatea_tensor { void* data; i64 extents[8]; i64 strides[8]; };
struct galatea_guard { const u8* flag; u32 wanted, largest; };
struct galatea_call {
  const galatea_tensor* tensors; const u64* params; u8* scratch; u32* status;
  u32 kernel, num_guards; const galatea_guard* guards;
  u32* counters;
};

// A launch runs many calls. Call k has the blocks first_blocks[k] up to first_blocks[k + 1], its tiles.
#ifdef __CUDACC__
// A phase ends at a barrier.
#define GALATEA_INLINE static __device__ __forceinline__
#define GALATEA_KERNEL(name, inputs, outputs) \
  extern "C" __global__ void __launch_bounds__(256) name(const galatea_call* calls, const u32* first_blocks, u32 num_calls)
// Sizes and places of a tile's stages would take all registers: two blocks of a processor share them at least.
#define GALATEA_TILE_KERNEL(name, inputs, outputs) \
  extern "C" __global__ void __launch_bounds__(256, 2) name(const galatea_call* calls, const u32* first_blocks, u32 num_calls)
#define GALATEA_BLOCK blockIdx.x
#define GALATEA_PHASE { const i64 thread = (i64)tile * blockDim.x + threadIdx.x, step = (i64)tiles * blockDim.x;
#define GALATEA_BLOCK_PHASE { const i64 thread = threadIdx.x, step = blockDim.x;
#define GALATEA_UNROLL _Pragma("unroll")
#define GALATEA_ROLLED _Pragma("unroll 1")
#define GALATEA_END_PHASE } __syncthreads();
// Steps of a call that its blocks share. Counter 0 numbers the parts in the order in which running blocks take them;
// counter k, from 0 to tiles + 1, how many are done with step k - 1, and the one that goes on alone after it.
#define GALATEA_TAKE \
  __shared__ u32 taken, before; \
  __syncthreads(); \
  if (threadIdx.x == 0) taken = atomicAdd(galatea_global(call.counters), 1u); \
  __syncthreads(); \
  const u32 step_number = taken / tiles, tile = taken % tiles;
// Acquires what all blocks have released with the counter.
#define GALATEA_AWAIT(k) \
  if (threadIdx.x == 0) { \
    while (*(volatile u32*)(galatea_global(call.counters) + (k)) != tiles + 1) galatea_nap(); \
    __threadfence(); \
  } \
  __syncthreads();
#define GALATEA_LAST(k) \
  __threadfence(); \
  __syncthreads(); \
  if (threadIdx.x == 0) before = atomicAdd(galatea_global(call.counters) + (k), 1u); \
  __syncthreads(); \
  if (before == tiles - 1) __threadfence(); \
  if (before == tiles - 1)
#define GALATEA_DONE(k) \
  __threadfence(); \
  __syncthreads(); \
  if (threadIdx.x == 0) atomicAdd(galatea_global(call.counters) + (k), 1u);
static __device__ inline void galatea_nap() {
#if __CUDA_ARCH__ >= 700
  __nanosleep(100);
#endif
}
#define GALATEA_SHARED(bytes) __shared__ __align__(16) u8 shared[bytes];
// Where a pointer points to, which says how it is read: an address of either kind is looked up at every access.
template <typename T> static __device__ __forceinline__ T* galatea_global(T* at) { __builtin_assume(__isGlobal(at)); return at; }
template <typename T> static __device__ __forceinline__ T* galatea_shared(T* at) { __builtin_assume(__isShared(at)); return at; }
// What a block runs in place of all that follows, for the few calls that are not small. It ends the thread.
#define GALATEA_RARE static __device__ __noinline__ __attribute__((noreturn)) void run(const galatea_call& call, u32 tile, u32 tiles, u8* shared)
#define GALATEA_RARE_END asm volatile("exit;"); __builtin_unreachable();
#define GALATEA_RUN_RARE(form, call) form::run(call, tile, tiles, shared);
#define GALATEA_OR(address, flags) atomicOr(address, flags)
#define GALATEA_ADD(address, value) galatea_atomic_add(address, value)
static __device__ inline void galatea_atomic_add(i32* a, i32 value) { atomicAdd(a, value); }
static __device__ inline void galatea_atomic_add(u32* a, u32 value) { atomicAdd(a, value); }
static __device__ inline void galatea_atomic_add(u64* a, u64 value) { atomicAdd((unsigned long long*)a, value); }
static __device__ inline void galatea_atomic_add(i64* a, i64 value) {
  atomicAdd((unsigned long long*)a, (unsigned long long)value);
}
#define GALATEA_MEMBER static __device__ __forceinline__
// Values that threads combine in one element: first those of a warp, then one of its threads adds.
#define GALATEA_WARPS(name, T, count)
#define GALATEA_BY_WARP(name, op, address, iteration, value) { \
    const auto all = galatea_over_warp<op>(value); \
    if ((threadIdx.x & 31u) == 0) galatea_combine(op(), address, all); \
  }
#define GALATEA_COMBINE(op, address, value) galatea_combine(op(), address, value)
struct galatea_sum;
struct galatea_least;
struct galatea_most;
template <typename T> GALATEA_INLINE void galatea_combine(const galatea_sum&, T* a, T value) { galatea_atomic_add(a, value); }
template <typename T> GALATEA_INLINE void galatea_combine(const galatea_least&, T* a, T value) { atomicMin(a, value); }
template <typename T> GALATEA_INLINE void galatea_combine(const galatea_most&, T* a, T value) { atomicMax(a, value); }
template <typename T> GALATEA_INLINE T galatea_shuffle_down(T value, int distance) {
  return __shfl_down_sync(0xffffffffu, value, distance);
}
GALATEA_INLINE f32 galatea_fma(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
GALATEA_INLINE f64 galatea_fma(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
GALATEA_INLINE f32 galatea_add(f32 a, f32 b) { return __fadd_rn(a, b); }
GALATEA_INLINE f64 galatea_add(f64 a, f64 b) { return __dadd_rn(a, b); }
GALATEA_INLINE f32 galatea_sub(f32 a, f32 b) { return __fsub_rn(a, b); }
GALATEA_INLINE f64 galatea_sub(f64 a, f64 b) { return __dsub_rn(a, b); }
GALATEA_INLINE f32 galatea_mul(f32 a, f32 b) { return __fmul_rn(a, b); }
GALATEA_INLINE f64 galatea_mul(f64 a, f64 b) { return __dmul_rn(a, b); }
GALATEA_INLINE f32 galatea_div(f32 a, f32 b) { return __fdiv_rn(a, b); }
GALATEA_INLINE f64 galatea_div(f64 a, f64 b) { return __ddiv_rn(a, b); }
GALATEA_INLINE f32 galatea_sqrt(f32 a) { return __fsqrt_rn(a); }
GALATEA_INLINE f64 galatea_sqrt(f64 a) { return __dsqrt_rn(a); }
GALATEA_INLINE u32 galatea_bits(f32 a) { return __float_as_uint(a); }
GALATEA_INLINE u64 galatea_bits(f64 a) { return (u64)__double_as_longlong(a); }
GALATEA_INLINE f32 galatea_f32(u32 a) { return __uint_as_float(a); }
GALATEA_INLINE f64 galatea_f64(u64 a) { return __longlong_as_double((i64)a); }
#define GALATEA_MATH1(name, single, wide) \
  GALATEA_INLINE f32 name(f32 a) { return single(a); } \
  GALATEA_INLINE f64 name(f64 a) { return wide(a); }
GALATEA_MATH1(galatea_floor, floorf, floor)
GALATEA_MATH1(galatea_ceil, ceilf, ceil)
GALATEA_MATH1(galatea_trunc, truncf, trunc)
GALATEA_MATH1(galatea_rint, rintf, rint)
GALATEA_MATH1(galatea_round_away, roundf, round)
GALATEA_MATH1(galatea_fabs, fabsf, fabs)
GALATEA_INLINE f32 galatea_fmod(f32 a, f32 b) { return fmodf(a, b); }
GALATEA_INLINE f64 galatea_fmod(f64 a, f64 b) { return fmod(a, b); }
#else
// Threads one after the other: phase by phase, in order or permuted (odd ones backwards, then even ones).
#define GALATEA_INLINE static inline
#define GALATEA_KERNEL(name, inputs, outputs) \
  extern "C" __attribute__((visibility("default"))) const int name##_tensors[2] = {inputs, outputs}; \
  extern "C" __attribute__((visibility("default"))) \
  void name(const galatea_call* calls, const u32* first_blocks, u32 num_calls, u32 block, int threads, int permuted)
#define GALATEA_TILE_KERNEL(name, inputs, outputs) GALATEA_KERNEL(name, inputs, outputs)
#define GALATEA_BLOCK block
#define GALATEA_PHASE for (int turn = 0; turn < threads; ++turn) { \
  const i64 thread = (i64)tile * threads + galatea_thread(turn, threads, permuted), step = (i64)tiles * threads;
#define GALATEA_UNROLL
#define GALATEA_ROLLED
#define GALATEA_BLOCK_PHASE for (int turn = 0; turn < threads; ++turn) { \
  const i64 thread = galatea_thread(turn, threads, permuted), step = threads;
#define GALATEA_END_PHASE }
// Blocks run one after the other: what a block would wait for is done, or nobody will ever do it.
#define GALATEA_TAKE \
  const u32 taken = (*call.counters)++, step_number = taken / tiles; \
  const u32 tile = permuted ? tiles - 1 - taken % tiles : taken % tiles;
#define GALATEA_AWAIT(k) if (call.counters[k] != tiles + 1) __builtin_trap();
#define GALATEA_LAST(k) if (call.counters[k]++ == tiles - 1)
#define GALATEA_DONE(k) ++call.counters[k];
#define GALATEA_SHARED(bytes) alignas(16) u8 shared[bytes]; __builtin_memset(shared, 0xa5, bytes);
#define GALATEA_MEMBER static inline
template <typename T> static inline T* galatea_global(T* at) { return at; }
template <typename T> static inline T* galatea_shared(T* at) { return at; }
#define GALATEA_RARE static void run(const galatea_call& call, u32 tile, u32 tiles, u8* shared, int threads, int permuted)
#define GALATEA_RARE_END
#define GALATEA_RUN_RARE(form, call) { form::run(call, tile, tiles, shared, threads, permuted); return; }
// A warp is 32 iterations of its loop. Whoever comes last has the values of all and does what the warp would do.
template <typename T> struct galatea_lanes { T of[32]; };
template <typename T, int count> struct galatea_warps {
  galatea_lanes<T> lanes[count / 32];
  u32 arrived[count / 32] = {};
  bool put(i64 iteration, T value) {
    lanes[iteration / 32].of[iteration % 32] = value;
    return ++arrived[iteration / 32] == 32;
  }
};
#define GALATEA_WARPS(name, T, count) galatea_warps<T, count> name;
#define GALATEA_BY_WARP(name, op, address, iteration, value) \
  if (name.put(iteration, value)) \
    GALATEA_COMBINE(op, address, galatea_over_warp<op>(name.lanes[(iteration) / 32]).of[0]);
#define GALATEA_COMBINE(op, address, value) (*(address) = op::of(*(address), value))
template <typename T> struct galatea_shifted { const galatea_lanes<T>& from; int distance; };
template <typename T> GALATEA_INLINE galatea_shifted<T> galatea_shuffle_down(const galatea_lanes<T>& a, int distance) {
  return {a, distance};
}
#define GALATEA_OR(address, flags) (*(address) |= (flags))
#define GALATEA_ADD(address, value) (*(address) += (value))
GALATEA_INLINE i64 galatea_thread(int turn, int threads, int permuted) {
  if (!permuted) return turn;
  const int odd = threads / 2;
  return turn < odd ? 2 * (odd - 1 - turn) + 1 : 2 * (turn - odd);
}
GALATEA_INLINE f32 galatea_fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
GALATEA_INLINE f64 galatea_fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
GALATEA_INLINE f32 galatea_add(f32 a, f32 b) { return a + b; }
GALATEA_INLINE f64 galatea_add(f64 a, f64 b) { return a + b; }
GALATEA_INLINE f32 galatea_sub(f32 a, f32 b) { return a - b; }
GALATEA_INLINE f64 galatea_sub(f64 a, f64 b) { return a - b; }
GALATEA_INLINE f32 galatea_mul(f32 a, f32 b) { return a * b; }
GALATEA_INLINE f64 galatea_mul(f64 a, f64 b) { return a * b; }
GALATEA_INLINE f32 galatea_div(f32 a, f32 b) { return a / b; }
GALATEA_INLINE f64 galatea_div(f64 a, f64 b) { return a / b; }
GALATEA_INLINE f32 galatea_sqrt(f32 a) { return __builtin_sqrtf(a); }
GALATEA_INLINE f64 galatea_sqrt(f64 a) { return __builtin_sqrt(a); }
GALATEA_INLINE u32 galatea_bits(f32 a) { u32 b; __builtin_memcpy(&b, &a, 4); return b; }
GALATEA_INLINE u64 galatea_bits(f64 a) { u64 b; __builtin_memcpy(&b, &a, 8); return b; }
GALATEA_INLINE f32 galatea_f32(u32 a) { f32 b; __builtin_memcpy(&b, &a, 4); return b; }
GALATEA_INLINE f64 galatea_f64(u64 a) { f64 b; __builtin_memcpy(&b, &a, 8); return b; }
#define GALATEA_MATH1(name, single, wide) \
  GALATEA_INLINE f32 name(f32 a) { return single(a); } \
  GALATEA_INLINE f64 name(f64 a) { return wide(a); }
GALATEA_MATH1(galatea_floor, __builtin_floorf, __builtin_floor)
GALATEA_MATH1(galatea_ceil, __builtin_ceilf, __builtin_ceil)
GALATEA_MATH1(galatea_trunc, __builtin_truncf, __builtin_trunc)
GALATEA_MATH1(galatea_rint, __builtin_rintf, __builtin_rint)
GALATEA_MATH1(galatea_round_away, __builtin_roundf, __builtin_round)
GALATEA_MATH1(galatea_fabs, __builtin_fabsf, __builtin_fabs)
GALATEA_INLINE f32 galatea_fmod(f32 a, f32 b) { return __builtin_fmodf(a, b); }
GALATEA_INLINE f64 galatea_fmod(f64 a, f64 b) { return __builtin_fmod(a, b); }
#endif
)";

/// Which call a block works on; integer operations, conversions, selection: the same text everywhere.
constexpr const char* kScalars = R"(
#define GALATEA_SAMPLE \
  const u32 number = galatea_call_of(first_blocks, num_calls, GALATEA_BLOCK); \
  const galatea_call call = calls[number]; \
  if (!galatea_runs(call)) return; \
  const u32 tile = GALATEA_BLOCK - first_blocks[number], tiles = first_blocks[number + 1] - first_blocks[number];
#define GALATEA_PARTS(steps) for (u32 turn_of_block = 0; turn_of_block < (steps); ++turn_of_block)
#define GALATEA_TILES(v, end) for (i64 v = tile < blocks ? (i64)tile : (i64)(end); v < (end); v += blocks)
#define GALATEA_WIDE_GRID(v, width, end) for (i64 v = thread * (width); v < (end); v += step * (width))
#define GALATEA_SMALL_GRID(v, end) for (i32 n_##v = (i32)thread, e_##v = (i32)(end); n_##v < e_##v; n_##v += (i32)step)
#define GALATEA_GRID(v, begin, end) for (i64 v = (begin) + thread; v < (end); v += step)
// What is clamped to small numbers, perhaps with a small one added before: cut off where that changes nothing.
GALATEA_INLINE i32 galatea_far(i64 number) {
  return (i32)(number < -(1 << 28) ? -(1 << 28) : number > (1 << 28) ? (1 << 28) : number);
}
// Calls of an arm have guards: a sample that went another way, as the GPU has found, has nothing to do here.
GALATEA_INLINE bool galatea_runs(const galatea_call& call) {
  for (u32 g = 0; g < call.num_guards; ++g) {
    const galatea_guard guard = galatea_global(call.guards)[g];
    const u32 flag = *galatea_global(guard.flag);
    if ((flag < guard.largest ? flag : guard.largest) != guard.wanted) return false;
  }
  return true;
}
// The last call that begins at or before a block. Every call has a block.
GALATEA_INLINE u32 galatea_call_of(const u32* first_blocks, u32 num_calls, u32 block) {
  u32 low = 0, high = num_calls;
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    if (first_blocks[middle] <= block) low = middle; else high = middle;
  }
  return low;
}

// Runs of bytes, word by word: each word is one load or store.
template <int bytes> struct galatea_word;
template <> struct galatea_word<1> { typedef u8 type; };
template <> struct galatea_word<2> { typedef u16 type; };
template <> struct galatea_word<4> { typedef u32 type; };
template <> struct galatea_word<8> { struct alignas(8) type { u32 part[2]; }; };
template <> struct galatea_word<16> { struct alignas(16) type { u32 part[4]; }; };
template <int bytes> GALATEA_INLINE bool galatea_aligned(const void* at) { return ((u64)at & (bytes - 1)) == 0; }
template <int bytes, int alignment> GALATEA_INLINE void galatea_copy(void* to, const void* from) {
  typedef typename galatea_word<alignment>::type word;
  GALATEA_UNROLL for (int i = 0; i < bytes / alignment; ++i) ((word*)to)[i] = ((const word*)from)[i];
}

template <typename T> GALATEA_INLINE T galatea_select(bool c, T a, T b) { return c ? a : b; }
template <typename T> GALATEA_INLINE T galatea_min(T a, T b) { return a < b ? a : b; }
template <typename T> GALATEA_INLINE T galatea_max(T a, T b) { return a > b ? a : b; }

// Integers wrap: computed without a sign, in at least 32 bits.
#define GALATEA_INTEGER(T, U, WIDE, BITS, SIGNED) \
  GALATEA_INLINE T galatea_add(T a, T b) { return (T)(U)((WIDE)a + (WIDE)b); } \
  GALATEA_INLINE T galatea_sub(T a, T b) { return (T)(U)((WIDE)a - (WIDE)b); } \
  GALATEA_INLINE T galatea_mul(T a, T b) { return (T)(U)((WIDE)a * (WIDE)b); } \
  GALATEA_INLINE T galatea_fma(T a, T b, T c) { return (T)(U)((WIDE)a * (WIDE)b + (WIDE)c); } \
  GALATEA_INLINE T galatea_neg(T a) { return (T)(U)(0 - (WIDE)a); } \
  GALATEA_INLINE T galatea_abs(T a) { return a < 0 ? galatea_neg(a) : a; } \
  GALATEA_INLINE T galatea_and(T a, T b) { return (T)(a & b); } \
  GALATEA_INLINE T galatea_or(T a, T b) { return (T)(a | b); } \
  GALATEA_INLINE T galatea_xor(T a, T b) { return (T)(a ^ b); } \
  GALATEA_INLINE T galatea_not(T a) { return (T)(U)(~(WIDE)a); } \
  GALATEA_INLINE T galatea_shl(T a, T n) { return (T)(U)((WIDE)a << ((U)n & (BITS - 1))); } \
  GALATEA_INLINE T galatea_shr(T a, T n) { return (T)(a >> ((U)n & (BITS - 1))); } \
  GALATEA_INLINE T galatea_div(T a, T b, u32* flags) { \
    if (b == 0) { *flags |= 1u; return 0; } \
    if (SIGNED && b == (T)-1) return galatea_neg(a); \
    return (T)(a / b); \
  } \
  GALATEA_INLINE T galatea_rem(T a, T b, u32* flags) { \
    if (b == 0) { *flags |= 1u; return 0; } \
    if (SIGNED && b == (T)-1) return 0; \
    return (T)(a % b); \
  } \
  GALATEA_INLINE T galatea_fold(T a, T b, u32* flags) { \
    return b > 0 && (U)a < (U)b ? a : galatea_rem(a, b, flags); \
  }
GALATEA_INTEGER(i8, u8, u32, 8, true)
GALATEA_INTEGER(u8, u8, u32, 8, false)
GALATEA_INTEGER(i16, u16, u32, 16, true)
GALATEA_INTEGER(u16, u16, u32, 16, false)
GALATEA_INTEGER(i32, u32, u32, 32, true)
GALATEA_INTEGER(u32, u32, u32, 32, false)
GALATEA_INTEGER(i64, u64, u64, 64, true)
GALATEA_INTEGER(u64, u64, u64, 64, false)
GALATEA_INLINE bool galatea_and(bool a, bool b) { return a & b; }
GALATEA_INLINE bool galatea_or(bool a, bool b) { return a | b; }
GALATEA_INLINE bool galatea_xor(bool a, bool b) { return a != b; }
GALATEA_INLINE bool galatea_not(bool a) { return !a; }
GALATEA_INLINE bool galatea_add(bool a, bool b) { return a != b; }
GALATEA_INLINE bool galatea_sub(bool a, bool b) { return a != b; }
GALATEA_INLINE bool galatea_mul(bool a, bool b) { return a & b; }
GALATEA_INLINE bool galatea_neg(bool a) { return a; }
GALATEA_INLINE bool galatea_abs(bool a) { return a; }
GALATEA_INLINE u32 galatea_mul_hi(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
GALATEA_INLINE i32 galatea_mul_hi(i32 a, i32 b) { return (i32)(((i64)a * b) >> 32); }
GALATEA_INLINE f32 galatea_neg(f32 a) { return -a; }
GALATEA_INLINE f64 galatea_neg(f64 a) { return -a; }
GALATEA_INLINE f32 galatea_abs(f32 a) { return galatea_fabs(a); }
GALATEA_INLINE f64 galatea_abs(f64 a) { return galatea_fabs(a); }

// What threads combine. The first lane gets what all 32 hold together.
struct galatea_sum { template <typename T> GALATEA_MEMBER T of(T a, T b) { return galatea_add(a, b); } };
struct galatea_least { template <typename T> GALATEA_MEMBER T of(T a, T b) { return galatea_min(a, b); } };
struct galatea_most { template <typename T> GALATEA_MEMBER T of(T a, T b) { return galatea_max(a, b); } };
#ifndef __CUDACC__
// Lanes from `distance` on are never looked at again.
template <typename Op, typename T> GALATEA_INLINE galatea_lanes<T> galatea_of(const galatea_lanes<T>& a, galatea_shifted<T> b) {
  galatea_lanes<T> out;
  for (int i = 0; i < b.distance; ++i) out.of[i] = Op::of(a.of[i], b.from.of[i + b.distance]);
  return out;
}
#endif
template <typename Op, typename T> GALATEA_INLINE T galatea_of(T a, T b) { return Op::of(a, b); }
template <typename Op, typename T> GALATEA_INLINE T galatea_over_warp(T value) {
  GALATEA_UNROLL for (int distance = 16; distance > 0; distance /= 2)
    value = galatea_of<Op>(value, galatea_shuffle_down(value, distance));
  return value;
}

// Limits of integer types; `past` is the power of two above the largest value.
template <typename T> struct galatea_limits;
#define GALATEA_LIMITS(T, lowest, highest, beyond) \
  template <> struct galatea_limits<T> { \
    static constexpr T low = lowest, high = highest; \
    static constexpr f32 low_f32 = (f32)(lowest), past_f32 = beyond; \
    static constexpr f64 low_f64 = (f64)(lowest), past_f64 = beyond; \
  };
GALATEA_LIMITS(i8, -128, 127, 128.0f)
GALATEA_LIMITS(u8, 0, 255, 256.0f)
GALATEA_LIMITS(i16, -32768, 32767, 32768.0f)
GALATEA_LIMITS(u16, 0, 65535, 65536.0f)
GALATEA_LIMITS(i32, -2147483647 - 1, 2147483647, 2147483648.0f)
GALATEA_LIMITS(u32, 0, 4294967295u, 4294967296.0f)
GALATEA_LIMITS(i64, -9223372036854775807ll - 1, 9223372036854775807ll, 9223372036854775808.0f)
GALATEA_LIMITS(u64, 0, 18446744073709551615ull, 18446744073709551616.0f)

// Floats to integers: NaN gives 0, what does not fit is clamped.
template <typename T> GALATEA_INLINE T galatea_whole(f32 t) {
  typedef galatea_limits<T> L;
  return t != t ? (T)0 : t < L::low_f32 ? L::low : t >= L::past_f32 ? L::high : (T)t;
}
template <typename T> GALATEA_INLINE T galatea_whole(f64 t) {
  typedef galatea_limits<T> L;
  return t != t ? (T)0 : t < L::low_f64 ? L::low : t >= L::past_f64 ? L::high : (T)t;
}
template <typename T> GALATEA_INLINE T galatea_truncate(f32 a) { return galatea_whole<T>(galatea_trunc(a)); }
template <typename T> GALATEA_INLINE T galatea_truncate(f64 a) { return galatea_whole<T>(galatea_trunc(a)); }
template <typename T> GALATEA_INLINE T galatea_nearest(f32 a) { return galatea_whole<T>(galatea_rint(a)); }
template <typename T> GALATEA_INLINE T galatea_nearest(f64 a) { return galatea_whole<T>(galatea_rint(a)); }
// Integers to integers, clamped.
template <typename T, typename From> GALATEA_INLINE T galatea_clamped(From a) {
  typedef galatea_limits<T> L;
  if (a < 0) return L::low < 0 && (i64)a >= (i64)L::low ? (T)a : L::low;
  return (u64)a > (u64)L::high ? L::high : (T)a;
}

GALATEA_INLINE f32 galatea_single(f16 a) {
  const u32 sign = (u32)(a.bits & 0x8000u) << 16, exponent = (a.bits >> 10) & 0x1fu, fraction = a.bits & 0x3ffu;
  if (exponent == 31) return galatea_f32(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return galatea_f32(sign | ((exponent + 112u) << 23) | (fraction << 13));
  return galatea_f32(sign | galatea_bits((f32)fraction * 5.9604644775390625e-8f));
}
GALATEA_INLINE f16 galatea_half(f32 a) {
  const u32 bits = galatea_bits(a), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return f16{(u16)(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu))};
#ifdef __CUDACC__
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(a));
  return f16{half};
#else
  if (magnitude >= 0x477ff000u) return f16{(u16)(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) return f16{(u16)(sign | (galatea_bits(galatea_f32(magnitude) + 0.5f) - 0x3f000000u))};
  const u32 rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23);
  return f16{(u16)(sign | (rounded >> 13))};
#endif
}

// Philox 4x32-10.
GALATEA_INLINE u32 galatea_philox(u64 key, u64 counter_low, u64 counter_high, int word) {
  u32 c0 = (u32)counter_low, c1 = (u32)(counter_low >> 32), c2 = (u32)counter_high, c3 = (u32)(counter_high >> 32);
  u32 k0 = (u32)key, k1 = (u32)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const u64 p0 = (u64)0xD2511F53u * c0, p1 = (u64)0xCD9E8D57u * c2;
    const u32 n0 = (u32)(p1 >> 32) ^ c1 ^ k0, n2 = (u32)(p0 >> 32) ^ c3 ^ k1;
    c0 = n0; c1 = (u32)p1; c2 = n2; c3 = (u32)p0;
    k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
  }
  return word == 0 ? c0 : word == 1 ? c1 : word == 2 ? c2 : c3;
}
#endif  // GALATEA_PRELUDE
)";

}  // namespace

const std::string& cuda_prelude() {
  static const std::string kText = std::string(kPlatform) + kScalars;
  return kText;
}

}  // namespace galatea::codegen
