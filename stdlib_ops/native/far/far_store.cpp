#include "stdlib_ops/native/far/far_store.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <variant>

#include <fmt/format.h>

#include "base/settings.h"
#include "runtime/messages.h"
#include "stdlib_ops/native/far/block_memory.h"

namespace galatea::native::far {
namespace {

constexpr size_t kMostKnown = 65'536;
constexpr size_t kMostTasks = 1024;
/// Blocks that lie so near behind the last ones are a file being read from front to back.
constexpr int64_t kNear = 4;
constexpr auto kLookAgain = std::chrono::milliseconds(50);

struct FarObject {
  Address address;
  std::string id;       ///< of the file and its version: what blocks are known by
  std::string version;  ///< empty: the server does not say, so that nothing is kept on disk
  int64_t size = 0;

  int64_t num_blocks() const { return (size + kBlockBytes - 1) / kBlockBytes; }
  int64_t bytes_of_block(int64_t block) const { return std::min(kBlockBytes, size - block * kBlockBytes); }
  Digest name_of_block(int64_t block) const { return sha256(fmt::format("block\n{}\n{}", id, block)); }
};
using Object = std::shared_ptr<const FarObject>;

struct FarName {
  Address address;
  std::string identity;  ///< the same for the same file
};

std::string object_id(const std::string& identity, const std::string& version, int64_t size) {
  static std::atomic<uint64_t> counter = 0;
  // Of a file without a version this process shares no blocks between two openings.
  return version.empty() ? fmt::format("unknown {}", counter.fetch_add(1))
                         : hex(sha256(fmt::format("{}\n{}\n{}", identity, version, size)));
}

}  // namespace

class FarStore::Impl {
 public:
  explicit Impl(FarOptions options)
      : options_(std::move(options)), fetcher_(options_.fetch), disk_(options_.disk) {}
  ~Impl() {
    fetcher_.transfers().stop();
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    has_task_.notify_all();
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// A file that an address names under the settings in force.
  Result<FarName> name_of(const std::string& text);
  Result<Object> open(const FarName& file, bool is_ahead);
  Status read(const Object& object, int64_t offset, std::span<uint8_t> to, int64_t blocks_more);
  void will_read(const Object& object, int64_t offset, int64_t bytes);
  void will_open(FarName file);
  Fetcher& fetcher() { return fetcher_; }
  void finish_ahead();

 private:
  struct Known {
    Object object;
    Clock::time_point asked;
    bool is_opening = false;
  };
  struct Task {
    std::variant<FarName, std::pair<Object, int64_t>> what;  ///< to open; an object, its first block
    int64_t blocks = 0;
    int64_t bytes() const { return blocks * kBlockBytes; }
  };
  class Claim;

  Result<Object> look(const FarName& file, Object known, bool is_ahead);
  Result<std::vector<SharedBlock>> blocks_from(const Object& object, int64_t first, int64_t most,
                                               bool is_ahead);
  Result<std::vector<SharedBlock>> load(const FarObject& object, int64_t first, int64_t count);
  void keep(const FarObject& object, int64_t block, const SharedBlock& bytes);
  bool add_task(Task task);  ///< with mutex_ held

  void work();
  void run(const Task& task);

  const FarOptions options_;
  Fetcher fetcher_;
  DiskCache disk_;

  std::mutex mutex_;
  std::condition_variable changed_;  ///< blocks, openings, tasks that are done
  std::condition_variable has_task_;
  std::unordered_map<std::string, Known> known_;  ///< by identity
  BlockMemory blocks_{options_.memory};
  int64_t task_bytes_ = 0;  ///< of tasks that wait
  std::deque<Task> tasks_;
  size_t running_ = 0, idle_ = 0;
  bool is_stopped_ = false;
  std::vector<std::thread> threads_;
};

/// Blocks that this thread brings, while others wait for them: if it fails, they are nobody's again.
class FarStore::Impl::Claim {
 public:
  Claim(Impl& of, const Object& object, int64_t first, int64_t count)
      : of_(of), object_(object), first_(first), count_(count) {}
  ~Claim() {
    if (is_done_) return;
    {
      const std::lock_guard lock(of_.mutex_);
      for (int64_t k = 0; k < count_; ++k) of_.blocks_.drop({object_->id, first_ + k});
    }
    of_.changed_.notify_all();
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  void publish(const std::vector<SharedBlock>& blocks, bool is_ahead) {
    {
      const std::lock_guard lock(of_.mutex_);
      for (int64_t k = 0; k < count_; ++k)
        of_.blocks_.put({object_->id, first_ + k}, blocks[static_cast<size_t>(k)], is_ahead);
    }
    is_done_ = true;
    of_.changed_.notify_all();
  }

 private:
  Impl& of_;
  const Object& object_;
  int64_t first_, count_;
  bool is_done_ = false;
};

Result<std::vector<SharedBlock>> FarStore::Impl::blocks_from(const Object& object, int64_t first,
                                                             int64_t most, bool is_ahead) {
  int64_t count = 0;
  {
    std::unique_lock lock(mutex_);
    while (blocks_.contains({object->id, first})) {
      if (is_ahead) return std::vector<SharedBlock>{};
      if (SharedBlock bytes = blocks_.use({object->id, first})) return std::vector{std::move(bytes)};
      if (fetcher_.transfers().is_cancelled()) return runtime::make_error(runtime::message::kCancelled);
      changed_.wait_for(lock, kLookAgain);
    }
    most = std::min({most, kMostBlocks, object->num_blocks() - first});
    for (; count < most && !blocks_.contains({object->id, first + count}); ++count)
      blocks_.claim({object->id, first + count}, object->bytes_of_block(first + count), is_ahead);
  }
  Claim claimed(*this, object, first, count);
  GALATEA_ASSIGN(std::vector<SharedBlock> loaded, load(*object, first, count));
  claimed.publish(loaded, is_ahead);
  return loaded;
}

void FarStore::Impl::keep(const FarObject& object, int64_t block, const SharedBlock& bytes) {
  if (!object.version.empty()) disk_.store(object.name_of_block(block), *bytes);
}

Result<std::vector<SharedBlock>> FarStore::Impl::load(const FarObject& object, int64_t first, int64_t count) {
  std::vector<SharedBlock> out(static_cast<size_t>(count));
  if (!object.version.empty()) {
    for (int64_t k = 0; k < count; ++k) {
      auto bytes = disk_.find(object.name_of_block(first + k));
      if (bytes && static_cast<int64_t>(bytes->size()) == object.bytes_of_block(first + k))
        out[static_cast<size_t>(k)] = std::make_shared<const BlockBytes>(std::move(*bytes));
    }
  }
  for (int64_t k = 0; k < count;) {
    if (out[static_cast<size_t>(k)]) {
      ++k;
      continue;
    }
    int64_t end = k;
    while (end < count && !out[static_cast<size_t>(end)]) ++end;
    const int64_t from = (first + k) * kBlockBytes, to = std::min(object.size, (first + end) * kBlockBytes);
    GALATEA_ASSIGN(const Fetched fetched,
                   fetcher_.part(object.address, from, to - from, object.size, object.version));
    const int64_t base = fetched.has_ranges ? from : 0;
    for (; k < end; ++k) {
      const int64_t begin = (first + k) * kBlockBytes - base;
      const auto part =
          std::span(fetched.bytes)
              .subspan(static_cast<size_t>(begin), static_cast<size_t>(object.bytes_of_block(first + k)));
      out[static_cast<size_t>(k)] = std::make_shared<const BlockBytes>(part.begin(), part.end());
      keep(object, first + k, out[static_cast<size_t>(k)]);
    }
  }
  return out;
}

Status FarStore::Impl::read(const Object& object, int64_t offset, std::span<uint8_t> to,
                            int64_t blocks_more) {
  const auto size = static_cast<int64_t>(to.size());
  if (offset < 0 || size > object->size - offset)
    return damaged(object->address.shown, offset,
                   fmt::format("{} bytes are missing", size - std::max<int64_t>(0, object->size - offset)));
  // What does not come with the first request comes beside it.
  if (size > kMostBlocks * kBlockBytes)
    will_read(object, offset + kMostBlocks * kBlockBytes, size - kMostBlocks * kBlockBytes);
  for (int64_t at = offset; at < offset + size;) {
    const int64_t first = at / kBlockBytes, last = (offset + size - 1) / kBlockBytes;
    GALATEA_ASSIGN(const std::vector<SharedBlock> blocks,
                   blocks_from(object, first, last - first + 1 + blocks_more, false));
    for (size_t k = 0; k < blocks.size() && at < offset + size; ++k) {
      const int64_t within = at % kBlockBytes;
      const int64_t count = std::min(static_cast<int64_t>(blocks[k]->size()) - within, offset + size - at);
      std::memcpy(to.data() + (at - offset), blocks[k]->data() + within, static_cast<size_t>(count));
      at += count;
    }
  }
  return {};
}

Result<FarName> FarStore::Impl::name_of(const std::string& text) {
  FarName file;
  GALATEA_ASSIGN(file.address, parse_address(text));
  if (file.address.store != Store::kWeb && file.address.key.empty())
    return unusable(fmt::format("{} names a bucket, not a file in it", file.address.shown),
                    "write the key behind it");
  GALATEA_ASSIGN(file.identity, fetcher_.identity(file.address));
  return file;
}

Result<Object> FarStore::Impl::open(const FarName& file, bool is_ahead) {
  Object known;
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto at = known_.find(file.identity);
      if (at == known_.end()) break;
      if (!at->second.is_opening) {
        known = at->second.object;
        if (Clock::now() - at->second.asked < options_.versions_hold_for) return known;
        break;
      }
      if (fetcher_.transfers().is_cancelled()) return runtime::make_error(runtime::message::kCancelled);
      changed_.wait_for(lock, kLookAgain);
    }
    if (known_.size() >= kMostKnown)
      std::erase_if(known_, [](const auto& entry) { return !entry.second.is_opening; });
    known_[file.identity].is_opening = true;
  }
  struct Opening {
    Impl& of;
    const std::string& identity;
    Object object = {};
    ~Opening() {
      {
        const std::lock_guard lock(of.mutex_);
        if (object)
          of.known_[identity] = {.object = object, .asked = Clock::now()};
        else
          of.known_.erase(identity);
      }
      of.changed_.notify_all();
    }
  } opening{*this, file.identity};
  GALATEA_ASSIGN(opening.object, look(file, std::move(known), is_ahead));
  return opening.object;
}

Result<Object> FarStore::Impl::look(const FarName& file, Object known, bool is_ahead) {
  const Address& address = file.address;
  const std::string& identity = file.identity;
  const Digest head_name = sha256("head\n" + identity);
  const auto object_of = [&](std::string version, int64_t size) {
    auto object = std::make_shared<FarObject>();
    object->address = address;
    object->id = object_id(identity, version, size);
    object->version = std::move(version);
    object->size = size;
    return object;
  };
  if (!known) {
    // "SIZE\nVERSION".
    if (const auto head = disk_.find(head_name)) {
      const std::string_view said(reinterpret_cast<const char*>(head->data()), head->size());
      int64_t size = -1;
      const auto end = std::from_chars(said.data(), said.data() + said.size(), size);
      const auto digits = static_cast<size_t>(end.ptr - said.data());
      if (end.ec == std::errc() && size >= 0 && digits + 1 < said.size() && said[digits] == '\n')
        known = object_of(std::string(said.substr(digits + 1)), size);
    }
  }
  GALATEA_ASSIGN(Fetched found,
                 fetcher_.look(address, kFirstBlocks * kBlockBytes, known ? known->version : std::string()));
  if (found.is_unchanged && known) return known;
  if (found.is_unchanged)
    return make_error(
        ErrorKind::kUser, "G0803",
        fmt::format("cannot read {}: the server says that it has not changed, which nobody asked",
                    address.shown),
        "look at the server, or at a proxy before it");
  const Object object = object_of(found.version, found.size);
  if (!object->version.empty()) {
    const std::string head = fmt::format("{}\n{}", object->size, object->version);
    disk_.store(head_name, {reinterpret_cast<const uint8_t*>(head.data()), head.size()});
  }
  // What came with it; of a server without ranges that is all, of which as much is kept as there is room for.
  std::vector<SharedBlock> blocks;
  for (int64_t block = 0; block < object->num_blocks(); ++block) {
    const int64_t begin = block * kBlockBytes, bytes = object->bytes_of_block(block);
    if (begin + bytes > static_cast<int64_t>(found.bytes.size())) break;
    blocks.push_back(
        std::make_shared<const BlockBytes>(found.bytes.begin() + begin, found.bytes.begin() + begin + bytes));
    keep(*object, block, blocks.back());
  }
  const std::lock_guard lock(mutex_);
  for (size_t k = 0; k < blocks.size(); ++k)
    blocks_.put({object->id, static_cast<int64_t>(k)}, blocks[k], is_ahead);
  return object;
}

bool FarStore::Impl::add_task(Task task) {
  if (is_stopped_ || tasks_.size() >= kMostTasks) return false;
  if (blocks_.ahead_bytes() + task_bytes_ + task.bytes() > options_.memory / 2) return false;
  task_bytes_ += task.bytes();
  tasks_.push_back(std::move(task));
  if (idle_ < tasks_.size() && threads_.size() < static_cast<size_t>(options_.fetch.connections)) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // Without a thread nothing is read ahead, and each reader brings what it needs.
      if (threads_.empty()) {
        task_bytes_ = 0;
        tasks_.clear();
        return false;
      }
    }
  }
  has_task_.notify_one();
  return true;
}

