// NVRTC, found at run time.
//
// Comes in: CUDA text and an architecture. Goes out: a cubin, or an object that is linked to others. Nothing
// links CUDA: the library is opened when the first text is compiled, and an error says where it was looked
// for when there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/library_search.h"
#include "base/result.h"

namespace galatea::codegen {

class Nvrtc {
 public:
  /// Opens the first library that fits: GALATEA_CUDA_LIBRARY_PATH, then the loader's places, the toolkit
  /// (CUDA_HOME, /usr/local/cuda), the Python wheels. `newest_major` is the driver's, which loads no code of
  /// a later major version of CUDA; 0: any will do.
  static Result<std::shared_ptr<const Nvrtc>> open(int newest_major = 0);
  /// The same among other places.
  static Result<std::shared_ptr<const Nvrtc>> open_among(const LibrarySearch& places, int newest_major = 0);
  /// The names that it is looked for by, in order.
  static std::vector<std::string> candidates();
  ~Nvrtc();

  int major_version() const { return major_; }
  int minor_version() const { return minor_; }
  const std::string& path() const { return path_; }
  /// Where it lies; empty if the loader does not tell. path() may be a name that the loader has found.
  std::string file() const;
  /// Architectures that it compiles for: 75, 90, 120, …, ascending.
  const std::vector<int>& architectures() const { return architectures_; }
  /// Text to cubin for sm_<architecture>. The error holds the compiler's log; it is an internal one (G0561)
  /// where the text is to blame.
  Result<std::string> compile(const std::string& text, const std::string& name, int architecture) const;
  /// The same as a relocatable object, for DeviceLinker. Functions that are called take at most
  /// `most_registers` registers; 0: as many as they like.
  Result<std::string> compile_to_object(const std::string& text, const std::string& name, int architecture,
                                        int most_registers = 0) const;
  /// The same as PTX, for people to read (explain --emit=ptx).
  Result<std::string> compile_to_ptx(const std::string& text, const std::string& name,
                                     int architecture) const;

 private:
  struct Functions;
  Nvrtc() = default;
  Status load(void* library, const std::string& path, int newest_major);
  enum class Form : uint8_t { kCubin, kObject, kPtx };
  Result<std::string> build(const std::string& text, const std::string& name, int architecture, Form form,
                            int most_registers = 0) const;

  void* library_ = nullptr;
  std::string path_;
  std::unique_ptr<Functions> functions_;
  int major_ = 0, minor_ = 0;
  std::vector<int> architectures_;
};

}  // namespace galatea::codegen
