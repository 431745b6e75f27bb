#include "dsl/pipeline_options.h"

#include <algorithm>

namespace galatea::dsl {
namespace {

constexpr PipelineOption kOptions[] = {
    {"batch_size", "int", "1", "Samples in a batch."},
    {"max_batch_size", "int", "1", "Another name of `batch_size`."},
    {"num_threads", "int", "1", "Threads that make batches."},
    {"seed", "int", "-1",
     "What all random numbers come from: the same seed gives the same batches. A negative one is drawn anew for "
     "each run."},
    {"prefetch_queue_depth", "int", "2", "Batches that are made ahead of the one that is read."},
    {"on_error", "str", "\"raise\"",
     "What a sample that fails does: `\"raise\"` ends the run, `\"skip\"` leaves it out, `\"replace\"` puts "
     "another one in its place."},
    {"exact", "bool", "True",
     "Whether results are the same bits on every device and with any number of threads."},
    {"memory_limit", "int", "None", "Bytes that the run may hold; without one there is no limit."},
    {"device", "str", "None", "Where the pipeline would like to run: `\"cpu\"` or `\"gpu\"`."},
    {"output_dtype", "DALIDataType, or a list", "None",
     "Types that the outputs must have; others are an error."},
    {"output_ndim", "int, or a list", "None",
     "Numbers of dimensions that the outputs must have; others are an error."},
    {"output_layout", "str, or a list", "None",
     "Layouts that the outputs must have, such as `\"HWC\"`; others are an error."},
    {"compat", "str", "\"dali\"",
     "Whose rules decide where libraries differ: `\"dali\"`, `\"pil\"`, `\"torchvision\"` or `\"opencv\"`."},
    {"same_seed_same_draw", "bool", "False",
     "Whether two calls with the same `seed=` draw the same numbers, as in DALI."},
    {"enable_conditionals", "bool", "True",
     "Whether `if` may depend on data. It always may here; the option is DALI's."},
    {"device_id", "int", "None", "The number of a GPU. The host chooses it here; the option is DALI's."},
    // Options of DALI's executor that change nothing in galatea.
    {"exec_pipelined", "bool", "True", ""},
    {"exec_async", "bool", "True", ""},
    {"exec_dynamic", "bool", "True", ""},
    {"experimental_exec_dynamic", "bool", "True", ""},
    {"stream_policy", "", "None", ""},
    {"concurrency", "", "None", ""},
    {"bytes_per_sample", "int", "0", ""},
    {"set_affinity", "bool", "False", ""},
    {"max_streams", "int", "None", ""},
    {"default_cuda_stream_priority", "int", "None", ""},
    {"enable_memory_stats", "bool", "False", ""},
    {"enable_checkpointing", "bool", "False", ""},
    {"py_num_workers", "int", "1", ""},
    {"py_start_method", "str", "\"fork\"", ""},
    {"py_callback_pickler", "", "None", ""},
    {"debug", "bool", "False", ""},
};

}  // namespace

std::span<const PipelineOption> pipeline_options() { return kOptions; }

const PipelineOption* find_pipeline_option(std::string_view name) {
  const auto* const found = std::ranges::find(kOptions, name, &PipelineOption::name);
  return found == std::end(kOptions) ? nullptr : found;
}

}  // namespace galatea::dsl
