#include "stdlib_ops/native/heif_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/fault.h"
#include "stdlib_ops/native/image.h"

namespace galatea::native {

Result<std::unique_ptr<const HeifLibrary>> HeifLibrary::open(const char* name) {
  constexpr const char* kHelp =
      "install Debian's package libheif1, or convert the files; on_error=\"skip\" lets the run go on without them";
  need_room(kRoomOfLibraries);
  // Its codecs have threads and tables that outlive every handle.
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    return image_error(fmt::format("AVIF and HEIF need {}, which is not on this machine", name), kHelp);
  auto out = std::make_unique<HeifLibrary>();
  const char* missing = nullptr;
  const auto find = [&]<class Function>(Function*& to, const char* symbol) {
    to = reinterpret_cast<Function*>(dlsym(library, symbol));
    if (!to) missing = symbol;
  };
  find(out->set_max_threads, "heif_context_set_max_decoding_threads");
  missing = nullptr;
  find(out->context_alloc, "heif_context_alloc");
  find(out->context_free, "heif_context_free");
  find(out->context_read, "heif_context_read_from_memory_without_copy");
  find(out->primary_handle, "heif_context_get_primary_image_handle");
  find(out->handle_release, "heif_image_handle_release");
  find(out->handle_width, "heif_image_handle_get_width");
  find(out->handle_height, "heif_image_handle_get_height");
  find(out->handle_has_alpha, "heif_image_handle_has_alpha_channel");
  find(out->handle_bits, "heif_image_handle_get_luma_bits_per_pixel");
  find(out->decode, "heif_decode_image");
  find(out->image_width, "heif_image_get_width");
  find(out->image_height, "heif_image_get_height");
  find(out->image_bits, "heif_image_get_bits_per_pixel_range");
  find(out->image_plane, "heif_image_get_plane_readonly");
  find(out->image_release, "heif_image_release");
  if (missing)
    return image_error(
        fmt::format("AVIF and HEIF need {}, but that of this machine has no {}", name, missing), kHelp);
  return out;
}

Result<const HeifLibrary*> HeifLibrary::shared() {
  static const Result<std::unique_ptr<const HeifLibrary>> library = open(kName);
  if (!library) return std::unexpected(library.error());
  return library->get();
}

}  // namespace galatea::native
