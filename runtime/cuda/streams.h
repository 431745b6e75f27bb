// The streams of a session: copies run beside kernels, in the order that events say.
//
// Comes in: a context. Goes out: three streams, and order between them without the host.
#pragma once

#include <memory>
#include <optional>

#include "runtime/cuda/context.h"

namespace galatea::runtime::cuda {

struct Streams {
  std::shared_ptr<const Stream> upload, compute, download;

  static Result<Streams> create(const std::shared_ptr<const Context>& context, Priority priority);
  /// The same one for all.
  static Streams one(const std::shared_ptr<const Stream>& stream);

  /// What `second` is given from now on runs behind what `first` was given. One thread at a time.
  Status order(const Stream& first, const Stream& second);

 private:
  std::optional<Event> event_;  ///< recorded anew each time: who waits has seen where it stood
};

}  // namespace galatea::runtime::cuda
