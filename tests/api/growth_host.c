/* A host in C99 whose header may be older or newer than the library: every struct that crosses the border
 * stands before bytes that nobody may touch. Compiled once for each header (tests/api/CMakeLists.txt); ends
 * with status 0 where all is as the header of that host promises. */
#include <galatea.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kGuard = 64, kPattern = 0xAB };

static int failures = 0;
#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)
#define OK(call)                                        \
  do {                                                  \
    galatea_error* e = (call);                          \
    if (e) fputs(galatea_error_text_borrow(e), stderr); \
    EXPECT(!e);                                         \
    galatea_error_destroy(e);                           \
  } while (0)

/* A struct of this host's size, with a guard behind it. */
#define GUARDED(type)            \
  struct {                       \
    type value;                  \
    unsigned char guard[kGuard]; \
  }
#define FILL(guarded) memset(&(guarded), kPattern, sizeof(guarded))
#define EXPECT_GUARD(guarded)                                                \
  do {                                                                       \
    int at;                                                                  \
    for (at = 0; at < kGuard; ++at) EXPECT((guarded).guard[at] == kPattern); \
  } while (0)

static const char* kText =
    "from nvidia.dali import pipeline_def, fn, types\n"
    "@pipeline_def(batch_size=2, num_threads=2, seed=7)\n"
    "def p():\n"
    "    x = fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1, layout=\"W\")\n"
    "    return fn.reductions.sum(x), x * 2.0\n";

static void release(void* context) { ++*(int*)context; }

int main(void) {
  galatea_engine* engine = NULL;
  galatea_program* program = NULL;
  galatea_session* session = NULL;
  galatea_batch* batch = NULL;
  GUARDED(galatea_session_options) options;
  GUARDED(galatea_port) port;
  GUARDED(galatea_tensor) tensor;
  galatea_tensor samples[2];
  float numbers[2][64] = {{1, 2, 3}, {4, 5, 6}};
  const int64_t three = 3;
  int releases = 0, k;

  OK(galatea_engine_create(&engine));
  OK(galatea_program_create_from_text(engine, "growth.dali-dsl", kText, NULL, &program));

  FILL(port);
  OK(galatea_program_get_input(program, 0, &port.value));
  EXPECT_GUARD(port);
  EXPECT(strcmp(port.value.name, "x") == 0 && strcmp(port.value.layout, "W") == 0);
  EXPECT(port.value.dtype == GALATEA_FLOAT && port.value.ndim == 1 && port.value.extents[0] == -1);
  FILL(port);
  OK(galatea_program_get_output(program, 1, &port.value));
  EXPECT_GUARD(port);
  EXPECT(port.value.ndim == 1 && port.value.extents[0] == -1 && port.value.extents[7] == 0);

  FILL(options);
  galatea_session_options_init(&options.value);
  EXPECT_GUARD(options);
  EXPECT((size_t)options.value.size == sizeof(galatea_session_options));
  EXPECT(options.value.max_held_batches == 8 && options.value.device == -1);
  EXPECT(options.value.device_graphs == 1 && options.value.device_memory_limit == 0);
#ifdef GROWTH_NEWER
  EXPECT(options.value.future == 0);
  options.value.future = 1;
  {
    galatea_error* error = galatea_session_create(program, &options.value, &session);
    EXPECT(error && strcmp(galatea_error_code_borrow(error), "G0977") == 0);
    EXPECT(error && strstr(galatea_error_message_borrow(error), "galatea_session_options"));
    galatea_error_destroy(error);
  }
  options.value.future = 0;
#endif
  options.value.max_held_batches = 1;
  OK(galatea_session_create(program, &options.value, &session));
  options.value.size = 12; /* as if it had not been set up */
  {
    galatea_session* none = NULL;
    galatea_error* error = galatea_session_create(program, &options.value, &none);
    EXPECT(error && !none && strcmp(galatea_error_code_borrow(error), "G0940") == 0);
    galatea_error_destroy(error);
  }

  for (k = 0; k < 2; ++k) {
    FILL(tensor);
    OK(galatea_tensor_init(&tensor.value, numbers[k], GALATEA_FLOAT, 1, &three));
    EXPECT_GUARD(tensor);
    samples[k] = tensor.value;
  }
#ifdef GROWTH_NEWER
  samples[1].future = 1 << 20;
  {
    galatea_error* error = galatea_session_feed(session, "x", samples, 2, NULL);
    EXPECT(error && strcmp(galatea_error_code_borrow(error), "G0977") == 0);
    galatea_error_destroy(error);
  }
  samples[1].future = 0;
#endif
  OK(galatea_session_feed(session, "x", samples, 2, NULL));
  OK(galatea_session_feed_borrowed(session, "x", samples, 2, NULL, release, &releases));
  OK(galatea_session_end_of_feed(session));
  for (k = 0; k < 2; ++k) {
    OK(galatea_session_next(session, -1, &batch));
    EXPECT(batch != NULL);
    if (!batch) break;
    FILL(tensor);
    OK(galatea_batch_tensor_borrow(batch, 1, 1, &tensor.value));
    EXPECT_GUARD(tensor);
    EXPECT(tensor.value.ndim == 1 && tensor.value.extents[0] == 3 && tensor.value.strides[0] == 1);
    EXPECT(strcmp(tensor.value.layout, "W") == 0);
    EXPECT(((const float*)tensor.value.data)[2] == 12.0f);
    FILL(tensor);
    OK(galatea_batch_dense_borrow(batch, 0, &tensor.value));
    EXPECT_GUARD(tensor);
    EXPECT(tensor.value.ndim == 1 && tensor.value.extents[0] == 2);
    EXPECT(((const float*)tensor.value.data)[1] == 15.0f);
#ifdef GROWTH_NEWER
    EXPECT(tensor.value.future == 0);
#endif
    galatea_batch_destroy(batch);
  }
  galatea_session_destroy(session);
  EXPECT(releases == 1);
  galatea_program_destroy(program);
  galatea_engine_destroy(engine);
  if (!failures) puts("fine");
  return failures ? 1 : 0;
}
