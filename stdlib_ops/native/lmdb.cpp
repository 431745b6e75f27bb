#include "stdlib_ops/native/lmdb.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>
#include "stdlib_ops/native/far/address.h"

namespace galatea::native {
namespace {

constexpr uint32_t kLmdbMagic = 0xBEEFC0DE;
constexpr uint32_t kLmdbVersion = 1;
constexpr int64_t kLeastPage = 256, kMostPage = 65536;
constexpr int64_t kPageHead = 16;
constexpr int64_t kNodeHead = 8;
constexpr uint16_t kMostDepth = 32;  // more pages than this on the way to a leaf LMDB does not follow either
constexpr uint64_t kNoPage = ~uint64_t{0};

constexpr uint16_t kBranchPage = 0x01, kLeafPage = 0x02, kOverflowPage = 0x04, kMetaPage = 0x08,
                   kKindOfPage = 0x6F;  // with pages of fixed keys (0x20) and pages within pages (0x40)
constexpr uint16_t kOnOwnPages = 0x01, kIsDatabase = 0x02, kHasSeveral = 0x04;  // of nodes
constexpr uint16_t kSortedValues = 0x04;                                        // of databases

struct PageHead {
  uint64_t number;
  uint16_t pad, flags, lower, upper;  // of overflow pages, lower and upper are how many there are
};
static_assert(sizeof(PageHead) == kPageHead);

struct Database {
  uint32_t pad;  // of the first one: the size of a page
  uint16_t flags, depth;
  uint64_t branch_pages, leaf_pages, overflow_pages, entries, root;
};
struct Meta {
  uint32_t magic, version;
  uint64_t address, map_size;
  Database free, main;
  uint64_t last_page, transaction;
};
static_assert(sizeof(Database) == 48 && sizeof(Meta) == 136);

template <typename T>
T load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

Result<Meta> read_meta(const ByteSource& file, int64_t at) {
  uint8_t bytes[kPageHead + sizeof(Meta)];
  if (file.size() - at < static_cast<int64_t>(sizeof bytes))
    return damaged(file.name(), at, "it ends before a meta page of LMDB");
  GALATEA_TRY(file.read(at, bytes));
  const Meta meta = load<Meta>(bytes + kPageHead);
  if (meta.magic != kLmdbMagic || (load<PageHead>(bytes).flags & kKindOfPage) != kMetaPage)
    return damaged(file.name(), at, "no meta page of LMDB begins there");
  if (meta.version != kLmdbVersion)
    return damaged(file.name(), at + kPageHead + 4,
                   fmt::format("its data version is {}, not {}", meta.version, kLmdbVersion));
  const int64_t size = meta.free.pad;
  if (size < kLeastPage || size > kMostPage || !std::has_single_bit(static_cast<uint64_t>(size)))
    return damaged(file.name(), at + kPageHead + 24, fmt::format("pages of {} bytes", size));
  return meta;
}

/// From the root to all leaves, the keys in order.
class TreeWalk {
 public:
  TreeWalk(const ByteSource& file, const Meta& meta, size_t most)
      : file_(file), page_size_(meta.free.pad), meta_(meta), most_(most) {}

  Result<std::vector<LmdbEntry>> run() {
    const Database& tree = meta_.main;
    if (tree.flags & kSortedValues)
      return unusable(fmt::format("{} has several values for a key (MDB_DUPSORT)", file_.name()),
                      "a data set has one record for each key: write it again without MDB_DUPSORT");
    if (tree.root == kNoPage) {
      if (tree.entries != 0)
        return damaged(file_.name(), 0, fmt::format("{} entries, but no page of them", tree.entries));
      return std::vector<LmdbEntry>();
    }
    if (tree.depth < 1 || tree.depth > kMostDepth)
      return damaged(file_.name(), 0, fmt::format("its tree would be {} pages deep", tree.depth));
    GALATEA_TRY(visit(tree.root, 1));
    GALATEA_TRY(expect_own_pages());
    if (entries_.size() < most_ && entries_.size() != tree.entries)
      return damaged(
          file_.name(), 0,
          fmt::format("it says that it has {} entries, and has {}", tree.entries, entries_.size()));
    return std::move(entries_);
  }

 private:
  std::unexpected<Error> wrong(uint64_t page, int64_t at, const std::string& what) const {
    return damaged(file_.name(), static_cast<int64_t>(page) * page_size_ + at,
                   fmt::format("page {}: {}", page, what));
  }

  /// Whether all of the page lies in the file, and belongs to the database.
  bool exists(uint64_t page) const {
    return page >= 2 && page <= meta_.last_page && page < static_cast<uint64_t>(file_.size() / page_size_);
  }

