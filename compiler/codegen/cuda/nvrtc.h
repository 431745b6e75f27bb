// NVRTC, found at run time.
//
// Comes in: CUDA text and an architecture. Goes out: a cubin. Nothing links CUDA: the library is opened when
// the first text is compiled, and an error says where it was looked for when there is none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace galatea::codegen {

class Nvrtc {
 public:
  /// Opens the library: GALATEA_CUDA_LIBRARY_PATH, then the loader's places, the toolkit (CUDA_HOME,
  /// /usr/local/cuda), the Python wheels.
  static Result<std::shared_ptr<const Nvrtc>> open();
  ~Nvrtc();

  int major_version() const { return major_; }
  int minor_version() const { return minor_; }
  const std::string& path() const { return path_; }
  /// Architectures that it compiles for: 75, 90, 120, …, ascending.
  const std::vector<int>& architectures() const { return architectures_; }
  /// Text to cubin for sm_<architecture>. The error holds the compiler's log.
  Result<std::string> compile(const std::string& text, const std::string& name, int architecture) const;
  /// The same as PTX, for people to read (explain --emit=ptx).
  Result<std::string> compile_to_ptx(const std::string& text, const std::string& name,
                                     int architecture) const;

 private:
  struct Functions;
  Nvrtc() = default;
  Status load(void* library, const std::string& path);
  Result<std::string> build(const std::string& text, const std::string& name, int architecture,
                            bool ptx) const;

  void* library_ = nullptr;
  std::string path_;
  std::unique_ptr<Functions> functions_;
  int major_ = 0, minor_ = 0;
  std::vector<int> architectures_;
};

}  // namespace galatea::codegen
