#include "runtime/native.h"

namespace galatea::runtime {

void NativeTable::add(NativeFunction function) {
  GALATEA_CHECK(!find_function(function.name), "native function '" + function.name + "' is registered twice");
  functions_.push_back(std::make_unique<NativeFunction>(std::move(function)));
}

void NativeTable::add(SourceFactory factory) {
  GALATEA_CHECK(!find_source(factory.name), "source '" + factory.name + "' is registered twice");
  sources_.push_back(std::make_unique<SourceFactory>(std::move(factory)));
}

const NativeFunction* NativeTable::find_function(std::string_view name) const {
  for (const auto& function : functions_) {
    if (function->name == name) return function.get();
  }
  return nullptr;
}

const SourceFactory* NativeTable::find_source(std::string_view name) const {
  for (const auto& source : sources_) {
    if (source->name == name) return source.get();
  }
  return nullptr;
}

}  // namespace galatea::runtime
