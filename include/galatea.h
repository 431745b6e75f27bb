/* galatea: pipelines for training data, compiled.
 *
 * Life of a program: an engine is made once; a program is compiled from a pipeline file or text; a session
 * runs it and gives batch after batch.
 *
 *     galatea_engine *engine;
 *     galatea_program *program;
 *     galatea_session *session;
 *     galatea_error *error = galatea_engine_create(&engine);
 *     error = galatea_program_create_from_file(engine, "train.dali-dsl", NULL, &program);
 *     error = galatea_session_create(program, NULL, &session);
 *     for (;;) {
 *       galatea_batch *batch;
 *       error = galatea_session_next(session, -1, &batch);
 *       if (error || !batch) break;               // batch == NULL: the epoch is over
 *       ...
 *       galatea_batch_destroy(batch);
 *     }
 *
 * docs/c-api.md begins with programs to copy; docs/plug-ins.md tells how to add operators and readers.
 *
 * Errors. A function that can fail returns galatea_error*: NULL means success, anything else is yours to
 * destroy with galatea_error_destroy(). When a function fails, its results are set to NULL (or left alone
 * where they are not pointers). Nothing is printed, no exception leaves the library, and no signal is raised
 * for what a pipeline, its data or a host can cause.
 *
 * Ownership is in the name. `_create` and `_take` hand you something that you destroy with the `_destroy`
 * named beside it; `_borrow` gives you something that belongs to the object you asked, and that lives as long
 * as it unless another span is stated. Every `_destroy` accepts NULL. Objects may be destroyed in any order:
 * a session keeps its program alive, a batch its memory.
 *
 * Threads. An engine and a program may be used by any number of threads at once. A session is used by one
 * thread at a time, with two exceptions: galatea_session_cancel(), which any thread may call at any time
 * while the session lives, and the functions that feed a session, which another thread may call while one
 * takes batches (not where the session is synchronous). A batch is read-only, and may be read by many
 * threads.
 *
 * Growth. Programs that were compiled with an older header run with a newer library, and the other way round
 * where they do not use what is missing. Functions keep their meaning. Structs gain fields at their end; a
 * field that is all zeros means what was true before there was such a field. Functions that take such a
 * struct are therefore also macros, as in zlib: NAME(...) calls NAME_sized(..., sizeof(struct)), so that the
 * library knows which fields its host knows. It fills those, and reads no others; where a host knows fields
 * that the library does not, they must be zero, or the call is an error. The functions without `_sized` are
 * for hosts that were compiled with the header of version 0.1.0, whose structs ended where the fields
 * marked "since 0.2" begin. Callers that cannot use macros (a foreign-function interface) call `_sized`.
 *
 * Text is UTF-8 and ends in a zero byte. Pointers must not be NULL unless a comment says that they may be.
 */
#ifndef GALATEA_H
#define GALATEA_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define GALATEA_API
#else
#define GALATEA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header. The library's own is galatea_version_borrow(). */
#define GALATEA_VERSION_MAJOR 0
#define GALATEA_VERSION_MINOR 2
#define GALATEA_VERSION_PATCH 0

/* The highest number of dimensions of a tensor. */
#define GALATEA_MAX_RANK 8

typedef struct galatea_engine galatea_engine;                   /* operators, native functions; shared */
typedef struct galatea_engine_options galatea_engine_options;   /* what an engine keeps, and where */
typedef struct galatea_program_options galatea_program_options; /* how to compile */
typedef struct galatea_program galatea_program;                 /* a compiled pipeline; never changes */
typedef struct galatea_session galatea_session;                 /* a running program */
typedef struct galatea_batch galatea_batch;                     /* samples that were delivered together */
typedef struct galatea_error galatea_error;                     /* why a call failed */

/* The library's version, "0.2.0". Lives as long as the library. */
GALATEA_API const char* galatea_version_borrow(void);

/* ---- Errors ---- */

/* Who has to act. After a system error engines can be used as before; a session goes on with its next batch,
 * or has ended where it could not tell which that is: then each of its calls says so. */
typedef enum galatea_error_kind {
  GALATEA_ERROR_USER = 1,    /* the author of the pipeline, its data, or the host that called */
  GALATEA_ERROR_SYSTEM = 2,  /* whoever runs this machine: no memory, no threads, a failing disk, no device */
  GALATEA_ERROR_INTERNAL = 3 /* the authors of galatea: a bug */
} galatea_error_kind;

/* Codes that a host may want to tell apart (galatea_error_code_borrow()). */
#define GALATEA_CODE_TIMEOUT "G0901"       /* galatea_session_next(): no batch in time; call again */
#define GALATEA_CODE_CANCELLED "G0902"     /* the session was cancelled */
#define GALATEA_CODE_TOO_MANY_HELD "G0903" /* destroy batches first */
#define GALATEA_CODE_NOTHING_FED "G0904"   /* an external input has no batch; feed one */
#define GALATEA_CODE_QUEUE_FULL "G0974"    /* galatea_session_feed_within(): no room in time; call again */
/* Of a state to begin from: it cannot be read; another program; other data; another seed; another batch size,
 * where that is part of the result. */
#define GALATEA_CODE_STATE_DAMAGED "G0980"
#define GALATEA_CODE_STATE_OF_OTHER_PROGRAM "G0981"
#define GALATEA_CODE_STATE_OF_OTHER_DATA "G0982"
#define GALATEA_CODE_STATE_OF_OTHER_SEED "G0983"
#define GALATEA_CODE_STATE_OF_OTHER_BATCH_SIZE "G0984"

/* Whose fault it is. */
GALATEA_API galatea_error_kind galatea_error_get_kind(const galatea_error* error);
/* The code of the first diagnostic, "G0203", or "" if it has none. */
GALATEA_API const char* galatea_error_code_borrow(const galatea_error* error);
/* The message of the first diagnostic: one line, without its place. */
GALATEA_API const char* galatea_error_message_borrow(const galatea_error* error);
/* All diagnostics as text for people: code, message, file:line:column, the source line with the place
 * underlined, notes, help. */
