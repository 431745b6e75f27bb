#include "stdlib_ops/native/far/fetch.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/settings.h"
#include "runtime/messages.h"
#include "stdlib_ops/native/far/listing.h"

namespace galatea::native::far {
namespace {

/// Of the text of an error.
constexpr size_t kMaxErrorBody = size_t{64} << 10;
/// Files of profiles are read again: temporary keys are written into them.
constexpr auto kAccountsAreGoodFor = std::chrono::seconds(60);
constexpr auto kLookWhileWaiting = std::chrono::milliseconds(50);

bool may_pass(int status) {
  return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504;
}

const char* name_of_status(int status) {
  switch (status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return "moved";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 408:
      return "Request Timeout";
    case 410:
      return "Gone";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "";
  }
}

std::string status_text(int status) {
  const std::string_view name = name_of_status(status);
  return fmt::format("{}{}{}", status, name.empty() ? "" : " ", name);
}

/// Words of a server, as a message can hold them.
std::string one_line(std::string_view text, size_t most) {
  std::string out;
  for (const char c : text.substr(0, most))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  return text.size() > most ? out + "…" : out;
}

/// "bytes 0-9/100": RFC 9110, section 14.4.
struct ContentRange {
  int64_t first = 0, last = 0, size = 0;
};
std::optional<ContentRange> parse_content_range(std::string_view text) {
  if (!text.starts_with("bytes ")) return std::nullopt;
  text.remove_prefix(6);
  ContentRange range;
  const auto number = [&](int64_t& to, char behind) {
    const auto end = std::from_chars(text.data(), text.data() + text.size(), to);
    if (end.ec != std::errc() || to < 0) return false;
    text.remove_prefix(static_cast<size_t>(end.ptr - text.data()));
    if (behind == '\0') return text.empty();
    if (!text.starts_with(behind)) return false;
    text.remove_prefix(1);
    return true;
  };
  if (!number(range.first, '-') || !number(range.last, '/') || !number(range.size, '\0')) return std::nullopt;
  if (range.first > range.last || range.last >= range.size) return std::nullopt;
  return range;
}

std::string version_of(const ReplyHead& head) {
  if (!head.etag.empty()) return head.etag;
  return head.last_modified.empty() ? std::string() : "of " + head.last_modified;
}

std::chrono::milliseconds random_part(std::chrono::milliseconds most) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::chrono::milliseconds(
      std::uniform_int_distribution<int64_t>(0, std::max<int64_t>(0, most.count()))(random));
}

/// What was asked for by its own name: what a store's interface is found by.
struct Place {
  std::string scheme, host, path;
};
Place place_of(const Address& address, const Account& account, const std::string& region) {
  std::string endpoint = account.endpoint;
  bool in_host = false;
  if (endpoint.empty() && address.store == Store::kGoogle) endpoint = "https://storage.googleapis.com";
  if (endpoint.empty()) {
    // A certificate for "*" does not hold for names with further points in them.
    in_host = address.bucket.find('.') == std::string::npos;
    endpoint = fmt::format("https://s3.{}.amazonaws.com", region);
    if (region.starts_with("cn-")) endpoint += ".cn";
  }
  const size_t behind = endpoint.find("://") + 3;
  Place place{.scheme = endpoint.substr(0, behind), .host = endpoint.substr(behind), .path = "/"};
  if (in_host)
    place.host = fmt::format("{}.{}", address.bucket, place.host);
  else
    place.path += percent_encoded(address.bucket) + "/";
  place.path += percent_encoded(address.key, "/");
  return place;
}

/// As the header Host has it: without the port that everybody expects.
std::string host_header(const Place& place) {
  const std::string_view usual = place.scheme == "https://" ? ":443" : ":80";
  return place.host.ends_with(usual) ? place.host.substr(0, place.host.size() - usual.size()) : place.host;
}

}  // namespace

