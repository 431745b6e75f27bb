// The entry points of cuFile that galatea calls, declared as NVIDIA's documentation states them.
//
// No header of CUDA is needed to build: cufile.h fills the table with dlsym. tests/cuda holds these declarations
// against NVIDIA's header where there is one, and tests/fake_cuda implements exactly this table.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace galatea::native::cufile {

/// CUfileError_t: a code of cuFile's, and one of the driver's behind kDriverError. As C has it, by value.
struct Answer {
  int error;
  int driver;
};

using Handle = void*;  ///< CUfileHandle_t: a file that was registered

/// CUfileDescr_t
struct Descriptor {
  int type = 1;  ///< of the handle: a file descriptor
  union {
    int file;
    void* pointer;
  } handle = {.pointer = nullptr};
  const void* operations = nullptr;
};

/// The head of CUfileDrvProps_t, whose end grows with its versions.
struct Properties {
  unsigned driver_major = 0, driver_minor = 0;
  size_t poll_threshold = 0, most_at_once = 0;
  unsigned direct_storages = 0;  ///< a bit a kind of storage that is read directly
  unsigned controls = 0;
  unsigned rest[64] = {};
};

namespace error {
inline constexpr int kSuccess = 0, kNotInitialized = 5001, kNotSupported = 5008, kInvalidFileType = 5018,
                     kInvalidOpenFlag = 5019, kNotDirect = 5020, kAlreadyOpen = 5026, kDisabled = 5034;
/// Said of a file where it lies, whoever asks and whenever.
constexpr bool is_the_files(int code) {
  return code == kNotSupported || code == kInvalidFileType || code == kInvalidOpenFlag ||
         code == kNotDirect || code == kDisabled;
}
}  // namespace error

// X(member, symbol, result, parameters): the table is written once.
#define GALATEA_CUFILE_ENTRIES(X)                                        \
  X(open_driver, cuFileDriverOpen, Answer, ())                           \
  X(properties, cuFileDriverGetProperties, Answer, (Properties*))        \
  X(register_file, cuFileHandleRegister, Answer, (Handle*, Descriptor*)) \
  X(deregister_file, cuFileHandleDeregister, void, (Handle))             \
  X(read, cuFileRead, ssize_t, (Handle, void*, size_t, off_t, off_t))

struct Api {
#define GALATEA_CUFILE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  GALATEA_CUFILE_ENTRIES(GALATEA_CUFILE_MEMBER)
#undef GALATEA_CUFILE_MEMBER
  Answer (*version)(int*) =
      nullptr;  ///< cuFileGetVersion: 1000 a major version, 10 a minor; null: an old one
};

}  // namespace galatea::native::cufile