GALATEA_API const char* galatea_error_text_borrow(const galatea_error* error);
/* All diagnostics as one line of JSON:
 * {"diagnostics":[{"code","severity","message","file","line","column",...}]}. */
GALATEA_API const char* galatea_error_json_borrow(const galatea_error* error);
/* Ends an error. */
GALATEA_API void galatea_error_destroy(galatea_error* error);
/* An error of the host's (code G0978), for its functions that return one: what is wrong, in words. */
GALATEA_API galatea_error* galatea_error_create(const char* message);

/* ---- Engine ---- */

/* Makes an engine. One for the whole process is enough; several do not disturb each other. */
GALATEA_API galatea_error* galatea_engine_create(galatea_engine** engine);

/* Options of an engine: everything that is not set stays as the environment says (`galatea settings` lists
 * it). */
GALATEA_API galatea_error* galatea_engine_options_create(galatea_engine_options** options);
/* Where compiled code is kept; "": nothing is kept on disk. */
GALATEA_API galatea_error* galatea_engine_options_set_cache_folder(galatea_engine_options* options,
                                                                   const char* folder);
/* Bytes that compiled code may take there; what was used least recently goes first. 0: nothing is kept. */
GALATEA_API galatea_error* galatea_engine_options_set_cache_size(galatea_engine_options* options,
                                                                 int64_t bytes);
/* What an engine tells its host beside errors. */
typedef enum galatea_log_level {
  GALATEA_LOG_DETAIL = 0, /* what was done: pipelines compiled, plug-ins loaded */
  GALATEA_LOG_NOTE = 1,   /* notes of the compilation */
  GALATEA_LOG_WARNING = 2 /* warnings, and samples that were left out or replaced */
} galatea_log_level;
/* `log` is called with what the engine, its programs and their sessions have to tell: one message without a
 * line break at its end, which lives as long as the call. Any thread may call it, also one of the library's
 * own, but never two at once. It must not call this library. NULL: no log. */
GALATEA_API galatea_error* galatea_engine_options_set_log(galatea_engine_options* options,
                                                          void (*log)(void* context, galatea_log_level level,
                                                                      const char* message),
                                                          void* context);
/* A folder of plug-ins: every file whose name ends in ".so" is loaded when the engine is made, in the order
 * of their names. */
GALATEA_API galatea_error* galatea_engine_options_add_plugin_folder(galatea_engine_options* options,
                                                                    const char* folder);
/* Ends options. Engines made with them are not affected. */
GALATEA_API void galatea_engine_options_destroy(galatea_engine_options* options);
/* Makes an engine with options, which may be NULL. */
GALATEA_API galatea_error* galatea_engine_create_with_options(const galatea_engine_options* options,
                                                              galatea_engine** engine);
/* The operators as JSON, as `galatea ops --json` prints them (docs/command-line.md). To be destroyed with
 * galatea_string_destroy(). */
GALATEA_API galatea_error* galatea_engine_operators_json_take(const galatea_engine* engine, char** json);
/* Ends an engine. Programs made by it live on. */
GALATEA_API void galatea_engine_destroy(galatea_engine* engine);

/* ---- Programs ---- */

/* Options: everything that is not set stays as the pipeline file says. Setting something again replaces it.
 */
GALATEA_API galatea_error* galatea_program_options_create(galatea_program_options** options);
/* Which pipeline of the file; without it, the only one. The text is copied, here and below. */
GALATEA_API galatea_error* galatea_program_options_set_pipeline(galatea_program_options* options,
                                                                const char* name);
/* A parameter of the pipeline: converted by its annotation or its default; else read as a literal; else taken
 * as text. */
GALATEA_API galatea_error* galatea_program_options_set_parameter(galatea_program_options* options,
                                                                 const char* name, const char* value);
/* Samples in a batch, at least 1. */
GALATEA_API galatea_error* galatea_program_options_set_batch_size(galatea_program_options* options,
                                                                  int32_t batch_size);
/* Worker threads, at least 1. */
GALATEA_API galatea_error* galatea_program_options_set_num_threads(galatea_program_options* options,
                                                                   int32_t num_threads);
/* Batches made ahead of the consumer, at least 1. */
GALATEA_API galatea_error* galatea_program_options_set_prefetch_depth(galatea_program_options* options,
                                                                      int32_t prefetch_depth);
/* The seed of all draws and shuffling. */
GALATEA_API galatea_error* galatea_program_options_set_seed(galatea_program_options* options, int64_t seed);
/* "auto" (the default), "cpu", "gpu" or "gpu:N". */
GALATEA_API galatea_error* galatea_program_options_set_device(galatea_program_options* options,
                                                              const char* device);
/* What decodes the images of device="mixed" on a GPU: "auto" (the default: nvJPEG where it is here, and the
 * CPU what nvJPEG does not), "cpu", or "nvjpeg", which then must be here. */
GALATEA_API galatea_error* galatea_program_options_set_decoder(galatea_program_options* options,
                                                               const char* decoder);
/* "raise": a failed sample fails its batch; "skip": its batch is smaller; "replace": another sample stands
 * in. */
GALATEA_API galatea_error* galatea_program_options_set_on_error(galatea_program_options* options,
                                                                const char* policy);
/* Non-zero: bit-equal results everywhere. Zero: forms that change values slightly are allowed where they are
 * faster. */
GALATEA_API galatea_error* galatea_program_options_set_exact(galatea_program_options* options, int exact);
/* Bytes that a session may allocate, at least 1. */
GALATEA_API galatea_error* galatea_program_options_set_memory_limit(galatea_program_options* options,
                                                                    int64_t bytes);
/* What runs the kernels: "llvm" (the default) or "interpreter" (slow; gives the same bits). */
GALATEA_API galatea_error* galatea_program_options_set_backend(galatea_program_options* options,
                                                               const char* backend);
/* Code that takes long to compile: "auto" (quick code, until the best is there, while the program runs),
 * "best" (the best code at once) or "first" (quick code for all; for comparing). Gives the same bits. Without
 * it, what GALATEA_TIERS in the environment says, else "auto". */
