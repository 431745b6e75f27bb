#include "tools/data/conversion.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/core.h>

#include "base/fault.h"
#include "base/folder.h"
#include "stdlib_ops/native/data_sets/output_file.h"
#include "tools/save.h"

namespace galatea::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kMostManifest = size_t{1} << 20;

std::unexpected<Error> refused_target(const std::string& folder, const std::string& why, std::string help) {
  return make_error(ErrorKind::kUser, "G0854", fmt::format("cannot write `{}`: {}", folder, why),
                    std::move(help));
}

}  // namespace

Conversion::~Conversion() {
  if (lock_ >= 0) ::close(lock_);
}

/// Two at once would write the same shards.
Status Conversion::lock() {
  lock_ = ::open(options_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) return native::cannot_write(options_.folder, errno);
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return refused_target(options_.folder, "another conversion writes there", "wait until it has ended");
}

/// What a conversion has to have in common with another to go on with it.
Json Conversion::identity() const {
  return {{"format", native::name_of(options_.format)},
          {"prefix", options_.prefix},
          {"shard_bytes", options_.shard_bytes},
          {"shard_samples", options_.shard_samples},
          {"skip", options_.skip},
          {"source", data_.source().paths.front()},
          {"source_state", data_.source().state}};
}

Result<Json> Conversion::read_manifest() const {
  const std::string path = (fs::path(options_.folder) / native::kConversionState).string();
  const auto text = read_whole_file(path, kMostManifest);
  if (!text) return Json();
  Json manifest = parse_ordered_json(*text);
  for (const char* key : {"read", "samples", "skipped", "shards", "bytes", "mark"})
    if (!manifest.is_object() || !manifest.contains(key) || !manifest[key].is_number_integer() ||
        manifest[key] < 0)
      return refused_target(options_.folder, fmt::format("{} in it is damaged", native::kConversionState),
                            "name another folder, or --overwrite to begin anew");
  return manifest;
}

Status Conversion::write_manifest() const {
  Json manifest = identity();
  manifest["read"] = state_.read;
  manifest["samples"] = state_.samples;
  manifest["skipped"] = state_.skipped;
  manifest["shards"] = state_.shards;
  manifest["bytes"] = state_.bytes;
  manifest["mark"] = state_.mark;
  manifest["complete"] = state_.is_complete;
  GALATEA_ASSIGN(native::OutputFile out,
                 native::OutputFile::create((fs::path(options_.folder) / native::kConversionState).string()));
  GALATEA_TRY(out.write(json_text(manifest, 2) + "\n"));
  return out.finish();
}

Status Conversion::open() {
  GALATEA_TRY(make_folder(options_.folder));
  GALATEA_TRY(lock());
  for (const std::string& path : data_.source().paths) {
    std::error_code error;
    if (fs::equivalent(path, options_.folder, error) ||
        fs::equivalent(fs::path(path).parent_path(), options_.folder, error))
      return refused_target(options_.folder, fmt::format("{} is read from there", path),
                            "name a folder of its own");
  }
  writer_ = native::data_writer(options_.format, options_.folder, options_.prefix);
  auto manifest = read_manifest();
  if (!manifest && !options_.overwrite) return std::unexpected(std::move(manifest.error()));
  const bool has_manifest = manifest && !manifest->is_null();
  if (options_.overwrite) {
    GALATEA_TRY(writer_->remove_from(0));
    return write_manifest();
  }
  if (!has_manifest) {
    // A run that was killed at its very start leaves the file that it was about to have.
    const std::string begun = std::string(native::kConversionState) + ".partial";
    const auto names = names_in_folder(options_.folder);
    if (!names && names.error() != std::errc::no_such_file_or_directory)
      return refused_target(options_.folder, "it cannot be read: " + names.error().message(),
                            "name another folder");
    const bool is_free =
        !names || std::ranges::all_of(*names, [&](const NameInFolder& entry) { return entry.name == begun; });
    if (!is_free)
      return refused_target(options_.folder, "it is not empty",
                            "name another folder, or --overwrite to replace files of the same names");
    return write_manifest();
  }
  const Json wanted = identity();
  for (const auto& [key, value] : wanted.items()) {
    if (manifest->value(key, Json()) == value) continue;
    const std::string what = key == "source_state"
                                 ? "the source has changed since it began"
                                 : fmt::format("another conversion began there ({} was {})", key,
                                               json_text(manifest->value(key, Json())));
    return refused_target(options_.folder, what, "name another folder, or --overwrite to begin anew");
  }
  state_ = {.read = (*manifest)["read"],
            .samples = (*manifest)["samples"],
            .skipped = (*manifest)["skipped"],
            .shards = (*manifest)["shards"],
            .bytes = (*manifest)["bytes"],
            .mark = (*manifest)["mark"],
            .is_complete = manifest->value("complete", false)};
  resumed_at_ = state_.samples;
  return writer_->go_on(state_.mark);
}

