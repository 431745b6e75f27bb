// Objects of a mask: see mask_objects.h.
#include "stdlib_ops/native/mask_objects.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/scalar_op.h"

namespace galatea::native {
namespace {

/// Pixels [begin, end) of a line, of one label.
struct Run {
  int32_t begin, end, label;
  uint32_t parent;  ///< a run of the same object, not behind this one
};

using Places = std::array<int64_t, runtime::kMaxRank>;

/// The lines of a mask: pixels along the last axis, for each place along the others.
class Lines {
 public:
  explicit Lines(const runtime::Tensor& mask) : mask_(mask), outer_(mask.ndim - 1) {
    int64_t stride = 1;
    for (int d = outer_ - 1; d >= 0; --d) {
      strides_[static_cast<size_t>(d)] = stride;
      stride *= mask.extents[d];
    }
    count_ = stride;
  }
  int64_t count() const { return count_; }
  int outer() const { return outer_; }
  /// The line before line `n` along an axis; it has one only where at[axis] > 0.
  int64_t before(int64_t n, int axis) const { return n - strides_[static_cast<size_t>(axis)]; }
  void next(Places& at) const {
    for (int d = outer_ - 1; d >= 0; --d) {
      if (++at[static_cast<size_t>(d)] < mask_.extents[d]) return;
      at[static_cast<size_t>(d)] = 0;
    }
  }
  const uint8_t* pixels(const Places& at) const {
    int64_t offset = 0;
    for (int d = 0; d < outer_; ++d) offset += at[static_cast<size_t>(d)] * mask_.strides[d];
    return mask_.data + offset * static_cast<int64_t>(size_of(mask_.dtype));
  }