void FarStore::Impl::will_read(const Object& object, int64_t offset, int64_t bytes) {
  if (bytes <= 0 || offset < 0 || offset >= object->size) return;
  const int64_t last = (std::min(bytes, object->size - offset) + offset - 1) / kBlockBytes;
  const std::lock_guard lock(mutex_);
  for (int64_t block = offset / kBlockBytes; block <= last;) {
    int64_t count = 0;
    while (block + count <= last && count < kMostBlocks && !blocks_.contains({object->id, block + count}))
      ++count;
    if (count > 0 && !add_task({.what = std::pair{object, block}, .blocks = count})) return;
    block += std::max<int64_t>(count, 1);
  }
}

void FarStore::Impl::will_open(FarName file) {
  const std::lock_guard lock(mutex_);
  const auto at = known_.find(file.identity);
  if (at != known_.end() &&
      (at->second.is_opening || Clock::now() - at->second.asked < options_.versions_hold_for))
    return;
  add_task({.what = std::move(file), .blocks = kFirstBlocks});
}

void FarStore::Impl::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    has_task_.wait(lock, [this] { return is_stopped_ || !tasks_.empty(); });
    --idle_;
    if (is_stopped_) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task_bytes_ -= task.bytes();
    ++running_;
    lock.unlock();
    try {
      run(task);
    } catch (const std::bad_alloc&) {
      // Who needs it asks for it, and is told.
    }
    lock.lock();
    --running_;
    changed_.notify_all();
  }
}

