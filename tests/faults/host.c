/* A host of the C API under which allocations, files and threads fail:
 *   host PIPELINE KIND MODE FROM TO DENSE
 *
 * For each N from FROM to TO, ever sparser behind DENSE: call N of the kind (tests/faults/inject.c) fails,
 * MODE "one" alone, "all" with all behind it, while an engine, a program and a session are made, two epochs
 * are taken (or batches are fed and taken, where the pipeline has an input `x`), and all is destroyed. Every
 * error must be the machine's (GALATEA_ERROR_SYSTEM) and have words; every batch must be that of a run
 * without faults; where no error was told, all of them must be there. Behind that, with nothing failing, the
 * same session gives right batches or says that it is over, and the same engine makes a program whose run is
 * right, or says that it can compile no more. Prints one line a finding; ends with "walked COUNT, told
 * ERRORS".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/galatea.h"

enum { kMostBatches = 64, kEpochs = 2, kMostErrors = 32, kFedBatches = 4, kFedSamples = 2, kFedLength = 3 };

static void (*g_arm)(const char* kind, long number, int all);
static long (*g_failed)(void);
static int g_findings = 0;
static int g_feeds = 0;          /* the pipeline is fed */
static int g_cannot_compile = 0; /* the library has said so: nothing that has to be compiled works any more */
static long g_told = 0;

/* What a batch is, and where it belongs. */
struct seen {
  int64_t epoch, index;
  uint64_t hash;
};
struct run {
  struct seen batches[kMostBatches];
  int count, errors, ended; /* ended: all epochs were seen to their end */
  int fed, end_is_fed;
};

static const char* g_place = "";

static void find(const char* what, const char* more) {
  ++g_findings;
  printf("%s: %s: %s\n", g_place, what, more);
}

static uint64_t hash_bytes(uint64_t hash, const void* data, size_t size) {
  const unsigned char* bytes = data;
  for (size_t k = 0; k < size; ++k) hash = (hash ^ bytes[k]) * UINT64_C(1099511628211);
  return hash;
}

/* Whether the call went well; an error is looked at, and ended. */
static int is_fine(galatea_error* error) {
  if (!error) return 1;
  ++g_told;
  const char* text = galatea_error_text_borrow(error);
  if (galatea_error_get_kind(error) != GALATEA_ERROR_SYSTEM) find("an error that is not the machine's", text);
  if (strcmp(galatea_error_code_borrow(error), "G0994") == 0 && !g_cannot_compile) {
    g_cannot_compile = 1;
    printf("%s", text);
  }
  if (!*galatea_error_message_borrow(error) || !*galatea_error_code_borrow(error))
    find("an error without words", text);
  galatea_error_destroy(error);
  return 0;
}

/* False: the batch could not be looked at. */
static int look_at(const galatea_batch* batch, struct seen* seen) {
  seen->epoch = galatea_batch_epoch(batch);
  seen->index = galatea_batch_index(batch);
  uint64_t hash = UINT64_C(14695981039346656037);
  for (int32_t output = 0; output < galatea_batch_num_outputs(batch); ++output) {
    for (int32_t sample = 0; sample < galatea_batch_num_samples(batch); ++sample) {
      galatea_tensor tensor;
      if (!is_fine(galatea_batch_tensor_borrow(batch, output, sample, &tensor))) return 0;
      int64_t elements = 1;
      for (int32_t d = 0; d < tensor.ndim; ++d) elements *= tensor.extents[d];
      hash = hash_bytes(hash, tensor.extents, sizeof(int64_t) * (size_t)tensor.ndim);
      hash = hash_bytes(hash, tensor.data, (size_t)elements * (size_t)galatea_dtype_size(tensor.dtype));
      const int64_t id = galatea_batch_sample_id(batch, sample);
      hash = hash_bytes(hash, &id, sizeof id);
    }
  }
  seen->hash = hash;
  return 1;
}

static int feed(galatea_session* session, int number) {
  float values[kFedSamples][kFedLength];
  galatea_tensor samples[kFedSamples];
  const int64_t length = kFedLength;
  for (int s = 0; s < kFedSamples; ++s) {
    for (int k = 0; k < kFedLength; ++k) values[s][k] = (float)(100 * number + 10 * s + k);
    if (!is_fine(galatea_tensor_init(&samples[s], values[s], GALATEA_FLOAT, 1, &length))) return 0;
  }
  return is_fine(galatea_session_feed(session, "x", samples, kFedSamples, NULL));
}

/* Where the pipeline has an input `x`: what is refused is fed again, so that each batch is there once. */
static void feed_and_take(galatea_session* session, struct run* run) {
  while (run->errors < kMostErrors) {
    if (run->fed < kFedBatches) {
      if (!feed(session, run->fed)) {
        ++run->errors;
        continue;
      }
      ++run->fed;
    } else if (!run->end_is_fed) {
      if (!is_fine(galatea_session_end_of_feed(session))) {
        ++run->errors;
        continue;
      }
      run->end_is_fed = 1;
    }
    galatea_batch* batch = NULL;
    if (!is_fine(galatea_session_next(session, -1, &batch))) {
      ++run->errors;
      continue;
    }
    if (!batch) {
      run->ended = 1;
      return;
    }
    if (run->count < kMostBatches && look_at(batch, &run->batches[run->count]))
      ++run->count;
    else
      ++run->errors;
    galatea_batch_destroy(batch);
  }
}

