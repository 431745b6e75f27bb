// See llvm_backend.h. No LLVM here: that is the module's (code_module.h).
#include "compiler/codegen/llvm_backend.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/kernel_key.h"
#include "compiler/codegen/parallel.h"
#include "compiler/codegen/scratch_text.h"
#include "compiler/codegen/tiers.h"
#include "compiler/messages/messages.h"

namespace galatea::codegen {
namespace {

/// Code that lives in this process, by the keys of forms and of loops. It belongs to the programs that use
/// it.
class LivingCode {
 public:
  static LivingCode& instance() {
    static LivingCode living;
    return living;
  }
  /// No code: it is not here. `scratch_bytes` is known by the key of a form only. `best_only`: as if code
  /// that still is of the first tier were not here.
  FoundKernel find(const std::string& key, bool best_only) {
    FoundKernel out = find(key);
    const auto* tiered = best_only ? dynamic_cast<const runtime::UpgradedCode*>(out.code.get()) : nullptr;
    if (tiered != nullptr && tiered->is_first_tier()) out.code = nullptr;
    return out;
  }
  void add(const std::string& key, const SharedCode& code, const kernel::Expr& scratch_bytes = {}) {
    const std::lock_guard lock(mutex_);
    if (by_key_.size() >= clean_at_) {
      std::erase_if(by_key_, [](const auto& entry) { return entry.second.code.expired(); });
      clean_at_ = 2 * by_key_.size() + 64;
    }
    by_key_[key] = {code, scratch_bytes};
  }

 private:
  struct Living {
    std::weak_ptr<const runtime::KernelCode> code;
    kernel::Expr scratch_bytes;
  };
  FoundKernel find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return {};
    return {found->second.code.lock(), found->second.scratch_bytes, 0};
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Living> by_key_;
  size_t clean_at_ = 64;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class LlvmBackend final : public KernelBackend {
 public:
  LlvmBackend(const Target& target, const CacheOptions& cache, Tiers tiers)
      : target_(target), tiers_(tiers), is_kept_(cache.enabled), cache_(cache) {}
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

  Result<std::vector<FoundKernel>> find(std::span<const kernel::Kernel* const> kernels,
                                        const kernel::ScheduleOptions& options) override {
    const std::lock_guard lock(mutex_);
    std::vector<FoundKernel> out(kernels.size());
    std::vector<Kept> kept;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      std::string key = kernel_key(*kernels[i], options, target_);
      out[i] = LivingCode::instance().find(key, tiers_ == Tiers::kBest);
      if (out[i].code) continue;
      Kept one;
      one.kernel = i;
      std::string facts;
      auto object = cache_.find(key, &facts);
      if (!object) continue;
      one.object = std::move(*object);
      auto scratch = read_scratch(facts, *kernels[i]);
      if (!scratch) {
        cache_.cannot_use(key, "what it says about its code is no number of bytes");
        continue;
      }
      out[i].scratch_bytes = std::move(*scratch);
      one.key = std::move(key);
      out[i].seconds = seconds_since(start);
      kept.push_back(std::move(one));
    }
    std::vector<runtime::NamedCode> named;
    for (const Kept& one : kept) named.push_back({&one.object, kernels[one.kernel]->name});
    GALATEA_ASSIGN(const std::vector<SharedCode> codes, runtime::load_code(named));
    for (size_t k = 0; k < kept.size(); ++k) {
      FoundKernel& found = out[kept[k].kernel];
      found.code = codes[k];
      LivingCode::instance().add(kept[k].key, codes[k], found.scratch_bytes);
    }
    return out;
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
      std::optional<Form> form;
      if (jobs[i].options)
        form = Form{kernel_key(*jobs[i].kernel, *jobs[i].options, target_),
                    kernel::layout_scratch(*jobs[i].loops).bytes};
      if (SharedCode living = LivingCode::instance().find(key, tiers_ == Tiers::kBest).code) {
        if (form) LivingCode::instance().add(form->key, living, form->scratch_bytes);
        out[i] = {std::move(living), true};
        continue;
      }
      const auto [place, is_new] = wanted_by_key.try_emplace(key, wanted.size());
      if (is_new) wanted.push_back({std::move(key), jobs[i].loops});
      if (form) wanted[place->second].forms.push_back(std::move(*form));
      same_as.emplace_back(i, place->second);
    }
    GALATEA_TRY(make_objects(wanted));
    GALATEA_ASSIGN(std::vector<SharedCode> codes, load(wanted));
    improve(wanted, codes);
    for (size_t w = 0; w < wanted.size(); ++w) {
      LivingCode::instance().add(wanted[w].key, codes[w]);
      for (const Form& form : wanted[w].forms)
        LivingCode::instance().add(form.key, codes[w], form.scratch_bytes);
    }
    for (const auto& [job, w] : same_as) {
      out[job] = {codes[w], wanted[w].kept, wanted[w].seconds, wanted[w].first_tier};
      // Later jobs of the same key share.
      wanted[w].kept = true;
      wanted[w].seconds = 0;
    }
    return out;
  }

