// The NVRTC library behind nvrtc.h. Its functions are declared here as its documentation states them; no
// header of CUDA is needed.
#include "compiler/codegen/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/messages/messages.h"

namespace galatea::codegen {

namespace {

using Program = void*;  ///< nvrtcProgram
using Code = int;       ///< nvrtcResult; 0 is success

using compiler::Message;

constexpr int kOldestMajor = 11;
/// nvrtcResult of a text that is wrong; every other failure is the library's.
constexpr Code kCompilation = 6;
constexpr const char* kTooOldHelp = "install NVRTC of CUDA 11.2 or newer; `--device cpu` needs none";

template <typename... Args>
std::unexpected<Error> nvrtc_error(Message message, const Args&... args) {
  return make_error(ErrorKind::kSystem, compiler::diagnostic(message, Span{}, args...));
}

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
  const char* (*error_name)(Code) = nullptr;

  std::string name_of(Code code) const { return fmt::format("{} ({})", error_name(code), code); }
  std::string log_of(Program program) const {
    size_t size = 0;
    std::string out;
    if (log_size(program, &size) != 0) return out;
    out.resize(size);
    if (size == 0 || log(program, out.data()) != 0) return {};
    return out.c_str();  // NVRTC counts the terminating zero
  }
};

Nvrtc::~Nvrtc() {
  if (library_) dlclose(library_);
}

Status Nvrtc::load(void* library, const std::string& path, int newest_major) {
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
  find("nvrtcGetErrorString", functions_->error_name);
  // An old library is better told by its version than by what it lacks.
  const bool answers = functions_->version && functions_->version(&major_, &minor_) == 0;
  if (answers && major_ < kOldestMajor)
    return nvrtc_error(Message::kUnfitNvrtc, path, fmt::format("it is version {}.{}", major_, minor_),
                       kTooOldHelp);
  if (!find.missing.empty())
    return nvrtc_error(Message::kUnfitNvrtc, path, "it has no " + find.missing, kTooOldHelp);
  int count = 0;
  if (answers && functions_->num_architectures(&count) == 0 && count > 0)
    architectures_.resize(static_cast<size_t>(count));
  if (architectures_.empty() || functions_->architectures(architectures_.data()) != 0)
    return nvrtc_error(Message::kUnfitNvrtc, path, "it does not answer",
                       "install NVRTC anew; `--device cpu` needs none");
  if (newest_major > 0 && major_ > newest_major)
    return nvrtc_error(
        Message::kUnfitNvrtc, path,
        fmt::format("it is version {}.{}, and the driver, which is for CUDA {}, does not load what it makes",
                    major_, minor_, newest_major),
        fmt::format("install a driver for CUDA {}, or NVRTC of CUDA {} (the Python package "
                    "nvidia-cuda-nvrtc{}); `--device cpu` needs neither",
                    major_, newest_major, newest_major < 13 ? fmt::format("-cu{}", newest_major) : ""));
  std::sort(architectures_.begin(), architectures_.end());
  return {};
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::open(int newest_major) {
  return open_among(nvrtc_places(), newest_major);
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::open_among(const LibrarySearch& places, int newest_major) {
  std::optional<Error> unfit;
  for (const std::string& candidate : places.candidates) {
    // Never unloaded: it keeps allocations for the life of the process that nothing could free afterwards.
    void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) continue;
    std::shared_ptr<Nvrtc> found(new Nvrtc);
    auto loaded = found->load(library, candidate, newest_major);
    if (loaded) return found;
    if (!unfit) unfit = std::move(loaded.error());
  }
  if (unfit) return std::unexpected(std::move(*unfit));
  return nvrtc_error(Message::kNvrtcMissing, places.places);
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
    return nvrtc_error(
        Message::kUnfitNvrtc, path_,
        fmt::format("version {}.{} does not compile for sm_{}; it knows sm_{} to sm_{}", major_, minor_,
                    architecture, architectures_.front(), architectures_.back()),
        fmt::format(
            "install {} version of NVRTC, one that knows this architecture; `--device cpu` needs none",
            architecture < architectures_.front() ? "an older" : "a newer"));
  Program program = nullptr;
  Code code = functions_->create(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (code != 0) return nvrtc_error(Message::kNvrtcFailed, path_, name, functions_->name_of(code));
  const std::string target = fmt::format("--gpu-architecture={}_{}", ptx ? "compute" : "sm", architecture);
  // One numeric meaning everywhere: no contraction, no flush to zero, exact division and square root.
  std::vector<const char*> options = {target.c_str(),      "--std=c++17",     "--fmad=false",
                                      "--ftz=false",       "--prec-div=true", "--prec-sqrt=true",
                                      "--disable-warnings"};
  const std::string registers = fmt::format("--maxrregcount={}", most_registers);
  if (form == Form::kObject) options.push_back("--relocatable-device-code=true");
  if (most_registers > 0) options.push_back(registers.c_str());
  code = functions_->compile(program, static_cast<int>(options.size()), options.data());
  const bool is_refused = code == kCompilation;
  std::string out, log;
  size_t size = 0;
  if (code != 0) log = functions_->log_of(program);
  if (code == 0) code = (ptx ? functions_->ptx_size : functions_->cubin_size)(program, &size);
  if (code == 0) {
    out.resize(size);
    code = (ptx ? functions_->ptx : functions_->cubin)(program, out.data());
  }
  if (ptx && out.ends_with('\0')) out.pop_back();  // NVRTC counts the terminating zero of texts
  functions_->destroy(&program);
  if (is_refused)
    return make_error(ErrorKind::kInternal,
                      compiler::diagnostic(Message::kCodeGenerationFailed, Span{}, name,
                                           fmt::format("NVRTC refuses its text:\n{}", log)));
  if (code != 0)
    return nvrtc_error(Message::kNvrtcFailed, path_, name,
                       functions_->name_of(code) + (log.empty() ? "" : "\n" + log));
  return out;
}

}  // namespace galatea::codegen