  Status visit(uint64_t page, int level) {
    if (!exists(page))
      return damaged(file_.name(), file_.size(), fmt::format("page {} of its tree is not there", page));
    const int64_t begin = static_cast<int64_t>(page) * page_size_;
    if (!seen_.insert(page).second) return wrong(page, 0, "it is in the tree twice");
    taken_.push_back({.first = page, .count = 1});
    std::vector<uint8_t> bytes(static_cast<size_t>(page_size_));
    GALATEA_TRY(file_.read(begin, bytes));
    const PageHead head = load<PageHead>(bytes.data());
    const bool is_leaf = level == meta_.main.depth;
    if (head.number != page || (head.flags & kKindOfPage) != (is_leaf ? kLeafPage : kBranchPage))
      return wrong(page, 0, fmt::format("no {} of the tree begins there", is_leaf ? "leaf" : "branch"));
    if (head.lower < kPageHead || head.lower % 2 != 0 || head.upper < head.lower || head.upper > page_size_)
      return wrong(page, 12, fmt::format("its nodes would lie from {} to {}", head.lower, head.upper));
    std::vector<int64_t> nodes;
    for (int64_t at = kPageHead; at < head.lower; at += 2) {
      nodes.push_back(load<uint16_t>(bytes.data() + at));
      if (nodes.back() < head.upper || nodes.back() > page_size_ - kNodeHead)
        return wrong(page, at, fmt::format("a node would lie at {}", nodes.back()));
    }
    if (nodes.empty()) return wrong(page, 12, "it has no nodes");
    return is_leaf ? read_leaf(page, bytes, nodes) : follow(bytes, nodes, level);
  }

  Status follow(const std::vector<uint8_t>& bytes, const std::vector<int64_t>& nodes, int level) {
    std::vector<uint64_t> children;
    for (const int64_t node : nodes)  // 48 bits
      children.push_back(load<uint64_t>(bytes.data() + node) & 0xFFFFFFFFFFFF);
    for (const uint64_t child : children)
      if (exists(child)) file_.will_read(static_cast<int64_t>(child) * page_size_, page_size_);
    for (const uint64_t child : children) {
      if (entries_.size() >= most_) break;
      GALATEA_TRY(visit(child, level + 1));
    }
    return {};
  }

  /// No page belongs to two values, or to a value and the tree.
  Status expect_own_pages() {
    std::ranges::sort(taken_, {}, &Pages::first);
    for (size_t i = 1; i < taken_.size(); ++i)
      if (taken_[i].first - taken_[i - 1].first < taken_[i - 1].count)
        return wrong(taken_[i].first, 0,
                     fmt::format("it lies in {} pages from page {} on, which are a value's",
                                 taken_[i - 1].count, taken_[i - 1].first));
    return {};
  }

  /// What a node takes of its page: a head, a key, and a value or where that is.
  static int64_t bytes_of_node(const uint8_t* head) {
    const bool on_own = load<uint16_t>(head + 4) & kOnOwnPages;
    return kNodeHead + load<uint16_t>(head + 6) + (on_own ? 8 : int64_t{load<uint32_t>(head)});
  }

  Status expect_nodes_apart(uint64_t page, const std::vector<uint8_t>& bytes,
                            std::vector<int64_t> nodes) const {
    std::ranges::sort(nodes);
    for (size_t i = 1; i < nodes.size(); ++i)
      if (nodes[i] - nodes[i - 1] < bytes_of_node(bytes.data() + nodes[i - 1]))
        return wrong(page, nodes[i], fmt::format("the node lies within that at {}", nodes[i - 1]));
    return {};
  }

  Status read_leaf(uint64_t page, const std::vector<uint8_t>& bytes, const std::vector<int64_t>& nodes) {
    const int64_t begin = static_cast<int64_t>(page) * page_size_;
    for (const int64_t node : nodes) {
      if (entries_.size() >= most_) break;
      const uint8_t* const head = bytes.data() + node;
      const int64_t size = load<uint32_t>(head), key_size = load<uint16_t>(head + 6);
      const auto flags = load<uint16_t>(head + 4);
      if (flags & (kIsDatabase | kHasSeveral))
        return unusable(fmt::format("{} holds databases that have names", file_.name()),
                        "a data set lies in the database without a name: copy it there");
      const bool on_own = (flags & kOnOwnPages) != 0;
      if (bytes_of_node(head) > page_size_ - node)
        return wrong(page, node,
                     fmt::format("a key of {} and a value of {} bytes reach past it", key_size, size));
      LmdbEntry entry{.key = {begin + node + kNodeHead, key_size}, .value = {}, .on_own = on_own};
      if (on_own) {
        const auto first = load<uint64_t>(head + kNodeHead + key_size);
        if (!exists(first) || size > file_.size() - static_cast<int64_t>(first) * page_size_ - kPageHead)
          return wrong(page, node,
                       fmt::format("a value of {} bytes on page {} is not in the file", size, first));
        entry.value = {static_cast<int64_t>(first) * page_size_, kPageHead + size};
        taken_.push_back({.first = first,
                          .count = static_cast<uint64_t>((entry.value.size + page_size_ - 1) / page_size_)});
      } else {
        entry.value = {entry.key.offset + key_size, size};
      }
      entries_.push_back(entry);
    }
    return expect_nodes_apart(page, bytes, nodes);
  }

