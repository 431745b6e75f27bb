// nvJitLink, found at run time.
//
// Comes in: relocatable objects as NVRTC makes them. Goes out: a cubin. Like NVRTC it is opened when it is
// needed, and needs neither a GPU nor a driver. Where it is not here, whoever would link compiles one text
// instead.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace galatea::codegen {

class DeviceLinker {
 public:
  /// A library for objects of NVRTC `major`.`minor`: of the same major version and no older, looked for where
  /// NVRTC is. The error says why there is none.
  static Result<std::shared_ptr<const DeviceLinker>> open(int major, int minor);
  ~DeviceLinker();

  unsigned major_version() const { return major_; }
  unsigned minor_version() const { return minor_; }
  const std::string& path() const { return path_; }
  /// Objects for sm_<architecture> to one cubin. The error holds the linker's log.
  Result<std::string> link(std::span<const std::shared_ptr<const std::string>> objects,
                           const std::string& name, int architecture) const;

 private:
  struct Functions;
  DeviceLinker() = default;
  /// What speaks against this library; empty: nothing.
  std::string load(void* library, const std::string& path);

  std::string path_;
  std::unique_ptr<Functions> functions_;
  unsigned major_ = 0, minor_ = 0;
};

}  // namespace galatea::codegen
