#include "compiler/codegen/cuda/text_kernel_prelude.h"

#include "runtime/kernel_flags.h"

namespace galatea::codegen {

namespace {

// The texts below have these as numbers.
static_assert(runtime::kFlagOutside == 2 && runtime::kParameterBit == 2 && runtime::kAxisBit == 9 &&
              runtime::kIndexBit == 12);

/// Tensors, for both.
constexpr const char* kTensors = R"(
#ifdef __CUDACC__
#define GALATEA_METHOD __device__ __forceinline__
#else
#define GALATEA_METHOD inline
// Where an index lies outside, the status word says so (runtime/kernel_flags.h); what is written goes nowhere.
static thread_local u32* galatea_status;
template <typename T> struct galatea_plain { typedef T type; };
template <typename T> struct galatea_plain<const T> { typedef T type; };
template <typename T>
__attribute__((noinline, cold)) static T& galatea_outside(int parameter, int axis, long long index) {
  const long long most = (1 << 19) - 1, kept = index > most ? most : index < -most ? -most : index;
  if (!(*galatea_status & 2u)) *galatea_status |= 2u | (u32)parameter << 2 | (u32)axis << 9 | (u32)kept << 12;
  static thread_local typename galatea_plain<T>::type nowhere;
  nowhere = 0;
  return nowhere;
}
#endif
namespace galatea {
// Of type T (const where it is read) with `rank` dimensions. Strides count elements.
template <typename T, int rank>
struct Tensor {
  T* data;
  long long extents[rank > 0 ? rank : 1], strides[rank > 0 ? rank : 1];
#ifndef __CUDACC__
  int parameter = 0;  // which one of the function it is, from 1 on
#endif
  template <typename... Index>
  GALATEA_METHOD T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == rank, "a tensor takes as many indices as it has dimensions");
    const long long at[rank + 1] = {(long long)index..., 0};
#ifndef __CUDACC__
    for (int d = 0; d < rank; ++d)
      if ((unsigned long long)at[d] >= (unsigned long long)extents[d])
        return galatea_outside<T>(parameter, d, at[d]);
#endif
    long long offset = 0;
    for (int d = 0; d < rank; ++d) offset += at[d] * strides[d];
    return data[offset];
  }
  GALATEA_METHOD int extent(int d) const { return (int)extents[d]; }
  // How many elements.
  GALATEA_METHOD long long size() const {
    long long out = 1;
    for (int d = 0; d < rank; ++d) out *= extents[d];
    return out;
  }
  // Whether element number n in row-major order is data[n].
  GALATEA_METHOD bool is_dense() const {
    long long step = 1;
    for (int d = rank; d-- > 0;) {
      if (strides[d] != step && extents[d] != 1) return false;
      step *= extents[d];
    }
    return true;
  }
};
}  // namespace galatea
template <typename T, int rank>
GALATEA_INLINE galatea::Tensor<T, rank> galatea_view(const galatea_tensor& tensor, int parameter) {
  galatea::Tensor<T, rank> out;
#ifndef __CUDACC__
  out.parameter = parameter;
#endif
  out.data = (T*)tensor.data;
  for (int d = 0; d < rank; ++d) {
    out.extents[d] = tensor.extents[d];
    out.strides[d] = tensor.strides[d];
  }
  return out;
}
#define GALATEA_BLOCK_THREADS (GALATEA_BLOCK_X * GALATEA_BLOCK_Y * GALATEA_BLOCK_Z)
)";

constexpr const char* kDevice = R"(
#ifdef __CUDACC__
typedef i8 int8_t;
typedef u8 uint8_t;
typedef i16 int16_t;
typedef u16 uint16_t;
typedef i32 int32_t;
typedef u32 uint32_t;
#ifndef GALATEA_HAS_INT64
typedef long int64_t;
typedef unsigned long uint64_t;
#endif
// Number of the user's block, and how many there are along x, y and z.
static __shared__ u32 galatea_at[4];
GALATEA_INLINE uint3 galatea_triple(u32 x, u32 y, u32 z) {
  uint3 out;
  out.x = x;
  out.y = y;
  out.z = z;
  return out;
}
GALATEA_INLINE uint3 galatea_thread_index() {
  const u32 n = threadIdx.x;
  return galatea_triple(n % GALATEA_BLOCK_X, n / GALATEA_BLOCK_X % GALATEA_BLOCK_Y, n / (GALATEA_BLOCK_X * GALATEA_BLOCK_Y));
}
GALATEA_INLINE void galatea_enter_block(u32 number, u32 x, u32 y, u32 z) {
  __syncthreads();
  if (threadIdx.x == 0) {
    galatea_at[0] = number;
    galatea_at[1] = x;
    galatea_at[2] = y;
    galatea_at[3] = z;
  }
  __syncthreads();
}
#define GALATEA_TEXT_KERNEL(inputs, outputs) \
  extern "C" __global__ void __launch_bounds__(GALATEA_BLOCK_THREADS) \
  galatea_kernel(const galatea_call* calls, const u32* first_blocks, u32 num_calls)
