#include "tests/pipelines/ways.h"

#include <memory>

#include "compiler/codegen/llvm_backend.h"
#include "tests/support/cases.h"
#include "tests/support/tiers.h"

namespace galatea::testing {
namespace {

/// The backends live as long as the test, and so do the programs: kernels of one shape are compiled once.
struct Backends {
  std::unique_ptr<codegen::KernelBackend> judge = codegen::make_interpreter_backend(true);
  std::unique_ptr<codegen::KernelBackend> loops = codegen::make_interpreter_backend();
  std::unique_ptr<codegen::KernelBackend> llvm, quick;
  std::vector<std::shared_ptr<const runtime::Program>> programs;
  Backends() {
    std::string note;
    codegen::CacheOptions nothing_on_disk;
    llvm = std::move(*codegen::make_backend("llvm", &note, nothing_on_disk, testing::tiers()));
    quick = std::move(*codegen::make_backend("llvm", &note, nothing_on_disk, codegen::Tiers::kFirst));
  }
};
Backends& backends() {
  static Backends instance;
  return instance;
}

}  // namespace

std::vector<PipelineWay> ways(uint64_t seed) {
  Backends& b = backends();
  const int threads = 1 + static_cast<int>(seed % 4);
  // The best code takes the compiler several times as long as the first.
  std::vector<PipelineWay> out = {takes_turn(static_cast<int64_t>(seed), 0, 2)
                                      ? PipelineWay{"machine code, fused", b.llvm.get(), true, true, threads}
                                      : PipelineWay{"first tier, fused", b.quick.get(), true, true, threads}};
  if (seed % 4 == 0) out.push_back({"loops, fused", b.loops.get(), true, true, 1});
  if (seed % 4 == 1) out.push_back({"first tier, unfused", b.quick.get(), false, true, 2});
  if (seed % 4 == 2) out.push_back({"stages, fused", b.judge.get(), true, true, 1});
  if (seed % 4 == 3) out.push_back({"first tier, no passes", b.quick.get(), true, false, 1});
  return out;
}

PipelineOutcome judged(const std::string& text, uint64_t images, const std::string& data) {
  return run_pipeline(text, images, {"stages, unfused", backends().judge.get(), false, false, 1}, data);
}

Finding look_at(const std::string& text, uint64_t seed) {
  const PipelineOutcome expected = judged(text, seed);
  if (!expected.staging.empty()) return {expected.staging};
  for (const PipelineWay& way : ways(seed)) {
    const PipelineOutcome found = run_pipeline(text, seed, way);
    if (found.program) backends().programs.push_back(found.program);
    const std::string words = difference(expected, found);
    if (!words.empty()) return {way.name + ": " + words};
  }
  return {{}, expected.error.empty()};
}

}  // namespace galatea::testing
