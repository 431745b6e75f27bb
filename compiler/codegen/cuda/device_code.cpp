// Looking up, compiling, keeping; see device_code.h.
#include "compiler/codegen/cuda/device_code.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <utility>

#include "compiler/codegen/build_id.h"
#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/emit_launch.h"
#include "compiler/codegen/kernel_key.h"
#include "compiler/codegen/parallel.h"
#include "compiler/kernel/form_key.h"
#include "compiler/kernel/spread_phases.h"

namespace galatea::codegen {

namespace {

using kernel::LoopKernel;

void forget_phases(kernel::Block& block) {
  for (kernel::Statement& statement : block) {
    if (auto* phase = std::get_if<kernel::Phase>(&statement.node)) phase->name.clear();
    if (auto* loop = std::get_if<kernel::For>(&statement.node)) forget_phases(loop->body);
    if (auto* branch = std::get_if<kernel::If>(&statement.node)) forget_phases(branch->then_body);
  }
}

/// The same loops without the names that nothing depends on.
LoopKernel without_names(LoopKernel loops) {
  loops.name = kDeviceFunction;
  for (kernel::KernelParam& param : loops.params) param.name.clear();
  for (size_t b = 0; b < loops.buffers.size(); ++b) loops.buffers[b].name = std::to_string(b);
  forget_phases(loops.body);
  return loops;
}

/// What the loops of a kernel are made of.
std::string form_of(const kernel::Kernel& kernel, const kernel::ScheduleOptions& options) {
  return kernel::options_key(options) + kernel::form_key(kernel);
}

constexpr const char* kPleaseReport = "please report this with that file: it is a bug in galatea";

/// Saves a text that NVRTC or the linker refuses, and says where; empty where it cannot be saved. In a folder
/// where everybody may write nothing but a file of our own is written to; it gets the text's name when it is whole,
/// since other processes may save the same text.
std::string save_refused(const std::string& key, const std::string& text) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  const std::string name = fmt::format("galatea-refused-{}", hash_name(key));
  std::string file = (folder / (name + "-XXXXXX.cu")).string();
  const int descriptor = ::mkostemps(file.data(), 3, O_CLOEXEC);
  std::FILE* const out = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w");
  if (!out) {
    if (descriptor >= 0) ::close(descriptor);
    return {};
  }
  const std::string all = cuda_prelude() + text;
  const bool is_written = std::fwrite(all.data(), 1, all.size(), out) == all.size();
  const bool is_closed = std::fclose(out) == 0;
  if (!is_written || !is_closed) {
    std::filesystem::remove(file, error);
    return {};
  }
  const std::filesystem::path named = folder / (name + ".cu");
  std::filesystem::rename(file, named, error);
  return fmt::format("the text is saved in {}", error ? file : named.string());
}

}  // namespace

static_assert(runtime::kCallCounters > kernel::kMostSpread + 1, "a counter a step, and one for parts");

/// A text and its code: a whole launch, or a piece that is linked to others.
struct DeviceCompiler::Text {
  std::string name;  ///< the first kernel's, for errors
  std::string text, key;
  bool is_piece = false;
  int most_registers = 0;  ///< of an arm
  std::shared_ptr<const std::string> code;
  bool from_cache = false;
  double seconds = 0;
};

struct DeviceCompiler::Wanted {
  Text whole;
  std::vector<std::string> forms;  ///< keys of the launches that it is the text of; none: kept by its text
  LaunchUnits units;
  std::vector<size_t> pieces;  ///< its arms and its entry, where these are compiled apart
};

/// Texts of several launches, each once.
class DeviceCompiler::Pieces {
 public:
  size_t add(Text text) {
    const auto [place, is_new] = numbers_.try_emplace(text.key, all_.size());
    if (is_new) all_.push_back(std::move(text));
    return place->second;
  }
  std::vector<Text>& all() { return all_; }
  const Text& operator[](size_t number) const { return all_[number]; }

 private:
  std::map<std::string, size_t> numbers_;
  std::vector<Text> all_;
};

std::string DeviceCompiler::head(const char* what) const {
  return fmt::format("cuda {} sm_{} nvrtc {}.{} build {}\n", what, architecture_, nvrtc_.major_version(),
                     nvrtc_.minor_version(), build_id());
}

