// The NVRTC library behind nvrtc.h. Its functions are declared here as its documentation states them; no
// header of CUDA is needed.
#include "compiler/codegen/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/library_search.h"

namespace galatea::codegen {

namespace {

using Program = void*;  ///< nvrtcProgram
using Code = int;       ///< nvrtcResult; 0 is success

constexpr int kOldestMajor = 11;

LibrarySearch nvrtc_places() {
  return search_cuda_library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
                             "nvidia/cuda_nvrtc/lib");
}

}  // namespace

struct Nvrtc::Functions {
  Code (*version)(int*, int*) = nullptr;
  Code (*num_architectures)(int*) = nullptr;
  Code (*architectures)(int*) = nullptr;
  Code (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  Code (*destroy)(Program*) = nullptr;
  Code (*compile)(Program, int, const char* const*) = nullptr;
  Code (*cubin_size)(Program, size_t*) = nullptr;
  Code (*cubin)(Program, char*) = nullptr;
  Code (*ptx_size)(Program, size_t*) = nullptr;
  Code (*ptx)(Program, char*) = nullptr;
  Code (*log_size)(Program, size_t*) = nullptr;
  Code (*log)(Program, char*) = nullptr;
};

Nvrtc::~Nvrtc() {
  if (library_) dlclose(library_);
}

Status Nvrtc::load(void* library, const std::string& path) {
  library_ = library;
  path_ = path;
  functions_ = std::make_unique<Functions>();
  FunctionSearch find{library, {}};
  find("nvrtcVersion", functions_->version);
  find("nvrtcGetNumSupportedArchs", functions_->num_architectures);
  find("nvrtcGetSupportedArchs", functions_->architectures);
  find("nvrtcCreateProgram", functions_->create);
  find("nvrtcDestroyProgram", functions_->destroy);
  find("nvrtcCompileProgram", functions_->compile);
  find("nvrtcGetCUBINSize", functions_->cubin_size);
  find("nvrtcGetCUBIN", functions_->cubin);
  find("nvrtcGetPTXSize", functions_->ptx_size);
  find("nvrtcGetPTX", functions_->ptx);
  find("nvrtcGetProgramLogSize", functions_->log_size);
  find("nvrtcGetProgramLog", functions_->log);
  if (!find.missing.empty())
    return make_error(ErrorKind::kSystem, "",
                      fmt::format("{} is too old for galatea: it has no {}", path, find.missing),
                      "install CUDA 11.2 or newer");
  int count = 0;
  if (functions_->version(&major_, &minor_) != 0 || functions_->num_architectures(&count) != 0)
    return make_error(ErrorKind::kSystem, "", fmt::format("{} does not answer", path));
  if (major_ < kOldestMajor)
    return make_error(ErrorKind::kSystem, "", fmt::format("{} is version {}.{}", path, major_, minor_),
                      "install CUDA 11.2 or newer");
  architectures_.resize(static_cast<size_t>(count));
  functions_->architectures(architectures_.data());
  std::sort(architectures_.begin(), architectures_.end());
  return {};
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::open() {
  const LibrarySearch places = nvrtc_places();
  for (const std::string& candidate : places.candidates) {
    // Never unloaded: it keeps allocations for the life of the process that nothing could free afterwards.
    void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) continue;
    std::shared_ptr<Nvrtc> found(new Nvrtc);
    GALATEA_TRY(found->load(library, candidate));
    return found;
  }
  return make_error(ErrorKind::kSystem, "",
                    fmt::format("NVRTC (libnvrtc.so) was not found; looked in {}", places.places),
                    "install the CUDA toolkit or the package nvidia-cuda-nvrtc, or set "
                    "GALATEA_CUDA_LIBRARY_PATH to the folder that holds libnvrtc.so");
}

std::vector<std::string> Nvrtc::candidates() { return nvrtc_places().candidates; }

std::string Nvrtc::file() const {
  Dl_info info = {};
  return dladdr(reinterpret_cast<void*>(functions_->version), &info) != 0 && info.dli_fname ? info.dli_fname
                                                                                            : "";
}

Result<std::string> Nvrtc::compile(const std::string& text, const std::string& name, int architecture) const {
  return build(text, name, architecture, Form::kCubin);
}

Result<std::string> Nvrtc::compile_to_object(const std::string& text, const std::string& name,
                                             int architecture, int most_registers) const {
  return build(text, name, architecture, Form::kObject, most_registers);
}

Result<std::string> Nvrtc::compile_to_ptx(const std::string& text, const std::string& name,
                                          int architecture) const {
  return build(text, name, architecture, Form::kPtx);
}

Result<std::string> Nvrtc::build(const std::string& text, const std::string& name, int architecture,
                                 Form form, int most_registers) const {
  const bool ptx = form == Form::kPtx;
  if (!std::binary_search(architectures_.begin(), architectures_.end(), architecture))
    return make_error(
        ErrorKind::kSystem, "",
        fmt::format("{} (CUDA {}.{}) does not compile for sm_{}", path_, major_, minor_, architecture),
        fmt::format("it knows sm_{} to sm_{}; install a CUDA version that fits the device",
                    architectures_.front(), architectures_.back()));
  Program program = nullptr;
  if (functions_->create(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr) != 0)
    return make_error(ErrorKind::kSystem, "", "NVRTC could not make a program of " + name);
  const std::string target = fmt::format("--gpu-architecture={}_{}", ptx ? "compute" : "sm", architecture);
  // One numeric meaning everywhere: no contraction, no flush to zero, exact division and square root.
  std::vector<const char*> options = {target.c_str(),      "--std=c++17",     "--fmad=false",
                                      "--ftz=false",       "--prec-div=true", "--prec-sqrt=true",
                                      "--disable-warnings"};
  const std::string registers = fmt::format("--maxrregcount={}", most_registers);
  if (form == Form::kObject) options.push_back("--relocatable-device-code=true");
  if (most_registers > 0) options.push_back(registers.c_str());
  const Code code = functions_->compile(program, static_cast<int>(options.size()), options.data());
  std::string out;
  size_t size = 0;
  if (code != 0) {
    functions_->log_size(program, &size);
    std::string log(size, '\0');
    if (size > 0) functions_->log(program, log.data());
    functions_->destroy(&program);
    return make_error(ErrorKind::kInternal, "",
                      fmt::format("NVRTC refuses the text of {}:\n{}", name, log.c_str()));
  }
  (ptx ? functions_->ptx_size : functions_->cubin_size)(program, &size);
  out.resize(size);
  (ptx ? functions_->ptx : functions_->cubin)(program, out.data());
  if (ptx && out.ends_with('\0')) out.pop_back();  // NVRTC counts the terminating zero of texts
  functions_->destroy(&program);
  return out;
}

}  // namespace galatea::codegen
