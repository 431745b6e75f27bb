// Faults of the machine: who has to act on what the system refused; files read and written whole.
//
// Comes in: an errno, a path. Goes out: words and a kind of error. A path that is wrong or may not be used is
// the user's; a disk that fails and limits that are reached are the machine's (exit status 3,
// GALATEA_ERROR_SYSTEM). Diagnostics of the latter that travel without an Error have a code of their own
// range, G0990 to G0999, by which is_fault() knows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/result.h"

namespace galatea {

/// Who has to act on it.
ErrorKind kind_of_errno(int number);
ErrorKind kind_of_errno(const std::error_code& error);

struct ReadFault {
  ErrorKind kind = ErrorKind::kUser;
  std::string why;  ///< "there is no such file"
};
/// A file's bytes to its end; of a longer one the first `most` + 1.
std::expected<std::string, ReadFault> read_whole_file(const std::string& path, size_t most = SIZE_MAX - 1);
/// The same of what is open already.
std::expected<std::string, ReadFault> read_to_end(int descriptor, size_t most = SIZE_MAX - 1);

/// Writes all of it: 0, or the errno that says why not.
int write_all(int descriptor, std::string_view bytes);
/// The same of a new file, or in place of what a file held.
int write_whole_file(const std::string& path, std::string_view bytes);
/// Whether a folder's disk has less than a megabyte left. For libraries and programs that do not say why they
/// could not write: on a full disk the words of their complaint do not fit either.
bool is_disk_full(const std::string& folder);

/// Whether it tells a fault of the machine, by its code.
bool is_fault(const Diagnostic& diagnostic);
/// Who has to act on the errors among them: the machine's owner if one of them is a fault of the machine.
ErrorKind kind_of(const std::vector<Diagnostic>& diagnostics);

/// Before code that is not ours and does not look whether it gets memory and files: throws bad_alloc or
/// system_error where this much memory, or one more open file, is not to be had.
void need_room(size_t bytes);
/// What a library takes while it is opened: constructors, tables, other libraries.
inline constexpr size_t kRoomOfLibraries = size_t{16} << 20;

/// Takes the memory of this thread's exceptions while there is some. In a program that is not C++ itself
/// (Python), a thread's first exception takes it, and the loader ends the process where it gets none.
void make_ready_for_exceptions();

/// Bytes that a process on this machine can have at most: its memory, or less where a limit of the process or
/// of its control group says so.
int64_t memory_of_machine();

}  // namespace galatea