/// What fails here is tried again, and told, by who reads it.
void FarStore::Impl::run(const Task& task) {
  if (const auto* const part = std::get_if<std::pair<Object, int64_t>>(&task.what)) {
    static_cast<void>(blocks_from(part->first, part->second, task.blocks, true));
    return;
  }
  const auto object = open(std::get<FarName>(task.what), true);
  if (object) will_read(*object, 0, (*object)->size);
}

void FarStore::Impl::finish_ahead() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty() && running_ == 0; });
}

namespace {

class FarFile final : public ByteSource {
 public:
  using Reader = std::function<Status(int64_t, std::span<uint8_t>, int64_t)>;
  using Ahead = std::function<void(int64_t, int64_t)>;
  FarFile(const std::string& shown, int64_t size, Reader reader, Ahead ahead)
      : ByteSource(shown), reader_(std::move(reader)), ahead_(std::move(ahead)) {
    size_ = size;
  }

  Status read(int64_t offset, std::span<uint8_t> to) const override {
    if (to.empty()) return {};
    const auto more_bytes = static_cast<int64_t>(to.size()) - 1;
    const int64_t furthest = offset > INT64_MAX - more_bytes ? INT64_MAX : offset + more_bytes;
    const int64_t first = offset / kBlockBytes, last = furthest / kBlockBytes;
    // Looking from record to record goes from front to back: requests become longer, and the next one is on its
    // way while this one is looked at. It is asked for once there is room for a whole one: a block at a time
    // would be a request for each.
    const int64_t before = last_.exchange(last, std::memory_order_relaxed);
    int64_t more = 0;
    if (first >= before && first - before <= kNear) {
      more = more_.load(std::memory_order_relaxed);
      if (last > before) {
        more_.store(std::min(2 * more + 1, kMostBlocks - 1), std::memory_order_relaxed);
        const int64_t begin = std::max(asked_.load(std::memory_order_relaxed), last + 1 + more);
        if (more > 0 && begin - last <= kMostBlocks) {
          asked_.store(begin + kMostBlocks, std::memory_order_relaxed);
          ahead_(begin * kBlockBytes, kMostBlocks * kBlockBytes);
        }
      }
    } else {
      more_.store(0, std::memory_order_relaxed);
      asked_.store(0, std::memory_order_relaxed);
    }
    return reader_(offset, to, more);
  }
  void will_read(int64_t offset, int64_t bytes) const override { ahead_(offset, bytes); }

