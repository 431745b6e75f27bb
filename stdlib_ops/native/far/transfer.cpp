#include "stdlib_ops/native/far/transfer.h"

#include <algorithm>
#include <charconv>
#include <new>

#include <fmt/format.h>

#include "runtime/cancellation.h"

namespace galatea::native::far {
namespace {

constexpr size_t kMaxHeads = size_t{64} << 10;
constexpr long kMaxRedirects = 8;
constexpr auto kConnectLimit = std::chrono::milliseconds(10'000);
/// How often who waits looks whether anybody still wants it.
constexpr auto kLook = std::chrono::milliseconds(50);

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) ==
           (y >= 'A' && y <= 'Z' ? static_cast<char>(y + 32) : y);
  });
}

std::string_view without_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// What a transfer is told by libcurl, on the thread that waits for it.
struct Listener {
  const std::function<bool(const ReplyHead&, std::span<const uint8_t>)>& receive;
  ReplyHead& head;
  size_t head_bytes = 0;
  bool has_too_long_heads = false, is_stopped = false, has_no_memory = false;
  Clock::time_point last_byte = Clock::now();

  bool take_line(std::string_view line) {
    last_byte = Clock::now();
    head_bytes += line.size();
    if (head_bytes > kMaxHeads) {
      has_too_long_heads = true;
      return false;
    }
    if (line.starts_with("HTTP/")) {  // the reply, or that to which a redirect has led
      head = {};
      const size_t blank = line.find(' ');
      if (blank != std::string_view::npos)
        std::from_chars(line.data() + blank + 1, line.data() + line.size(), head.status);
      return true;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return true;
    const std::string_view name = line.substr(0, colon), value = without_blanks(line.substr(colon + 1));
    for (const auto& [wanted, to] : {std::pair{"etag", &head.etag},
                                     {"last-modified", &head.last_modified},
                                     {"content-range", &head.content_range},
                                     {"content-encoding", &head.content_encoding},
                                     {"x-amz-bucket-region", &head.bucket_region}})
      if (equal_but_for_case(name, wanted)) *to = value;
    if (equal_but_for_case(name, "content-length")) {
      int64_t length = -1;
      const auto end = std::from_chars(value.data(), value.data() + value.size(), length);
      head.content_length = end.ec == std::errc() && length >= 0 ? length : -1;
    }
    return true;
  }
};

// No exception crosses libcurl.
size_t on_head(char* bytes, size_t size, size_t count, void* listener) {
  auto* const to = static_cast<Listener*>(listener);
  try {
    return to->take_line({bytes, size * count}) ? size * count : 0;
  } catch (const std::bad_alloc&) {
    to->has_no_memory = true;
    return 0;
  }
}

size_t on_body(char* bytes, size_t size, size_t count, void* listener) {
  auto* const to = static_cast<Listener*>(listener);
  to->last_byte = Clock::now();
  try {
    if (to->receive(to->head, {reinterpret_cast<const uint8_t*>(bytes), size * count})) return size * count;
    to->is_stopped = true;
  } catch (const std::bad_alloc&) {
    to->has_no_memory = true;
  }
  return 0;
}

/// Whether the same request may go well another time.
bool is_passing(CURLcode code) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_NOT_BUILT_IN:
      return false;
    default:
      return true;
  }
}

}  // namespace