 private:
  /// The kernel that loops were lowered from.
  struct Form {
    std::string key;
    kernel::Expr scratch_bytes;
  };
  /// Found on the disk.
  struct Kept {
    size_t kernel = 0;
    std::string key;
    runtime::CodeObject object;
  };
  struct Wanted {
    std::string key;  ///< of the loops
    const kernel::LoopKernel* loops = nullptr;
    std::vector<Form> forms;  ///< none: it is kept by its loops
    runtime::CodeObject object;
    bool kept = false;
    bool first_tier = false;
    double seconds = 0;
  };

  /// Objects from the disk, else from the module.
  Status make_objects(std::vector<Wanted>& wanted) {
    std::vector<Wanted*> missing;
    for (Wanted& one : wanted) {
      const auto start = std::chrono::steady_clock::now();
      // Those of known forms were looked for before they were lowered.
      if (auto object = one.forms.empty() ? cache_.find(one.key) : std::nullopt) {
        one.object = std::move(*object);
        one.kept = true;
      } else {
        missing.push_back(&one);
      }
      one.seconds = seconds_since(start);
    }
    if (missing.empty()) return {};
    GALATEA_ASSIGN(const std::shared_ptr<const CodeModule> code_module, CodeModule::open());
    choose_tiers(missing);
    // The longest first: of one that begins last, the other threads would wait for the end.
    std::stable_sort(missing.begin(), missing.end(), [](const Wanted* a, const Wanted* b) {
      return compile_estimate(a->key.size(), a->first_tier) > compile_estimate(b->key.size(), b->first_tier);
    });
    std::vector<Status> states(missing.size());
    for_each_parallel(missing.size(), [&](size_t i) {
      states[i] = make_object(*missing[i], *code_module, target_);
      if (states[i] || !missing[i]->first_tier || tiers_ == Tiers::kFirst) return;
      // Code that cannot be had quickly is made the usual way, unless the machine is why.
      if (states[i].error().kind == ErrorKind::kSystem) return;
      missing[i]->first_tier = false;
      states[i] = make_object(*missing[i], *code_module, target_);
    });
    for (const Status& state : states) GALATEA_TRY(state);
    for (const Wanted* one : missing)
      if (!one->first_tier) store(cache_, entries_of(*one), one->object);
    cache_.trim();
    return {};
  }

  /// What the code of one is kept as.
  static std::vector<CacheEntry> entries_of(const Wanted& one) {
    if (one.forms.empty()) return {{one.key, {}}};
    std::vector<CacheEntry> out;
    for (const Form& form : one.forms) out.push_back({form.key, scratch_to_text(form.scratch_bytes)});
    return out;
  }

  static void store(KernelCache& cache, const std::vector<CacheEntry>& entries,
                    const runtime::CodeObject& object) {
    for (const CacheEntry& entry : entries) cache.store(entry.key, object, entry.facts);
  }

  /// AArch64 has the best code only: a first tier of its own has not been held against the stages.
  void choose_tiers(std::vector<Wanted*>& missing) const {
    if (tiers_ == Tiers::kBest || !target_.is_x86()) return;
    std::vector<size_t> sizes;
    for (const Wanted* one : missing) sizes.push_back(one->key.size());
    const std::vector<bool> first = tiers_ == Tiers::kFirst
                                        ? std::vector<bool>(sizes.size(), true)
                                        : choose_first_tier(sizes, std::thread::hardware_concurrency());
    for (size_t i = 0; i < missing.size(); ++i) missing[i]->first_tier = first[i];
  }

