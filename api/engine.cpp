#include "api/guard.h"
#include "api/handles.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"

using galatea::api::guard;

extern "C" {

const char* galatea_version_borrow(void) { return GALATEA_LIBRARY_VERSION; }

galatea_error* galatea_engine_create(galatea_engine** engine) {
  if (!engine) return galatea::api::misuse("engine is NULL");
  *engine = nullptr;
  return guard([&]() -> galatea_error* {
    auto library = std::make_shared<galatea::api::Library>();
    galatea::ops::register_all(library->operators);
    galatea::native::register_natives(library->natives);
    *engine = new galatea_engine{std::move(library)};
    return nullptr;
  });
}

void galatea_engine_destroy(galatea_engine* engine) { delete engine; }

}  // extern "C"