class Transfers::Connection {
 public:
  explicit Connection(const Curl& curl) : curl_(curl), easy_(curl.easy_init()), multi_(curl.multi_init()) {}
  ~Connection() {
    if (easy_) curl_.easy_cleanup(easy_);
    if (multi_) curl_.multi_cleanup(multi_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  bool is_there() const { return easy_ && multi_; }

  TransferResult run(const TransferRequest& request, Listener& listener, const Transfers& all) {
    struct Headers {
      const Curl& curl;
      curl_slist* list = nullptr;
      ~Headers() { curl.slist_free_all(list); }
    } headers{curl_};
    for (const std::string& header : request.headers) {
      curl_slist* const longer = curl_.slist_append(headers.list, header.c_str());
      if (!longer) return {.end = TransferEnd::kFailed, .what = "libcurl has no memory"};
      headers.list = longer;
    }
    error_[0] = '\0';
    // Keeps the connection.
    curl_.easy_reset(easy_);
    set_up(request, listener, headers.list);
    curl_.multi_add_handle(multi_, easy_);
    const struct Removal {
      Connection& of;
      ~Removal() { of.curl_.multi_remove_handle(of.multi_, of.easy_); }
    } removal{*this};
    TransferResult result = wait(request, listener, all);
    long long seconds = 0;
    curl_off_t retry_after = 0;
    if (curl_.easy_getinfo(easy_, CURLINFO_RETRY_AFTER, &retry_after) == CURLE_OK) seconds = retry_after;
    result.retry_after = std::chrono::seconds(std::clamp<long long>(seconds, 0, 86'400));
    return result;
  }

 private:
  void set_up(const TransferRequest& request, Listener& listener, curl_slist* headers) {
    auto set = [&](CURLoption option, auto value) { curl_.easy_setopt(easy_, option, value); };
    // Older libcurls know the lists of protocols as numbers only; newer ones know both.
    constexpr long kHttp = CURLPROTO_HTTP, kHttps = CURLPROTO_HTTPS;
    set(CURLOPT_URL, request.url.c_str());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    set(CURLOPT_PROTOCOLS, kHttp | kHttps);
    // What was asked for under a certificate is not taken without one.
    set(CURLOPT_REDIR_PROTOCOLS, request.url.starts_with("https:") ? kHttps : kHttp | kHttps);
#pragma GCC diagnostic pop
    set(CURLOPT_PATH_AS_IS, 1L);  // keys may hold ".."
    set(CURLOPT_FOLLOWLOCATION, request.follows_redirects ? 1L : 0L);
    set(CURLOPT_MAXREDIRS, kMaxRedirects);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_USERAGENT, "galatea");
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::min(kConnectLimit, request.stall).count()));
    set(CURLOPT_BUFFERSIZE, 256L << 10);
    set(CURLOPT_ERRORBUFFER, error_);
    set(CURLOPT_HEADERFUNCTION, &on_head);
    set(CURLOPT_HEADERDATA, &listener);
    set(CURLOPT_WRITEFUNCTION, &on_body);
    set(CURLOPT_WRITEDATA, &listener);
    if (!request.ca_bundle.empty()) set(CURLOPT_CAINFO, request.ca_bundle.c_str());
    if (request.first >= 0) {
      range_ = fmt::format("{}-{}", request.first, request.last);
      set(CURLOPT_RANGE, range_.c_str());
    }
  }

  TransferResult wait(const TransferRequest& request, const Listener& listener, const Transfers& all) {
    for (;;) {
      int running = 0;
      if (const CURLMcode code = curl_.multi_perform(multi_, &running); code != CURLM_OK)
        return {.end = TransferEnd::kFailed,
                .what = fmt::format("libcurl fails with {}", static_cast<int>(code))};
      if (running == 0) break;
      const auto now = Clock::now();
      if (all.is_cancelled()) return {.end = TransferEnd::kCancelled};
      if (now >= request.deadline) return {.end = TransferEnd::kFailed, .what = "its time was up"};
      if (now - listener.last_byte >= request.stall)
        return {.end = TransferEnd::kFailed,
                .what = fmt::format("no byte came for {:.3g} s",
                                    std::chrono::duration<double>(request.stall).count())};
      curl_.multi_poll(multi_, nullptr, 0, static_cast<int>(std::min(kLook, request.stall).count()), nullptr);
    }
    int left = 0;
    CURLcode code = CURLE_OK;
    while (const CURLMsg* message = curl_.multi_info_read(multi_, &left))
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    if (listener.has_no_memory) throw std::bad_alloc();
    if (listener.is_stopped) return {.end = TransferEnd::kStopped};
    if (listener.has_too_long_heads)
      return {.end = TransferEnd::kHopeless,
              .what = fmt::format("its header has more than {} bytes", kMaxHeads)};
    if (code == CURLE_OK) return {};
    // Its words for this one count what is left, but name it no error of the server's.
    std::string what = code == CURLE_PARTIAL_FILE ? "the connection was cut"
                       : error_[0] != '\0'        ? std::string(error_)
                                                  : std::string(curl_.easy_strerror(code));
    return {.end = is_passing(code) ? TransferEnd::kFailed : TransferEnd::kHopeless, .what = std::move(what)};
  }

  const Curl& curl_;
  CURL* easy_;
  CURLM* multi_;
  std::string range_;
  char error_[CURL_ERROR_SIZE] = {};
};

Transfers::Transfers(int most) : left_(std::max(1, most)) {}
Transfers::~Transfers() = default;

bool Transfers::is_cancelled() const { return stopped_ || runtime::CancelScope::is_cancelled(); }

void Transfers::stop() {
  stopped_ = true;
  free_.notify_all();
}

Result<std::unique_ptr<Transfers::Connection>> Transfers::take() {
  GALATEA_ASSIGN(const Curl* const curl, Curl::get());
  std::unique_lock lock(mutex_);
  while (left_ == 0) {
    if (is_cancelled()) return nullptr;
    free_.wait_for(lock, kLook);
  }
  std::unique_ptr<Connection> connection;
  if (!idle_.empty()) {  // the one used last, whose connection is most likely alive
    connection = std::move(idle_.back());
    idle_.pop_back();
  } else {
    connection = std::make_unique<Connection>(*curl);
    if (!connection->is_there())
      return make_error(ErrorKind::kSystem, "G0996", "libcurl has no memory for a transfer",
                        "free some memory");
  }
  --left_;
  return connection;
}

void Transfers::give_back(std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
    ++left_;
  }
  free_.notify_one();
}

Result<TransferResult> Transfers::run(
    const TransferRequest& request, ReplyHead& head,
    const std::function<bool(const ReplyHead&, std::span<const uint8_t>)>& receive) {
  GALATEA_ASSIGN(std::unique_ptr<Connection> connection, take());
  if (!connection) return TransferResult{.end = TransferEnd::kCancelled};
  const struct Return {
    Transfers& to;
    std::unique_ptr<Connection>& connection;
    ~Return() { to.give_back(std::move(connection)); }
  } at_end{*this, connection};
  head = {};
  Listener listener{.receive = receive, .head = head};
  return connection->run(request, listener, *this);
}

}  // namespace galatea::native::far
