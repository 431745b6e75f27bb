#include "compiler/codegen/target.h"

#include "compiler/messages/messages.h"

namespace galatea::codegen {
namespace {

constexpr std::string_view kTargetNames[] = {"x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", "aarch64"};

}  // namespace

std::string Target::name() const { return std::string(kTargetNames[static_cast<size_t>(level)]); }

std::string Target::cpu() const { return !is_x86() ? "generic" : avx512() ? "x86-64-v4" : "x86-64-v3"; }

std::string Target::features() const { return vnni_vbmi() ? "+avx512vnni,+avx512vbmi" : ""; }

std::string Target::triple() const {
  return is_x86() ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu";
}

std::optional<Target> host_target() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool slow_gather = __builtin_cpu_is("amd");
  if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512vbmi"))
    return Target{TargetLevel::kX86V4Vnni, slow_gather};
  if (__builtin_cpu_supports("x86-64-v4")) return Target{TargetLevel::kX86V4, slow_gather};
  if (__builtin_cpu_supports("x86-64-v3")) return Target{TargetLevel::kX86V3, slow_gather};
#elif defined(__aarch64__)
  return Target{TargetLevel::kAarch64};
#endif
  return std::nullopt;
}

Result<Target> target_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kTargetNames); ++i)
    if (kTargetNames[i] == name) return Target{static_cast<TargetLevel>(i)};
  return compiler::user_error(compiler::Message::kUnknownTarget, Span{}, name,
                              "x86-64-v3, x86-64-v4, x86-64-v4-vnni or aarch64");
}

std::vector<Target> runnable_targets() {
  std::vector<Target> out;
  const auto best = host_target();
  if (!best) return out;
  for (const TargetLevel level : {TargetLevel::kX86V3, TargetLevel::kX86V4, TargetLevel::kX86V4Vnni})
    if (best->is_x86() && level <= best->level) out.push_back({level, best->slow_gather});
  if (!best->is_x86()) out.push_back(*best);
  return out;
}

}  // namespace galatea::codegen
