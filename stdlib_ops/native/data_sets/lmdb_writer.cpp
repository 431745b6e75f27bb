// A database of Caffe: Datums with encoded pictures, in the order of the samples.
#include <lmdb.h>

#include <climits>
#include <filesystem>

#include <fmt/format.h>

#include "base/fault.h"
#include "stdlib_ops/native/data_sets/containers.h"
#include "stdlib_ops/native/data_sets/data_writer.h"
#include "stdlib_ops/native/data_sets/output_file.h"
#include "stdlib_ops/native/protobuf_writer.h"

namespace galatea::native {
namespace {

/// Addresses, not memory or disk: the file grows as it is written.
constexpr size_t kMapSize = size_t{1} << 40;
constexpr int64_t kMostLmdbSamples = 100'000'000;  ///< with eight digits keys are in the order of numbers

std::unexpected<Error> lmdb_error(const std::string& folder, int code) {
  // A write that ends early, as on a full disk, is EIO to the library.
  if (code == EIO && is_disk_full(folder)) code = ENOSPC;
  if (code > 0) return cannot_write(folder, code);
  return make_error(ErrorKind::kUser, "G0854",
                    fmt::format("cannot write `{}`: {}", folder, mdb_strerror(code)),
                    "name a place that exists, has room, and that you may write to");
}

struct EnvironmentEnd {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
};
struct TransactionEnd {
  void operator()(MDB_txn* transaction) const { mdb_txn_abort(transaction); }
};
using Environment = std::unique_ptr<MDB_env, EnvironmentEnd>;
using Transaction = std::unique_ptr<MDB_txn, TransactionEnd>;

/// One writer has the folder; nobody else is looked after.
constexpr unsigned kEnvironmentFlags = MDB_NOLOCK;

Result<Transaction> begin_transaction(MDB_env* environment, const std::string& folder, unsigned flags) {
  MDB_txn* transaction = nullptr;
  if (const int code = mdb_txn_begin(environment, nullptr, flags, &transaction))
    return lmdb_error(folder, code);
  return Transaction(transaction);
}

/// What was committed, key by key, through a view of its own.
class CommittedSamples final : public DataContainer {
 public:
  CommittedSamples(MDB_env* environment, MDB_dbi database, std::string folder, std::vector<std::string> keys)
      : environment_(environment), database_(database), folder_(std::move(folder)), keys_(std::move(keys)) {}
  Result<bool> next() override { return ++at_ < keys_.size(); }
  Status read(DataSample& sample) override {
    if (!view_) {
      GALATEA_ASSIGN(view_, begin_transaction(environment_, folder_, MDB_RDONLY));
    }
    MDB_val key{keys_[at_].size(), keys_[at_].data()}, value{};
    if (const int code = mdb_get(view_.get(), database_, &key, &value)) return lmdb_error(folder_, code);
    return read_datum({static_cast<const uint8_t*>(value.mv_data), value.mv_size}, keys_[at_], place(),
                      sample);
  }
  DataPlace place() const override { return {folder_, 0}; }
  double share() const override { return static_cast<double>(at_) / static_cast<double>(keys_.size()); }

 private:
  MDB_env* environment_;
  MDB_dbi database_;
  std::string folder_;
  std::vector<std::string> keys_;
  Transaction view_;
  size_t at_ = SIZE_MAX;  // before the first
};

class LmdbWriter final : public DataWriter {
 public:
  explicit LmdbWriter(std::string folder) : folder_(std::move(folder)) {}

  Status fit(DataSample& sample) const override {
    GALATEA_TRY(fit_picture(sample));
    GALATEA_TRY(label_between(sample, INT32_MIN, INT32_MAX, "a Datum"));
    GALATEA_TRY(check_sample_name(sample));
    if (key_of_sample(0, sample).size() > 511)
      return unusable(fmt::format("the name \"{}\" is too long: a key has at most 511 bytes", sample.name));
    return {};
  }

  int64_t most_samples() const override { return 1000; }

  Status begin(int64_t, int64_t first) override {
    GALATEA_TRY(open());
    first_ = first;
    bytes_ = 0;
    keys_.clear();
    GALATEA_ASSIGN(transaction_, begin_transaction(environment_.get(), folder_, 0));
    return {};
  }

  Status add(const DataSample& sample) override {
    const int64_t number = first_ + static_cast<int64_t>(keys_.size());
    if (number >= kMostLmdbSamples)
      return unusable(fmt::format("more than {} samples in one database", kMostLmdbSamples),
                      "convert the containers of the source one by one");
    ProtobufWriter datum;
    datum.bytes(4, sample.parts.front().bytes);
    datum.number(5, static_cast<uint64_t>(*whole_label(sample)));
    datum.number(7, 1);
    keys_.push_back(key_of_sample(number, sample));
    std::string value = datum.message();
    MDB_val key{keys_.back().size(), keys_.back().data()}, data{value.size(), value.data()};
    if (const int code = mdb_put(transaction_.get(), database_, &key, &data, 0))
      return lmdb_error(folder_, code);
    bytes_ += static_cast<int64_t>(value.size());
    return {};
  }

  int64_t bytes() const override { return bytes_; }

  Status end() override {
    if (const int code = mdb_txn_commit(transaction_.release())) return lmdb_error(folder_, code);
    return {};
  }

  Result<std::unique_ptr<DataContainer>> read_back() override {
    return std::make_unique<CommittedSamples>(environment_.get(), database_, folder_, std::move(keys_));
  }

  Status remove_from(int64_t first) override {
    if (first > 0) return {};
    std::error_code error;
    for (const char* name : {"data.mdb", "lock.mdb"}) {
      std::filesystem::remove(std::filesystem::path(folder_) / name, error);
      if (error) return cannot_write(folder_, error.value());
    }
    return {};
  }

 private:
  static std::string key_of_sample(int64_t number, const DataSample& sample) {
    return fmt::format("{:08}_{}.{}", number, sample.name, sample.parts.front().extension);
  }

  Status open() {
    if (environment_) return {};
    MDB_env* environment = nullptr;
    if (const int code = mdb_env_create(&environment)) return lmdb_error(folder_, code);
    environment_.reset(environment);
    int code = mdb_env_set_mapsize(environment, kMapSize);
    if (code == 0) code = mdb_env_open(environment, folder_.c_str(), kEnvironmentFlags, 0666);
    if (code != 0) {
      environment_.reset();
      return lmdb_error(folder_, code);
    }
    GALATEA_ASSIGN(Transaction transaction, begin_transaction(environment, folder_, 0));
    if ((code = mdb_dbi_open(transaction.get(), nullptr, 0, &database_)) != 0)
      return lmdb_error(folder_, code);
    if ((code = mdb_txn_commit(transaction.release())) != 0) return lmdb_error(folder_, code);
    return {};
  }

  std::string folder_;
  Environment environment_;
  MDB_dbi database_ = 0;
  Transaction transaction_;
  std::vector<std::string> keys_;
  int64_t first_ = 0, bytes_ = 0;
};

}  // namespace

std::unique_ptr<DataWriter> lmdb_writer(const std::string& folder) {
  return std::make_unique<LmdbWriter>(folder);
}

}  // namespace galatea::native