 private:
  const runtime::Tensor& mask_;
  int outer_;
  int64_t count_ = 0;
  Places strides_{};
};

/// The mask without axes of one pixel, along which there are no neighbours: its last axis is one along which
/// runs are long. `axes` says which are left.
runtime::Tensor without_unit_axes(const runtime::Tensor& mask, std::vector<size_t>& axes) {
  runtime::Tensor left = mask;
  for (int d = 0; d < mask.ndim; ++d)
    if (mask.extents[d] != 1 || (axes.empty() && d + 1 == mask.ndim)) {
      left.extents[axes.size()] = mask.extents[d];
      left.strides[axes.size()] = mask.strides[d];
      axes.push_back(static_cast<size_t>(d));
    }
  left.ndim = static_cast<int>(axes.size());
  return left;
}

/// Where the run that begins at `at` ends. Whole blocks are compared at once.
template <typename T>
int64_t end_of_run(const T* line, int64_t at, int64_t length) {
  const T value = line[at];
  constexpr int64_t kBlock = 64 / static_cast<int64_t>(sizeof(T));
  for (; at + kBlock <= length; at += kBlock) {
    T different = 0;
    for (int64_t k = 0; k < kBlock; ++k) different = static_cast<T>(different | (line[at + k] ^ value));
    if (different != 0) break;
  }
  while (at < length && line[at] == value) ++at;
  return at;
}

/// Appends the runs of a line whose labels count.
template <typename T>
void append_runs(const T* line, int64_t length, const std::function<bool(int32_t)>& counts,
                 std::vector<Run>& runs) {
  bool known = false, counted = false;
  int32_t asked = 0;
  for (int64_t at = 0; at < length;) {
    const int64_t end = end_of_run(line, at, length);
    const auto label = static_cast<int32_t>(line[at]);
    if (!known || label != asked) counted = counts(label), asked = label, known = true;
    if (counted)
      runs.push_back(
          {static_cast<int32_t>(at), static_cast<int32_t>(end), label, static_cast<uint32_t>(runs.size())});
    at = end;
  }
}

/// A line of a mask whose last axis is not dense, copied.
template <typename T>
const T* dense_line(const uint8_t* pixels, int64_t length, int64_t stride, std::vector<T>& copy) {
  if (stride == 1) return reinterpret_cast<const T*>(pixels);
  copy.resize(static_cast<size_t>(length));
  for (int64_t k = 0; k < length; ++k)
    std::memcpy(&copy[static_cast<size_t>(k)], pixels + k * stride * static_cast<int64_t>(sizeof(T)),
                sizeof(T));
  return copy.data();
}

uint32_t root_of(std::vector<Run>& runs, uint32_t run) {
  while (runs[run].parent != run) run = runs[run].parent = runs[runs[run].parent].parent;
  return run;
}

/// Joins what touches of two lines, runs [a, a_end) and [b, b_end).
void join_lines(std::vector<Run>& runs, size_t a, size_t a_end, size_t b, size_t b_end) {
  while (a < a_end && b < b_end) {
    const Run &first = runs[a], &second = runs[b];
    if (first.label == second.label && first.begin < second.end && second.begin < first.end) {
      const uint32_t one = root_of(runs, static_cast<uint32_t>(a)),
                     other = root_of(runs, static_cast<uint32_t>(b));
      runs[std::max(one, other)].parent = std::min(one, other);
    }
    if (runs[a].end < runs[b].end)
      ++a;
    else
      ++b;
  }
}

struct RunsOfLines {
  std::vector<Run> runs;
  std::vector<size_t> first;  ///< of each line, and behind the last
};

template <typename T>
std::optional<RunsOfLines> joined_runs(const runtime::Tensor& mask,
                                       const std::function<bool(int32_t)>& counts,
                                       const std::function<bool()>& cancelled) {
  const Lines lines(mask);
  const int64_t length = mask.extents[mask.ndim - 1], stride = mask.strides[mask.ndim - 1];
  RunsOfLines found;
  found.first.reserve(static_cast<size_t>(lines.count()) + 1);
  found.first.push_back(0);
  std::vector<T> copy;
  Places at{};
  for (int64_t n = 0; n < lines.count(); ++n, lines.next(at)) {
    if (n % 64 == 0 && cancelled && cancelled()) return std::nullopt;
    append_runs(dense_line(lines.pixels(at), length, stride, copy), length, counts, found.runs);
    found.first.push_back(found.runs.size());
    const auto here = static_cast<size_t>(n);
    for (int d = 0; d < lines.outer(); ++d)
      if (at[static_cast<size_t>(d)] > 0) {
        const auto before = static_cast<size_t>(lines.before(n, d));
        join_lines(found.runs, found.first[before], found.first[before + 1], found.first[here],
                   found.first[here + 1]);
      }
  }
  return found;
}

std::optional<RunsOfLines> runs_of(const runtime::Tensor& mask, const std::function<bool(int32_t)>& counts,
                                   const std::function<bool()>& cancelled) {
  switch (mask.dtype) {
    case DType::kBool:
    case DType::kU8:
      return joined_runs<uint8_t>(mask, counts, cancelled);
    case DType::kI8:
      return joined_runs<int8_t>(mask, counts, cancelled);
    case DType::kU16:
      return joined_runs<uint16_t>(mask, counts, cancelled);
    case DType::kI16:
      return joined_runs<int16_t>(mask, counts, cancelled);
    case DType::kU32:
      return joined_runs<uint32_t>(mask, counts, cancelled);
    case DType::kI32:
      return joined_runs<int32_t>(mask, counts, cancelled);
    default:
      break;
  }
  GALATEA_CHECK(false, "a mask is of integers of up to 32 bits");
}

}  // namespace

std::optional<MaskObjects> MaskObjects::find(const runtime::Tensor& mask,
                                             const std::function<bool(int32_t)>& counts,
                                             const std::function<bool()>& cancelled) {
  MaskObjects objects;
  objects.ndim_ = mask.ndim;
  if (mask.volume() == 0) return objects;
  std::vector<size_t> axes;
  const runtime::Tensor pixels = without_unit_axes(mask, axes);
  auto found = runs_of(pixels, counts, cancelled);
  if (!found) return std::nullopt;
  const Lines lines(pixels);
  const auto ndim = static_cast<size_t>(mask.ndim);
  const size_t along = axes.back();  // the lines
  axes.pop_back();
  // A root stands before all other runs of its object. Its parent becomes the number of that.
  std::vector<Run>& runs = found->runs;
  Places at{};
  for (int64_t n = 0; n < lines.count(); ++n, lines.next(at))
    for (size_t r = found->first[static_cast<size_t>(n)]; r < found->first[static_cast<size_t>(n) + 1]; ++r) {
      Run& run = runs[r];
      const bool is_root = run.parent == r;
      // Runs behind a root name it by a run before them, whose parent is the number of the object already.
      const uint32_t object =
          is_root ? static_cast<uint32_t>(objects.labels_.size()) : runs[run.parent].parent;
      run.parent = object;
      if (is_root) {
        objects.labels_.push_back(run.label);
        objects.corners_.resize(objects.corners_.size() + ndim, 0);
        objects.corners_.resize(objects.corners_.size() + ndim, 1);
      }
      int32_t* corners = objects.corners_.data() + objects.first_of(object);
      const auto reach = [&](size_t axis, int32_t begin, int32_t end) {
        corners[axis] = is_root ? begin : std::min(corners[axis], begin);
        corners[ndim + axis] = is_root ? end : std::max(corners[ndim + axis], end);
      };
      for (size_t d = 0; d < axes.size(); ++d)
        reach(axes[d], static_cast<int32_t>(at[d]), static_cast<int32_t>(at[d] + 1));
      reach(along, run.begin, run.end);
    }
  return objects;
}

int64_t MaskObjects::most_bytes(const runtime::Tensor& mask) {
  // Each pixel a run and an object, in arrays that double: three times their elements at most.
  const auto object = static_cast<int64_t>((1 + 2 * static_cast<size_t>(mask.ndim)) * sizeof(int32_t));
  return 3 * mask.volume() * (static_cast<int64_t>(sizeof(Run)) + object) +
         (mask.volume() + 1) * static_cast<int64_t>(sizeof(size_t));
}

double MaskObjects::volume(size_t object) const {
  double product = 1;
  for (int d = 0; d < ndim_; ++d) product *= static_cast<double>(end(object, d) - begin(object, d));
  return product;
}

}  // namespace galatea::native
