#include "stdlib_ops/native/npy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "base/json.h"
#include "base/port.h"
#include "base/scalar_op.h"
#include "runtime/kernel_abi.h"
#include "runtime/memory_gate.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/file_source.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr int64_t kMaxHeader = int64_t{1} << 20;
/// Parts of a file that lie apart are read in one go, with what is between them, where that is no more.
constexpr int64_t kReadWhole = int64_t{256} << 10;

struct TypeName {
  std::string_view name;  ///< behind the byte order
  DType dtype;
};
constexpr TypeName kTypeNames[] = {{"u1", DType::kU8},  {"u2", DType::kU16}, {"u4", DType::kU32},
                                   {"u8", DType::kU64}, {"i1", DType::kI8},  {"i2", DType::kI16},
                                   {"i4", DType::kI32}, {"i8", DType::kI64}, {"f2", DType::kF16},
                                   {"f4", DType::kF32}, {"f8", DType::kF64}, {"b1", DType::kBool}};

/// The literal of a Python dictionary, as far as headers use it.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}
  bool take(char c) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size()));
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::string_view> text() {
    const char quote = take('\'') ? '\'' : take('"') ? '"' : '\0';
    const size_t end = quote ? rest_.find(quote) : std::string_view::npos;
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return found;
  }
  std::optional<bool> boolean() {
    take(' ');
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    return std::nullopt;
  }
  std::optional<std::vector<int64_t>> numbers() {
    std::vector<int64_t> found;
    if (!take('(')) return std::nullopt;
    while (!take(')')) {
      int64_t number = 0;
      take(' ');
      const auto end = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (end.ec != std::errc() || number < 0) return std::nullopt;
      rest_.remove_prefix(static_cast<size_t>(end.ptr - rest_.data()));
      static_cast<void>(rest_.starts_with('L') && take('L'));  // as Python 2 wrote them
      found.push_back(number);
      if (take(',')) continue;
      if (!take(')')) return std::nullopt;
      break;
    }
    return found;
  }
  bool at_end() const { return rest_.find_first_not_of(" \t\n") == std::string_view::npos; }

 private:
  std::string_view rest_;
};

std::unexpected<Error> bad_header(const std::string& name, const std::string& why) {
  return make_error(ErrorKind::kUser, "G0802", fmt::format("{} is no array that can be read: {}", name, why),
                    "save it again with numpy.save(); on_error=\"skip\" goes on without it");
}

/// Copies a box out of an array, of any rank, whose elements come in C order of `extents` and go where
/// `strides` say.
class BoxReader {
 public:
  struct Axis {
    int64_t extent, begin, count, stride;  ///< of the array; of the box; between elements of the target
  };
  BoxReader(const ByteSource& file, std::vector<Axis> axes, int64_t element)
      : file_(file), axes_(std::move(axes)), element_(element), inner_(axes_.size() + 1, element) {
    for (size_t i = axes_.size(); i-- > 0;) inner_[i] = inner_[i + 1] * axes_[i].extent;
  }
  Status read(int64_t offset, uint8_t* to) { return read(0, offset, to); }

 private:
  /// Bytes from the first to behind the last element of the box, from an axis on inward.
  int64_t covered(size_t axis) const {
    int64_t bytes = element_;
    for (size_t i = axis; i < axes_.size(); ++i) bytes += (axes_[i].count - 1) * inner_[i + 1];
    return bytes;
  }
  int64_t begin_of(size_t axis) const {
    int64_t bytes = 0;
    for (size_t i = axis; i < axes_.size(); ++i) bytes += axes_[i].begin * inner_[i + 1];
    return bytes;
  }
  /// Whether the box from an axis on lies in one piece in the file and in the target.
  bool is_dense(size_t axis) const {
    int64_t stride = element_;
    for (size_t i = axes_.size(); i-- > axis;) {
      if (axes_[i].stride != stride || (i > axis && axes_[i].count != axes_[i].extent)) return false;
      stride *= axes_[i].count;
    }
    return true;
  }

  Status read(size_t axis, int64_t offset, uint8_t* to) {
    const int64_t from = offset + begin_of(axis), bytes = covered(axis);
    if (is_dense(axis)) return file_.read(from, {to, static_cast<size_t>(bytes)});
    if (bytes <= kReadWhole || axis + 1 >= axes_.size()) {
      if (scratch_.size() < static_cast<size_t>(bytes)) scratch_.resize(static_cast<size_t>(bytes));
      GALATEA_TRY(file_.read(from, {scratch_.data(), static_cast<size_t>(bytes)}));
      copy(axis, scratch_.data(), to);
      return {};
    }
    const Axis& here = axes_[axis];
    for (int64_t i = 0; i < here.count; ++i)
      GALATEA_TRY(read(axis + 1, offset + (here.begin + i) * inner_[axis + 1], to + i * here.stride));
    return {};
  }

