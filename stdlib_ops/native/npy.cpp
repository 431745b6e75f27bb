#include "stdlib_ops/native/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "runtime/kernel_abi.h"

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

}  // namespace

std::unexpected<Error> bad_array(const std::string& name, const std::string& why) {
  return make_error(ErrorKind::kUser, "G0802", fmt::format("{} is no array that can be read: {}", name, why),
                    "save it again with numpy.save(); on_error=\"skip\" goes on without it");
}

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
    return bad_array(name, "its header has no element type, order and shape of numbers");
  const std::string_view type = descr->substr(std::min<size_t>(1, descr->size()));
  if (descr->starts_with('>') && type.size() == 2 && type[1] != '1')
    return bad_array(name, fmt::format("its elements ('{}') are in big-endian order", *descr));
  const auto known = std::ranges::find(kTypeNames, type, &TypeName::name);
  if (known == std::end(kTypeNames) || std::string_view("<|=>").find((*descr)[0]) == std::string_view::npos)
    return bad_array(name, fmt::format("its elements are of the type '{}'", *descr));
  header.dtype = known->dtype;
  header.fortran_order = *fortran;
  header.shape = std::move(*shape);
  if (header.shape.size() > static_cast<size_t>(runtime::kMaxRank))
    return bad_array(name, fmt::format("it has {} axes", header.shape.size()));
  return header;
}

Result<NpyHeader> read_npy_header(const ByteSource& file) {
  uint8_t head[12];
  const auto known = static_cast<size_t>(std::min<int64_t>(file.size(), sizeof head));
  GALATEA_TRY(file.read(0, std::span(head).first(known)));
  if (known < 10 || std::memcmp(head, kNpyMagic.data(), kNpyMagic.size()) != 0)
    return bad_array(file.name(), "it does not begin as a .npy file does");
  const uint8_t major = head[kNpyMagic.size()];
  if (major < 1 || major > 3) return bad_array(file.name(), fmt::format("version {} is not known", major));
  const int64_t begin = major == 1 ? 10 : 12;
  if (static_cast<int64_t>(known) < begin) return bad_array(file.name(), "it ends within its header");
  int64_t length = head[8] | head[9] << 8;
  if (major > 1) length |= static_cast<int64_t>(head[10]) << 16 | static_cast<int64_t>(head[11]) << 24;
  if (length > kMaxHeader || length > file.size() - begin)
    return bad_array(file.name(), fmt::format("its header would have {} bytes", length));
  std::string text(static_cast<size_t>(length), '\0');
  GALATEA_TRY(file.read(begin, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  GALATEA_ASSIGN(NpyHeader header, parse_npy_dictionary(text, file.name()));
  header.data_offset = begin + length;
  const int64_t there = file.size() - header.data_offset;
  int64_t bytes = static_cast<int64_t>(size_of(header.dtype));
  const bool empty = std::ranges::find(header.shape, 0) != header.shape.end();
  for (const int64_t extent : header.shape) {
    if (!empty && bytes > there / extent) return bad_array(file.name(), "it ends before its elements do");
    bytes *= empty ? 1 : extent;
  }
  if (!empty && bytes > there) return bad_array(file.name(), "it ends before its elements do");
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

}  // namespace galatea::native
