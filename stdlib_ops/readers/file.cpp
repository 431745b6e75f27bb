// readers.file: image files with labels.
//
// Comes in: a folder, a list file or a list of names. Goes out: the bytes of a file and its label. The
// reader's loop (order, shards, epochs) is the runtime's; the plan opens the source from these arguments.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/file_source.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types reader_types(const TypeContext& ctx) {
  const int sources =
      (ctx.given("file_root") ? 1 : 0) + (ctx.given("file_list") ? 1 : 0) + (ctx.given("files") ? 1 : 0);
  if (sources == 0)
    return ctx.error("readers.file: nothing to read",
                     "give file_root (a folder with one sub-folder per class), file_list or files");
  if (ctx.given("files") && ctx.given("file_list"))
    return ctx.error("readers.file: files and file_list exclude each other", "keep one of them", "file_list");
  if (ctx.given("labels") && !ctx.given("files"))
    return ctx.error("readers.file: labels goes with files", "give files=[…] too, or leave labels out",
                     "labels");
  const int64_t shards = ctx.integer("num_shards"), shard = ctx.integer("shard_id");
  if (shards < 1)
    return ctx.error(fmt::format("readers.file: num_shards must be positive, not {}", shards), {},
                     "num_shards");
  if (shard < 0 || shard >= shards)
    return ctx.error(fmt::format("readers.file: shard_id {} is not one of {} shards", shard, shards),
                     "shards are numbered from 0", "shard_id");
  if (ctx.flag("shuffle_after_epoch") && ctx.flag("random_shuffle"))
    return ctx.error("readers.file: shuffle_after_epoch and random_shuffle exclude each other",
                     "keep one of them", "shuffle_after_epoch");
  if (ctx.flag("shuffle_after_epoch") && ctx.flag("stick_to_shard"))
    return ctx.error("readers.file: shuffle_after_epoch and stick_to_shard exclude each other",
                     "keep one of them", "stick_to_shard");
  if (ctx.integer("initial_fill") < 1)
    return ctx.error("readers.file: initial_fill must be positive", {}, "initial_fill");
  return op::types_of(ctx.op().outputs);
}

}  // namespace

Operator make_readers_file() {
  Operator op;
  op.name = "readers.file";
  op.summary = "Reads files and their labels.";
  op.documentation =
      "Two outputs: the bytes of a file, and its label. With file_root every sub-folder is a class, numbered "
      "in the order of their names. An epoch delivers each sample of the shard once.";
  op.kind = OperatorKind::kNative;
  op.source = true;
  op.outputs = native::file_ports();
  op.args = {
      {.name = "file_root",
       .kind = ArgKind::kString,
       .documentation = "Folder with one sub-folder per class; with file_list or files, the folder that "
                        "their names are relative to."},
      {.name = "file_list",
       .kind = ArgKind::kString,
       .documentation = "Text file with a name and a label on each line."},
      {.name = "files", .kind = ArgKind::kStringList, .documentation = "Names of the files."},
      {.name = "labels",
       .kind = ArgKind::kIntList,
       .documentation = "Labels of `files`, one each; their positions if not given."},
      {.name = "file_filters",
       .kind = ArgKind::kStringList,
       .documentation = "Patterns of file names in file_root; the usual image and sound files if not given."},
      {.name = "dir_filters",
       .kind = ArgKind::kStringList,
       .documentation = "Patterns of sub-folder names; all if not given."},
      {.name = "case_sensitive_filter",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Whether patterns distinguish capitals."},
      {.name = "random_shuffle",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Shuffles through a window of initial_fill samples."},
      {.name = "initial_fill",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1024},
       .documentation = "Samples in the shuffling window."},
      {.name = "shuffle_after_epoch",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Permutes the whole data set for every epoch."},
      {.name = "shuffle_after_epoch_seed",
       .kind = ArgKind::kInt,
       .documentation = "Seed of that permutation."},
      {.name = "num_shards",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1},
       .documentation = "Into how many parts the data set is divided."},
      {.name = "shard_id",
       .kind = ArgKind::kInt,
       .default_value = int64_t{0},
       .documentation = "Which part is read."},
      {.name = "stick_to_shard",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Reads the same part in every epoch, instead of the next one."},
      {.name = "pad_last_batch",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Fills the last batch by repeating the last sample."},
      {.name = "seed",
       .kind = ArgKind::kInt,
       .default_value = int64_t{-1},
       .documentation = "Seed of the shuffling; the pipeline's if negative."},
      {.name = "skip_cached_images",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Skips samples that the decoder's cache holds.",
       .refused = "there is no decoder cache"},
      ignored("prefetch_queue_depth", ArgKind::kInt, int64_t{1}, "Reading ahead is the runtime's."),
      ignored("read_ahead", ArgKind::kBool, false, "Files are read whole."),
      ignored("dont_use_mmap", ArgKind::kBool, false, "Files are read, not mapped."),
      ignored("lazy_init", ArgKind::kBool, false, "The folder is scanned when the pipeline starts."),
      ignored("tensor_init_bytes", ArgKind::kInt, int64_t{1048576}, "A hint; not needed here."),
  };
  op.aliases = {"file_reader"};
  op.example =
      "encoded, label = fn.readers.file(file_root=data, random_shuffle=True)\nreturn encoded, label\n";
  op.type_rule = reader_types;
  return op;
}

}  // namespace galatea::ops
