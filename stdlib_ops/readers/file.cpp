// readers.file: image files with labels.
//
// Comes in: a folder, a list file or a list of names. Goes out: the bytes of a file and its label
// (native/file_source.h reads them). What all readers do is compiler/op/source.h's.
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/file_source.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Status check_files(const TypeContext& ctx) {
  const int sources =
      (ctx.given("file_root") ? 1 : 0) + (ctx.given("file_list") ? 1 : 0) + (ctx.given("files") ? 1 : 0);
  if (sources == 0)
    return ctx.error("readers.file: nothing to read",
                     "give file_root (a folder with one sub-folder per class), file_list or files");
  if (ctx.given("files") && ctx.given("file_list"))
    return ctx.error("readers.file: files and file_list exclude each other", "keep one of them", "file_list");
  if (ctx.given("dir_filters") && ctx.texts("dir_filters").empty())
    return ctx.error("readers.file: dir_filters is an empty list, which no folder matches",
                     "name one pattern at least, or leave it out: all folders are then read", "dir_filters");
  if (ctx.given("labels") && !ctx.given("files"))
    return ctx.error("readers.file: labels goes with files", "give files=[…] too, or leave labels out",
                     "labels");
  if (ctx.given("labels") && ctx.integers("labels").size() != ctx.texts("files").size())
    return ctx.error(fmt::format("readers.file: {} labels for {} files", ctx.integers("labels").size(),
                                 ctx.texts("files").size()),
                     "give one label for each file", "labels");
  return {};
}

}  // namespace

Operator make_readers_file() {
  const runtime::SourceFactory factory = native::file_source_factory();
  op::SourceDeclaration reader;
  reader.name = factory.name;
  reader.summary = "Reads files and their labels.";
  reader.documentation =
      "Two outputs: the bytes of a file, and its label. With file_root every sub-folder is a class, numbered "
      "in the order of their names. An epoch delivers each sample of the shard once.";
  reader.args = {
      {.name = "file_root",
       .kind = ArgKind::kString,
       .documentation = "Folder with one sub-folder per class; with file_list or files, the folder that "
                        "their names are relative to."},
      {.name = "file_list",
       .kind = ArgKind::kString,
       .documentation = "Text file with a name and a label on each line."},
      {.name = "files",
       .kind = ArgKind::kStringList,
       .documentation = "Names of the files; *, ? and […] match names, {000..099} and {a,b} expand."},
      {.name = "labels",
       .kind = ArgKind::kIntList,
       .documentation =
           "Labels of `files`, one each, which all files that it matches have; the positions of the "
           "files if not given."},
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
  };
  reader.outputs = factory.outputs;
  reader.check = check_files;
  reader.aliases = {"file_reader"};
  reader.example =
      "encoded, label = fn.readers.file(file_root=data, random_shuffle=True)\nreturn encoded, label\n";
  reader.open = factory.open;
  return op::reader_operator(reader);
}

}  // namespace galatea::ops