#define GALATEA_RUN_BLOCK(number, x, y, z, ...) { galatea_enter_block(number, x, y, z); __VA_ARGS__; }
)";

/// What CUDA has and C++ has not. Threads run on the thread of the sample, so that whatever is of a block or
/// of a thread of the user's is of a thread here.
constexpr const char* kHost = R"(
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef GALATEA_BARRIERS
#include <stdlib.h>
#include <ucontext.h>
#endif
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __constant__ static const
#define __shared__ static thread_local
struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct int2 { int x, y; };
struct int3 { int x, y, z; };
struct int4 { int x, y, z, w; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct float2 { float x, y; };
struct float3 { float x, y, z; };
struct float4 { float x, y, z, w; };
struct double2 { double x, y; };
struct uchar3 { unsigned char x, y, z; };
struct uchar4 { unsigned char x, y, z, w; };
#define GALATEA_MAKE2(T, U) static inline T make_##T(U x, U y) { return {x, y}; }
#define GALATEA_MAKE3(T, U) static inline T make_##T(U x, U y, U z) { return {x, y, z}; }
#define GALATEA_MAKE4(T, U) static inline T make_##T(U x, U y, U z, U w) { return {x, y, z, w}; }
GALATEA_MAKE2(int2, int) GALATEA_MAKE3(int3, int) GALATEA_MAKE4(int4, int)
GALATEA_MAKE2(uint2, unsigned) GALATEA_MAKE3(uint3, unsigned) GALATEA_MAKE4(uint4, unsigned)
GALATEA_MAKE2(float2, float) GALATEA_MAKE3(float3, float) GALATEA_MAKE4(float4, float)
GALATEA_MAKE2(double2, double) GALATEA_MAKE3(uchar3, unsigned char) GALATEA_MAKE4(uchar4, unsigned char)
template <typename A, typename B> static inline auto min(A a, B b) -> decltype(a + b) { return a < b ? a : b; }
template <typename A, typename B> static inline auto max(A a, B b) -> decltype(a + b) { return a > b ? a : b; }
template <typename T> static inline T __ldg(const T* at) { return *at; }
static inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
static inline int __float2int_rz(float a) { return (int)a; }
static inline int __float2int_rn(float a) { return (int)__builtin_rintf(a); }
static inline int __float2int_rd(float a) { return (int)__builtin_floorf(a); }
static inline int __float2int_ru(float a) { return (int)__builtin_ceilf(a); }
static inline int __float_as_int(float a) { int b; __builtin_memcpy(&b, &a, 4); return b; }
static inline float __int_as_float(int a) { float b; __builtin_memcpy(&b, &a, 4); return b; }
static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
static inline int __clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
static inline int __ffs(int a) { return __builtin_ffs(a); }
// One thread of the sample runs all of its blocks: nobody comes in between.
template <typename T, typename U> static inline T atomicAdd(T* a, U b) { const T old = *a; *a = (T)(old + (T)b); return old; }
template <typename T, typename U> static inline T atomicSub(T* a, U b) { const T old = *a; *a = (T)(old - (T)b); return old; }
template <typename T, typename U> static inline T atomicMin(T* a, U b) { const T old = *a; if ((T)b < old) *a = (T)b; return old; }
template <typename T, typename U> static inline T atomicMax(T* a, U b) { const T old = *a; if ((T)b > old) *a = (T)b; return old; }
template <typename T, typename U> static inline T atomicAnd(T* a, U b) { const T old = *a; *a = old & (T)b; return old; }
template <typename T, typename U> static inline T atomicOr(T* a, U b) { const T old = *a; *a = old | (T)b; return old; }
template <typename T, typename U> static inline T atomicXor(T* a, U b) { const T old = *a; *a = old ^ (T)b; return old; }
template <typename T, typename U> static inline T atomicExch(T* a, U b) { const T old = *a; *a = (T)b; return old; }
template <typename T, typename U, typename V> static inline T atomicCAS(T* a, U compare, V b) {
  const T old = *a;
  if (old == (T)compare) *a = (T)b;
  return old;
}
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static thread_local u32 galatea_at[4];
static thread_local u32 galatea_thread_number;
static inline uint3 galatea_triple(u32 x, u32 y, u32 z) { return {x, y, z}; }
static inline uint3 galatea_thread_index() {
  const u32 n = galatea_thread_number;
  return galatea_triple(n % GALATEA_BLOCK_X, n / GALATEA_BLOCK_X % GALATEA_BLOCK_Y, n / (GALATEA_BLOCK_X * GALATEA_BLOCK_Y));
}
#ifdef GALATEA_BARRIERS
// A thread that comes to a barrier hands over to the next; in each round all that are left come to one.
struct galatea_fiber { ucontext_t state; u32 thread; bool is_done; };
static thread_local ucontext_t galatea_home;
static thread_local galatea_fiber* galatea_running;
static thread_local void (*galatea_body)(void*);
static thread_local void* galatea_body_of;
static inline void __syncthreads() { swapcontext(&galatea_running->state, &galatea_home); }
static inline void __syncwarp(unsigned = 0xffffffffu) { __syncthreads(); }
static void galatea_begin_thread() {
  galatea_body(galatea_body_of);
  galatea_running->is_done = true;
  swapcontext(&galatea_running->state, &galatea_home);
}
template <typename Body> static void galatea_run_threads(int permuted, u8* scratch, const Body& body) {
  const int threads = GALATEA_BLOCK_THREADS;
  const u64 stack_bytes = GALATEA_STACK_BYTES;
  // A launch on a device has none: there tests play one.
  u8* const stacks = scratch ? scratch : (u8*)malloc(threads * (stack_bytes + GALATEA_FIBER_BYTES));
  if (!stacks) __builtin_trap();
  galatea_fiber* fibers = (galatea_fiber*)(stacks + threads * stack_bytes);
  galatea_body = [](void* at) { (*(const Body*)at)(); };
  galatea_body_of = (void*)&body;
  for (int t = 0; t < threads; ++t) {
    galatea_fiber& fiber = fibers[t];
    fiber.thread = (u32)galatea_thread(t, threads, permuted);
    fiber.is_done = false;
    getcontext(&fiber.state);
    fiber.state.uc_stack.ss_sp = stacks + t * stack_bytes;
    fiber.state.uc_stack.ss_size = stack_bytes;
    fiber.state.uc_link = 0;
    makecontext(&fiber.state, galatea_begin_thread, 0);
  }
  for (int left = threads; left > 0;) {
    left = 0;
    for (int t = 0; t < threads; ++t) {
      if (fibers[t].is_done) continue;
      galatea_running = &fibers[t];
      galatea_thread_number = fibers[t].thread;
      swapcontext(&galatea_home, &fibers[t].state);
      left += fibers[t].is_done ? 0 : 1;
    }
  }
  if (!scratch) free(stacks);
}
static_assert(sizeof(galatea_fiber) <= GALATEA_FIBER_BYTES, "");
#else
template <typename Body> static void galatea_run_threads(int permuted, u8*, const Body& body) {
  for (int t = 0; t < GALATEA_BLOCK_THREADS; ++t) {
    galatea_thread_number = (u32)galatea_thread(t, GALATEA_BLOCK_THREADS, permuted);
    body();
  }
}
#endif
static inline void galatea_enter_block(u32 number, u32 x, u32 y, u32 z) {
  galatea_at[0] = number;
  galatea_at[1] = x;
  galatea_at[2] = y;
  galatea_at[3] = z;
}
#define GALATEA_TEXT_KERNEL(inputs, outputs) GALATEA_KERNEL(galatea_kernel, inputs, outputs)
#define GALATEA_RUN_BLOCK(number, x, y, z, ...) \
  { galatea_status = call.status; galatea_enter_block(number, x, y, z); galatea_run_threads(permuted, call.scratch, [&] { __VA_ARGS__; }); }
#endif
)";

/// The user's block and thread, for both.
constexpr const char* kNames = R"(
GALATEA_INLINE uint3 galatea_block_index() {
  const u32 n = galatea_at[0], x = galatea_at[1], y = galatea_at[2];
  return galatea_triple(n % x, n / x % y, n / x / y);
}
#define threadIdx galatea_thread_index()
#define blockIdx galatea_block_index()
#define blockDim galatea_triple(GALATEA_BLOCK_X, GALATEA_BLOCK_Y, GALATEA_BLOCK_Z)
#define gridDim galatea_triple(galatea_at[1], galatea_at[2], galatea_at[3])
)";

}  // namespace

const std::string& text_kernel_prelude() {
  static const std::string text = std::string(kTensors) + kDevice + kHost + kNames;
  return text;
}

const std::string& text_kernel_epilogue() {
  static const std::string text = "#undef threadIdx\n#undef blockIdx\n#undef blockDim\n#undef gridDim\n";
  return text;
}

}  // namespace galatea::codegen
