// One request, once: over a connection that is kept for the next one.
//
// Comes in: an address, headers, which bytes. Goes out: the reply's head, and its body part by part to a
// receiver. Trying again is fetch.h's.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "stdlib_ops/native/far/curl.h"

namespace galatea::native::far {

using Clock = std::chrono::steady_clock;

struct TransferRequest {
  std::string url;
  std::vector<std::string> headers;  ///< "Name: value"
  int64_t first = -1, last = -1;     ///< the bytes that are wanted; -1: all
  bool follows_redirects = true;     ///< a signature is for one address
  std::string ca_bundle;
  Clock::time_point deadline;
  std::chrono::milliseconds stall{20'000};  ///< without a byte
};

struct ReplyHead {
  int status = 0;
  int64_t content_length = -1;  ///< -1: not said
  std::string etag, last_modified, content_range, content_encoding, bucket_region;
};

enum class TransferEnd : uint8_t {
  kDone,
  kStopped,    ///< by the receiver
  kFailed,     ///< may go well another time: `what` says what happened
  kHopeless,   ///< will not: no such host's certificate, a redirect to elsewhere, …
  kCancelled,  ///< nobody wants it any more
};

struct TransferResult {
  TransferEnd end = TransferEnd::kDone;
  std::string what;
  std::chrono::seconds retry_after{0};  ///< what the server asks for
};

class Transfers {
 public:
  /// At most so many at a time; further ones wait.
  explicit Transfers(int most);
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  /// `receive` gets the head with each part of the body; false stops. `head` is what it was in the end.
  Result<TransferResult> run(const TransferRequest& request, ReplyHead& head,
                             const std::function<bool(const ReplyHead&, std::span<const uint8_t>)>& receive);
  /// Ends those that are running, and refuses further ones: for the end of the process.
  void stop();
  /// Whether this thread's work is no longer wanted.
  bool is_cancelled() const;

 private:
  class Connection;
  Result<std::unique_ptr<Connection>> take();
  void give_back(std::unique_ptr<Connection> connection);

  std::mutex mutex_;
  std::condition_variable free_;
  int left_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::atomic<bool> stopped_{false};
};

}  // namespace galatea::native::far
