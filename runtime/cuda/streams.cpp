#include "runtime/cuda/streams.h"

namespace galatea::runtime::cuda {

Result<Streams> Streams::create(const std::shared_ptr<const Context>& context, Priority priority) {
  Streams out;
  GALATEA_ASSIGN(out.upload, Stream::create(context, priority));
  GALATEA_ASSIGN(out.compute, Stream::create(context, priority));
  GALATEA_ASSIGN(out.download, Stream::create(context, priority));
  GALATEA_ASSIGN(out.event_, Event::create(context));
  return out;
}

Streams Streams::one(const std::shared_ptr<const Stream>& stream) {
  Streams out;
  out.upload = out.compute = out.download = stream;
  return out;
}

Status Streams::order(const Stream& first, const Stream& second) {
  if (&first == &second) return {};
  GALATEA_TRY(event_->record(first));
  return second.wait_for(*event_);
}

}  // namespace galatea::runtime::cuda
