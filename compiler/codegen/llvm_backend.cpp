// See llvm_backend.h. No LLVM here: that is the module's (code_module.h).
#include "compiler/codegen/llvm_backend.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <unordered_map>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/kernel_key.h"
#include "compiler/codegen/parallel.h"
#include "compiler/messages.h"

namespace galatea::codegen {
namespace {

using SharedCode = std::shared_ptr<const runtime::KernelCode>;

/// Code that lives in this process, by key. It belongs to the programs that use it.
class LivingCode {
 public:
  static LivingCode& instance() {
    static LivingCode living;
    return living;
  }
  SharedCode find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second.lock();
  }
  void add(const std::string& key, const SharedCode& code) {
    const std::lock_guard lock(mutex_);
    if (by_key_.size() >= clean_at_) {
      std::erase_if(by_key_, [](const auto& entry) { return entry.second.expired(); });
      clean_at_ = 2 * by_key_.size() + 64;
    }
    by_key_[key] = code;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const runtime::KernelCode>> by_key_;
  size_t clean_at_ = 64;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class LlvmBackend final : public KernelBackend {
 public:
  LlvmBackend(const Target& target, CacheOptions cache) : target_(target), cache_(std::move(cache)) {}
  std::string name() const override { return "llvm"; }
  kernel::ScheduleOptions schedule_options() const override {
    kernel::ScheduleOptions options;
    options.vector_bits = target_.vector_bits();
    options.look_up_cost = target_.look_up_cost();
    return options;
  }
  std::vector<std::string> take_notes() override {
    const std::lock_guard lock(mutex_);
    return cache_.take_notes();
  }

  using KernelBackend::compile;
  Result<std::vector<CompiledKernel>> compile(std::span<const KernelJob> jobs) override {
    // The cache's folder is shared between processes, but its notes are not between threads.
    const std::lock_guard lock(mutex_);
    std::vector<CompiledKernel> out(jobs.size());
    std::vector<Wanted> wanted;
    std::map<std::string, size_t> wanted_by_key;
    std::vector<std::pair<size_t, size_t>> same_as;  // job, wanted
    for (size_t i = 0; i < jobs.size(); ++i) {
      std::string key = kernel_key(*jobs[i].loops, target_);
      if (SharedCode living = LivingCode::instance().find(key)) {
        out[i] = {std::move(living), true, 0};
        continue;
      }
      const auto [place, is_new] = wanted_by_key.try_emplace(key, wanted.size());
      if (is_new) wanted.push_back({std::move(key), jobs[i].loops, {}, false, 0});
      same_as.emplace_back(i, place->second);
    }
    GALATEA_TRY(make_objects(wanted));
    GALATEA_ASSIGN(const std::vector<SharedCode> codes, load(wanted));
    for (size_t w = 0; w < wanted.size(); ++w) LivingCode::instance().add(wanted[w].key, codes[w]);
    for (const auto& [job, w] : same_as) {
      out[job] = {codes[w], wanted[w].kept, wanted[w].seconds};
      // Later jobs of the same key share.
      wanted[w].kept = true;
      wanted[w].seconds = 0;
    }
    return out;
  }

 private:
  struct Wanted {
    std::string key;
    const kernel::LoopKernel* loops = nullptr;
    runtime::CodeObject object;
    bool kept = false;
    double seconds = 0;
  };

  /// Objects from the disk, else from the module.
  Status make_objects(std::vector<Wanted>& wanted) {
    std::vector<Wanted*> missing;
    for (Wanted& one : wanted) {
      const auto start = std::chrono::steady_clock::now();
      if (auto object = cache_.find(one.key)) {
        one.object = std::move(*object);
        one.kept = true;
      } else {
        missing.push_back(&one);
      }
      one.seconds = seconds_since(start);
    }
    if (missing.empty()) return {};
    GALATEA_ASSIGN(const std::shared_ptr<const CodeModule> code_module, CodeModule::open());
    // The largest first: of one that begins last, the other threads would wait for the end.
    std::stable_sort(missing.begin(), missing.end(),
                     [](const Wanted* a, const Wanted* b) { return a->key.size() > b->key.size(); });
    std::vector<Status> states(missing.size());
    for_each_parallel(missing.size(), [&](size_t i) {
      const auto start = std::chrono::steady_clock::now();
      if (auto object = code_module->compile(*missing[i]->loops, target_))
        missing[i]->object = std::move(*object);
      else
        states[i] = std::unexpected(std::move(object.error()));
      missing[i]->seconds = seconds_since(start);
    });
    for (const Status& state : states) GALATEA_TRY(state);
    for (const Wanted* one : missing) cache_.store(one->key, one->object);
    cache_.trim();
    return {};
  }

  static Result<std::vector<SharedCode>> load(const std::vector<Wanted>& wanted) {
    std::vector<runtime::NamedCode> named;
    for (const Wanted& one : wanted) named.push_back({&one.object, one.loops->name});
    return runtime::load_code(named);
  }

  Target target_;
  std::mutex mutex_;
  KernelCache cache_;
};

}  // namespace

Result<CompiledKernel> KernelBackend::compile(const kernel::Kernel& kernel, const kernel::LoopKernel& loops) {
  const KernelJob job{&kernel, &loops};
  GALATEA_ASSIGN(std::vector<CompiledKernel> compiled, compile(std::span(&job, 1)));
  return std::move(compiled.front());
}

std::unique_ptr<KernelBackend> make_llvm_backend(const Target& target, CacheOptions cache) {
  return std::make_unique<LlvmBackend>(target, std::move(cache));
}

Result<std::unique_ptr<KernelBackend>> make_backend(const std::string& name, std::string* note,
                                                    CacheOptions cache) {
  if (name == "interpreter") return make_interpreter_backend();
  if (name != "llvm") return compiler::user_error(compiler::Message::kUnknownBackend, Span{}, name);
  if (auto target = host_target()) return make_llvm_backend(*target, std::move(cache));
  if (note)
    *note = "this processor is neither x86-64-v3 nor AArch64: kernels run in the interpreter, which is slow";
  return make_interpreter_backend();
}

}  // namespace galatea::codegen
