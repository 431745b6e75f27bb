// `np.load("table.npy")`: an array of the host's, or of a file of numpy's beside the text.
//
// Comes in: a name. Goes out: an array. Of a file: version 1 to 3 of numpy's format, in either order of
// axes and of bytes; what is damaged, too long or of another type is an error that says so.
#include <bit>
#include <charconv>
#include <filesystem>

#include "base/fault.h"
#include "base/scalar_op.h"
#include "dsl/numpy_functions.h"

namespace galatea::dsl {
namespace fs = std::filesystem;
namespace {

/// What the head of a file says.
struct Head {
  DType dtype = DType::kU8;
  bool swapped = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t begin = 0;  ///< of the elements
};

constexpr int64_t kMostElements = kMaxArrayElements;

// The text behind `'key':` of the head's dictionary; empty if there is none.
std::string_view field(std::string_view head, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string wanted = fmt::format("{0}{1}{0}", quote, key);
    size_t at = head.find(wanted);
    if (at == std::string_view::npos) continue;
    at = head.find(':', at + wanted.size());
    if (at == std::string_view::npos) return {};
    at = head.find_first_not_of(' ', at + 1);
    return at == std::string_view::npos ? std::string_view() : head.substr(at);
  }
  return {};
}

std::optional<DType> dtype_of(std::string_view text, bool& swapped) {
  // '<f4'
  if (text.size() < 5 || (text[0] != '\'' && text[0] != '"') || text[4] != text[0]) return std::nullopt;
  const char order = text[1];
  if (order != '<' && order != '>' && order != '|' && order != '=') return std::nullopt;
  const std::string_view name = text.substr(2, 2);
  swapped = order == '>' && name[1] != '1';
  constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"b1", DType::kBool}, {"i1", DType::kI8},  {"i2", DType::kI16}, {"i4", DType::kI32},
      {"i8", DType::kI64},  {"u1", DType::kU8},  {"u2", DType::kU16}, {"u4", DType::kU32},
      {"u8", DType::kU64},  {"f2", DType::kF16}, {"f4", DType::kF32}, {"f8", DType::kF64}};
  for (const auto& [known, dtype] : kTypes)
    if (name == known) return dtype;
  return std::nullopt;
}

// Extents such as `(3, 4), }`; false: it is damaged.
bool shape_of(std::string_view text, std::vector<int64_t>& shape) {
  if (text.empty() || text[0] != '(') return false;
  size_t at = 1;
  while (true) {
    at = text.find_first_not_of(' ', at);
    if (at == std::string_view::npos) return false;
    if (text[at] == ')') return true;
    int64_t extent = -1;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0 || shape.size() >= 16) return false;
    shape.push_back(extent);
    at = text.find_first_not_of(' ', static_cast<size_t>(end - text.data()));
    if (at == std::string_view::npos) return false;
    if (text[at] == ',') ++at;
  }
}

// The head of a file; why it has none.
std::expected<Head, std::string> read_head(std::string_view bytes) {
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(bytes[at])); };
  if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY"))
    return std::unexpected("it is no file of numpy's (`.npy`)");
  const bool is_first = byte(6) == 1;
  if (byte(6) < 1 || byte(6) > 3)
    return std::unexpected(fmt::format("its format has version {}, and 1 to 3 are known", byte(6)));
  const size_t length =
      is_first ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  Head head;
  const size_t first = is_first ? 10 : 12;
  if (length > bytes.size() - first) return std::unexpected("it ends within its head");
  head.begin = first + length;
  const std::string_view text = bytes.substr(first, length);
  const std::string_view descr = field(text, "descr"), order = field(text, "fortran_order");
  const auto dtype = dtype_of(descr, head.swapped);
  if (!dtype)
    return std::unexpected(
        fmt::format("its elements are of type {}", descr.substr(0, std::min<size_t>(descr.find(','), 20))));
  head.dtype = *dtype;
  head.fortran_order = order.starts_with("True");
  if ((!head.fortran_order && !order.starts_with("False")) || !shape_of(field(text, "shape"), head.shape))
    return std::unexpected("its head is damaged");
  return head;
}