std::string DeviceCompiler::key_of(const Text& text) const {
  return fmt::format("{}registers {}\n{}", head(text.is_piece ? "piece" : "text"), text.most_registers,
                     text.text);
}

std::string DeviceCompiler::key_of(const kernel::Kernel& kernel,
                                   const kernel::ScheduleOptions& options) const {
  return head("kernel") + form_of(kernel, options);
}

/// Empty where a job's loops are not those of its kernel's form.
std::string DeviceCompiler::key_of(const std::vector<KernelJob>& launch) const {
  std::string out = head("launch");
  for (const KernelJob& job : launch) {
    if (!job.options) return {};
    const std::string form = form_of(*job.kernel, *job.options);
    out += fmt::format("{}:{}", form.size(), form);
  }
  return out;
}

std::shared_ptr<const std::string> DeviceCompiler::find(const std::string& key) {
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  auto kept = cache_.find(key);
  if (!kept) return nullptr;
  auto code = std::make_shared<const std::string>(std::move(kept->bytes));
  known_.emplace(key, code);
  return code;
}

bool DeviceCompiler::find(Text& text) {
  text.code = find(text.key);
  text.from_cache = text.code != nullptr;
  return text.from_cache;
}

std::vector<DeviceKernelFacts> DeviceCompiler::find(std::span<const kernel::Kernel* const> kernels,
                                                    const kernel::ScheduleOptions& options) {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceKernelFacts> out(kernels.size());
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::string key = key_of(*kernels[k], options);
    if (const auto known = known_kernels_.find(key); known != known_kernels_.end()) {
      out[k] = known->second;
      continue;
    }
    const auto kept = cache_.find(key);
    if (!kept) continue;
    if (auto facts = read_device_facts(kept->bytes, *kernels[k]))
      known_kernels_.emplace(key, out[k] = std::move(*facts));
    else
      cache_.cannot_use(key, "what it says about its kernel does not fit it");
  }
  return out;
}

void DeviceCompiler::keep(std::span<const kernel::Kernel* const> kernels,
                          const kernel::ScheduleOptions& options, std::span<const DeviceKernelFacts> facts) {
  if (kernels.empty()) return;
  const std::lock_guard lock(mutex_);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::string key = key_of(*kernels[k], options);
    cache_.store(key, {to_text(facts[k]), 0});
    known_kernels_.insert_or_assign(key, facts[k]);
  }
  cache_.trim();
}

Status DeviceCompiler::make(Text& text) const {
  const auto start = std::chrono::steady_clock::now();
  const std::string all = cuda_prelude() + text.text, file = text.name + ".cu";
  auto code = text.is_piece
                  ? nvrtc_.library().compile_to_object(all, file, architecture_, text.most_registers)
                  : nvrtc_.library().compile(all, file, architecture_);
  text.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!code) {
    Error error = std::move(code.error());
    if (error.kind == ErrorKind::kInternal && !error.diagnostics.empty()) {
      if (std::string saved = save_refused(text.key, text.text); !saved.empty()) {
        error.diagnostics.front().notes.push_back(std::move(saved));
        error.diagnostics.front().help = kPleaseReport;
      }
    }
    return std::unexpected(std::move(error));
  }
  text.code = std::make_shared<const std::string>(std::move(*code));
  return {};
}

const DeviceLinker* DeviceCompiler::linker() {
  if (form_ == ArmForm::kTogether) return nullptr;
  if (!looked_for_linker_) {
    looked_for_linker_ = true;
    // Why there is none, `galatea version` says.
    if (auto found = DeviceLinker::open(nvrtc_.major_version(), nvrtc_.minor_version())) linker_ = *found;
  }
  return linker_.get();
}

Status DeviceCompiler::link(Wanted& wanted, const Pieces& pieces, std::string* note) const {
  std::vector<std::shared_ptr<const std::string>> objects;
  for (const size_t piece : wanted.pieces) objects.push_back(pieces[piece].code);
  const auto start = std::chrono::steady_clock::now();
  auto cubin = linker_->link(objects, wanted.whole.name, architecture_);
  wanted.whole.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (cubin) {
    wanted.whole.code = std::make_shared<const std::string>(std::move(*cubin));
    return {};
  }
  const std::string saved = save_refused(wanted.whole.key, wanted.whole.text);
  *note = fmt::format("the kernels of a launch are compiled as one text, which takes longer: {} ({}; {})",
                      cubin.error().message(), saved, kPleaseReport);
  return make(wanted.whole);
}

