#include "stdlib_ops/readers/stream_args.h"

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/paths.h"

namespace galatea::ops {

std::vector<ArgSpec> stream_args() {
  return {
      {.name = "stream",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Reads from the first container on, without looking through all of them when the "
                        "pipeline starts; how many samples there are is not known then. With random_shuffle "
                        "containers come in another order in each epoch, and samples through the window."},
      {.name = "interleave",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1},
       .documentation = "Of a stream: containers that samples are taken from in turns."},
      {.name = "shard_by",
       .kind = ArgKind::kString,
       .default_value = std::string("sample"),
       .documentation = "Of a stream: whether a shard is every n-th \"sample\", for which all containers are "
                        "looked through, or every n-th \"container\"."},
  };
}

Status check_index_each(const TypeContext& ctx, std::string_view paths, std::string_view indices) {
  const std::string& name = ctx.op().name;
  const std::vector<std::string> files = ctx.texts(paths), lists = ctx.texts(indices);
  if (files.empty()) return ctx.error(fmt::format("{}: {} names no file", name, paths), {}, paths);
  if (!lists.empty() && lists.size() != files.size() && !native::has_patterns(files) &&
      !native::has_patterns(lists))
    return ctx.error(fmt::format("{}: {} files, but {} indices", name, files.size(), lists.size()),
                     "give one index for each file, in the same order, or none", indices);
  return {};
}

Status check_stream(const TypeContext& ctx, std::string_view indices) {
  const std::string& name = ctx.op().name;
  const std::string shard_by = ctx.text("shard_by");
  if (shard_by != "sample" && shard_by != "container")
    return ctx.error(fmt::format("{}: shard_by is \"{}\"", name, shard_by),
                     "write \"sample\" or \"container\"", "shard_by");
  const int64_t interleave = ctx.integer("interleave");
  if (interleave < 1 || interleave > static_cast<int64_t>(native::kMaxOpenFiles))
    return ctx.error(fmt::format("{}: interleave is {}", name, interleave),
                     fmt::format("at least 1, at most {}", native::kMaxOpenFiles), "interleave");
  if (ctx.flag("stream")) {
    if (!ctx.texts(indices).empty())
      return ctx.error(fmt::format("{}: a stream has no use for {}", name, indices),
                       "leave it out, or leave stream=True out", indices);
    if (ctx.flag("shuffle_after_epoch"))
      return ctx.error(fmt::format("{}: shuffle_after_epoch needs to know how many samples there are, and a "
                                   "stream does not",
                                   name),
                       "random_shuffle=True takes containers in another order in each epoch, and samples "
                       "through a window",
                       "shuffle_after_epoch");
    return {};
  }
  for (const char* arg : {"interleave", "shard_by"})
    if (ctx.given(arg))
      return ctx.error(fmt::format("{}: {} is of streams", name, arg), "add stream=True", arg);
  return {};
}

}  // namespace galatea::ops
