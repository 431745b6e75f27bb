// What peers read of small files that were recorded with it (make_recorded.py, make_arrays.py), and files that are
// damaged in every way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/native.h"
#include "stdlib_ops/native/bytes.h"

namespace galatea::testing {

/// The folder of what was recorded.
extern const std::string kRecorded;
/// A text with the folder in the place of each "@".
std::string in_folder(std::string text, const std::string& folder = kRecorded);
/// A recorded file's bytes.
std::string recorded_bytes(const std::string& name);

/// Runs the pipelines of a list of cases, at least `least` of them, and compares types, extents and elements:
/// integers exactly, floats bit for bit (null stands for NaN).
void expect_as_recorded(const std::string& file, size_t least);

/// The first error of a pipeline's body, or nothing.
std::string first_error(const std::string& body, const std::string& options = "batch_size=1");

/// Hands out memory, and remembers it.
struct Taken {
  std::vector<runtime::Tensor> tensors;
  std::vector<std::vector<uint8_t>> memory;
  runtime::AllocateOutput allocate;
  Taken();
};

/// Damages a small file in every way that a byte can be wrong, `spared` ones excepted, and at every length: what
/// reads it must say an error that names it, "made.up", or read what is there.
void damage(const std::string& whole,
            const std::function<Status(std::shared_ptr<const native::ByteSource>)>& read,
            std::string_view spared = {});

}  // namespace galatea::testing