  static Status make_object(Wanted& one, const CodeModule& code_module, const Target& target) {
    const auto start = std::chrono::steady_clock::now();
    const CodeTier tier = one.first_tier ? CodeTier::kFirst : CodeTier::kBest;
    GALATEA_ASSIGN(one.object, code_module.compile(*one.loops, target, tier));
    one.seconds = seconds_since(start);
    return {};
  }

  /// Code of the first tier becomes code that best code replaces.
  void improve(const std::vector<Wanted>& wanted, std::vector<SharedCode>& codes) const {
    std::vector<FirstTierKernel> kernels;
    std::vector<size_t> places;
    for (size_t w = 0; w < wanted.size(); ++w) {
      if (!wanted[w].first_tier) continue;
      kernels.push_back({wanted[w].key, *wanted[w].loops, codes[w], entries_of(wanted[w])});
      places.push_back(w);
    }
    if (kernels.empty()) return;
    const auto made =
        make_upgrade(std::move(kernels), best_code_maker(target_, cache_.successor()), is_kept_);
    for (size_t i = 0; i < places.size(); ++i) codes[places[i]] = made[i];
  }

  /// Best code of one kernel, from the disk if another process was faster. Outlives the backend.
  static MakeBestCode best_code_maker(const Target& target, KernelCache cache) {
    struct Shared {
      explicit Shared(KernelCache of) : cache(std::move(of)) {}
      std::mutex mutex;
      KernelCache cache;
    };
    return [target, shared = std::make_shared<Shared>(std::move(cache))](
               const FirstTierKernel& kernel) -> Result<BestCode> {
      Wanted one{kernel.key, &kernel.loops};
      {
        const std::lock_guard lock(shared->mutex);
        if (auto object = shared->cache.find(kernel.entries.front().key)) {
          one.object = std::move(*object);
          one.kept = true;
        }
      }
      BestCode out;
      if (!one.kept) {
        GALATEA_ASSIGN(const std::shared_ptr<const CodeModule> code_module, CodeModule::open());
        GALATEA_TRY(make_object(one, *code_module, target));
        const std::lock_guard lock(shared->mutex);
        store(shared->cache, kernel.entries, one.object);
        shared->cache.trim();
        out.notes = shared->cache.take_notes();
      }
      const runtime::NamedCode named{&one.object, kernel.loops.name};
      GALATEA_ASSIGN(std::vector<SharedCode> loaded, runtime::load_code(std::span(&named, 1)));
      out.code = std::move(loaded.front());
      return out;
    };
  }

  static Result<std::vector<SharedCode>> load(const std::vector<Wanted>& wanted) {
    std::vector<runtime::NamedCode> named;
    for (const Wanted& one : wanted) named.push_back({&one.object, one.loops->name});
    return runtime::load_code(named);
  }

  Target target_;
  Tiers tiers_;
  bool is_kept_;
  std::mutex mutex_;
  KernelCache cache_;
};

}  // namespace

Result<std::vector<FoundKernel>> KernelBackend::find(std::span<const kernel::Kernel* const> kernels,
                                                     const kernel::ScheduleOptions&) {
  return std::vector<FoundKernel>(kernels.size());
}

Result<CompiledKernel> KernelBackend::compile(const kernel::Kernel& kernel, const kernel::LoopKernel& loops) {
  const KernelJob job{&kernel, &loops};
  GALATEA_ASSIGN(std::vector<CompiledKernel> compiled, compile(std::span(&job, 1)));
  return std::move(compiled.front());
}

std::unique_ptr<KernelBackend> make_llvm_backend(const Target& target, CacheOptions cache, Tiers tiers) {
  return std::make_unique<LlvmBackend>(target, std::move(cache), tiers);
}

Result<std::unique_ptr<KernelBackend>> make_backend(const std::string& name, std::string* note,
                                                    CacheOptions cache, Tiers tiers) {
  if (name == "interpreter") return make_interpreter_backend();
  if (name != "llvm") return compiler::user_error(compiler::Message::kUnknownBackend, Span{}, name);
  if (auto target = host_target()) return make_llvm_backend(*target, std::move(cache), tiers);
  if (note)
    *note = "this processor is neither x86-64-v3 nor AArch64: kernels run in the interpreter, which is slow";
  return make_interpreter_backend();
}

}  // namespace galatea::codegen
