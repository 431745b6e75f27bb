/* A plug-in in C99: an operator, a reader, and an operator in the language itself.
 *
 * What it teaches: declaring ports and arguments as texts, keeping what the arguments say, saying the extents
 * of an output, errors in words. A host loads it by galatea_engine_load_plugin(), or from a folder of
 * plug-ins; plugin.dali-dsl beside this file uses all three.
 *
 *     cc -std=c99 -shared -fPIC plugin.c $(pkg-config --cflags --libs galatea) -o acme.so
 */
#include <galatea.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fn.acme.pixelate(image, block=4): every block of an image becomes one pixel, its mean ---- */

/* A number of the arguments, which come as one JSON object: {"block":4}. The library has checked their kinds.
 */
static int64_t number_in(const char* arguments, const char* name) {
  char key[64];
  const char* at;
  snprintf(key, sizeof key, "\"%s\":", name);
  at = strstr(arguments, key);
  return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

static galatea_error* pixelate_prepare(void* context, const char* arguments, void** state) {
  int64_t* block = malloc(sizeof *block);
  (void)context;
  if (!block) return galatea_error_create("out of memory");
  *block = number_in(arguments, "block");
  if (*block < 1) {
    free(block);
    return galatea_error_create("block must be at least 1");
  }
  *state = block;
  return NULL;
}

static galatea_error* pixelate_shape(void* context, void* state, galatea_call* call) {
  const int64_t block = *(const int64_t*)state;
  galatea_tensor image;
  int64_t extents[3];
  galatea_error* error = galatea_call_input_borrow(call, 0, &image);
  (void)context;
  if (error) return error;
  extents[0] = (image.extents[0] + block - 1) / block;
  extents[1] = (image.extents[1] + block - 1) / block;
  extents[2] = image.extents[2];
  return galatea_call_set_extents(call, 3, extents);
}

static galatea_error* pixelate_run(void* context, void* state, galatea_call* call) {
  const int64_t block = *(const int64_t*)state;
  galatea_tensor in, out;
  int64_t y, x, c, j, i;
  galatea_error* error = galatea_call_input_borrow(call, 0, &in);
  (void)context;
  if (!error) error = galatea_call_output_borrow(call, &out);
  if (error) return error;
  for (y = 0; y < out.extents[0]; ++y) {
    for (x = 0; x < out.extents[1]; ++x) {
      for (c = 0; c < out.extents[2]; ++c) {
        int64_t sum = 0, count = 0;
        for (j = y * block; j < (y + 1) * block && j < in.extents[0]; ++j)
          for (i = x * block; i < (x + 1) * block && i < in.extents[1]; ++i, ++count)
            sum += ((const uint8_t*)in.data)[(j * in.extents[1] + i) * in.extents[2] + c];
        ((uint8_t*)out.data)[(y * out.extents[1] + x) * out.extents[2] + c] = (uint8_t)(sum / count);
      }
    }
  }
  return NULL;
}

static galatea_error* add_pixelate(galatea_engine* engine) {
  static const char* const inputs[] = {"image: u8[h,w,c] HWC", NULL};
  static const char* const arguments[] = {"block: int = 4", NULL};
  galatea_function function;
  galatea_function_init(&function);
  function.name = "acme.pixelate";
  function.documentation = "Makes every block of an image one pixel, its mean.";
  function.inputs = inputs;
  function.output = "pixels: u8[?,?,c] HWC";
  function.arguments = arguments;
  function.prepare = pixelate_prepare;
  function.release = free;
  function.shape = pixelate_shape;
  function.run = pixelate_run;
  return galatea_engine_register_function(engine, &function);
}

/* ---- fn.readers.acme(path=...): grey pictures of 8 x 8 bytes, one behind the other in a file ---- */

enum { kSide = 8, kPicture = kSide * kSide };

typedef struct {
  unsigned char* bytes;
  int64_t count;
} pictures;

static void pictures_close(void* state) {
  pictures* self = state;
  if (self) free(self->bytes);
  free(self);
}

/* The text of an argument; galatea escapes what JSON wants escaped, which a path of this example has not. */
static int text_in(const char* arguments, const char* name, char* text, size_t size) {
  char key[64];
  const char *at, *end;
  snprintf(key, sizeof key, "\"%s\":\"", name);
  at = strstr(arguments, key);
  end = at ? strchr(at + strlen(key), '"') : NULL;
  if (!end || (size_t)(end - at) >= size) return 0;
  at += strlen(key);
  memcpy(text, at, (size_t)(end - at));
  text[end - at] = '\0';
  return 1;
}

static galatea_error* pictures_open(void* context, const char* arguments, void** state) {
  char path[4096], message[4200];
  pictures* self;
  long bytes = -1;
  FILE* file;
  (void)context;
  if (!text_in(arguments, "path", path, sizeof path)) return galatea_error_create("path cannot be read");
  file = fopen(path, "rb");
  if (!file) {
    snprintf(message, sizeof message, "%s cannot be opened", path);
    return galatea_error_create(message);
  }
  self = calloc(1, sizeof *self);
  if (self && fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) >= 0) {
    rewind(file);
    self->bytes = malloc((size_t)bytes + 1);
    self->count = bytes / kPicture;
    if (self->bytes && fread(self->bytes, 1, (size_t)bytes, file) == (size_t)bytes && bytes % kPicture == 0) {
      fclose(file);
      *state = self;
      return NULL;
    }
  }
  fclose(file);
  pictures_close(self);
  snprintf(message, sizeof message, "%s holds no pictures of %d bytes", path, (int)kPicture);
  return galatea_error_create(message);
}

