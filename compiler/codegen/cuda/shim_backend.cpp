// The compiler call, the cache and the backend behind shim_backend.h.
#include "compiler/codegen/cuda/shim_backend.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/cache_folder.h"
#include "base/fault.h"
#include "base/settings.h"
#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/host_call.h"
#include "compiler/codegen/kernel_cache.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere else

namespace galatea::codegen {

namespace {

namespace fs = std::filesystem;

uint64_t hash_text(const std::string& text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

fs::path cache_folder() {
  if (const fs::path root = cache_root(); !root.empty()) return root / "shim";
  // Where everybody may make folders, one for each user.
  std::error_code ignored;
  return fs::temp_directory_path(ignored) / fmt::format("galatea-shim-{}", ::geteuid());
}

constexpr const char* kOwnFolderHelp = "set GALATEA_CACHE_DIR to a folder of your own that can be written";

std::unexpected<Error> folder_error(const fs::path& folder, const std::string& why) {
  return make_error(ErrorKind::kSystem, "",
                    fmt::format("the folder {} cannot be used for code: {}", folder.string(), why),
                    kOwnFolderHelp);
}

/// Makes the folder, or makes sure that what lies in it is nobody else's: its files are executed.
Status make_private(const fs::path& folder) {
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  if (error) return folder_error(folder, error.message());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return folder_error(folder, std::strerror(errno));
  struct stat status = {};
  if (::lstat(folder.c_str(), &status) != 0) return folder_error(folder, std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) return folder_error(folder, "it is no folder");
  // One of ours that a mask of permissions left open to a group.
  if (status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 &&
      ::chmod(folder.c_str(), 0700) == 0)
    status.st_mode &= ~static_cast<mode_t>(S_IWGRP | S_IWOTH);
  if (const std::string why = why_distrusted(status); !why.empty()) return folder_error(folder, why);
  return {};
}

/// Whether there is a file whose code this process may run.
bool is_kept(const fs::path& file) {
  struct stat status = {};
  return ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && why_distrusted(status).empty();
}

/// Runs a program found on PATH; its error output goes to `log`. The exit status, 128 and the signal's
/// number if one ended it, or -1 if it could not be started.
int run_program(const std::vector<std::string>& words, const fs::path& log) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int started = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A build with sanitizers has the text built with them as well, by its own compiler, whose run-time library
// it shares.
#ifndef GALATEA_SHIM_COMPILER
#define GALATEA_SHIM_COMPILER ""
#define GALATEA_SHIM_SANITIZERS
#endif
std::string shim_compiler() {
  const std::string_view own = GALATEA_SHIM_COMPILER;
  return own.empty() || setting_is_from_environment("GALATEA_CXX") ? setting("GALATEA_CXX")
                                                                   : std::string(own);
}
std::vector<std::string> shim_flags() {
  // A kernel is called by its address, without the types that only its text has.
  return {GALATEA_SHIM_SANITIZERS};
}

constexpr const char* kNoCompilerHelp = "install a C++ compiler, or name one with GALATEA_CXX";

/// Compiles into a file of this process's own, then moves it into place: others may do the same at the same
/// time.
Status compile_file(const std::string& text, const fs::path& library, bool optimize) {
  const std::string own = fmt::format("{}.{}", library.string(), getpid());
  const fs::path source = own + ".cpp", object = own + ".so", log = own + ".log";
  const auto cannot_write = [&](const fs::path& file, const std::string& why) {
    return make_error(ErrorKind::kSystem, "", fmt::format("cannot write {}: {}", file.string(), why),
                      kOwnFolderHelp);
  };
  std::error_code ignored;
  if (const int number = write_whole_file(source, text); number != 0) {
    fs::remove(source, ignored);
    return cannot_write(source, std::strerror(number));
  }
  const std::string compiler = shim_compiler();
  std::vector<std::string> words = {
      compiler, "-std=c++17",
      // Texts of tests are run once, on small pictures: compiling is what takes time.
      optimize ? "-O2" : "-O0", "-w", "-fPIC", "-shared", "-fwrapv", "-ffp-contract=off", "-fno-math-errno",
      "-fno-strict-aliasing", "-fvisibility=hidden", "-o", object.string(), source.string(),
      // A text asks for functions of C alone; to read C++'s libraries takes the linker a third of the time.
      "-nostartfiles", "-nodefaultlibs", "-lm", "-lc"};
  // A text of the user's own has none of what CUDA has not.
  if (optimize) words.emplace_back("-fno-exceptions");
  for (std::string& flag : shim_flags()) words.push_back(std::move(flag));
  const int status = run_program(words, log);
  const std::string complaints = read_whole_file(log).value_or("");
  // Seen before anything is removed; the compiler has its own files where the system wants them.
  const bool is_full = is_disk_full(library.parent_path()) || is_disk_full(fs::temp_directory_path(ignored));
  fs::remove(source, ignored);
  fs::remove(log, ignored);
  if (status == -1 || status == 127)
    return make_error(
        ErrorKind::kSystem, "",
        fmt::format("the C++ compiler \"{}\" could not be started; the CUDA shim needs one", compiler),
        kNoCompilerHelp);
  if (status > 128)
    return make_error(ErrorKind::kSystem, "",
                      fmt::format("the C++ compiler \"{}\" was ended by signal {} ({})", compiler,
                                  status - 128, strsignal(status - 128)),
                      "see whether the machine has memory left for a compiler");
  if (status != 0 && is_full) {
    fs::remove(object, ignored);
    return cannot_write(object, std::strerror(ENOSPC));
  }
  if (status != 0)
    return make_error(ErrorKind::kInternal, "",
                      fmt::format("{} refuses the CUDA text:\n{}", compiler, complaints.substr(0, 4000)));
  // Whatever the mask of permissions, no other user writes to it.
  std::error_code error;
  fs::permissions(object, fs::perms::owner_all, error);
  if (!error) fs::rename(object, library, error);
  if (error) return cannot_write(library, error.message());
  return {};
}

class ShimCode final : public runtime::KernelCode {
 public:
  ShimCode(std::shared_ptr<const ShimLibrary> library, std::string name)
      : library_(std::move(library)), name_(std::move(name)) {}
  void run(const runtime::KernelCall& call) const override { library_->run(name_, call); }

 private:
  std::shared_ptr<const ShimLibrary> library_;
  std::string name_;
};

class ShimBackend final : public KernelBackend {
 public:
  std::string name() const override { return "cuda-shim"; }
  kernel::ScheduleOptions schedule_options() const override { return {.gpu = true}; }
  using KernelBackend::compile;
  Result<std::vector<CompiledKernel>> compile(std::span<const KernelJob> jobs) override {
    // All in one text: the prelude is read once.
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::string> names;
    std::map<std::string, std::string> known;
    std::string text;
    for (const KernelJob& job : jobs) {
      const auto [place, is_new] = known.try_emplace(emit_cuda(*job.loops, "galatea_kernel"),
                                                     fmt::format("galatea_kernel_{}", known.size()));
      names.push_back(place->second);
      if (is_new) text += emit_cuda(*job.loops, place->second);
    }
    GALATEA_ASSIGN(auto library, ShimLibrary::compile(text));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::vector<CompiledKernel> out;
    for (const std::string& name : names)
      out.push_back({std::make_shared<ShimCode>(library, name), library->from_cache(),
                     seconds / static_cast<double>(names.size())});
    return out;
  }
};

}  // namespace

Result<ShimFile> compile_shim_file(const std::string& text, bool optimize) {
  const fs::path folder = cache_folder();
  GALATEA_TRY(make_private(folder));
  std::string by = shim_compiler() + (optimize ? " -O2" : "");
  for (const std::string& flag : shim_flags()) by += " " + flag;
  const uint64_t low = hash_text(by, hash_text(text, 14695981039346656037U)),
                 high = hash_text(text, low * 31 + 7);
  const fs::path file = folder / fmt::format("{:016x}{:016x}.so", low, high);
  const bool from_cache = setting_bool("GALATEA_CACHE") && is_kept(file);
  if (!from_cache) GALATEA_TRY(compile_file(text, file, optimize));
  return ShimFile{file.string(), from_cache};
}

Result<std::shared_ptr<const ShimLibrary>> ShimLibrary::compile(const std::string& kernels, bool optimize) {
  GALATEA_ASSIGN(const ShimFile file, compile_shim_file(cuda_prelude() + kernels, optimize));
  std::shared_ptr<ShimLibrary> out(new ShimLibrary);
  out->from_cache_ = file.from_cache;
  out->library_ = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!out->library_)
    return make_error(ErrorKind::kSystem, "", fmt::format("cannot load {}: {}", file.path, dlerror()),
                      "remove the file; it is made again");
  return out;
}

int64_t ShimLibrary::bytes_of_threads() const {
  struct Search {
    const void* inside;
    int64_t bytes = 0;
  } search{dlsym(library_, "galatea_kernel")};
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* out) {
        Search& wanted = *static_cast<Search*>(out);
        const auto at = reinterpret_cast<uintptr_t>(wanted.inside) - library->dlpi_addr;
        bool is_here = false;
        int64_t bytes = 0;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const auto& part = library->dlpi_phdr[i];
          is_here |= part.p_type == PT_LOAD && at - part.p_vaddr < part.p_memsz;
          if (part.p_type == PT_TLS) bytes = static_cast<int64_t>(part.p_memsz);
        }
        if (is_here) wanted.bytes = bytes;
        return is_here ? 1 : 0;
      },
      &search);
  return search.bytes;
}

