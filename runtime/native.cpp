#include "runtime/native.h"

#include <algorithm>

#include "runtime/messages.h"

namespace galatea::runtime {

Result<std::unique_ptr<SampleStream>> SampleSource::start(const StreamPass&) const {
  return make_error(message::kBadProgram, "a source that knows its size is read as a stream");
}

std::string SampleSource::describe(int64_t index) const { return fmt::format("sample {}", index); }

Status SampleSource::read(int64_t, const AllocateOutput&) const {
  return make_error(message::kBadProgram, "a stream is read as a source that knows its size");
}

void NativeTable::add(NativeFunction function) {
  GALATEA_CHECK(!find_function(function.name), "native function '" + function.name + "' is registered twice");
  functions_.push_back(std::make_unique<NativeFunction>(std::move(function)));
}

void NativeTable::replace(NativeFunction function) {
  const auto old =
      std::ranges::find(functions_, function.name, [](const auto& known) { return known->name; });
  GALATEA_CHECK(old != functions_.end(), "there is no native function '" + function.name + "'");
  **old = std::move(function);
}

void NativeTable::add(SourceFactory factory) {
  GALATEA_CHECK(!find_source(factory.name), "source '" + factory.name + "' is registered twice");
  sources_.push_back(std::make_unique<SourceFactory>(std::move(factory)));
}

void NativeTable::add(DeviceAlternativeFactory factory) {
  GALATEA_CHECK(!find_alternative(factory.name), "alternative '" + factory.name + "' is registered twice");
  alternatives_.push_back(std::make_unique<DeviceAlternativeFactory>(std::move(factory)));
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

const DeviceAlternativeFactory* NativeTable::find_alternative(std::string_view name) const {
  for (const auto& alternative : alternatives_) {
    if (alternative->name == name) return alternative.get();
  }
  return nullptr;
}

const OwnCode* NativeTable::find_code(std::string_view code) const {
  for (const auto& source : sources_) {
    for (const OwnCode& own : source->codes)
      if (own.code == code) return &own;
  }
  return nullptr;
}

}  // namespace galatea::runtime
