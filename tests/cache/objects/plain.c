/* A function with constants, a table of addresses inside itself, and a call of a neighbour. */
typedef unsigned long long u64;
struct call {
  const void* tensors;
  const u64* params;
  unsigned char* scratch;
  unsigned* status;
};
static const unsigned kWords[4] = {11, 22, 33, 44};
__attribute__((noinline)) static unsigned choose(u64 n) {
  switch (n) {
    case 0:
      return 5;
    case 1:
      return kWords[n & 3] + 1;
    case 2:
      return 77 * kWords[1];
    case 3:
      return 1u << kWords[0];
    case 4:
      return kWords[3] ^ 9;
    case 5:
      return 123456;
    default:
      return kWords[n % 4];
  }
}
void galatea_kernel(const struct call* call) {
  *call->status |= choose(call->params[0]) + kWords[call->params[1] & 3];
}
