// Looking up, compiling, keeping; see device_code.h.
#include "compiler/codegen/cuda/device_code.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "compiler/codegen/build_id.h"
#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/emit_launch.h"
#include "compiler/codegen/kernel_key.h"
#include "compiler/codegen/parallel.h"
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

}  // namespace

static_assert(runtime::kCallCounters > kernel::kMostSpread + 1, "a counter a step, and one for parts");

struct DeviceCompiler::Wanted {
  std::string name;  ///< the first kernel's, for errors
  std::string text, key;
  std::shared_ptr<const std::string> cubin;
  bool from_cache = false;
  double seconds = 0;
};

std::string DeviceCompiler::key_of(const std::string& text) const {
  return fmt::format("cuda sm_{} nvrtc {}.{} build {}\n{}", architecture_, nvrtc_->major_version(),
                     nvrtc_->minor_version(), build_id(), text);
}

Status DeviceCompiler::make(Wanted& wanted) const {
  const auto start = std::chrono::steady_clock::now();
  auto cubin = nvrtc_->compile(cuda_prelude() + wanted.text, wanted.name + ".cu", architecture_);
  wanted.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!cubin) {
    if (cubin.error().kind == ErrorKind::kInternal) save_refused(wanted, cubin.error());
    return std::unexpected(std::move(cubin.error()));
  }
  wanted.cubin = std::make_shared<const std::string>(std::move(*cubin));
  return {};
}

void DeviceCompiler::save_refused(const Wanted& wanted, Error& error) const {
  std::error_code ignored;
  const auto file = std::filesystem::temp_directory_path(ignored) /
                    fmt::format("galatea-refused-{}.cu", hash_name(wanted.key));
  std::ofstream out(file, std::ios::binary);
  out << cuda_prelude() << wanted.text;
  out.close();
  if (!out || error.diagnostics.empty()) return;
  error.diagnostics.front().notes.push_back(fmt::format("the text is saved in {}", file.string()));
  error.diagnostics.front().help = "please report this with that file: it is a bug in galatea";
}

Status DeviceCompiler::find_or_make(std::vector<Wanted>& wanted) {
  std::vector<Wanted*> missing;
  for (Wanted& one : wanted) {
    if (const auto known = known_.find(one.key); known != known_.end()) {
      one.cubin = known->second;
    } else if (auto kept = cache_.find(one.key)) {
      one.cubin = std::make_shared<const std::string>(std::move(kept->bytes));
    } else {
      missing.push_back(&one);
      continue;
    }
    one.from_cache = true;
  }
  std::vector<Status> states(missing.size());
  for_each_parallel(missing.size(), [&](size_t i) { states[i] = make(*missing[i]); });
  for (const Status& state : states) GALATEA_TRY(state);
  for (const Wanted* one : missing) cache_.store(one->key, {*one->cubin, 0});
  if (!missing.empty()) cache_.trim();
  return {};
}

Result<std::vector<DeviceLaunchCode>> DeviceCompiler::compile(
    std::span<const std::vector<KernelJob>> launches) {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceLaunchCode> out(launches.size());
  std::vector<Wanted> wanted;
  std::vector<size_t> wanted_by(launches.size());
  std::map<std::string, size_t> by_key;
  for (size_t k = 0; k < launches.size(); ++k) {
    std::vector<LoopKernel> loops;
    std::vector<const LoopKernel*> arms;
    for (const KernelJob& job : launches[k]) loops.push_back(without_names(*job.loops));
    for (const LoopKernel& each : loops) arms.push_back(&each);
    Wanted one;
    one.name = launches[k].front().loops->name;
    one.text = emit_cuda_launch(arms, kDeviceFunction);
    one.key = key_of(one.text);
    const auto [place, is_new] = by_key.try_emplace(one.key, wanted.size());
    wanted_by[k] = place->second;
    if (is_new) wanted.push_back(std::move(one));
  }
  GALATEA_TRY(find_or_make(wanted));
  for (size_t k = 0; k < launches.size(); ++k) {
    Wanted& one = wanted[wanted_by[k]];
    out[k] = {one.cubin, one.from_cache, one.seconds};
    known_.try_emplace(one.key, one.cubin);
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
  for (size_t k = 0; k < jobs.size(); ++k)
    out[k] = {code[k].cubin,
              num_inputs(*jobs[k].loops),
              can_be_tiled(*jobs[k].loops),
              may_raise_flags(*jobs[k].kernel),
              code[k].from_cache,
              code[k].seconds,
              kernel::shares_phases(*jobs[k].loops)};
  return out;
}

std::shared_ptr<const runtime::DeviceKernel> describe_device_kernel(const kernel::Kernel& kernel,
                                                                    const LoopKernel& loops) {
  runtime::DeviceKernel out;
  out.inputs = num_inputs(loops);
  out.can_be_tiled = can_be_tiled(loops);
  out.may_fail = may_raise_flags(kernel);
  out.shares_phases = kernel::shares_phases(loops);
  return std::make_shared<const runtime::DeviceKernel>(std::move(out));
}

std::vector<std::string> DeviceCompiler::take_notes() {
  const std::lock_guard lock(mutex_);
  return cache_.take_notes();
}

}  // namespace galatea::codegen