// Number of elements; nullopt: more than an array may have.
std::optional<int64_t> volume(const std::vector<int64_t>& shape) {
  int64_t size = 1;
  for (const int64_t extent : shape)
    if (__builtin_mul_overflow(size, extent, &size)) return std::nullopt;
  return size <= kMostElements ? std::optional(size) : std::nullopt;
}

Value element(DType dtype, const uint8_t* at, bool swapped) {
  std::array<uint8_t, 8> bytes{};
  const size_t width = static_cast<size_t>(size_of(dtype));
  for (size_t i = 0; i < width; ++i) bytes[i] = at[swapped ? width - 1 - i : i];
  const Cell cell = load_cell(dtype, bytes.data());
  if (dtype == DType::kBool) return Value::of(cell.bits != 0);
  return is_float(dtype) ? Value::of(cell_to_double(dtype, cell)) : Value::of(cell_to_int(dtype, cell));
}

// Elements in row-major order.
std::vector<Value> elements_of(const Head& head, int64_t size, const uint8_t* data) {
  const auto width = static_cast<size_t>(size_of(head.dtype));
  std::vector<Value> elements;
  elements.reserve(static_cast<size_t>(size));
  std::vector<int64_t> index(head.shape.size(), 0);
  for (int64_t n = 0; n < size; ++n) {
    size_t at = static_cast<size_t>(n);
    if (head.fortran_order) {
      at = 0;
      for (size_t d = head.shape.size(); d-- > 0;)
        at = at * static_cast<size_t>(head.shape[d]) + static_cast<size_t>(index[d]);
    }
    elements.push_back(element(head.dtype, data + at * width, head.swapped));
    for (size_t d = head.shape.size(); d-- > 0;) {
      if (++index[d] < head.shape[d]) break;
      index[d] = 0;
    }
  }
  return elements;
}

}  // namespace

Value Evaluator::load_array(const std::string& name, Span span) {
  if (auto given = options_.arrays.find(name); given != options_.arrays.end()) {
    const NamedArray& array = given->second;
    const auto size = volume(array.extents);
    if (!size) return fail(Message::kArrayTooLarge, span, {std::to_string(kMostElements)});
    Head head;
    head.dtype = array.dtype;
    head.shape = array.extents;
    spend(static_cast<size_t>(*size) / 4);
    return make_array(*this, head.dtype, head.shape, elements_of(head, *size, array.bytes->data()));
  }
  const SourceFile* asking = sources_.file(span.file);
  const fs::path folder = asking ? fs::path(asking->name()).parent_path() : fs::path(main_folder_);
  const std::string path = (folder / name).lexically_normal().string();
  if (!inside_root(path)) return fail(Message::kOutsideRoot, span, {path, root_});
  // A head has 64 KiB at most; elements have 8 bytes.
  const auto bytes = read_whole_file(path, static_cast<size_t>(kMostElements) * 8 + (1 << 16));
  if (!bytes) {
    const bool is_wrong = bytes.error().kind == ErrorKind::kUser;
    return fail(is_wrong ? Message::kCannotRead : Message::kReadFault, span, {path, bytes.error().why});
  }
  const auto head = read_head(*bytes);
  if (!head) return fail(Message::kArrayFile, span, {path, head.error()});
  const auto size = volume(head->shape);
  if (!size) return fail(Message::kArrayTooLarge, span, {std::to_string(kMostElements)});
  const size_t wanted = static_cast<size_t>(*size) * static_cast<size_t>(size_of(head->dtype));
  if (bytes->size() - head->begin != wanted)
    return fail(Message::kArrayFile, span,
                {path, fmt::format("it has {} bytes of elements, and its head says {}",
                                   bytes->size() - head->begin, wanted)});
  spend(static_cast<size_t>(*size) / 4);
  const auto* data = reinterpret_cast<const uint8_t*>(bytes->data()) + head->begin;
  return make_array(*this, head->dtype, head->shape, elements_of(*head, *size, data));
}

namespace numpy {

Value np_load(Evaluator& ev, CallArguments& a) {
  Named named(ev, a, {"file"});
  if (!named.needs(a, 1)) return Value::poison();
  if (!named[0].is(ValueKind::kString)) {
    named.refuse(0, "the name of a file, a string");
    return Value::poison();
  }
  return ev.load_array(named[0].text(), named.span(0));
}

}  // namespace numpy
}  // namespace galatea::dsl