GALATEA_API galatea_error* galatea_program_options_set_tiers(galatea_program_options* options,
                                                             const char* tiers);
/* The folder that imports may not leave; without it, the folder of the pipeline file. */
GALATEA_API galatea_error* galatea_program_options_set_import_root(galatea_program_options* options,
                                                                   const char* folder);
/* A policy document (a JSON file) that stands for the one which the pipeline loads by `policy.load`. Several:
 * samples are read and decoded once and go through each policy, with the same random numbers as alone.
 * Outputs that depend on the policy then come once for each, named "POLICY/NAME" after the file, the others
 * once. */
GALATEA_API galatea_error* galatea_program_options_add_policy(galatea_program_options* options,
                                                              const char* path);
/* For looking at a pipeline. Non-zero: every picture, sound, spectrogram or clip in a variable that all samples
 * pass through is an output, too, before the pipeline's own, named after its place:
 * "image = resize, line 12". */
GALATEA_API galatea_error* galatea_program_options_set_nodes(galatea_program_options* options, int nodes);
/* For looking at a pipeline: other random numbers for the same samples in the same order, given the same seed.
 * 0 (the default): the pipeline's own; 1, 2, ...: others. */
GALATEA_API galatea_error* galatea_program_options_set_draw(galatea_program_options* options, int32_t draw);
/* A part of a text: lines and columns from 1, columns in characters, the end exclusive. */
typedef struct galatea_text_range {
  int32_t line, column, end_line, end_column;
} galatea_text_range;
/* For texts that a program made: a text that parts of it were made from, by the name that messages show. Both
 * are copied. */
GALATEA_API galatea_error* galatea_program_options_add_source(galatea_program_options* options,
                                                              const char* name, const char* text);
/* Says that `part` of the pipeline's text was made from `place` in the source `name`, which was added before.
 * Messages, statistics and errors of samples then show that place instead; of parts that lie in each other,
 * the narrowest. What is past the end of a line or of a text means its end. */
GALATEA_API galatea_error* galatea_program_options_map_range(galatea_program_options* options,
                                                             const galatea_text_range* part, const char* name,
                                                             const galatea_text_range* place);
/* Moves a bound of the compilation by its name ("steps", "nodes", "call-depth", …; docs/limits.md lists
 * them). A message about a limit names it. */
GALATEA_API galatea_error* galatea_program_options_set_limit(galatea_program_options* options,
                                                             const char* name, int64_t value);
/* Ends options. Programs made with them are not affected. */
GALATEA_API void galatea_program_options_destroy(galatea_program_options* options);

/* Compiles a pipeline file. `options` may be NULL. */
GALATEA_API galatea_error* galatea_program_create_from_file(galatea_engine* engine, const char* path,
                                                            const galatea_program_options* options,
                                                            galatea_program** program);
/* Compiles a pipeline from text. `file_name` stands in diagnostics, and its folder is where imports are
 * looked for. `options` may be NULL. */
GALATEA_API galatea_error* galatea_program_create_from_text(galatea_engine* engine, const char* file_name,
                                                            const char* text,
                                                            const galatea_program_options* options,
                                                            galatea_program** program);
/* Ends a program; its sessions live on. The last to go of a program and its sessions waits for what is being
 * compiled beside the run, and, where code is kept on disk, for one kernel more on each processor: some 0.1
 * s. The setting GALATEA_TIERS=best compiles nothing beside a run. */
GALATEA_API void galatea_program_destroy(galatea_program* program);

/* Name of the pipeline. */
GALATEA_API const char* galatea_program_name_borrow(const galatea_program* program);
/* The seed in force: the option's, the file's, or the one that was drawn. */
GALATEA_API uint64_t galatea_program_seed(const galatea_program* program);
/* The most samples that a batch holds. */
GALATEA_API int32_t galatea_program_batch_size(const galatea_program* program);
/* Warnings and notes of the compilation as text for people; "" if there were none. */
GALATEA_API const char* galatea_program_warnings_text_borrow(const galatea_program* program);
/* The same as JSON, in the form of galatea_error_json_borrow(). */
GALATEA_API const char* galatea_program_warnings_json_borrow(const galatea_program* program);

/* Element types. The numbers are part of the contract. */
typedef enum galatea_dtype {
  GALATEA_UINT8 = 0,
  GALATEA_UINT16 = 1,
  GALATEA_UINT32 = 2,
  GALATEA_UINT64 = 3,
  GALATEA_INT8 = 4,
  GALATEA_INT16 = 5,
  GALATEA_INT32 = 6,
  GALATEA_INT64 = 7,
  GALATEA_FLOAT16 = 8,
  GALATEA_FLOAT = 9,
  GALATEA_FLOAT64 = 10,
  GALATEA_BOOL = 11,
  GALATEA_NO_DTYPE = -1 /* not known yet: see galatea_program_get_input() */
} galatea_dtype;
/* Bytes of one element; 0 for a number that is no element type. */
GALATEA_API int32_t galatea_dtype_size(galatea_dtype dtype);
/* The type of an external input that the pipeline leaves open, so that all is checked and compiled at once.
 * `layout` may be NULL. What the pipeline declares itself stays. */
GALATEA_API galatea_error* galatea_program_options_set_input_type(galatea_program_options* options,
                                                                  const char* input, galatea_dtype dtype,
                                                                  int32_t ndim, const char* layout);

/* Where elements lie. The numbers are DLPack's, but for 0, which is the host's memory too. */
typedef enum galatea_device_type { GALATEA_HOST = 0, GALATEA_CUDA = 2 } galatea_device_type;

/* What a program takes or gives, as far as it is known before anything runs. */
typedef struct galatea_port {
  const char*
      name; /* of the external input, or the variable that the pipeline returned; borrowed from the program */
  galatea_dtype dtype;               /* element type */
  int32_t ndim;                      /* number of dimensions */
  const char* layout;                /* one letter an axis, "HWC"; "": not known; borrowed from the program */
  int64_t extents[GALATEA_MAX_RANK]; /* per sample; -1 where they vary */
  int32_t device_type;               /* since 0.2: a galatea_device_type */
  int32_t device;                    /* since 0.2: which GPU; 0 for memory of the host */
} galatea_port;