  void copy(size_t axis, const uint8_t* from, uint8_t* to) const {
    if (axis == axes_.size()) {
      std::memcpy(to, from, static_cast<size_t>(element_));
      return;
    }
    const Axis& here = axes_[axis];
    if (is_dense(axis)) {
      std::memcpy(to, from, static_cast<size_t>(here.count * inner_[axis + 1]));
      return;
    }
    for (int64_t i = 0; i < here.count; ++i)
      copy(axis + 1, from + i * inner_[axis + 1], to + i * here.stride);
  }

  const ByteSource& file_;
  std::vector<Axis> axes_;
  int64_t element_;
  std::vector<int64_t> inner_;  ///< bytes of one step of the axis before
  std::vector<uint8_t> scratch_;
};

enum class OutOfBounds : uint8_t { kError, kPad, kTrim };

/// Which part of an array is wanted: of some of its axes, absolute or relative bounds.
struct Roi {
  std::vector<int64_t> axes, start, end, shape;
  std::vector<float> rel_start, rel_end, rel_shape;
  OutOfBounds policy = OutOfBounds::kError;
  double fill_value = 0;

  bool is_given() const {
    return !(start.empty() && end.empty() && shape.empty() && rel_start.empty() && rel_end.empty() &&
             rel_shape.empty());
  }
};

class NumpySource final : public runtime::SampleSource {
 public:
  NumpySource(std::vector<std::string> paths, Roi roi, DType dtype, size_t rank)
      : paths_(std::move(paths)), roi_(std::move(roi)), dtype_(dtype), rank_(rank) {}
  int64_t size() const override { return static_cast<int64_t>(paths_.size()); }
  std::string describe(int64_t index) const override {
    return far::shown(paths_[static_cast<size_t>(index)]);
  }
  void will_read(int64_t index) const override { will_open(paths_[static_cast<size_t>(index)]); }

  Status read(int64_t index, const AllocateOutput& allocate) const override {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file,
                   open_file(paths_[static_cast<size_t>(index)]));
    const std::string& path = file->name();
    GALATEA_ASSIGN(const NpyHeader header, read_npy_header(*file));
    if (header.dtype != dtype_ || header.shape.size() != rank_)
      return make_error(ErrorKind::kUser, "G0802",
                        fmt::format("{} is {}; it must be {} of {} axes, as all arrays of this reader", path,
                                    type_text(header.dtype, header.shape), short_name(dtype_), rank_),
                        "arrays of one reader have one element type and number of axes: name others apart "
                        "(files=, file_filter=); on_error=\"skip\" goes on without them");
    std::vector<int64_t> start(header.shape.size()), shape = header.shape;
    GALATEA_TRY(apply_roi(path, start, shape));
    GALATEA_ASSIGN(runtime::Tensor * out, allocate(0, header.dtype, shape));
    bool outside = false;
    for (size_t i = 0; i < shape.size(); ++i)
      outside = outside || start[i] < 0 || start[i] + shape[i] > header.shape[i];
    if (outside) {
      const Cell fill = cell_from_double(header.dtype, roi_.fill_value);
      for (int64_t i = 0; i < out->volume(); ++i)
        store_cell(header.dtype, out->data + i * static_cast<int64_t>(size_of(header.dtype)), fill);
    }
    return read_npy_part(*file, header, start, shape, out->data);
  }

 private:
  /// From the whole array to the part: `start` is 0 and `shape` that of the array.
  Status apply_roi(const std::string& path, std::vector<int64_t>& start, std::vector<int64_t>& shape) const {
    if (!roi_.is_given()) return {};
    const std::vector<int64_t> extents = shape;
    const auto rank = static_cast<int64_t>(extents.size());
    std::vector<int64_t> axes = roi_.axes;
    if (axes.empty()) {
      axes.resize(extents.size());
      std::iota(axes.begin(), axes.end(), 0);
    }
    auto wrong = [&](const std::string& what) {
      return make_error(
          ErrorKind::kUser, "G0802", fmt::format("{}: {}", path, what),
          "out_of_bounds_policy=\"pad\" fills what lies outside, \"trim_to_shape\" leaves it out");
    };
    for (size_t k = 0; k < axes.size(); ++k) {
      const int64_t axis = axes[k] < 0 ? axes[k] + rank : axes[k];
      if (axis < 0 || axis >= rank)
        return wrong(fmt::format("roi_axes names axis {} of an array of {} axes", axes[k], rank));
      const int64_t extent = extents[static_cast<size_t>(axis)];
      // Shares are multiplied in f32 and rounded half away from zero, as in DALI.
      auto of_extent = [&](float share) {
        return static_cast<int64_t>(
            std::llround(std::clamp(share, -1e6F, 1e6F) * static_cast<float>(extent)));
      };
      auto bound = [&](const std::vector<int64_t>& whole, const std::vector<float>& shares,
                       int64_t otherwise) {
        return k < whole.size() ? whole[k] : k < shares.size() ? of_extent(shares[k]) : otherwise;
      };
      const int64_t from = bound(roi_.start, roi_.rel_start, 0);
      int64_t to = bound(roi_.end, roi_.rel_end, extent);
      if (k < roi_.shape.size())
        to = from + roi_.shape[k];
      else if (k < roi_.rel_shape.size() && k < roi_.rel_start.size())
        to = of_extent(roi_.rel_start[k] + roi_.rel_shape[k]);
      else if (k < roi_.rel_shape.size())
        to = from + of_extent(roi_.rel_shape[k]);
      int64_t begin = from, end = to;
      if (roi_.policy == OutOfBounds::kTrim) {
        begin = std::clamp<int64_t>(from, 0, extent);
        end = std::clamp<int64_t>(to, begin, extent);
      } else if (roi_.policy == OutOfBounds::kError && (from < 0 || to > extent)) {
        return wrong(
            fmt::format("[{}, {}) of axis {} is wanted, which has an extent of {}", from, to, axis, extent));
      }
      if (end < begin)
        return wrong(fmt::format("the end {} of axis {} lies before its start {}", end, axis, begin));
      start[static_cast<size_t>(axis)] = begin;
      shape[static_cast<size_t>(axis)] = end - begin;
    }
    return {};
  }

  std::vector<std::string> paths_;
  Roi roi_;
  DType dtype_;  ///< of all arrays
  size_t rank_;
};

