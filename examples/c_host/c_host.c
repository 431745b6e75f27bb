/* A host in C99: feeds a pipeline's external input with images that it draws, and prints what comes back.
 *
 * What it teaches: engine, program (a parameter set by name), session, feeding by name, the end of a feed,
 * borrowing tensors, errors with their text. It uses nothing but the installed header and library:
 *
 *     cc -std=c99 c_host.c $(pkg-config --cflags --libs galatea) -o c_host
 *     ./c_host ../07_external_source.dali-dsl
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <galatea.h>

enum { kBatchSize = 4, kNumImages = 10 };

/* Says what went wrong, and ends the program. */
static void require(galatea_error* error) {
  if (!error) return;
  fputs(galatea_error_text_borrow(error), stderr);
  galatea_error_destroy(error);
  exit(1);
}

/* Image number n: a plain picture of brightness 20 n; sizes differ. */
static galatea_tensor draw(int n) {
  const int64_t extents[3] = {40 + 8 * n, 60 + 4 * n, 3};
  const size_t bytes = (size_t)(extents[0] * extents[1] * extents[2]);
  unsigned char* pixels = malloc(bytes);
  galatea_tensor image;
  if (!pixels) exit(1);
  memset(pixels, 20 * n, bytes);
  require(galatea_tensor_init(&image, pixels, GALATEA_UINT8, 3, extents));
  return image;
}

/* The library copies what is fed, so the pixels are ours to free. */
static void feed(galatea_session* session, int first, int count) {
  galatea_tensor images[kBatchSize];
  int k;
  for (k = 0; k < count; ++k) images[k] = draw(first + k);
  require(galatea_session_feed(session, "images", images, count, NULL));
  for (k = 0; k < count; ++k) free(images[k].data);
}

static void print_sample(const galatea_batch* batch, int32_t sample) {
  galatea_tensor image, mean;
  int32_t d;
  require(galatea_batch_tensor_borrow(batch, 0, sample, &image));
  require(galatea_batch_tensor_borrow(batch, 1, sample, &mean));
  printf("sample %" PRId64 ": image", galatea_batch_sample_id(batch, sample));
  for (d = 0; d < image.ndim; ++d) printf("%s%" PRId64, d ? "x" : " ", image.extents[d]);
  printf(" %s, mean %.2f\n", image.layout, (double)*(const float*)mean.data);
}

int main(int argc, char** argv) {
  galatea_engine* engine;
  galatea_program_options* options;
  galatea_program* program;
  galatea_session* session;
  galatea_batch* batch;
  int first;
  int32_t k;

  if (argc != 2) {
    fprintf(stderr, "usage: %s PIPELINE\n", argv[0]);
    return 2;
  }
  require(galatea_engine_create(&engine));
  require(galatea_program_options_create(&options));
  require(galatea_program_options_set_parameter(options, "size", "48"));
  require(galatea_program_options_set_batch_size(options, kBatchSize));
  require(galatea_program_create_from_file(engine, argv[1], options, &program));
  galatea_program_options_destroy(options);
  fputs(galatea_program_warnings_text_borrow(program), stderr);

  require(galatea_session_create(program, NULL, &session));
  for (first = 0; first < kNumImages; first += kBatchSize) {
    feed(session, first, kNumImages - first < kBatchSize ? kNumImages - first : kBatchSize);
  }
  require(galatea_session_end_of_feed(session));
  for (;;) {
    require(galatea_session_next(session, -1, &batch));
    if (!batch) break; /* the epoch is over */
    printf("batch %" PRId64 " of %" PRId32 " samples\n", galatea_batch_index(batch),
           galatea_batch_num_samples(batch));
    for (k = 0; k < galatea_batch_num_samples(batch); ++k) print_sample(batch, k);
    galatea_batch_destroy(batch);
  }
  galatea_session_destroy(session);
  galatea_program_destroy(program);
  galatea_engine_destroy(engine);
  return 0;
}