/* Number of outputs; -1 where the type of an input is not known yet (the batches know). */
GALATEA_API int32_t galatea_program_num_outputs(const galatea_program* program);
/* Describes output `index`, from 0. */
GALATEA_API galatea_error* galatea_program_get_output(const galatea_program* program, int32_t index,
                                                      galatea_port* port);
GALATEA_API galatea_error* galatea_program_get_output_sized(const galatea_program* program, int32_t index,
                                                            galatea_port* port, size_t port_size);
#define galatea_program_get_output(program, index, port) \
  galatea_program_get_output_sized(program, index, port, sizeof(galatea_port))
/* Number of external inputs (fn.external_source), which the host has to feed. */
GALATEA_API int32_t galatea_program_num_inputs(const galatea_program* program);
/* Describes external input `index`, from 0. Where neither the pipeline nor the host says its type, dtype is
 * GALATEA_NO_DTYPE and ndim is -1: the first batch that is fed says it, with the layout of its first tensor.
 * The pipeline is compiled when every such input was fed once; an error of that is galatea_session_feed()'s.
 * A program keeps what it compiled, for its other sessions. */
GALATEA_API galatea_error* galatea_program_get_input(const galatea_program* program, int32_t index,
                                                     galatea_port* port);
GALATEA_API galatea_error* galatea_program_get_input_sized(const galatea_program* program, int32_t index,
                                                           galatea_port* port, size_t port_size);
#define galatea_program_get_input(program, index, port) \
  galatea_program_get_input_sized(program, index, port, sizeof(galatea_port))
/* Inputs and outputs as JSON, for generated bindings: {"name", "batch_size", "inputs": [...], "outputs":
 * [...]}. Each port is as `galatea ops --json` has those of operators (docs/command-line.md): "name",
 * "dtypes" (one, ["u8"]; empty where the first batch says it), "layouts", "ndim", "extents" (null where they
 * vary); outputs have a "device", too ("cpu" or "gpu"). "outputs" is null where the type of an input is not
 * known yet. To be destroyed with galatea_string_destroy(). */
GALATEA_API galatea_error* galatea_program_ports_json_take(const galatea_program* program, char** json);

/* ---- Sessions ---- */

/* How to run. Fill it with galatea_session_options_init() first, so that fields added later have their
 * defaults. */
typedef struct galatea_session_options {
  int32_t size;             /* set by galatea_session_options_init(): bytes of this struct */
  int32_t num_threads;      /* worker threads; 0 (the default): the program's */
  int32_t max_held_batches; /* batches that may be alive at once before galatea_session_next() is an error
                               that says so; default 8 */
  int32_t synchronous; /* non-zero: everything runs inside galatea_session_next(), in order, with the same
                          results; default 0 */
  /* Of programs for a GPU. */
  int32_t device;          /* number of the GPU; -1 (the default): the program's */
  int32_t device_priority; /* of its streams: negative: a host's own work (training) goes first; positive: it
                              goes first; default 0 */
  int64_t device_memory_limit; /* bytes of the GPU that the session may take; 0 (the default): no limit */
  int32_t device_graphs; /* non-zero (the default): copies and launches that come again go to the driver as
                            one CUDA graph; 0: one by one, with the same results */
  const char* state;     /* since 0.2: where to begin, as galatea_session_state_take() gave it; NULL (the
                            default): at the beginning. Copied by galatea_session_create() */
  int32_t wait_for_feed; /* since 0.2: non-zero: another thread feeds, and galatea_session_next() waits for
                            it; zero (the default): it gives GALATEA_CODE_NOTHING_FED */
  /* Of several sessions of one program, one a GPU, say, each over its own part of the data. */
  int32_t num_shards; /* since 0.2: how many there are; 0 (the default): this one alone. Of a reader that has
                         a shard by its arguments, sessions divide that */
  int32_t shard_id;   /* since 0.2: which of them this is; 0 (the default) to num_shards - 1. A session that
                         goes on from a state takes the shard that the state was taken with */
} galatea_session_options;
/* Sets every field to its default. */
GALATEA_API void galatea_session_options_init(galatea_session_options* options);
GALATEA_API void galatea_session_options_init_sized(galatea_session_options* options, size_t options_size);
#define galatea_session_options_init(options) \
  galatea_session_options_init_sized(options, sizeof(galatea_session_options))

/* Starts a session: opens sources (an empty or missing folder is an error here) and threads. `options` may be
 * NULL. */
GALATEA_API galatea_error* galatea_session_create(const galatea_program* program,
                                                  const galatea_session_options* options,
                                                  galatea_session** session);
/* Ends a session, in the middle of an epoch too; returns when its threads have ended, within about a second.
 * Batches live on. */
GALATEA_API void galatea_session_destroy(galatea_session* session);

/* The next batch, to be destroyed with galatea_batch_destroy(). *batch is NULL, without an error, at the end
 * of an epoch; the next call begins the next epoch. `timeout_ms`: milliseconds to wait at most, then
 * GALATEA_CODE_TIMEOUT; negative: as long as it takes. A sample that failed (under on_error="raise") gives
 * the error of its batch; the session goes on with the batch behind it. */
GALATEA_API galatea_error* galatea_session_next(galatea_session* session, int64_t timeout_ms,
                                                galatea_batch** batch);

/* Where the session stands, as one line of JSON of a few hundred bytes: a session that is made with it
 * (galatea_session_options) for the same program and data goes on at the next batch, bit for bit as this one
 * does, with any number of threads and prefetched batches. What was made ahead is neither lost nor given
 * twice. Behind the end of an epoch it begins the next one; before that, behind the last batch, it gives the
 * end of the epoch first. What a host fed beyond the state it has to feed again: "epoch", "batch" and
 * "sample" (numbers in that epoch) say from where. To be destroyed with galatea_string_destroy(). */
GALATEA_API galatea_error* galatea_session_state_take(const galatea_session* session, char** state);

