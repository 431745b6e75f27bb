#include "tests/readers/number_fields.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "stdlib_ops/native/tfrecord.h"

namespace galatea::testing {
namespace {

using Repair = std::function<void(std::string&)>;

uint64_t little(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}
void set_little(std::string& bytes, size_t at, size_t width, uint64_t value) {
  for (size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<char>(value >> 8 * i);
}
uint64_t big(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}
void set_big(std::string& bytes, size_t at, size_t width, uint64_t value) {
  for (size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<char>(value >> 8 * (width - 1 - i));
}

/// Fields of one file, which they share.
class Fields {
 public:
  explicit Fields(const std::string& whole) : whole_(std::make_shared<const std::string>(whole)) {}

  void add_little(const std::string& name, size_t at, size_t width, Repair repair = {}) {
    out.add(fmt::format("{} at {}", name, at), little(*whole_, at, width),
            [whole = whole_, at, width, repair = std::move(repair)](const Number& number) {
              std::string bytes = *whole;
              set_little(bytes, at, width, number.bits);
              if (repair) repair(bytes);
              return bytes;
            });
  }
  void add_big(const std::string& name, size_t at, size_t width, Repair repair = {}) {
    out.add(fmt::format("{} at {}", name, at), big(*whole_, at, width),
            [whole = whole_, at, width, repair = std::move(repair)](const Number& number) {
              std::string bytes = *whole;
              set_big(bytes, at, width, number.bits);
              if (repair) repair(bytes);
              return bytes;
            });
  }
  /// A text in place of another; what follows moves.
  void add_text(const std::string& name, size_t at, size_t length, uint64_t value) {
    out.add(fmt::format("{} at {}", name, at), value, [whole = whole_, at, length](const Number& number) {
      std::string bytes = *whole;
      return bytes.replace(at, length, number.text);
    });
  }
  const std::string& whole() const { return *whole_; }
  const std::shared_ptr<const std::string>& shared() const { return whole_; }

  NumberFields out;

 private:
  std::shared_ptr<const std::string> whole_;
};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Calls with the place, length and value of each decimal number of a part, fractions and signs with them.
template <typename Call>
void each_number(std::string_view text, size_t begin, size_t end, const Call& call) {
  for (size_t at = begin; at < end; ++at) {
    if (!is_digit(text[at])) continue;
    size_t last = at;
    uint64_t value = 0;
    for (; last < end && (is_digit(text[last]) || text[last] == '.'); ++last)
      if (text[last] != '.') value = value * 10 + static_cast<uint64_t>(text[last] - '0');
    const size_t first = at > begin && text[at - 1] == '-' ? at - 1 : at;
    call(first, last - first, value);
    at = last;
  }
}

void sum_tar_header(std::string& bytes, size_t at) {
  uint64_t sum = 0;
  for (size_t i = 0; i < 512; ++i)
    sum += i >= 148 && i < 156 ? uint64_t{' '} : static_cast<uint8_t>(bytes[at + i]);
  bytes.replace(at + 148, 7, fmt::format("{:06o}", sum) + '\0');
}

uint32_t crc32_of(std::string_view bytes) {
  uint32_t c = ~0U;
  for (const char byte : bytes) {
    c ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1 ? 0xEDB88320U : 0U);
  }
  return ~c;
}

// ---- protocol buffers

std::string varint(uint64_t number) {
  std::string out;
  for (; number > 127; number >>= 7) out += static_cast<char>((number & 127) | 128);
  return out + static_cast<char>(number);
}
std::optional<uint64_t> take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  return std::nullopt;
}

struct MessageField {
  uint64_t key = 0, number = 0;
  std::string bytes;                 ///< of a fixed size, or a text
  std::vector<MessageField> inside;  ///< where the text is a message
};
std::optional<std::vector<MessageField>> parse_message(std::string_view rest) {
  std::vector<MessageField> fields;
  while (!rest.empty()) {
    MessageField field;
    const auto key = take_varint(rest);
    if (!key || *key >> 3 == 0) return std::nullopt;
    field.key = *key;
    const uint64_t wire = *key & 7;
    std::optional<uint64_t> number;
    if (wire == 1) number = 8;
    if (wire == 5) number = 4;
    if (wire == 0 || wire == 2) number = take_varint(rest);
    if (!number || (wire != 0 && *number > rest.size()) || wire == 3 || wire == 4 || wire > 5)
      return std::nullopt;
    field.number = *number;
    if (wire != 0) {
      field.bytes = rest.substr(0, *number);
      rest.remove_prefix(*number);
      if (wire == 2) field.inside = parse_message(field.bytes).value_or(std::vector<MessageField>());
    }
    fields.push_back(std::move(field));
  }
  return fields;
}
/// The message, with the `wanted`-th of its varints another one; `count` counts them, `value` becomes that which
/// was there.
std::string make_message(const std::vector<MessageField>& fields, size_t& count, size_t wanted,
                         const Number* number, uint64_t* value) {
  std::string out;
  const auto put = [&](uint64_t there) {
    const bool is_it = count++ == wanted;
    if (is_it && value) *value = there;
    out += varint(is_it && number ? number->bits : there);
  };
  for (const MessageField& field : fields) {
    put(field.key);
    const uint64_t wire = field.key & 7;
    if (wire == 0) put(field.number);
    if (wire == 2) {
      // The length comes first, and is counted first.
      size_t inner = count + 1;
      const std::string inside =
          field.inside.empty() ? field.bytes : make_message(field.inside, inner, wanted, number, value);
      put(inside.size());
      out += inside;
      count = inner;
    }
    if (wire == 1 || wire == 5) out += field.bytes;
  }
  return out;
}

}  // namespace

std::vector<Number> numbers_for(const NumberFields& fields, size_t k, size_t file_size) {
  constexpr uint64_t kPast31 = uint64_t{1} << 31, kPast63 = uint64_t{1} << 63;
  const uint64_t there = fields.value(k), size = file_size;
  std::set<uint64_t> values = {0,           1,           kPast31 - 1, kPast31,      2 * kPast31 - 1,
                               2 * kPast31, kPast63 - 1, kPast63,     ~uint64_t{0}, size - 1,
                               size,        size + 1,    there - 1,   there + 1,    2 * there,
                               size - there};
  constexpr size_t kNear = 8;  // of very many, those around it
  for (size_t other = k - std::min(k, kNear); other < std::min(fields.count(), k + kNear); ++other)
    values.insert(fields.value(other));
  values.erase(there);
  std::vector<Number> out;
  for (const uint64_t value : values) out.push_back({value, fmt::format("{}", value)});
  out.push_back({~uint64_t{0}, "-1"});
  out.push_back({kPast63, "-9223372036854775808"});
  out.push_back({0x7FF0000000000000, "1e308"});
  return out;
}

NumberFields little_fields(const std::string& whole, std::span<const size_t[2]> places) {
  Fields fields(whole);
  for (const auto& [at, width] : places) fields.add_little("number", at, width);
  return std::move(fields.out);
}

NumberFields text_fields(const std::string& whole) {
  Fields fields(whole);
  each_number(whole, 0, whole.size(), [&](size_t at, size_t length, uint64_t value) {
    if (std::count(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(at), '"') % 2 == 0)
      fields.add_text("number", at, length, value);
  });
  return std::move(fields.out);
}

NumberFields tfrecord_fields(const std::string& whole) {
  Fields fields(whole);
  for (size_t at = 0; at < whole.size();) {
    const uint64_t length = little(whole, at, 8);
    fields.add_little("length", at, 8, [at](std::string& bytes) {
      set_little(bytes, at + 8, 4,
                 native::masked_crc32c({reinterpret_cast<const uint8_t*>(bytes.data()) + at, 8}));
    });
    fields.add_little("length with a wrong checksum", at, 8);
    fields.add_little("checksum of a length", at + 8, 4);
    fields.add_little("checksum of a record", at + 12 + length, 4);
    at += 16 + length;
  }
  return std::move(fields.out);
}

NumberFields record_io_fields(const std::string& whole) {
  Fields fields(whole);
  for (size_t at = 0; at < whole.size();) {
    const uint64_t word = little(whole, at + 4, 4), part = word >> 29, size = word & 0x1FFFFFFF;
    fields.add_little("magic number", at, 4);
    fields.add_little("part and length", at + 4, 4);
    for (const uint64_t other : {0, 1, 2, 3, 4, 7}) {
      const uint64_t changed = other << 29 | size;
      fields.out.add(fmt::format("part {} at {}", other, at + 4), word,
                     [whole = fields.shared(), at, changed](const Number& number) {
                       std::string bytes = *whole;
                       set_little(bytes, at + 4, 4, changed ^ (number.bits & 1));
                       return bytes;
                     });
    }
    if (part < 2) fields.add_little("number of labels", at + 8, 4);
    if (part < 2) fields.add_little("id", at + 16, 8);
    at += 8 + (size + 3) / 4 * 4;
  }
  return std::move(fields.out);
}

NumberFields tar_fields(const std::string& whole) {
  Fields fields(whole);
  for (size_t at = 0; at < whole.size() && whole[at] != '\0';) {
    const uint64_t size = std::stoull(whole.substr(at + 124, 11), nullptr, 8);
    const auto add = [&](const char* name, const auto& write) {
      fields.out.add(fmt::format("{} at {}", name, at), size,
                     [whole = fields.shared(), at, write](const Number& number) {
                       std::string bytes = *whole;
                       write(bytes, number.bits);
                       sum_tar_header(bytes, at);
                       return bytes;
                     });
    };
    add("size in octal", [at](std::string& bytes, uint64_t number) {
      bytes.replace(at + 124, 12, fmt::format("{:012o}", number & ((uint64_t{1} << 36) - 1)));
    });
    add("size in bytes", [at](std::string& bytes, uint64_t number) {
      bytes.replace(at + 124, 4, std::string("\x80\0\0\0", 4));
      set_big(bytes, at + 128, 8, number);
    });
    add("negative size", [at](std::string& bytes, uint64_t number) {
      bytes.replace(at + 124, 4, std::string("\xFF\xFF\xFF\xFF", 4));
      set_big(bytes, at + 128, 8, number);
    });
    add("kind",
        [at](std::string& bytes, uint64_t number) { bytes[at + 156] = "01234567LKxgSDV\x80"[number % 16]; });
    fields.out.add(fmt::format("checksum at {}", at), size,
                   [whole = fields.shared(), at](const Number& number) {
                     std::string bytes = *whole;
                     return bytes.replace(at + 148, 8, fmt::format("{:07o} ", number.bits & 07777777));
                   });
    const char kind = whole[at + 156];
    if (kind == 'x' || kind == 'g')
      each_number(whole, at + 512, at + 512 + size, [&](size_t place, size_t length, uint64_t value) {
        // The member keeps its size, so that what follows lies where it lay.
        fields.out.add(fmt::format("number of a pax record at {}", place), value,
                       [whole = fields.shared(), at, size, place, length](const Number& number) {
                         std::string records = whole->substr(at + 512, size);
                         records.replace(place - at - 512, length, number.text);
                         records.resize(size, '\n');
                         std::string bytes = *whole;
                         return bytes.replace(at + 512, size, records);
                       });
      });
    at += 512 + (size + 511) / 512 * 512;
  }
  return std::move(fields.out);
}

NumberFields lmdb_fields(const std::string& whole) {
  constexpr size_t kHead = 16;
  Fields fields(whole);
  const size_t page_size = little(whole, kHead + 24, 4);
  const auto add_database = [&](const std::string& name, size_t at) {
    fields.add_little(name + ": pad", at, 4);
    fields.add_little(name + ": flags", at + 4, 2);
    fields.add_little(name + ": depth", at + 6, 2);
    for (const auto& [what, offset] : {std::pair{"branch pages", size_t{8}},
                                       {"leaf pages", 16},
                                       {"overflow pages", 24},
                                       {"entries", 32},
                                       {"root", 40}})
      fields.add_little(name + ": " + what, at + offset, 8);
  };
  for (const size_t page : {size_t{0}, page_size}) {
    const size_t at = page + kHead;
    fields.add_little("flags of a page", page + 10, 2);
    fields.add_little("magic number", at, 4);
    fields.add_little("version", at + 4, 4);
    fields.add_little("size of the map", at + 16, 8);
    add_database("free pages", at + 24);
    add_database("tree", at + 72);
    fields.add_little("last page", at + 120, 8);
    fields.add_little("transaction", at + 128, 8);
  }
  for (size_t page = 2 * page_size; page + page_size <= whole.size();) {
    const uint64_t flags = little(whole, page + 10, 2);
    size_t pages = 1;
    fields.add_little("number of a page", page, 8);
    fields.add_little("flags of a page", page + 10, 2);
    if (flags & 4) {
      fields.add_little("number of pages", page + 12, 4);
      pages = std::max<size_t>(1, little(whole, page + 12, 4));
    } else if (flags & 3) {
      fields.add_little("end of the nodes' places", page + 12, 2);
      fields.add_little("begin of the nodes", page + 14, 2);
      const size_t end = page + little(whole, page + 12, 2);
      // Of many nodes, the first, the second and the last.
      std::set<size_t> places = {page + kHead, page + kHead + 2, end - 2};
      for (const size_t place : places) {
        if (place >= end) continue;
        const size_t node = page + little(whole, place, 2);
        fields.add_little("place of a node", place, 2);
        if (flags & 1) {
          fields.add_little("page below", node, 6);
        } else {
          fields.add_little("size of a value", node, 4);
          fields.add_little("flags of a node", node + 4, 2);
        }
        fields.add_little("size of a key", node + 6, 2);
        if (!(flags & 1) && (little(whole, node + 4, 2) & 1))
          fields.add_little("page of a value", node + 8 + little(whole, node + 6, 2), 8);
      }
    }
    page += pages * page_size;
  }
  return std::move(fields.out);
}

NumberFields npy_fields(const std::string& whole) {
  Fields fields(whole);
  fields.add_little("major version", 6, 1);
  fields.add_little("minor version", 7, 1);
  fields.add_little("length of the header", 8, 2);
  const size_t end = 10 + little(whole, 8, 2);
  each_number(whole, 10, end, [&](size_t at, size_t length, uint64_t value) {
    // The header keeps its length: blanks at its end make room.
    fields.out.add(fmt::format("number at {}", at), value,
                   [whole = fields.shared(), at, length, end](const Number& number) {
                     std::string head = whole->substr(0, end - 1);
                     head.replace(at, length, number.text);
                     head.resize(end - 1, ' ');
                     return head + whole->substr(end - 1);
                   });
  });
  fields.out.add("axes", 0, [whole = fields.shared(), end](const Number& number) {
    std::string head = whole->substr(0, end - 1);
    const size_t open = head.find('('), close = head.find(')');
    std::string axes;
    for (uint64_t k = 0; k < std::min<uint64_t>(number.bits, 1'000); ++k) axes += "1, ";
    head.replace(open + 1, close - open - 1, axes);
    set_little(head, 8, 2, head.size() + 1 - 10);
    return head + "\n" + whole->substr(end);
  });
  return std::move(fields.out);
}

NumberFields fits_fields(const std::string& whole) {
  Fields fields(whole);
  for (size_t card = 0; card + 80 <= whole.size(); card += 80) {
    const std::string_view text(whole.data() + card, 80);
    if (text.substr(8, 2) != "= " || text[10] == '\'' || !is_digit(text[29])) continue;
    const std::string key(text.substr(0, 8));
    const std::string digits = whole.substr(card + 10, 20);
    uint64_t value = 0;
    for (const char c : digits)
      if (is_digit(c)) value = value * 10 + static_cast<uint64_t>(c - '0');
    fields.out.add(key, value, [whole = fields.shared(), card](const Number& number) {
      std::string bytes = *whole;
      return bytes.replace(card + 10, 20, fmt::format("{:>20}", number.text).substr(0, 20));
    });
  }
  // Tables of tiles: length and place of each array in the heap, where the first column is one of 32-bit numbers.
  for (size_t at = whole.find("XTENSION= 'BINTABLE'"); at != std::string::npos;
       at = whole.find("XTENSION= 'BINTABLE'", at + 1)) {
    const size_t end = whole.find("END     ", at);
    if (end == std::string::npos) break;
    const size_t table = (end / 2880 + 1) * 2880;
    for (size_t row = 0; row < 2 && table + 8 * row + 8 <= whole.size(); ++row) {
      fields.add_big("length in the heap", table + 8 * row, 4);
      fields.add_big("place in the heap", table + 8 * row + 4, 4);
    }
    break;
  }
  return std::move(fields.out);
}

NumberFields wav_fields(const std::string& whole) {
  Fields fields(whole);
  for (const auto& [name, at, width] : {std::tuple{"size of the file", size_t{4}, size_t{4}},
                                        {"size of the format", 16, 4},
                                        {"code", 20, 2},
                                        {"channels", 22, 2},
                                        {"rate", 24, 4},
                                        {"bytes a second", 28, 4},
                                        {"bytes of a frame", 32, 2},
                                        {"bits", 34, 2},
                                        {"size of the data", 40, 4}})
    fields.add_little(name, at, width);
  return std::move(fields.out);
}

NumberFields png_fields(const std::string& whole) {
  Fields fields(whole);
  for (size_t at = 8; at + 12 <= whole.size();) {
    const size_t length = big(whole, at, 4);
    fields.add_big("length of a chunk", at, 4);
    const Repair sum = [at, length](std::string& bytes) {
      set_big(bytes, at + 8 + length, 4, crc32_of(std::string_view(bytes).substr(at + 4, length + 4)));
    };
    if (whole.compare(at + 4, 4, "IHDR") == 0) {
      fields.add_big("width", at + 8, 4, sum);
      fields.add_big("height", at + 12, 4, sum);
      for (size_t k = 16; k < 21; ++k) fields.add_big("a byte of the header", at + k, 1, sum);
    }
    fields.add_big("checksum", at + 8 + length, 4);
    at += 12 + length;
  }
  return std::move(fields.out);
}

NumberFields protobuf_fields(const std::string& whole) {
  NumberFields fields;
  const auto message = std::make_shared<const std::vector<MessageField>>(
      parse_message(whole).value_or(std::vector<MessageField>()));
  size_t count = 0;
  make_message(*message, count, ~size_t{0}, nullptr, nullptr);
  for (size_t k = 0; k < count; ++k) {
    size_t counter = 0;
    uint64_t value = 0;
    make_message(*message, counter, k, nullptr, &value);
    fields.add(fmt::format("varint {}", k), value, [message, k](const Number& number) {
      size_t counted = 0;
      return make_message(*message, counted, k, &number, nullptr);
    });
  }
  return fields;
}

}  // namespace galatea::testing
