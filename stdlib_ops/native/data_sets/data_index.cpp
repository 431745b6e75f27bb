#include "stdlib_ops/native/data_sets/data_index.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "stdlib_ops/native/data_sets/output_file.h"
#include "stdlib_ops/native/record_io.h"
#include "stdlib_ops/native/tfrecord.h"
#include "stdlib_ops/native/webdataset.h"

namespace galatea::native {
namespace {

namespace fs = std::filesystem;

double share_of(int64_t offset, const ByteSource& file) {
  return static_cast<double>(offset) / static_cast<double>(std::max<int64_t>(1, file.size()));
}

/// Records that a scanner finds, a line each.
template <typename Scanner, typename Line>
Result<std::optional<int64_t>> index_records(const ByteSource& file, const std::string& index, Line line,
                                             const std::function<bool(double)>& progress) {
  GALATEA_ASSIGN(OutputFile out, OutputFile::create(index));
  Scanner scanner(file);
  for (int64_t count = 0;; ++count) {
    GALATEA_ASSIGN(const std::optional<RecordPlace> place, scanner.next());
    if (!place) {
      GALATEA_TRY(out.finish());
      return count;
    }
    GALATEA_TRY(out.write(line(count, *place)));
    if (!progress(share_of(place->offset, file))) return std::nullopt;
  }
}

bool has_blank(std::string_view text) { return text.find_first_of(" \t\r\n\v\f") != std::string_view::npos; }

/// The lines of an archive, which the number of samples stands before: they wait in a file of their own.
struct TarLines {
  int64_t samples = 0;
  bool has_blank_name = false, was_stopped = false;
};
Result<TarLines> write_tar_lines(const ByteSource& archive, bool with_names, OutputFile& out,
                                 const std::function<bool(double)>& progress) {
  TarLines lines;
  for (WebDatasetScanner scanner(archive);; ++lines.samples) {
    GALATEA_ASSIGN(const std::optional<TarSample> sample, scanner.next());
    if (!sample) return lines;
    std::string line;
    for (const TarPart& part : sample->parts) {
      lines.has_blank_name = lines.has_blank_name || has_blank(part.name);
      if (part.extension.empty() || has_blank(part.extension))
        return unusable(
            fmt::format("the member {} of {}, at byte {}, has {}", part.name, archive.name(), part.offset,
                        part.extension.empty() ? "no extension" : "an extension with white space"),
            "an index cannot name it; readers.webdataset reads the archive without one");
      fmt::format_to(std::back_inserter(line), "{}{} {} {}", line.empty() ? "" : " ", part.extension,
                     part.offset, part.size);
      if (with_names) line += " " + part.name;
    }
    GALATEA_TRY(out.write(line + "\n"));
    if (with_names && lines.has_blank_name) return lines;
    lines.was_stopped = !progress(share_of(sample->parts.front().offset, archive));
    if (lines.was_stopped) return lines;
  }
}

/// A file that goes with the object.
struct Temporary {
  std::string path;
  ~Temporary() { ::unlink(path.c_str()); }
};

Result<std::optional<int64_t>> index_tar(const ByteSource& archive, const std::string& index,
                                         const std::function<bool(double)>& progress) {
  const Temporary body{index + ".lines"};
  TarLines lines;
  bool with_names = true;
  for (;; with_names = false) {
    GALATEA_ASSIGN(OutputFile out, OutputFile::create(body.path));
    GALATEA_ASSIGN(lines, write_tar_lines(archive, with_names, out, progress));
    if (lines.was_stopped) return std::nullopt;
    if (with_names && lines.has_blank_name) continue;
    GALATEA_TRY(out.finish());
    break;
  }
  if (lines.samples == 0)
    return unusable(fmt::format("{} holds no samples", archive.name()), "an index has at least one");
  GALATEA_ASSIGN(OutputFile out, OutputFile::create(index));
  GALATEA_TRY(out.write(fmt::format("{} {}\n", with_names ? "v1.2" : "v1.1", lines.samples)));
  GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> all, open_file(body.path));
  std::vector<uint8_t> block(size_t{1} << 20);
  for (int64_t at = 0; at < all->size();) {
    const auto part =
        static_cast<size_t>(std::min<int64_t>(all->size() - at, static_cast<int64_t>(block.size())));
    GALATEA_TRY(all->read(at, std::span(block).first(part)));
    GALATEA_TRY(out.write(std::span<const uint8_t>(block).first(part)));
    at += static_cast<int64_t>(part);
  }
  GALATEA_TRY(out.finish());
  return lines.samples;
}

}  // namespace

std::string index_path_of(const std::string& container) {
  fs::path path = container;
  const std::string extension = path.extension().string();
  if (extension == ".tar" || extension == ".rec" || extension == ".tfrecord")
    return path.replace_extension(".idx").string();
  return container + ".idx";
}

Result<std::optional<int64_t>> write_index(DataFormat format, const std::string& container,
                                           const std::string& index,
                                           const std::function<bool(double)>& progress) {
  GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(container));
  switch (format) {
    case DataFormat::kTfRecord:
      return index_records<TfRecordScanner>(
          *file, index,
          [](int64_t, const RecordPlace& place) { return fmt::format("{} {}\n", place.offset, place.size); },
          progress);
    case DataFormat::kRecordIo:
      return index_records<RecordIoScanner>(
          *file, index,
          [](int64_t number, const RecordPlace& place) {
            return fmt::format("{}\t{}\n", number, place.offset);
          },
          progress);
    case DataFormat::kWebDataset:
      return index_tar(*file, index, progress);
    default:
      return unusable(fmt::format("{} is {}, which has no index", container, name_of(format)),
                      "name archives of WebDataset, TFRecord or RecordIO files");
  }
}

}  // namespace galatea::native