/* A tensor, of the library or of the host. Strides count elements and may be zero or negative. */
typedef struct galatea_tensor {
  void* data;                        /* the element at index 0, 0, ... */
  galatea_dtype dtype;               /* element type */
  int32_t ndim;                      /* number of dimensions; 0: a scalar */
  int64_t extents[GALATEA_MAX_RANK]; /* elements per axis, outermost first */
  int64_t strides[GALATEA_MAX_RANK]; /* elements from one index to the next, per axis */
  const char* layout; /* one letter an axis, "HWC", or "": not known. NULL is accepted in what is fed; ignored
                         there but for the first batch of an input without a type */
  int32_t device_type; /* since 0.2: a galatea_device_type. What is fed lies in the host's memory */
  int32_t device;      /* since 0.2: which GPU; 0 for memory of the host */
} galatea_tensor;
/* Makes `tensor` a row-major tensor over `data`, without a layout. An `ndim` out of range is an error. */
GALATEA_API galatea_error* galatea_tensor_init(galatea_tensor* tensor, void* data, galatea_dtype dtype,
                                               int32_t ndim, const int64_t* extents);
GALATEA_API galatea_error* galatea_tensor_init_sized(galatea_tensor* tensor, void* data, galatea_dtype dtype,
                                                     int32_t ndim, const int64_t* extents,
                                                     size_t tensor_size);
#define galatea_tensor_init(tensor, data, dtype, ndim, extents) \
  galatea_tensor_init_sized(tensor, data, dtype, ndim, extents, sizeof(galatea_tensor))

/* An array that the text loads by its name, `np.load("table.npy")`, in place of a file beside it. Its elements
 * are copied; it lies in the host's memory, and has at most 1,000,000 of them. */
GALATEA_API galatea_error* galatea_program_options_add_array(galatea_program_options* options,
                                                             const char* name, const galatea_tensor* array);
GALATEA_API galatea_error* galatea_program_options_add_array_sized(galatea_program_options* options,
                                                                   const char* name,
                                                                   const galatea_tensor* array,
                                                                   size_t tensor_size);
#define galatea_program_options_add_array(options, name, array) \
  galatea_program_options_add_array_sized(options, name, array, sizeof(galatea_tensor))

/* Queues one batch for an external input: `num_samples` tensors, 1 to the batch size, which are copied before
 * the call returns. `ids` may be NULL; else it holds one number per sample, which takes the place of the
 * running number in random draws and in the batch. Inputs are fed equally often, with equally many samples
 * each time. */
GALATEA_API galatea_error* galatea_session_feed(galatea_session* session, const char* input,
                                                const galatea_tensor* samples, int32_t num_samples,
                                                const int64_t* ids);
GALATEA_API galatea_error* galatea_session_feed_sized(galatea_session* session, const char* input,
                                                      const galatea_tensor* samples, int32_t num_samples,
                                                      const int64_t* ids, size_t tensor_size);
#define galatea_session_feed(session, input, samples, num_samples, ids) \
  galatea_session_feed_sized(session, input, samples, num_samples, ids, sizeof(galatea_tensor))
/* The same without a copy: the samples are read where they lie, and must not change until `release(context)`
 * is called, once, when nothing reads them any more: at the earliest before this call returns, at the latest
 * with the session's last batch, on any thread. It must not call this library. Where this call fails, it is
 * not called: the memory is the host's as before. Batches may hand samples on unchanged (a pipeline that
 * returns its input), and keep them until they are destroyed.
 * Copied nevertheless, so that `release` need not wait for them, are samples that are not row-major without
 * gaps, not aligned to their element type, or end within GALATEA_PADDING bytes of the end of a page (4 KiB)
 * unless the next sample of the call begins there: that many bytes behind a sample may be read, and do not
 * count. What is not copied does not count towards memory_limit. */
#define GALATEA_PADDING 64
GALATEA_API galatea_error* galatea_session_feed_borrowed(galatea_session* session, const char* input,
                                                         const galatea_tensor* samples, int32_t num_samples,
                                                         const int64_t* ids, void (*release)(void* context),
                                                         void* context);
GALATEA_API galatea_error* galatea_session_feed_borrowed_sized(galatea_session* session, const char* input,
                                                               const galatea_tensor* samples,
                                                               int32_t num_samples, const int64_t* ids,
                                                               void (*release)(void* context), void* context,
                                                               size_t tensor_size);
#define galatea_session_feed_borrowed(session, input, samples, num_samples, ids, release, context) \
  galatea_session_feed_borrowed_sized(session, input, samples, num_samples, ids, release, context, \
                                      sizeof(galatea_tensor))
/* A feed that waits, for a thread that does nothing else: while as many batches wait in the input as the
 * session makes ahead (prefetch_depth), or memory_limit has no room for one more, until `timeout_ms`
 * milliseconds have passed (then GALATEA_CODE_QUEUE_FULL, and nothing was fed; negative: as long as it
 * takes). galatea_session_cancel() ends the wait. Without `release` it copies as galatea_session_feed() does,
 * else it borrows as galatea_session_feed_borrowed() does. */
GALATEA_API galatea_error* galatea_session_feed_within_sized(galatea_session* session, int64_t timeout_ms,
                                                             const char* input, const galatea_tensor* samples,
                                                             int32_t num_samples, const int64_t* ids,
                                                             void (*release)(void* context), void* context,
                                                             size_t tensor_size);
#define galatea_session_feed_within(session, timeout_ms, input, samples, num_samples, ids, release, context) \
  galatea_session_feed_within_sized(session, timeout_ms, input, samples, num_samples, ids, release, context, \
                                    sizeof(galatea_tensor))
/* The epoch ends behind what was fed. */
GALATEA_API galatea_error* galatea_session_end_of_feed(galatea_session* session);

/* Inputs that are pulled. Instead of feeding, a host may say who makes the samples of an input: the library
 * calls that function when it wants some, on a thread of its own (inside galatea_session_next() where the
 * session is synchronous), as many batches ahead as prefetch_depth says. Of one session one such function
 * runs at a time, batch after batch, in the order of the pipeline's inputs. */