static int64_t pictures_count(void* state) { return ((const pictures*)state)->count; }

static void pictures_describe(void* state, int64_t index, char* text, size_t size) {
  (void)state;
  snprintf(text, size, "picture %" PRId64, index);
}

static galatea_error* pictures_read(void* state, int64_t index, galatea_read* read) {
  static const int64_t extents[3] = {kSide, kSide, 1};
  const pictures* self = state;
  void *pixels, *number;
  const int64_t one = 1;
  galatea_error* error = galatea_read_output_borrow(read, 0, GALATEA_UINT8, 3, extents, &pixels);
  if (!error) error = galatea_read_output_borrow(read, 1, GALATEA_INT64, 1, &one, &number);
  if (error) return error;
  memcpy(pixels, self->bytes + index * kPicture, kPicture);
  memcpy(number, &index, sizeof index);
  return NULL;
}

static galatea_error* add_reader(galatea_engine* engine) {
  static const char* const outputs[] = {"picture: u8[8,8,1] HWC", "number: i64[1]", NULL};
  static const char* const arguments[] = {"path: str", NULL};
  galatea_source source;
  galatea_source_init(&source);
  source.name = "readers.acme";
  source.documentation = "Reads grey pictures of 8 x 8 bytes, one behind the other in a file.";
  source.outputs = outputs;
  source.arguments = arguments;
  source.open = pictures_open;
  source.close = pictures_close;
  source.num_samples = pictures_count;
  source.describe = pictures_describe;
  source.read = pictures_read;
  return galatea_engine_register_source(engine, &source);
}

/* ---- fn.acme.mosaic(image, block): in the language ---- */

static const char* const mosaic =
    "from galatea import fn, types\n"
    "\n"
    "def mosaic(image, block=2):\n"
    "    shape = image.shape()\n"
    "    small = fn.acme.pixelate(image, block=block)\n"
    "    return fn.resize(small, size=[shape[0], shape[1]], interp_type=types.INTERP_NN)\n";

GALATEA_API galatea_error* galatea_plugin_register(galatea_engine* engine);
galatea_error* galatea_plugin_register(galatea_engine* engine) {
  galatea_error* error = add_pixelate(engine);
  if (!error) error = add_reader(engine);
  if (!error) error = galatea_engine_register_text(engine, "acme", "acme.dali-dsl", mosaic);
  return error;
}
