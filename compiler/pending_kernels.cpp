#include "compiler/pending_kernels.h"

#include <algorithm>
#include <utility>

#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/text_kernel.h"
#include "compiler/codegen/parallel.h"

namespace galatea {

namespace {

/// Whether all is known of it that its loops would tell.
bool is_found(const PendingKernel& pending) {
  if (pending.text) return true;
  return pending.on_gpu ? pending.gpu.device != nullptr : pending.found.code != nullptr;
}

}  // namespace

void PendingKernels::add(kernel::Kernel kernel, bool on_gpu, size_t report) {
  PendingKernel& added = all_.emplace_back();
  added.kernel = std::move(kernel);
  added.on_gpu = on_gpu;
  added.report = report;
}

void PendingKernels::add(std::shared_ptr<const op::TextCall> text, bool on_gpu, size_t report) {
  PendingKernel& added = all_.emplace_back();
  added.kernel.name = text->kernel.function;
  added.on_gpu = on_gpu;
  added.report = report;
  if (on_gpu)
    added.gpu = {codegen::describe_text_kernel(text->kernel), kernel::const_int(0)};
  else
    added.found.scratch_bytes = kernel::const_int(codegen::host_scratch_bytes(text->kernel));
  added.text = std::move(text);
}

kernel::ScheduleOptions PendingKernels::schedule_options(bool on_gpu) const {
  kernel::ScheduleOptions out = on_gpu ? kernel::ScheduleOptions{.gpu = true} : backend_.schedule_options();
  out.fuse = options_.fuse;
  return out;
}

std::vector<size_t> PendingKernels::numbers_of(bool on_gpu) const {
  std::vector<size_t> out;
  for (size_t i = 0; i < all_.size(); ++i)
    if (all_[i].on_gpu == on_gpu && !all_[i].text) out.push_back(i);
  return out;
}

std::vector<const kernel::Kernel*> PendingKernels::kernels_of(std::span<const size_t> numbers) const {
  std::vector<const kernel::Kernel*> out;
  for (const size_t i : numbers) out.push_back(&all_[i].kernel);
  return out;
}

Status PendingKernels::find() {
  const std::vector<size_t> on_cpu = numbers_of(false), on_gpu = numbers_of(true);
  GALATEA_ASSIGN(std::vector<codegen::FoundKernel> found,
                 backend_.find(kernels_of(on_cpu), schedule_options(false)));
  for (size_t k = 0; k < found.size(); ++k)
    if (found[k].code) all_[on_cpu[k]].found = std::move(found[k]);
  if (!device_ || on_gpu.empty()) return {};
  std::vector<codegen::DeviceKernelFacts> facts = device_->find(kernels_of(on_gpu), schedule_options(true));
  for (size_t k = 0; k < facts.size(); ++k) all_[on_gpu[k]].gpu = std::move(facts[k]);
  return {};
}

Status PendingKernels::find_or_lower() {
  GALATEA_TRY(find());
  std::vector<size_t> to_lower, unknown_on_gpu;
  for (size_t i = 0; i < all_.size(); ++i) {
    const bool is_unknown = !is_found(all_[i]);
    if (is_unknown || options_.lower_all) to_lower.push_back(i);
    if (is_unknown && all_[i].on_gpu) unknown_on_gpu.push_back(i);
  }
  lower(to_lower);
  if (!device_) return {};
  std::vector<codegen::DeviceKernelFacts> facts;
  facts.reserve(unknown_on_gpu.size());
  for (const size_t i : unknown_on_gpu) facts.push_back(all_[i].gpu);
  device_->keep(kernels_of(unknown_on_gpu), schedule_options(true), facts);
  return {};
}

void PendingKernels::lower(std::span<const size_t> numbers) {
  std::vector<PendingKernel*> missing;
  for (const size_t i : numbers)
    if (!all_[i].is_lowered && !all_[i].text) missing.push_back(&all_[i]);
  // Side by side: each depends on its kernel alone.
  codegen::for_each_parallel(missing.size(), [&](size_t i) {
    PendingKernel& pending = *missing[i];
    const kernel::ScheduleOptions options = schedule_options(pending.on_gpu);
    pending.schedule = kernel::make_schedule(pending.kernel, options);
    pending.loops = kernel::lower(pending.kernel, pending.schedule, options);
    pending.is_lowered = true;
    if (is_found(pending)) return;
    kernel::Expr scratch_bytes = kernel::layout_scratch(pending.loops).bytes;
    if (pending.on_gpu)
      pending.gpu = {codegen::describe_device_kernel(pending.kernel, pending.loops), std::move(scratch_bytes),
                     codegen::blocks_with_work(pending.loops)};
    else
      pending.found.scratch_bytes = std::move(scratch_bytes);
  });
  num_lowered_ += static_cast<int>(missing.size());
}

}  // namespace galatea