Status DeviceCompiler::make_all(std::vector<Wanted*>& missing) {
  Pieces texts;
  std::vector<size_t> whole(missing.size());
  for (size_t m = 0; m < missing.size(); ++m) {
    Wanted& wanted = *missing[m];
    if (wanted.units.arms.size() < 2 || !linker()) {
      whole[m] = texts.add(wanted.whole);
      continue;
    }
    std::vector<LaunchUnits::Arm> units = std::move(wanted.units.arms);
    units.push_back({std::move(wanted.units.entry), 0});
    for (LaunchUnits::Arm& unit : units) {
      Text piece;
      piece.name = wanted.whole.name;
      piece.text = std::move(unit.text);
      piece.is_piece = true;
      piece.most_registers = unit.most_registers;
      piece.key = key_of(piece);
      wanted.pieces.push_back(texts.add(std::move(piece)));
    }
  }
  std::vector<Text*> unknown;
  for (Text& text : texts.all())
    if (!text.is_piece || !find(text)) unknown.push_back(&text);
  // The longest first: all wait for one that begins last.
  std::vector<size_t> order(unknown.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return unknown[a]->text.size() > unknown[b]->text.size(); });
  std::vector<Status> states(unknown.size());
  for_each_parallel(order.size(), [&](size_t i) { states[order[i]] = make(*unknown[order[i]]); });
  for (const Status& state : states) GALATEA_TRY(state);
  for (const Text* text : unknown) {
    if (text->is_piece) cache_.store(text->key, {*text->code, 0});
    known_.try_emplace(text->key, text->code);
  }
  states.assign(missing.size(), {});
  std::vector<std::string> notes(missing.size());
  for_each_parallel(missing.size(), [&](size_t m) {
    if (!missing[m]->pieces.empty()) states[m] = link(*missing[m], texts, &notes[m]);
  });
  for (const Status& state : states) GALATEA_TRY(state);
  for (size_t m = 0; m < missing.size(); ++m) {
    Text& text = missing[m]->whole;
    if (missing[m]->pieces.empty()) {
      text = texts[whole[m]];
      continue;
    }
    for (const size_t piece : missing[m]->pieces)
      text.seconds += std::exchange(texts.all()[piece].seconds, 0);
    if (notes[m].empty() || !linker_) continue;
    // It is not asked again, and the user is told once.
    linker_.reset();
    notes_.push_back(std::move(notes[m]));
  }
  return {};
}

void DeviceCompiler::keep(const Wanted& wanted) {
  const Text& text = wanted.whole;
  known_.try_emplace(text.key, text.code);
  if (wanted.forms.empty() && !text.from_cache) cache_.store(text.key, {*text.code, 0});
  for (const std::string& form : wanted.forms) {
    cache_.store(form, {*text.code, 0});
    known_.try_emplace(form, text.code);
  }
}

Result<std::vector<DeviceLaunchCode>> DeviceCompiler::compile(
    std::span<const std::vector<KernelJob>> launches, const LowerLaunches& lower) {
  const std::lock_guard lock(mutex_);
  return find_or_make(launches, lower);
}

DeviceCompiler::Wanted DeviceCompiler::wanted_for(const std::vector<KernelJob>& launch) const {
  std::vector<LoopKernel> loops;
  std::vector<const LoopKernel*> arms;
  for (const KernelJob& job : launch) loops.push_back(without_names(*job.loops));
  for (const LoopKernel& each : loops) arms.push_back(&each);
  Wanted out;
  out.units = emit_cuda_units(arms, kDeviceFunction);
  out.whole.name = launch.front().loops->name;
  out.whole.text = out.units.together();
  out.whole.key = key_of(out.whole);
  return out;
}