 private:
  Reader reader_;
  Ahead ahead_;
  mutable std::atomic<int64_t> last_{0}, more_{0};
  mutable std::atomic<int64_t> asked_{0};  ///< the block behind those asked for ahead, from front to back
};

}  // namespace

FarStore::FarStore(FarOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
FarStore::~FarStore() = default;

FarStore& FarStore::of_process() {
  struct OfProcess {
    pid_t process;
    FarStore store;
  };
  static std::atomic<OfProcess*> current{nullptr};
  static_cast<void>(Curl::get());  // goes later than what uses it
  static const struct AtExit {
    ~AtExit() {
      OfProcess* const last = current.load();
      if (last && last->process == ::getpid()) delete last;
    }
  } at_exit;
  // A forked child has none of its parent's threads, and leaves what it was left as it is.
  const pid_t process = ::getpid();
  OfProcess* there = current.load();
  while (!there || there->process != process) {
    auto made = std::unique_ptr<OfProcess>(new OfProcess{
        .process = process,
        .store = FarStore(
            {.fetch = fetch_options(),
             .disk = disk_cache_options(),
             .memory = std::max(setting_int("GALATEA_FAR_MEMORY"), 2 * kMostBlocks * kBlockBytes)})});
    if (current.compare_exchange_strong(there, made.get())) there = made.release();
  }
  return there->store;
}

Result<std::shared_ptr<const ByteSource>> FarStore::open(const std::string& address) {
  GALATEA_ASSIGN(const FarName file, impl_->name_of(address));
  GALATEA_ASSIGN(const Object object, impl_->open(file, false));
  return std::make_shared<FarFile>(
      object->address.shown, object->size,
      [impl = impl_.get(), object](int64_t offset, std::span<uint8_t> to, int64_t more) {
        return impl->read(object, offset, to, more);
      },
      [impl = impl_.get(), object](int64_t offset, int64_t bytes) {
        impl->will_read(object, offset, bytes);
      });
}

void FarStore::will_open(const std::string& address) {
  if (auto file = impl_->name_of(address)) impl_->will_open(std::move(*file));
}
Result<FarFolder> FarStore::list(const std::string& folder) { return list_folder(impl_->fetcher(), folder); }
void FarStore::finish_ahead() { impl_->finish_ahead(); }

}  // namespace galatea::native::far