/* Batches of a session until its epochs are over, or it says that it cannot go on. */
static void take(galatea_session* session, struct run* run) {
  if (g_feeds) {
    feed_and_take(session, run);
    return;
  }
  int epochs = 0;
  while (epochs < kEpochs && run->count < kMostBatches && run->errors < kMostErrors) {
    galatea_batch* batch = NULL;
    if (!is_fine(galatea_session_next(session, -1, &batch))) {
      ++run->errors;
      continue;
    }
    if (!batch) {
      ++epochs;
      continue;
    }
    if (look_at(batch, &run->batches[run->count]))
      ++run->count;
    else
      ++run->errors;
    galatea_batch_destroy(batch);
  }
  run->ended = epochs == kEpochs;
}

/* Every batch is one of the clean run, each once, and all are there where nothing was told. */
static void compare(const struct run* run, const struct run* clean) {
  char text[128];
  int at = 0;
  for (int k = 0; k < run->count; ++k) {
    const struct seen* seen = &run->batches[k];
    while (at < clean->count &&
           (clean->batches[at].epoch != seen->epoch || clean->batches[at].index != seen->index))
      ++at;
    snprintf(text, sizeof text, "batch %" PRId64 " of epoch %" PRId64, seen->index, seen->epoch);
    if (at == clean->count) {
      find("out of order, or twice", text);
      return;
    }
    if (clean->batches[at].hash != seen->hash) find("wrong content", text);
    ++at;
  }
  snprintf(text, sizeof text, "%d of %d batches", run->count, clean->count);
  if (run->ended && run->errors == 0 && run->count != clean->count) find("batches are missing", text);
  if (run->ended && run->count + run->errors < clean->count) find("batches are missing beside errors", text);
}

static galatea_session* open_session(galatea_engine* engine, const char* file, galatea_program** program) {
  galatea_session* session = NULL;
  *program = NULL;
  if (!is_fine(galatea_program_create_from_file(engine, file, NULL, program))) return NULL;
  g_feeds = galatea_program_num_inputs(*program) > 0;
  if (!is_fine(galatea_session_create(*program, NULL, &session))) return NULL;
  return session;
}

static void run_clean(galatea_engine* engine, const char* file, struct run* run) {
  galatea_program* program = NULL;
  galatea_session* session = open_session(engine, file, &program);
  memset(run, 0, sizeof *run);
  if (session) take(session, run);
  galatea_session_destroy(session);
  galatea_program_destroy(program);
}

static void walk_one(const char* file, const char* kind, long number, int all, const struct run* clean) {
  galatea_engine* engine = NULL;
  galatea_program* program = NULL;
  galatea_session* session = NULL;
  struct run run = {0};
  g_arm(kind, number, all);
  if (is_fine(galatea_engine_create(&engine))) session = open_session(engine, file, &program);
  if (session) take(session, &run);
  char* json = NULL;
  if (session && is_fine(galatea_session_statistics_json_take(session, &json))) galatea_string_destroy(json);
  const long failed = g_failed();
  g_arm("", 0, 0);
  compare(&run, clean);
  if (failed == 0 && session && !(run.ended && run.errors == 0))
    find("an error, and nothing had failed", kind);

  /* With nothing failing any more. */
  if (session && !run.ended) {
    struct run rest = run;
    take(session, &rest);
    if (rest.errors < kMostErrors) compare(&rest, clean);
  }
  galatea_session_destroy(session);
  galatea_program_destroy(program);
  if (!engine && !is_fine(galatea_engine_create(&engine))) {
    find("no engine", "although nothing fails");
    return;
  }
  struct run again;
  run_clean(engine, file, &again);
  galatea_engine_destroy(engine);
  if (g_cannot_compile) return;
  if (again.errors > 0 || again.count != clean->count) find("the engine cannot be used any more", kind);
  compare(&again, clean);
}

/* All of them up to `dense`, then ever sparser. */
static long behind(long number, long dense) { return number < dense ? number + 1 : number + number / 16 + 1; }

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  void* const self = RTLD_DEFAULT;
  *(void**)&g_arm = dlsym(self, "galatea_fault_arm");
  *(void**)&g_failed = dlsym(self, "galatea_fault_failed");
  long (*calls)(const char*) = NULL;
  *(void**)&calls = dlsym(self, "galatea_fault_calls");
  if (!g_arm || !g_failed || !calls) return 2;
  const char* const file = argv[1];
  const char* const kind = argv[2];
  const int all = strcmp(argv[3], "all") == 0;
  const long first = atol(argv[4]), last = atol(argv[5]), dense = atol(argv[6]);
  setvbuf(stdout, NULL, _IONBF, 0);

  /* Fills the cache on disk: with it, what follows compiles nothing. The second run counts what a walk
   * calls, whose engine is new as well. */
  long total = 0;
  struct run clean = {0};
  g_place = "clean";
  for (int k = 0; k < 2; ++k) {
    galatea_engine* engine = NULL;
    g_arm(kind, INT64_MAX, 0);
    if (!is_fine(galatea_engine_create(&engine))) return 1;
    run_clean(engine, file, &clean);
    total = calls(kind);
    g_arm("", 0, 0);
    galatea_engine_destroy(engine);
  }
  if (!clean.ended || clean.errors > 0 || clean.count == 0) {
    find("the clean run", "went wrong");
    return 1;
  }
  g_told = 0;
  long walked = 0;
  for (long number = first; number <= total && number <= last && g_findings < 20 && !g_cannot_compile;
       number = behind(number, dense)) {
    char place[64];
    snprintf(place, sizeof place, "%s:%ld%s", kind, number, all ? "+" : "");
    g_place = place;
    /* Where this process dies, the last line says at which. */
    fprintf(stderr, "%s\n", place);
    walk_one(file, kind, number, all, &clean);
    ++walked;
  }
  printf("walked %ld, told %ld\n", walked, g_told);
  return g_findings > 0;
}
