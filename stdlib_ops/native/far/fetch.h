// Bytes of far data, asked for until they come: retries, signatures, and what replies say held against each
// other.
//
// Comes in: an address, which bytes. Goes out: the bytes, how many there are in all, and the version they
// are of; or an error that says what happened, how often it was tried, and what to do.
//
// Which answers are tried again: none (the connection failed, was cut, stalled), 408, 425, 429, 500, 502,
// 503, 504, and replies that contradict themselves. Between tries: a random part of 0.1 s, 0.2 s, 0.4 s …
// 10 s, at least what the server asks for in Retry-After. A try goes on behind the bytes that have come.
// The last one is over when its time is up.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "stdlib_ops/native/far/account.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/far/transfer.h"

namespace galatea::native::far {

struct FetchOptions {
  int tries = 8;
  std::chrono::milliseconds time_limit{120'000}, stall{20'000};
  std::chrono::milliseconds first_wait{100}, longest_wait{10'000};
  int connections = 16;
};
/// What the settings say.
FetchOptions fetch_options();

/// Of a server that gives no parts, no more than this is read: each part would be the whole again.
inline constexpr int64_t kMostWithoutRanges = int64_t{64} << 20;
inline constexpr size_t kMaxListPage = size_t{16} << 20;

struct Fetched {
  bool is_unchanged = false;   ///< it is still the version that was named: nothing else stands here
  bool has_ranges = true;      ///< otherwise `bytes` is the whole
  int64_t size = 0;            ///< of the whole
  std::string version;         ///< empty: the server does not say
  std::vector<uint8_t> bytes;  ///< from `first` on
};

class Fetcher {
 public:
  explicit Fetcher(FetchOptions options) : options_(options), transfers_(options.connections) {}

  /// What is there: the first `most` bytes, or less where there are no more. Is it still `version`, nothing
  /// comes.
  Result<Fetched> look(const Address& address, int64_t most, const std::string& version);
  /// Bytes of what look() has found; an error where it is another version by now.
  Result<Fetched> part(const Address& address, int64_t first, int64_t bytes, int64_t size,
                       const std::string& version);
  /// A page of a listing: the text.
  Result<std::string> list(const Address& folder, std::vector<std::pair<std::string, std::string>> query);

  /// What an address stands for under the settings in force: the same text for the same file.
  Result<std::string> identity(const Address& address);

  Transfers& transfers() { return transfers_; }

 private:
  struct Ask;
  class Tries;
  Result<Fetched> run(const Ask& ask);
  Result<Account> account(Store store);
  std::string region_of(const std::string& bucket, const std::string& otherwise);
  std::unexpected<Error> refused(const Ask& ask, const Account& account, int status,
                                 std::string_view body) const;

  const FetchOptions options_;
  Transfers transfers_;
  std::mutex mutex_;
  std::map<std::string, std::string> regions_;  ///< of buckets, where a reply has said it
  struct KnownAccount {
    Account account;
    std::string environment;
    Clock::time_point read;
  };
  std::map<Store, KnownAccount> accounts_;
};

}  // namespace galatea::native::far