Result<std::vector<DeviceLaunchCode>> DeviceCompiler::find_or_make(
    std::span<const std::vector<KernelJob>> launches, const LowerLaunches& lower) {
  std::vector<DeviceLaunchCode> out(launches.size());
  std::vector<std::string> forms(launches.size());
  std::vector<size_t> unknown;
  for (size_t k = 0; k < launches.size(); ++k) {
    forms[k] = key_of(launches[k]);
    if (auto code = forms[k].empty() ? nullptr : find(forms[k]))
      out[k] = {std::move(code), true, 0};
    else
      unknown.push_back(k);
  }
  if (unknown.empty()) return out;
  if (lower) lower(unknown);
  std::vector<Wanted> wanted;
  std::vector<size_t> wanted_by(launches.size());
  std::map<std::string, size_t> by_key;
  for (const size_t k : unknown) {
    Wanted one = wanted_for(launches[k]);
    const auto [place, is_new] = by_key.try_emplace(one.whole.key, wanted.size());
    wanted_by[k] = place->second;
    if (is_new) wanted.push_back(std::move(one));
    std::vector<std::string>& known = wanted[place->second].forms;
    if (!forms[k].empty() && std::ranges::find(known, forms[k]) == known.end())
      known.push_back(std::move(forms[k]));
  }
  std::vector<Wanted*> missing;
  for (Wanted& one : wanted)
    if (!find(one.whole)) missing.push_back(&one);
  if (!missing.empty()) {
    const std::pair remembered{nvrtc_.major_version(), nvrtc_.minor_version()};
    GALATEA_TRY(nvrtc_.open(cache_));
    // Another library than was thought: its code has other keys.
    if (remembered != std::pair{nvrtc_.major_version(), nvrtc_.minor_version()})
      return find_or_make(launches, lower);
    GALATEA_TRY(make_all(missing));
  }
  for (const Wanted& one : wanted) keep(one);
  cache_.trim();
  for (const size_t k : unknown) {
    Text& one = wanted[wanted_by[k]].whole;
    out[k] = {one.code, one.from_cache, one.seconds};
    // Later launches of the same key share.
    one.from_cache = true;
    one.seconds = 0;
  }
  return out;
}

Result<std::vector<DeviceCode>> DeviceCompiler::compile(std::span<const KernelJob> jobs) {
  std::vector<std::vector<KernelJob>> launches;
  for (const KernelJob& job : jobs) launches.push_back({job});
  GALATEA_ASSIGN(const std::vector<DeviceLaunchCode> code, compile(launches));
  std::vector<DeviceCode> out(jobs.size());
  for (size_t k = 0; k < jobs.size(); ++k) {
    FlagCauses causes = flag_causes(*jobs[k].kernel);
    out[k] = {code[k].cubin,
              num_inputs(*jobs[k].loops),
              can_be_tiled(*jobs[k].loops),
              causes.may_fail,
              code[k].from_cache,
              code[k].seconds,
              kernel::shares_phases(*jobs[k].loops),
              std::move(causes.divisors)};
  }
  return out;
}

Result<DeviceLaunchCode> DeviceCompiler::compile_text(const std::string& text, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto key_of_text = [&] { return head("own") + text; };
  if (auto code = find(key_of_text())) return DeviceLaunchCode{std::move(code), true, 0};
  GALATEA_TRY(nvrtc_.open(cache_));
  const auto start = std::chrono::steady_clock::now();
  GALATEA_ASSIGN(std::string cubin, nvrtc_.library().compile(cuda_prelude() + text, name, architecture_));
  DeviceLaunchCode out;
  out.cubin = std::make_shared<const std::string>(std::move(cubin));
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // Opened, it may be another version than was remembered.
  cache_.store(key_of_text(), {*out.cubin, 0});
  known_.insert_or_assign(key_of_text(), out.cubin);
  cache_.trim();
  return out;
}

std::shared_ptr<const runtime::DeviceKernel> describe_device_kernel(const kernel::Kernel& kernel,
                                                                    const LoopKernel& loops) {
  runtime::DeviceKernel out;
  out.inputs = num_inputs(loops);
  out.can_be_tiled = can_be_tiled(loops);
  FlagCauses causes = flag_causes(kernel);
  out.may_fail = causes.may_fail;
  out.divisors = std::move(causes.divisors);
  out.shares_phases = kernel::shares_phases(loops);
  return std::make_shared<const runtime::DeviceKernel>(std::move(out));
}

std::vector<std::string> DeviceCompiler::take_notes() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out = cache_.take_notes();
  for (std::string& note : notes_) out.push_back(std::move(note));
  notes_.clear();
  return out;
}

}  // namespace galatea::codegen