Status Conversion::pass_over_what_is_done() {
  for (int64_t k = 0; k < state_.read;) {
    const Result<bool> more = data_.next();
    if (!more && !options_.skip) return std::unexpected(more.error());
    if (more && !*more)
      return refused_target(options_.folder, "the source has fewer samples than are written already",
                            "name another folder, or --overwrite to begin anew");
    k += more ? 1 : 0;
  }
  return {};
}

/// The shard is read back, and only if its samples are those that were written does it count.
Status Conversion::commit_shard(const std::vector<uint64_t>& digests, ConversionState next) {
  GALATEA_TRY(writer_->end());
  GALATEA_ASSIGN(const std::unique_ptr<native::DataContainer> written, writer_->read_back());
  native::DataSample sample;
  size_t count = 0;
  for (;; ++count) {
    GALATEA_ASSIGN(const bool more, written->next());
    if (!more) break;
    GALATEA_TRY(written->read(sample));
    if (count >= digests.size() || native::digest_of(sample) != digests[count])
      return refused_target(
          written->place().file,
          fmt::format("the sample \"{}\" is read back as another than was written", sample.name),
          "two samples may have one name; otherwise the disk is at fault");
  }
  if (count != digests.size())
    return refused_target(options_.folder,
                          fmt::format("{} samples are read back, {} were written", count, digests.size()),
                          "the disk may be at fault");
  next.mark = writer_->mark();
  state_ = next;
  return write_manifest();
}

Status Conversion::run(const std::function<bool(double, int64_t)>& progress,
                       const std::function<void(const native::DataPlace&, const Error&)>& skipped) {
  if (state_.is_complete) return {};
  GALATEA_TRY(pass_over_what_is_done());
  const int64_t most_samples = std::min(options_.shard_samples, writer_->most_samples());
  ConversionState next = state_;
  std::vector<uint64_t> digests;
  auto commit = [&]() -> Status {
    if (digests.empty()) return {};
    next.bytes += writer_->bytes();
    ++next.shards;
    GALATEA_TRY(commit_shard(digests, next));
    digests.clear();
    return {};
  };
  // What goes wrong with one sample, the source's structure included.
  auto fails = [&](const Error& error, const native::DataPlace& place) -> Status {
    if (!options_.skip || error.kind != ErrorKind::kUser) return std::unexpected(error);
    ++next.skipped;
    skipped(place, error);
    return {};
  };
  native::DataSample sample;
  while (progress(data_.share(), next.samples)) {
    const Result<bool> more = data_.next();
    if (!more) {
      GALATEA_TRY(fails(more.error(), {}));
      continue;
    }
    if (!*more) {
      GALATEA_TRY(commit());
      next.is_complete = true;
      next.mark = writer_->mark();
      state_ = next;
      return write_manifest();
    }
    ++next.read;
    Status status = data_.read(sample);
    if (status) status = writer_->fit(sample);
    if (!status) {
      GALATEA_TRY(fails(status.error(), data_.place()));
      continue;
    }
    for (std::string& what : sample.left_out)
      if (left_out_.size() < 100) left_out_.insert(std::move(what));
    if (digests.empty()) GALATEA_TRY(writer_->begin(next.shards, next.samples));
    GALATEA_TRY(writer_->add(sample));
    digests.push_back(native::digest_of(sample));
    ++next.samples;
    if (writer_->bytes() >= options_.shard_bytes || static_cast<int64_t>(digests.size()) >= most_samples)
      GALATEA_TRY(commit());
  }
  return {};
}

}  // namespace galatea::tools