  const ByteSource& file_;
  const int64_t page_size_;
  const Meta& meta_;
  const size_t most_;
  struct Pages {
    uint64_t first = 0, count = 0;
  };

  std::unordered_set<uint64_t> seen_;
  std::vector<Pages> taken_;  ///< by the tree and by values on pages of their own
  std::vector<LmdbEntry> entries_;
};

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c >= ' ' && c <= '~')
      text += c;
    else
      text += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

}  // namespace

Result<std::vector<LmdbEntry>> scan_lmdb(const ByteSource& file, size_t most) {
  GALATEA_ASSIGN(const Meta first, read_meta(file, 0));
  GALATEA_ASSIGN(const Meta second, read_meta(file, first.free.pad));
  if (second.free.pad != first.free.pad)
    return damaged(file.name(), first.free.pad, "the meta pages say different sizes of pages");
  return TreeWalk(file, second.transaction > first.transaction ? second : first, most).run();
}

Result<std::span<const uint8_t>> value_of(const LmdbEntry& entry, std::span<const uint8_t> bytes,
                                          const std::string& name) {
  if (!entry.on_own) return bytes;
  // That of the first of its pages; the others have none.
  const bool whole = bytes.size() >= static_cast<size_t>(kPageHead);
  if (!whole || (load<PageHead>(bytes.data()).flags & kKindOfPage) != kOverflowPage)
    return damaged(name, entry.value.offset, "no page of a value begins there");
  return bytes.subspan(kPageHead);
}

Result<std::shared_ptr<const ByteSource>> open_lmdb(const std::string& path) {
  // What is far away has no folders; a database is called data.mdb there as here.
  if (far::is_far(path))
    return open_file(path.ends_with(".mdb") || path.contains('?') ? path : far::join(path, "data.mdb"));
  std::error_code error;  // what cannot be looked at cannot be opened, which says more
  const std::filesystem::path folder(path);
  return open_file(std::filesystem::is_directory(folder, error) ? (folder / "data.mdb").string() : path);
}

Result<std::vector<uint8_t>> first_value(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_lmdb(path));
    GALATEA_ASSIGN(const std::vector<LmdbEntry> entries, scan_lmdb(*file, 1));
    if (entries.empty()) continue;
    std::vector<uint8_t> bytes(static_cast<size_t>(entries.front().value.size));
    GALATEA_TRY(file->read(entries.front().value.offset, bytes));
    GALATEA_ASSIGN(const std::span<const uint8_t> value, value_of(entries.front(), bytes, file->name()));
    return std::vector<uint8_t>(value.begin(), value.end());
  }
  return unusable(fmt::format("no records in {}", fmt::join(paths, ", ")),
                  "name databases that hold records");
}

Status LmdbSource::add_database(const std::string& path) {
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> file, open_lmdb(path));
  GALATEA_ASSIGN(const std::vector<LmdbEntry> entries, scan_lmdb(*file));
  std::vector<RecordPlace> values;
  values.reserve(entries.size());
  keys_.reserve(keys_.size() + entries.size());
  for (const LmdbEntry& entry : entries) {
    values.push_back(entry.value);
    keys_.push_back({entry.key.offset, static_cast<uint16_t>(entry.key.size), entry.on_own});
  }
  names_.push_back(path);
  add(std::move(file), values);
  return {};
}

std::string LmdbSource::describe(int64_t index) const {
  const Record& there = record(index);
  const Key& key = keys_[static_cast<size_t>(index)];
  std::string text(key.size, '\0');
  if (!file_of(there).read(key.offset, {reinterpret_cast<uint8_t*>(text.data()), text.size()}))
    return RecordSource::describe(index);
  return fmt::format("{} at key {}", names_[there.file], printable(text));
}

std::vector<RecordPlace> LmdbSource::texts_of(int64_t index, std::span<const uint32_t> texts) const {
  const Record& there = record(index);
  const int64_t head = keys_[static_cast<size_t>(index)].on_own ? kPageHead : 0;
  return large_texts(file_of(there), {there.place.offset + head, there.place.size - head}, texts);
}

int64_t LmdbSource::value_bytes(int64_t index, std::span<const uint32_t> texts) const {
  return scratch_bytes(record(index).place, texts_of(index, texts));
}

Result<LmdbSource::Value> LmdbSource::value(int64_t index, std::span<const uint32_t> texts) const {
  const Record& there = record(index);
  const LmdbEntry entry{.value = there.place, .on_own = keys_[static_cast<size_t>(index)].on_own};
  GALATEA_ASSIGN(RecordBytes record, read_record(file_of(there), there.place, texts_of(index, texts)));
  GALATEA_ASSIGN(const std::span<const uint8_t> bytes,
                 value_of(entry, record.bytes(), file_of(there).name()));
  return Value{std::move(record), bytes};
}

}  // namespace galatea::native