ShimLibrary::~ShimLibrary() {
  if (library_) dlclose(library_);
}

void ShimLibrary::run(const std::string& name, const runtime::KernelCall& call,
                      const ShimOptions& options) const {
  HostCall device_call(call);
  using Function = void (*)(const void*, const uint32_t*, uint32_t, uint32_t, int, int);
  const auto function = reinterpret_cast<Function>(dlsym(library_, name.c_str()));
  GALATEA_CHECK(function != nullptr, "no kernel of this name in the shim: " + name);
  const uint32_t first_blocks[] = {0, options.tiles};
  for (uint32_t turn = 0; turn < options.tiles; ++turn)
    function(&device_call, first_blocks, 1, options.permuted ? options.tiles - 1 - turn : turn,
             options.threads, options.permuted ? 1 : 0);
}

std::shared_ptr<const runtime::KernelCode> make_shim_code(std::shared_ptr<const ShimLibrary> library,
                                                          std::string name) {
  return std::make_shared<ShimCode>(std::move(library), std::move(name));
}

Result<std::unique_ptr<KernelBackend>> make_shim_backend() {
  // Fails early where there is no compiler; the (empty) result is cached.
  GALATEA_ASSIGN(auto probe, ShimLibrary::compile("extern \"C\" void galatea_probe() {}\n"));
  return std::make_unique<ShimBackend>();
}

}  // namespace galatea::codegen