template <typename T>
std::vector<T> argument_numbers(const nlohmann::json& config, const char* key) {
  if (!config.contains(key) || config[key].is_null()) return {};
  if (config[key].is_number()) return {config[key].get<T>()};
  return config[key].get<std::vector<T>>();
}

}  // namespace

Result<NpyHeader> parse_npy_dictionary(std::string_view text, const std::string& name) {
  NpyHeader header;
  Literal literal(text);
  std::optional<std::string_view> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
  bool whole = literal.take('{');
  while (whole && !literal.take('}')) {
    const auto key = literal.text();
    whole = key && literal.take(':');
    if (whole && *key == "descr")
      whole = (descr = literal.text()).has_value();
    else if (whole && *key == "fortran_order")
      whole = (fortran = literal.boolean()).has_value();
    else if (whole && *key == "shape")
      whole = (shape = literal.numbers()).has_value();
    else
      whole = false;
    if (!literal.take(',')) {
      whole = whole && literal.take('}');
      break;
    }
  }
  if (!whole || !descr || !fortran || !shape || !literal.at_end())
    return bad_header(name, "its header has no element type, order and shape of numbers");
  const std::string_view type = descr->substr(std::min<size_t>(1, descr->size()));
  if (descr->starts_with('>') && type.size() == 2 && type[1] != '1')
    return bad_header(name, fmt::format("its elements ('{}') are in big-endian order", *descr));
  const auto known = std::ranges::find(kTypeNames, type, &TypeName::name);
  if (known == std::end(kTypeNames) || std::string_view("<|=>").find((*descr)[0]) == std::string_view::npos)
    return bad_header(name, fmt::format("its elements are of the type '{}'", *descr));
  header.dtype = known->dtype;
  header.fortran_order = *fortran;
  header.shape = std::move(*shape);
  if (header.shape.size() > static_cast<size_t>(runtime::kMaxRank))
    return bad_header(name, fmt::format("it has {} axes", header.shape.size()));
  return header;
}