FetchOptions fetch_options() {
  const auto positive = [](const char* name, int64_t most) {
    return std::clamp<int64_t>(setting_int(name), 1, most);
  };
  FetchOptions options;
  options.tries = static_cast<int>(positive("GALATEA_FAR_TRIES", 1000));
  options.time_limit = std::chrono::seconds(positive("GALATEA_FAR_TIME_LIMIT", 86'400));
  options.stall = std::chrono::seconds(positive("GALATEA_FAR_STALL", 86'400));
  options.connections = static_cast<int>(positive("GALATEA_FAR_CONNECTIONS", 1024));
  return options;
}

struct Fetcher::Ask {
  const Address& address;
  int64_t first = 0, bytes = 0;
  int64_t size = -1;                                            ///< of the whole, where it is known
  std::string version = {};                                     ///< that it must be
  std::string unless = {};                                      ///< the version of which nothing is wanted
  std::vector<std::pair<std::string, std::string>> query = {};  ///< of a listing
  bool is_listing = false;
  size_t most = 0;  ///< bytes of a reply that is no part
};

/// What has come so far, over all tries.
class Fetcher::Tries {
 public:
  explicit Tries(const Ask& ask) : ask_(ask) {
    // Taken now: where bytes come in, nothing may fail.
    fetched_.bytes.reserve(static_cast<size_t>(ask.bytes));
  }

  int64_t first() const { return ask_.first + got(); }
  int64_t last() const { return ask_.first + ask_.bytes - 1; }
  void begin() {
    problem_.clear();
    error_body_.clear();
    has_looked_ = false;
  }
  /// A part of a body; false: no more of it.
  bool take(const ReplyHead& head, std::span<const uint8_t> part) {
    if (!look_at(head)) return false;
    if (head.status != 200 && head.status != 206) {
      const size_t room = kMaxErrorBody - std::min(kMaxErrorBody, error_body_.size());
      error_body_.append(reinterpret_cast<const char*>(part.data()), std::min(room, part.size()));
      return true;
    }
    if (fetched_.bytes.size() + part.size() > limit_) {
      problem_ = head.status == 206 ? "the server sends more than it was asked for"
                                    : fmt::format("the server sends more than {} bytes", limit_);
      is_too_long_ = head.status == 200;
      return false;
    }
    fetched_.bytes.insert(fetched_.bytes.end(), part.begin(), part.end());
    return true;
  }
  /// A reply is over. Whether all is there; otherwise `problem()` says what is not.
  bool finish(const ReplyHead& head) {
    if (!look_at(head)) return false;
    if (head.status == 304) {
      fetched_.is_unchanged = true;
      return true;
    }
    // Nothing can be a part of nothing.
    const bool is_nothing = head.content_range.empty() || head.content_range.ends_with("/0");
    if (is_nothing && head.status == 416 && ask_.first == 0 && got() == 0 && ask_.size <= 0 &&
        !ask_.is_listing) {
      fetched_.size = 0;
      fetched_.version = version_of(head);
      return true;
    }
    if (head.status == 206) {
      const int64_t wanted = std::min(ask_.bytes, fetched_.size - ask_.first);
      if (got() < wanted) problem_ = fmt::format("{} of {} bytes came", got(), wanted);
      return problem_.empty();
    }
    if (head.status != 200) return false;
    if (head.content_length >= 0 && got() != head.content_length) {
      problem_ = fmt::format("{} of {} bytes came", got(), head.content_length);
      return false;
    }
    fetched_.size = got();
    if (ask_.size >= 0 && fetched_.size != ask_.size) is_changed_ = true;
    return !is_changed_;
  }

  const std::string& problem() const { return problem_; }
  const std::string& error_body() const { return error_body_; }
  bool is_changed() const { return is_changed_; }
  bool is_too_long() const { return is_too_long_; }
  bool is_compressed() const { return is_compressed_; }
  Fetched result() { return std::move(fetched_); }

 private:
  int64_t got() const { return static_cast<int64_t>(fetched_.bytes.size()); }

  /// Holds a reply's head against what is known: once a reply.
  bool look_at(const ReplyHead& head) {
    if (has_looked_) return problem_.empty() && !is_changed_;
    has_looked_ = true;
    // Of a store that is a word of who wrote the object: its bytes are what is asked for.
    is_compressed_ = ask_.address.store == Store::kWeb && (head.status == 200 || head.status == 206) &&
                     !head.content_encoding.empty() && head.content_encoding != "identity";
    if (is_compressed_) {
      problem_ = fmt::format("the server sends it compressed ({})", one_line(head.content_encoding, 32));
      return false;
    }
    if (head.status == 200) return look_at_whole(head);
    if (head.status == 206) return look_at_part(head);
    return true;
  }

  bool look_at_whole(const ReplyHead& head) {
    fetched_.has_ranges = false;
    fetched_.bytes.clear();
    fetched_.version = version_of(head);
    is_changed_ = !ask_.is_listing && !ask_.version.empty() && fetched_.version != ask_.version;
    limit_ = ask_.is_listing ? ask_.most : static_cast<size_t>(kMostWithoutRanges);
    if (head.content_length > static_cast<int64_t>(limit_)) {
      problem_ = fmt::format("the server sends all of {} bytes", head.content_length);
      is_too_long_ = true;
    } else if (head.content_length > 0) {
      fetched_.bytes.reserve(static_cast<size_t>(head.content_length));
    }
    return problem_.empty() && !is_changed_;
  }

  bool look_at_part(const ReplyHead& head) {
    const auto range = parse_content_range(head.content_range);
    if (!range) {
      problem_ =
          fmt::format("the server says that it sends the part \"{}\"", one_line(head.content_range, 80));
    } else if (range->first != first() || range->last > last()) {
      problem_ = fmt::format("the server sends bytes {} to {} in place of {} to {}", range->first,
                             range->last, first(), last());
    } else if (head.content_length >= 0 && head.content_length != range->last - range->first + 1) {
      problem_ = fmt::format("the server says that bytes {} to {} are {}", range->first, range->last,
                             head.content_length);
    }
    if (!problem_.empty()) return false;
    const std::string version = version_of(head);
    const bool is_known = ask_.size >= 0 || got() > 0;
    const int64_t size = got() > 0 ? fetched_.size : ask_.size;
    const std::string& known = got() > 0 ? fetched_.version : ask_.version;
    if (is_known && (range->size != size || version != known)) {
      is_changed_ = true;
      return false;
    }
    fetched_.has_ranges = true;
    fetched_.size = range->size;
    fetched_.version = version;
    limit_ = fetched_.bytes.size() + static_cast<size_t>(range->last - range->first + 1);
    return true;
  }

  const Ask& ask_;
  Fetched fetched_;
  size_t limit_ = 0;
  std::string problem_, error_body_;
  bool has_looked_ = false, is_changed_ = false, is_too_long_ = false, is_compressed_ = false;
};

Result<Account> Fetcher::account(Store store) {
  std::string environment;
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
                           "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_REGION",
                           "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL",
                           "STORAGE_EMULATOR_HOST", "AWS_CA_BUNDLE", "CURL_CA_BUNDLE"})
    environment += setting(name) + '\n';
  const auto now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto known = accounts_.find(store);
    if (known != accounts_.end() && known->second.environment == environment &&
        now - known->second.read < kAccountsAreGoodFor)
      return known->second.account;
  }
  GALATEA_ASSIGN(Account found, find_account(store));
  const std::lock_guard lock(mutex_);
  accounts_[store] = {.account = found, .environment = std::move(environment), .read = now};
  return found;
}

std::string Fetcher::region_of(const std::string& bucket, const std::string& otherwise) {
  const std::lock_guard lock(mutex_);
  const auto known = regions_.find(bucket);
  return known == regions_.end() ? otherwise : known->second;
}

std::unexpected<Error> Fetcher::refused(const Ask& ask, const Account& account, int status,
                                        std::string_view body) const {
  const StoreError said = ask.address.store == Store::kWeb ? StoreError{} : parse_store_error(body);
  std::string what = status_text(status);
  if (!said.code.empty()) what += fmt::format(", {}", one_line(said.code, 64));
  if (!said.message.empty()) what += fmt::format(": {}", one_line(said.message, 200));
  std::string help = "check the address, and that the server has it";
  // Keys that ran out are a bad request to S3.
  if (status == 401 || status == 403 || said.code.find("Token") != std::string::npos) {
    if (ask.address.store == Store::kWeb)
      help = "check that everybody may read it, or write an address that was signed";
    else if (!account.keys)
      help =
          "no keys were found, so the request was not signed: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
          "AWS_PROFILE (`aws configure`)";
    else
      help = fmt::format("the request was signed with the keys of {}: check what they may read",
                         account.keys_from);
  } else if (status == 404 || status == 410) {
    help = "check the address: capitals count, and names in a list are relative to its folder";
  }
  return make_error(ErrorKind::kUser, "G0803",
                    fmt::format("cannot {} {}: the server answers {}", ask.is_listing ? "list" : "read",
                                ask.address.shown, what),
                    std::move(help));
}

Result<Fetched> Fetcher::run(const Ask& ask) {
  GALATEA_ASSIGN(const Account account, this->account(ask.address.store));
  const auto begin = Clock::now(), deadline = begin + options_.time_limit;
  Tries tries(ask);
  std::string what;
  int tried = 0;
  bool has_moved = false;
  for (auto longest = options_.first_wait;; longest = std::min(2 * longest, options_.longest_wait)) {
    TransferRequest request{.deadline = deadline, .stall = options_.stall};
    request.ca_bundle = account.ca_bundle;
    if (!ask.is_listing) {
      request.first = tries.first();
      request.last = tries.last();
    }
    std::string region;
    if (ask.address.store == Store::kWeb) {
      request.url = ask.address.url;
    } else {
      region = region_of(ask.address.bucket, account.region);
      const Place place = place_of(ask.address, account, region);
      const std::string query = query_text(ask.query);
      request.url =
          fmt::format("{}{}{}{}{}", place.scheme, place.host, place.path, query.empty() ? "" : "?", query);
      request.follows_redirects = false;
      if (account.keys)
        request.headers = signed_headers(
            {.host = host_header(place), .path = place.path, .query = ask.query, .headers = {}},
            *account.keys, region, std::time(nullptr));
    }
    if (ask.unless.starts_with("of "))
      request.headers.push_back("If-Modified-Since: " + ask.unless.substr(3));
    else if (!ask.unless.empty())
      request.headers.push_back("If-None-Match: " + ask.unless);

    tries.begin();
    ReplyHead head;
    GALATEA_ASSIGN(
        const TransferResult result,
        transfers_.run(request, head, [&tries](const ReplyHead& of, std::span<const uint8_t> part) {
          return tries.take(of, part);
        }));
    ++tried;
    if (result.end == TransferEnd::kCancelled) return runtime::make_error(runtime::message::kCancelled);
    if (result.end == TransferEnd::kDone && tries.finish(head)) return tries.result();
    if (tries.is_changed())
      return make_error(ErrorKind::kUser, "G0803",
                        fmt::format("{} changed while it was read", ask.address.shown),
                        "do not write to data that is in use; run again");
    if (tries.is_too_long())
      return make_error(
          ErrorKind::kUser, "G0803",
          ask.is_listing ? fmt::format("cannot list {}: {}", ask.address.shown, tries.problem())
                         : fmt::format("cannot read {}: {}, and gives no parts (HTTP ranges)",
                                       ask.address.shown, tries.problem()),
          ask.is_listing
              ? "check that the end point is that of a store with an interface as S3 has it"
              : "serve it by a server that knows ranges, as nginx and stores do, or copy it to this machine");
    if (tries.is_compressed())
      return make_error(ErrorKind::kUser, "G0803",
                        fmt::format("cannot read {}: {}", ask.address.shown, tries.problem()),
                        "have it served as it is (no Content-Encoding): nobody asked for anything else");
    const bool has_reply = result.end == TransferEnd::kDone && tries.problem().empty();
    if (has_reply && !head.bucket_region.empty() && head.bucket_region != region && !has_moved &&
        account.endpoint.empty() && (head.status == 301 || head.status == 307 || head.status == 400)) {
      has_moved = true;
      const std::lock_guard lock(mutex_);
      regions_[ask.address.bucket] = head.bucket_region;
      continue;
    }
    // S3 calls what came too slowly a bad request, too.
    const bool was_slow = has_reply && head.status == 400 && ask.address.store != Store::kWeb &&
                          parse_store_error(tries.error_body()).code == "RequestTimeout";
    if (has_reply && !may_pass(head.status) && !was_slow)
      return refused(ask, account, head.status, tries.error_body());
    what = !tries.problem().empty() ? tries.problem()
           : has_reply              ? "the server answers " + status_text(head.status)
                                    : result.what;
    if (result.end == TransferEnd::kHopeless)
      return make_error(ErrorKind::kUser, "G0803", fmt::format("cannot read {}: {}", ask.address.shown, what),
                        "check the address and the server; CURL_CA_BUNDLE names certificates of your own");
    const auto wait = std::max<std::chrono::milliseconds>(random_part(longest), result.retry_after);
    if (result.retry_after > std::chrono::seconds(0) && Clock::now() + wait >= deadline)
      what += fmt::format(" and wants to be left for {} s", result.retry_after.count());
    if (tried >= options_.tries || Clock::now() + wait >= deadline) break;
    for (const auto until = Clock::now() + wait; Clock::now() < until;) {
      if (transfers_.is_cancelled()) return runtime::make_error(runtime::message::kCancelled);
      std::this_thread::sleep_for(std::min<Clock::duration>(
          kLookWhileWaiting, std::max(until - Clock::now(), Clock::duration::zero())));
    }
  }
  return make_error(
      ErrorKind::kSystem, "G0995",
      fmt::format("{} could not be {}: {}; tried {} time{} in {:.1f} s", ask.address.shown,
                  ask.is_listing ? "listed" : "read", what, tried, tried == 1 ? "" : "s",
                  std::chrono::duration<double>(Clock::now() - begin).count()),
      "look at the network and the server; GALATEA_FAR_TRIES and GALATEA_FAR_TIME_LIMIT say how long it is tried; "
      "on_error=\"skip\" lets the run go on without the sample");
}

Result<std::string> Fetcher::identity(const Address& address) {
  if (address.store == Store::kWeb) return address.url;
  GALATEA_ASSIGN(const Account account, this->account(address.store));
  return fmt::format("{} {} {}/{}", address.store == Store::kAmazon ? "s3" : "gs", account.endpoint,
                     address.bucket, address.key);
}

Result<Fetched> Fetcher::look(const Address& address, int64_t most, const std::string& version) {
  return run({.address = address, .bytes = most, .unless = version});
}

Result<Fetched> Fetcher::part(const Address& address, int64_t first, int64_t bytes, int64_t size,
                              const std::string& version) {
  return run({.address = address, .first = first, .bytes = bytes, .size = size, .version = version});
}

Result<std::string> Fetcher::list(const Address& folder,
                                  std::vector<std::pair<std::string, std::string>> query) {
  GALATEA_ASSIGN(
      const Fetched page,
      run({.address = folder, .query = std::move(query), .is_listing = true, .most = kMaxListPage}));
  return std::string(page.bytes.begin(), page.bytes.end());
}

}  // namespace galatea::native::far
