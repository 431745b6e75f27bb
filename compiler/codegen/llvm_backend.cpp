// See llvm_backend.h. No LLVM here: that is the module's (code_module.h).
#include "compiler/codegen/llvm_backend.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/kernel_key.h"
#include "compiler/codegen/parallel.h"
#include "compiler/kernel/reader.h"
#include "compiler/messages.h"

namespace galatea::codegen {
namespace {

using SharedCode = std::shared_ptr<const runtime::KernelCode>;

/// Code that lives in this process, by the keys of forms and of loops. It belongs to the programs that use
/// it.
class LivingCode {
 public:
  static LivingCode& instance() {
    static LivingCode living;
    return living;
  }
  /// No code: it is not here. `scratch_bytes` is known by the key of a form only.
  FoundKernel find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return {};
    return {found->second.code.lock(), found->second.scratch_bytes, 0};
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
  std::mutex mutex_;
  std::unordered_map<std::string, Living> by_key_;
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

  Result<std::vector<FoundKernel>> find(std::span<const kernel::Kernel* const> kernels,
                                        const kernel::ScheduleOptions& options) override {
    const std::lock_guard lock(mutex_);
    std::vector<FoundKernel> out(kernels.size());
    std::vector<Kept> kept;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      std::string key = form_key(*kernels[i], options, target_);
      out[i] = LivingCode::instance().find(key);
      if (out[i].code) continue;
      Kept one;
      one.kernel = i;
      std::string facts;
      auto object = cache_.find(key, &facts);
      if (!object) continue;
      one.object = std::move(*object);
      if (!read_scratch_bytes(facts, *kernels[i], &out[i].scratch_bytes)) {
        cache_.cannot_use(key, "what it says about its code is no number of bytes");
        continue;
      }
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
        form = Form{form_key(*jobs[i].kernel, *jobs[i].options, target_),
                    kernel::layout_scratch(*jobs[i].loops).bytes};
      if (SharedCode living = LivingCode::instance().find(key).code) {
        if (form) LivingCode::instance().add(form->key, living, form->scratch_bytes);
        out[i] = {std::move(living), true, 0};
        continue;
      }
      const auto [place, is_new] = wanted_by_key.try_emplace(key, wanted.size());
      if (is_new) wanted.push_back({std::move(key), jobs[i].loops, {}, {}, false, 0});
      if (form) wanted[place->second].forms.push_back(std::move(*form));
      same_as.emplace_back(i, place->second);
    }
    GALATEA_TRY(make_objects(wanted));
    GALATEA_ASSIGN(const std::vector<SharedCode> codes, load(wanted));
    for (size_t w = 0; w < wanted.size(); ++w) {
      LivingCode::instance().add(wanted[w].key, codes[w]);
      for (const Form& form : wanted[w].forms)
        LivingCode::instance().add(form.key, codes[w], form.scratch_bytes);
    }
    for (const auto& [job, w] : same_as) {
      out[job] = {codes[w], wanted[w].kept, wanted[w].seconds};
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
    for (const Wanted* one : missing) {
      if (one->forms.empty()) cache_.store(one->key, one->object);
      for (const Form& form : one->forms)
        cache_.store(form.key, one->object, kernel::to_text(form.scratch_bytes));
    }
    cache_.trim();
    return {};
  }

  /// False: the text is no number of bytes over the kernel's parameters.
  static bool read_scratch_bytes(const std::string& text, const kernel::Kernel& kernel, kernel::Expr* out) {
    SourceMap nowhere;
    auto read = kernel::read_expr(text, nowhere);
    if (!read || read->type() != DType::kI64) return false;
    bool is_known = true;
    kernel::for_each_node(*read, [&](const kernel::Expr& e) {
      const auto& params = kernel.params;
      const bool is_param = e->kind == kernel::ExprKind::kParam && e->index >= 0 &&
                            static_cast<size_t>(e->index) < params.size() &&
                            params[static_cast<size_t>(e->index)].type == e->type;
      is_known &= is_param || e->kind == kernel::ExprKind::kConst || e->kind == kernel::ExprKind::kOp;
    });
    *out = std::move(*read);
    return is_known;
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

Result<std::vector<FoundKernel>> KernelBackend::find(std::span<const kernel::Kernel* const> kernels,
                                                     const kernel::ScheduleOptions&) {
  return std::vector<FoundKernel>(kernels.size());
}

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
