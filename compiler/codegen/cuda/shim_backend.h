// The host shim: CUDA text compiled by the C++ compiler on PATH and run without a GPU.
//
// Comes in: loops lowered for a GPU. Goes out: code that runs each phase as a loop over threads. It exists to
// check the CUDA text: `--backend cuda-shim` runs a whole pipeline through it, and the permuted order finds
// threads that depend on each other within a phase.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/codegen/backend.h"
#include "compiler/kernel/loops.h"

namespace galatea::codegen {

struct ShimOptions {
  int threads = 32;
  bool permuted = false;
  uint32_t tiles = 1;  ///< blocks that share the call, where the kernel allows it
};

struct ShimFile {
  std::string path;
  bool from_cache = false;
};
/// Compiles (or takes from the cache of this text and compiler) a whole text, prelude included. The cache is
/// the folder `shim` of cache_root(), or one of this user's among temporary files; only files of this user or
/// of root that nobody else may write to are taken from it: they are executed. Fails with kSystem where there
/// is no compiler, or where that folder is not this user's alone.
/// `optimize`: for texts that run often, as users' own do. The results are the same.
Result<ShimFile> compile_shim_file(const std::string& text, bool optimize = false);

/// Compiled text. Kernels are found by their names.
class ShimLibrary {
 public:
  /// Compiles prelude + kernels, as compile_shim_file() does.
  static Result<std::shared_ptr<const ShimLibrary>> compile(const std::string& kernels,
                                                            bool optimize = false);
  ~ShimLibrary();
  ShimLibrary(const ShimLibrary&) = delete;
  ShimLibrary& operator=(const ShimLibrary&) = delete;

  bool from_cache() const { return from_cache_; }
  /// What each thread has of its own, as far as galatea_kernel is in the library.
  int64_t bytes_of_threads() const;
  /// Runs the call of one sample.
  void run(const std::string& name, const runtime::KernelCall& call, const ShimOptions& options = {}) const;

 private:
  ShimLibrary() = default;
  void* library_ = nullptr;
  bool from_cache_ = false;
};

/// A kernel of a library, as code of a program.
std::shared_ptr<const runtime::KernelCode> make_shim_code(std::shared_ptr<const ShimLibrary> library,
                                                          std::string name);

/// The backend "cuda-shim"; fails where no C++ compiler is found (setting GALATEA_CXX).
Result<std::unique_ptr<KernelBackend>> make_shim_backend();

}  // namespace galatea::codegen