typedef struct galatea_pull galatea_pull; /* one call: what is wanted, and what was given */
typedef struct galatea_pulled_input {
  int32_t size;      /* set by galatea_pulled_input_init(): bytes of this struct */
  int32_t per_batch; /* zero (the default): each call makes one sample; else up to a batch of them */
  /* Makes what galatea_pull_sample() and galatea_pull_num_samples() ask for: by galatea_pull_give(),
   * galatea_pull_fail() or galatea_pull_end(). A call that gives nothing is an error. It may be asked for the
   * same samples again by a session that begins from a state. It must return; galatea_pull_is_cancelled()
   * says when nobody waits for it any more. */
  void (*pull)(void* context, galatea_pull* pull);
  void* context;
  void (*destroy)(void* context); /* called once, when the session is destroyed; not where
                                     galatea_session_pull_input() fails; may be NULL */
} galatea_pulled_input;
/* Sets every field to its default. */
GALATEA_API void galatea_pulled_input_init_sized(galatea_pulled_input* input, size_t input_size);
#define galatea_pulled_input_init(input) galatea_pulled_input_init_sized(input, sizeof(galatea_pulled_input))
/* Has an input pulled from now on; before the first galatea_session_next(). Either all inputs of a session
 * are pulled or none. An epoch ends for all with the input that ends first. */
GALATEA_API galatea_error* galatea_session_pull_input(galatea_session* session, const char* name,
                                                      const galatea_pulled_input* input);
/* What is wanted: the epoch, from 0; the batch in the epoch; the first sample, numbered in the epoch; and how
 * many samples from there, 1 unless per_batch is set. A function of epoch and sample alone can go on from any
 * state. */
GALATEA_API int64_t galatea_pull_epoch(const galatea_pull* pull);
GALATEA_API int64_t galatea_pull_batch(const galatea_pull* pull);
GALATEA_API int64_t galatea_pull_sample(const galatea_pull* pull);
GALATEA_API int32_t galatea_pull_num_samples(const galatea_pull* pull);
/* Non-zero when nobody waits for the samples any more. */
GALATEA_API int galatea_pull_is_cancelled(const galatea_pull* pull);
/* Gives the next sample, which is copied before the call returns. `id` as in galatea_session_feed(): NULL for
 * a running number; a batch has ids for all of its samples or for none. */
GALATEA_API galatea_error* galatea_pull_give_sized(galatea_pull* pull, const galatea_tensor* sample,
                                                   const int64_t* id, size_t tensor_size);
#define galatea_pull_give(pull, sample, id) galatea_pull_give_sized(pull, sample, id, sizeof(galatea_tensor))
/* The next sample cannot be made: that is an error of the sample (code G0976), to which on_error applies.
 * `message` says why. */
GALATEA_API void galatea_pull_fail(galatea_pull* pull, const char* message);
/* There are no more samples in this epoch, behind those that this call gave. */
GALATEA_API void galatea_pull_end(galatea_pull* pull);

/* Samples that an epoch delivers; -1 where only the host knows. */
GALATEA_API int64_t galatea_session_epoch_size(const galatea_session* session);
/* Stops the session within a second; galatea_session_next() then gives GALATEA_CODE_CANCELLED. Any thread may
 * call it. */
GALATEA_API void galatea_session_cancel(galatea_session* session);
/* Inputs and outputs as galatea_program_ports_json_take() gives them. Where only the data tells the types of
 * inputs, "outputs" is null until each of them was fed once. To be destroyed with galatea_string_destroy(). */
GALATEA_API galatea_error* galatea_session_ports_json_take(const galatea_session* session, char** json);
/* Counts and times as JSON: samples, batches, seconds, seconds per kind of work and per operator, peak
 * memory, failures. To be destroyed with galatea_string_destroy(). */
GALATEA_API galatea_error* galatea_session_statistics_json_take(const galatea_session* session, char** json);
/* Ends a string that a `_take` gave. */
GALATEA_API void galatea_string_destroy(char* string);

/* ---- Batches ---- */

/* Number of samples: the batch size, or less at the end of an epoch, with skipped samples, or as was fed. */
GALATEA_API int32_t galatea_batch_num_samples(const galatea_batch* batch);
/* Number of outputs. */
GALATEA_API int32_t galatea_batch_num_outputs(const galatea_batch* batch);
/* The epoch that the batch belongs to, from 0. */
GALATEA_API int64_t galatea_batch_epoch(const galatea_batch* batch);
/* The number of the batch in its epoch, from 0. */
GALATEA_API int64_t galatea_batch_index(const galatea_batch* batch);
/* Number of a sample in the data set, or the running number or id of what was fed; -1 for a sample that there
 * is not. */
GALATEA_API int64_t galatea_batch_sample_id(const galatea_batch* batch, int32_t sample);
/* Name of a sample for people: a path, or "sample 17"; "" for a sample that there is not. */
GALATEA_API const char* galatea_batch_sample_name_borrow(const galatea_batch* batch, int32_t sample);
/* Name of an output: the variable that the pipeline returned; "" for an output that there is not. */
GALATEA_API const char* galatea_batch_output_name_borrow(const galatea_batch* batch, int32_t output);
/* One sample of one output. The memory is row-major, belongs to the batch, and may be written by the host
 * until it is passed on. */
GALATEA_API galatea_error* galatea_batch_tensor_borrow(const galatea_batch* batch, int32_t output,
                                                       int32_t sample, galatea_tensor* tensor);
GALATEA_API galatea_error* galatea_batch_tensor_borrow_sized(const galatea_batch* batch, int32_t output,
                                                             int32_t sample, galatea_tensor* tensor,
                                                             size_t tensor_size);
#define galatea_batch_tensor_borrow(batch, output, sample, tensor) \
  galatea_batch_tensor_borrow_sized(batch, output, sample, tensor, sizeof(galatea_tensor))
/* A whole output as one tensor with the samples as its first axis (layout "N..."). Fails where samples differ
 * in extents: see is_dense. */
GALATEA_API galatea_error* galatea_batch_dense_borrow(const galatea_batch* batch, int32_t output,
                                                      galatea_tensor* tensor);
