#include "stdlib_ops/native/sound/sound_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/fault.h"
#include "base/library_search.h"

namespace galatea::native {

std::unexpected<Error> sound_error(std::string message, std::string help) {
  if (help.empty()) help = "replace the file; on_error=\"skip\" goes on without it";
  return make_error(ErrorKind::kUser, "G0802", std::move(message), std::move(help));
}

Result<std::unique_ptr<const SoundLibrary>> SoundLibrary::open(const std::string& name) {
  constexpr const char* kHelp =
      "install Debian's package libsndfile1, or the Python package soundfile, which holds it";
  const LibrarySearch search = search_packaged_library(name, "_soundfile_data", "libsndfile_x86_64.so");
  FunctionSearch find;
  need_room(kRoomOfLibraries);
  // Its codecs have tables that outlive every handle.
  for (const std::string& candidate : search.candidates)
    if (!find.library) find.library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!find.library)
    return sound_error(fmt::format("sound is decoded by {}, which is in none of {}", name, search.places),
                       kHelp);
  auto out = std::make_unique<SoundLibrary>();
  find("sf_open_virtual", out->open_virtual);
  find("sf_close", out->close);
  find("sf_strerror", out->message);
  find("sf_seek", out->seek);
  find("sf_readf_short", out->read_i16);
  find("sf_readf_int", out->read_i32);
  find("sf_readf_float", out->read_f32);
  if (!find.missing.empty())
    return sound_error(
        fmt::format("sound is decoded by {}, but that of this machine has no {}", name, find.missing), kHelp);
  return out;
}

Result<const SoundLibrary*> SoundLibrary::shared() {
  static const Result<std::unique_ptr<const SoundLibrary>> library = open("libsndfile.so.1");
  if (!library) return std::unexpected(library.error());
  return library->get();
}

}  // namespace galatea::native