Result<NpyHeader> read_npy_header(const ByteSource& file) {
  uint8_t head[12];
  const auto known = static_cast<size_t>(std::min<int64_t>(file.size(), sizeof head));
  GALATEA_TRY(file.read(0, std::span(head).first(known)));
  if (known < 10 || std::memcmp(head, kNpyMagic.data(), kNpyMagic.size()) != 0)
    return bad_header(file.name(), "it does not begin as a .npy file does");
  const uint8_t major = head[kNpyMagic.size()];
  if (major < 1 || major > 3) return bad_header(file.name(), fmt::format("version {} is not known", major));
  const int64_t begin = major == 1 ? 10 : 12;
  if (static_cast<int64_t>(known) < begin) return bad_header(file.name(), "it ends within its header");
  int64_t length = head[8] | head[9] << 8;
  if (major > 1) length |= static_cast<int64_t>(head[10]) << 16 | static_cast<int64_t>(head[11]) << 24;
  if (length > kMaxHeader || length > file.size() - begin)
    return bad_header(file.name(), fmt::format("its header would have {} bytes", length));
  std::string text(static_cast<size_t>(length), '\0');
  GALATEA_TRY(file.read(begin, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  GALATEA_ASSIGN(NpyHeader header, parse_npy_dictionary(text, file.name()));
  header.data_offset = begin + length;
  const int64_t there = file.size() - header.data_offset;
  int64_t bytes = static_cast<int64_t>(size_of(header.dtype));
  const bool empty = std::ranges::find(header.shape, 0) != header.shape.end();
  for (const int64_t extent : header.shape) {
    if (!empty && bytes > there / extent) return bad_header(file.name(), "it ends before its elements do");
    bytes *= empty ? 1 : extent;
  }
  if (!empty && bytes > there) return bad_header(file.name(), "it ends before its elements do");
  return header;
}

Status read_npy_part(const ByteSource& file, const NpyHeader& header, const std::vector<int64_t>& start,
                     const std::vector<int64_t>& shape, uint8_t* to) {
  const auto element = static_cast<int64_t>(size_of(header.dtype));
  std::vector<BoxReader::Axis> axes(shape.size());
  int64_t stride = element;
  for (size_t i = shape.size(); i-- > 0;) {
    const int64_t begin = std::max<int64_t>(0, start[i]);
    const int64_t end = std::min(header.shape[i], start[i] + shape[i]);
    if (end <= begin) return {};
    axes[i] = {header.shape[i], begin, end - begin, stride};
    to += (begin - start[i]) * stride;
    stride *= shape[i];
  }
  if (header.fortran_order) std::ranges::reverse(axes);
  return BoxReader(file, std::move(axes), element).read(header.data_offset, to);
}

Result<std::vector<std::string>> list_arrays(const nlohmann::json& config) {
  auto text = [&](const char* key, const char* otherwise) {
    return config.contains(key) && config[key].is_string() ? config[key].get<std::string>()
                                                           : std::string(otherwise);
  };
  return list_unlabelled_files({.root = text("file_root", ""),
                                .filter = text("file_filter", "*.npy"),
                                .files = texts_of(config, "files"),
                                .list = text("file_list", "")});
}

Result<std::unique_ptr<runtime::SampleSource>> open_numpy(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_ASSIGN(std::vector<std::string> paths, list_arrays(json));
  const std::string policy = json.value("out_of_bounds_policy", "error");
  Roi roi{.axes = argument_numbers<int64_t>(json, "roi_axes"),
          .start = argument_numbers<int64_t>(json, "roi_start"),
          .end = argument_numbers<int64_t>(json, "roi_end"),
          .shape = argument_numbers<int64_t>(json, "roi_shape"),
          .rel_start = argument_numbers<float>(json, "rel_roi_start"),
          .rel_end = argument_numbers<float>(json, "rel_roi_end"),
          .rel_shape = argument_numbers<float>(json, "rel_roi_shape"),
          .policy = policy == "pad"             ? OutOfBounds::kPad
                    : policy == "trim_to_shape" ? OutOfBounds::kTrim
                                                : OutOfBounds::kError,
          .fill_value = json.value("fill_value", 0.0)};
  const bool has_dtype = json.contains("dtype") && !json["dtype"].is_null();
  const bool has_rank = json.contains("ndim") && !json["ndim"].is_null();
  NpyHeader first;
  if (!has_dtype || !has_rank) {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(paths.front()));
    GALATEA_ASSIGN(first, read_npy_header(*file));
  }
  const DType dtype = has_dtype ? *dtype_from_short_name(json["dtype"].get<std::string>()) : first.dtype;
  const size_t rank = has_rank ? json["ndim"].get<size_t>() : first.shape.size();
  return std::make_unique<NumpySource>(std::move(paths), std::move(roi), dtype, rank);
}

}  // namespace galatea::native