GALATEA_API galatea_error* galatea_batch_dense_borrow_sized(const galatea_batch* batch, int32_t output,
                                                            galatea_tensor* tensor, size_t tensor_size);
#define galatea_batch_dense_borrow(batch, output, tensor) \
  galatea_batch_dense_borrow_sized(batch, output, tensor, sizeof(galatea_tensor))
/* Non-zero if the output can be had as one tensor. */
GALATEA_API int galatea_batch_is_dense(const galatea_batch* batch, int32_t output);
/* The GPU whose memory holds the output, -1 for memory of the host. The addresses of such an output's tensors
 * are the GPU's: the host must not follow them, and a stream may only behind galatea_batch_wait() or
 * galatea_batch_make_stream_wait(), since the GPU may still be at work on them. */
GALATEA_API int32_t galatea_batch_output_device(const galatea_batch* batch, int32_t output);
/* Waits until the batch's outputs on a GPU are there. Returns at once where there are none. */
GALATEA_API galatea_error* galatea_batch_wait(const galatea_batch* batch);
/* What the host gives `stream` from now on runs when the outputs are there; the host does not wait. The
 * memory is used again only behind what the stream was given until the batch, or the last of its tensors, was
 * destroyed. `stream` is a cudaStream_t (CUstream) of the GPU that lives until then; 1 and 2 are the default
 * streams, as in DLPack. */
GALATEA_API galatea_error* galatea_batch_make_stream_wait(const galatea_batch* batch, uintptr_t stream);
/* Copies sample `sample` of output `output`, or with sample = -1 the whole output (where it is dense), to
 * `data`, row-major; from a GPU too, for which it waits. `num_bytes` must be what there is to copy. */
GALATEA_API galatea_error* galatea_batch_copy_to_host(const galatea_batch* batch, int32_t output,
                                                      int32_t sample, void* data, int64_t num_bytes);
/* Ends a batch. Its memory is used again, unless DLPack tensors still hold it. */
GALATEA_API void galatea_batch_destroy(galatea_batch* batch);

/* ---- Operators and readers of the host, and plug-ins (docs/plug-ins.md) ---- */

/* What follows adds to an engine, and is an error once the engine has made a program. Names are as they are
 * written after `fn.`, may have dots, and must be new.
 *
 * Ports are described by texts: "NAME: TYPES[EXTENTS] LAYOUT", such as "image: u8|f32[h,w,3] HWC" or
 * "label: i32[1]". TYPES: element types with | between, or any. EXTENTS: numbers; names, where extents of one
 * name are equal; ? where nothing is known; [...] for any number of dimensions. LAYOUT: one letter an axis,
 * may be left out. What is delivered is compared with its port, for every sample.
 *
 * Arguments: "NAME: KIND = VALUE", such as "radius: int = 3" or "name: str", which then must be given.
 * KIND: bool, int, float, str, int list, float list, str list; VALUE in JSON, null for none.
 * Functions get them as one JSON object, with defaults filled in.
 *
 * Lists of texts end with NULL; a list may be NULL for none. All texts are copied. Functions of the host may
 * be called by several threads at once, also after the engine was destroyed while a program of it lives;
 * `destroy` (may be NULL) is called once, when none of them will be called any more. */

/* One call of a function, for one sample. */
typedef struct galatea_call galatea_call;
typedef struct galatea_function {
  int32_t size;              /* set by galatea_function_init(): bytes of this struct */
  const char* name;          /* "acme.median" */
  const char* documentation; /* its first line is the summary; may be NULL */
  const char* const* inputs; /* ports */
  const char* output; /* port: one element type, or that of the first input if several are listed. Names
                         of extents that inputs have stand for those of the inputs */
  const char* const* arguments;
  /* Looks at the arguments of one call in a pipeline; *state goes to the functions below. May be NULL, and
   * may be called more than once for a call in a pipeline. */
  galatea_error* (*prepare)(void* context, const char* arguments, void** state);
  void (*release)(void* state); /* ends a state; may be NULL */
  /* Says the extents of the output by galatea_call_set_extents(). Needed where the output's port does not. */
  galatea_error* (*shape)(void* context, void* state, galatea_call* call);
  /* Fills the output. A function of inputs and arguments alone: galatea may call it once where a pipeline
   * does twice. */
  galatea_error* (*run)(void* context, void* state, galatea_call* call);
  void* context;
  void (*destroy)(void* context);
} galatea_function;
/* Sets every field to its default. */
GALATEA_API void galatea_function_init_sized(galatea_function* function, size_t function_size);
#define galatea_function_init(function) galatea_function_init_sized(function, sizeof(galatea_function))
/* Makes an operator of a function. */
GALATEA_API galatea_error* galatea_engine_register_function(galatea_engine* engine,
                                                            const galatea_function* function);
/* Input `index` of the call, row-major; to be read only, and no longer than the call lasts. */
GALATEA_API galatea_error* galatea_call_input_borrow_sized(const galatea_call* call, int32_t index,
                                                           galatea_tensor* tensor, size_t tensor_size);
#define galatea_call_input_borrow(call, index, tensor) \
  galatea_call_input_borrow_sized(call, index, tensor, sizeof(galatea_tensor))
/* In `run`: the output, row-major, to be filled. */
GALATEA_API galatea_error* galatea_call_output_borrow_sized(const galatea_call* call, galatea_tensor* tensor,
                                                            size_t tensor_size);
#define galatea_call_output_borrow(call, tensor) \
  galatea_call_output_borrow_sized(call, tensor, sizeof(galatea_tensor))
/* In `shape`: the extents of the output. */
GALATEA_API galatea_error* galatea_call_set_extents(galatea_call* call, int32_t ndim, const int64_t* extents);
/* Memory for the length of the call. */
GALATEA_API galatea_error* galatea_call_scratch_borrow(galatea_call* call, int64_t bytes, void** memory);
/* Non-zero when the session was cancelled: long loops ask now and then, and return. */
GALATEA_API int galatea_call_is_cancelled(const galatea_call* call);

/* A source of samples, for a reader. It has the arguments of all readers (shards, shuffling, …) beside its
 * own; which samples are read when is the library's. */
typedef struct galatea_read galatea_read; /* one sample that is read */
typedef struct galatea_source {
  int32_t size;               /* set by galatea_source_init(): bytes of this struct */
  const char* name;           /* "readers.acme" */
  const char* documentation;  /* its first line is the summary; may be NULL */
  const char* const* outputs; /* ports, at least one */
  const char* const* arguments;
  /* Opens the data that the arguments name; what is wrong with them is an error. */
  galatea_error* (*open)(void* context, const char* arguments, void** state);
  void (*close)(void* state); /* may be NULL */
  int64_t (*num_samples)(void* state);
  /* Writes a name for people, such as a path, with a zero byte at its end. Names in order tell whether data
   * are the same (galatea_session_state_take()). May be NULL. */
  void (*describe)(void* state, int64_t index, char* text, size_t text_size);
  /* Reads sample `index` into its outputs. Called by several threads at once. An error is the sample's. */
  galatea_error* (*read)(void* state, int64_t index, galatea_read* read);
  void* context;
  void (*destroy)(void* context);
} galatea_source;
/* Sets every field to its default. */
GALATEA_API void galatea_source_init_sized(galatea_source* source, size_t source_size);
#define galatea_source_init(source) galatea_source_init_sized(source, sizeof(galatea_source))
/* Makes a reader of a source. */
GALATEA_API galatea_error* galatea_engine_register_source(galatea_engine* engine,
                                                          const galatea_source* source);
/* In `read`: memory for one output of the sample, row-major, to be filled. What does not fit the output's
 * port is an error of the sample, whatever `read` returns. */
GALATEA_API galatea_error* galatea_read_output_borrow(galatea_read* read, int32_t output, galatea_dtype dtype,
                                                      int32_t ndim, const int64_t* extents, void** data);

/* Makes operators of the functions of a text in the language, but for those whose names begin with an
 * underscore: `fn.NAMESPACE.NAME`, or `fn.NAME` where `name_space` is "". `file_name` is for messages. */
GALATEA_API galatea_error* galatea_engine_register_text(galatea_engine* engine, const char* name_space,
                                                        const char* file_name, const char* text);

/* What a plug-in defines: a shared library that adds to an engine by the functions above. It must be visible
 * (GALATEA_API). */
#define GALATEA_PLUGIN_ENTRY "galatea_plugin_register"
typedef galatea_error* (*galatea_plugin_entry)(galatea_engine* engine);
/* Loads a plug-in, which stays loaded until the process ends, and calls its entry. */
GALATEA_API galatea_error* galatea_engine_load_plugin(galatea_engine* engine, const char* path);

/* ---- DLPack ---- */

/* The structs of DLPack (version 0 of its ABI: struct DLManagedTensor) under names of our own: cast a pointer
 * to one into a pointer to the other. */
typedef struct galatea_dl_device {
  int32_t device_type; /* 1: CPU; 2: CUDA */
  int32_t device_id;
} galatea_dl_device;
typedef struct galatea_dl_dtype {
  uint8_t code; /* 0: signed, 1: unsigned, 2: float, 6: bool */
  uint8_t bits;
  uint16_t lanes;
} galatea_dl_dtype;
typedef struct galatea_dl_tensor {
  void* data;
  galatea_dl_device device;
  int32_t ndim;
  galatea_dl_dtype dtype;
  int64_t* shape;
  int64_t* strides; /* in elements */
  uint64_t byte_offset;
} galatea_dl_tensor;
typedef struct galatea_dl_managed_tensor {
  galatea_dl_tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(
      struct galatea_dl_managed_tensor* self); /* whoever holds the tensor calls it once, on any thread */
} galatea_dl_managed_tensor;

/* A tensor that keeps the batch's memory alive, without a copy: sample `sample` of output `output`, or with
 * sample = -1 the whole output (where it is dense). End it by its own deleter. A batch counts as held until
 * the last of its tensors is gone. For an output on a GPU it waits until that is there. */
GALATEA_API galatea_error* galatea_batch_dlpack_take(const galatea_batch* batch, int32_t output,
                                                     int32_t sample, galatea_dl_managed_tensor** tensor);
/* The same for a consumer that says on which stream it will use the tensor, as __dlpack__(stream=...) does:
 * the stream waits instead of the host (see galatea_batch_make_stream_wait()). 1 and 2 are the default
 * streams; -1: the consumer sees to the order itself. Of an output of the host `stream` is ignored. */
GALATEA_API galatea_error* galatea_batch_dlpack_take_for_stream(const galatea_batch* batch, int32_t output,
                                                                int32_t sample, intptr_t stream,
                                                                galatea_dl_managed_tensor** tensor);

/* The struct of DLPack 1 (struct DLManagedTensorVersioned) under a name of our own. */
typedef struct galatea_dl_version {
  uint32_t major, minor;
} galatea_dl_version;
#define GALATEA_DL_READ_ONLY UINT64_C(1) /* DLPACK_FLAG_BITMASK_READ_ONLY */
typedef struct galatea_dl_managed_tensor_versioned {
  galatea_dl_version version;
  void* manager_ctx;
  void (*deleter)(struct galatea_dl_managed_tensor_versioned* self); /* as above */
  uint64_t flags;
  galatea_dl_tensor dl_tensor;
} galatea_dl_managed_tensor_versioned;

/* The same in the form of DLPack 1. `stream`: 0: the host waits, as galatea_batch_dlpack_take() does; else as
 * for galatea_batch_dlpack_take_for_stream(). `flags`: 0, or GALATEA_DL_READ_ONLY, which tells the consumer
 * not to write (other consumers share the memory). */
GALATEA_API galatea_error* galatea_batch_dlpack_versioned_take(const galatea_batch* batch, int32_t output,
                                                               int32_t sample, intptr_t stream,
                                                               uint64_t flags,
                                                               galatea_dl_managed_tensor_versioned** tensor);

#ifdef __cplusplus
}
#endif
#endif /* GALATEA_H */
