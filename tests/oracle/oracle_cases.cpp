// Reads recorded cases and compares arrays; see oracle_cases.h.
#include "tests/oracle/oracle_cases.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>

#include "base/fault.h"
#include "base/json.h"

namespace galatea::testing {
namespace {

using Json = nlohmann::json;

struct NpyType {
  std::string_view code, dtype;
  int64_t size;
};
constexpr std::array<NpyType, 12> kNpyTypes = {{{"|u1", "uint8", 1},
                                                {"<u2", "uint16", 2},
                                                {"<u4", "uint32", 4},
                                                {"<u8", "uint64", 8},
                                                {"|i1", "int8", 1},
                                                {"<i2", "int16", 2},
                                                {"<i4", "int32", 4},
                                                {"<i8", "int64", 8},
                                                {"<f2", "float16", 2},
                                                {"<f4", "float32", 4},
                                                {"<f8", "float64", 8},
                                                {"|b1", "bool", 1}}};

template <typename T>
T read_as(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

long double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  long double value;
  if (exponent == 31)
    value = mantissa ? std::numeric_limits<long double>::quiet_NaN()
                     : std::numeric_limits<long double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(static_cast<long double>(mantissa), -24);
  else
    value = std::ldexp(static_cast<long double>(mantissa + 1024), exponent - 25);
  return (bits & 0x8000) ? -value : value;
}

/// The text between two marks of a .npy header, or nothing.
std::optional<std::string_view> between(std::string_view header, std::string_view open,
                                        std::string_view close) {
  const size_t begin = header.find(open);
  if (begin == std::string_view::npos) return std::nullopt;
  const size_t start = begin + open.size();
  const size_t end = header.find(close, start);
  if (end == std::string_view::npos) return std::nullopt;
  return header.substr(start, end - start);
}

std::expected<std::vector<int64_t>, std::string> parse_shape(std::string_view text) {
  std::vector<int64_t> shape;
  const char* place = text.data();
  const char* end = text.data() + text.size();
  while (place != end) {
    if (*place == ' ' || *place == ',') {
      ++place;
      continue;
    }
    int64_t extent = 0;
    const auto [next, error] = std::from_chars(place, end, extent);
    if (error != std::errc{} || extent < 0) return std::unexpected("bad shape '" + std::string(text) + "'");
    shape.push_back(extent);
    place = next;
  }
  return shape;
}

/// Cuts the blobs of a batch out of the data file.
std::expected<std::vector<RecordedArray>, std::string> parse_batch(const Json& places,
                                                                   std::span<const std::byte> data) {
  std::vector<RecordedArray> batch;
  for (const Json& place : places) {
    const auto offset = place.at(0).get<size_t>();
    const auto length = place.at(1).get<size_t>();
    if (offset > data.size() || length > data.size() - offset)
      return std::unexpected("a blob lies outside of the data file");
    auto array = parse_npy(data.subspan(offset, length));
    if (!array) return std::unexpected(array.error());
    batch.push_back(std::move(*array));
  }
  return batch;
}

std::optional<ToleranceKind> parse_kind(const std::string& text) {
  if (text == "abs") return ToleranceKind::kAbsolute;
  if (text == "rel") return ToleranceKind::kRelative;
  if (text == "range") return ToleranceKind::kRange;
  return std::nullopt;
}

std::expected<OracleCase, std::string> parse_case(const Json& entry, std::span<const std::byte> data) {
  OracleCase result;
  result.name = entry.at("name").get<std::string>();
  result.text = entry.at("text").get<std::string>();
  const auto fail = [&](const std::string& what) { return std::unexpected(result.name + ": " + what); };
  for (const auto& [name, places] : entry.at("inputs").items()) {
    auto batch = parse_batch(places, data);
    if (!batch) return fail(batch.error());
    result.inputs.emplace(name, std::move(*batch));
  }
  if (entry.contains("refused")) {
    result.refused = entry.at("refused").get<std::string>();
    return result;
  }
  for (const Json& places : entry.at("outputs")) {
    auto batch = parse_batch(places, data);
    if (!batch) return fail(batch.error());
    result.outputs.push_back(std::move(*batch));
  }
  result.layouts = entry.at("layouts").get<std::vector<std::string>>();
  if (result.layouts.size() != result.outputs.size()) return fail("layouts and outputs differ in number");
  result.tolerance = entry.at("tolerance").get<double>();
  result.why = entry.value("why", "");
  const auto kind = parse_kind(entry.value("tolerance_kind", "abs"));
  if (!kind) return fail("unknown kind of tolerance");
  result.kind = *kind;
  if (entry.contains("mean_tolerance")) result.mean_tolerance = entry.at("mean_tolerance").get<double>();
  return result;
}

std::expected<std::string, std::string> read_file(const std::filesystem::path& path) {
  auto text = read_whole_file(path.string());
  if (!text) return std::unexpected(path.string() + ": " + text.error().why);
  return std::move(*text);
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// The coordinates of a flat index.
std::string index_text(const std::vector<int64_t>& shape, int64_t index) {
  std::vector<int64_t> coordinates(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = index % shape[d];
    index /= shape[d];
  }
  return shape_text(coordinates);
}

/// |got - expected|; zero for equal infinities and for two NaNs, infinite if only one of them is finite.
long double difference(long double got, long double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  const long double distance = std::abs(got - expected);
  return std::isfinite(distance) ? distance : std::numeric_limits<long double>::infinity();
}

long double largest_finite(const RecordedArray& array) {
  long double largest = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const long double magnitude = std::abs(array.element(i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

const char* kind_text(ToleranceKind kind) {
  switch (kind) {
    case ToleranceKind::kAbsolute:
      return "";
    case ToleranceKind::kRelative:
      return " of the value";
    case ToleranceKind::kRange:
      return " of the sample's range";
  }
  return "";
}

/// What a comparison of all elements finds.
struct Findings {
  int64_t num_beyond = 0;
  int64_t first = -1;
  long double largest = 0;
  long double sum = 0;
};

Findings compare_elements(const OracleCase& oracle_case, const RecordedArray& expected,
                          const RecordedArray& got) {
  const long double tolerance = oracle_case.tolerance;
  const long double range =
      oracle_case.kind == ToleranceKind::kRange && tolerance > 0 ? largest_finite(expected) : 0;
  Findings findings;
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const long double want = expected.element(i);
    const long double distance = difference(got.element(i), want);
    long double limit = tolerance;
    // An infinite or NaN value allows no distance: difference() has already judged it.
    const long double magnitude = std::isfinite(want) ? std::abs(want) : 0;
    if (oracle_case.kind == ToleranceKind::kRelative) limit = tolerance * std::max(magnitude, 0.001L);
    if (oracle_case.kind == ToleranceKind::kRange) limit = tolerance * range;
    findings.sum += distance;
    findings.largest = std::max(findings.largest, distance);
    if (distance <= limit) continue;
    if (findings.num_beyond++ == 0) findings.first = i;
  }
  return findings;
}

}  // namespace

int64_t size_of_dtype(const std::string& dtype) {
  const auto* found = std::ranges::find(kNpyTypes, dtype, &NpyType::dtype);
  return found == kNpyTypes.end() ? 0 : found->size;
}

int64_t RecordedArray::num_elements() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

long double RecordedArray::element(int64_t index) const {
  const std::byte* place = bytes.data() + index * size_of_dtype(dtype);
  if (dtype == "uint8") return read_as<uint8_t>(place);
  if (dtype == "float32") return read_as<float>(place);
  if (dtype == "int32") return read_as<int32_t>(place);
  if (dtype == "int64") return static_cast<long double>(read_as<int64_t>(place));
  if (dtype == "int16") return read_as<int16_t>(place);
  if (dtype == "int8") return read_as<int8_t>(place);
  if (dtype == "uint16") return read_as<uint16_t>(place);
  if (dtype == "uint32") return read_as<uint32_t>(place);
  if (dtype == "uint64") return static_cast<long double>(read_as<uint64_t>(place));
  if (dtype == "float64") return read_as<double>(place);
  if (dtype == "float16") return half_value(read_as<uint16_t>(place));
  return read_as<uint8_t>(place) != 0;
}

std::expected<RecordedArray, std::string> parse_npy(std::span<const std::byte> blob) {
  constexpr std::string_view kMagic = "\x93NUMPY\x01";
  constexpr size_t kPrefix = 10;  // magic, version 1.0, length of the header
  const std::string_view text(reinterpret_cast<const char*>(blob.data()), blob.size());
  if (blob.size() < kPrefix || !text.starts_with(kMagic))
    return std::unexpected("not a .npy image of version 1");
  const size_t length = read_as<uint16_t>(blob.data() + 8);
  if (blob.size() < kPrefix + length) return std::unexpected("the .npy header is cut short");
  const std::string_view header = text.substr(kPrefix, length);

  const auto code = between(header, "'descr': '", "'");
  const auto shape_part = between(header, "'shape': (", ")");
  if (!code || !shape_part) return std::unexpected("the .npy header lacks a type or a shape");
  if (header.find("'fortran_order': False") == std::string_view::npos)
    return std::unexpected("the .npy image is not in C order");
  const auto* type = std::ranges::find(kNpyTypes, *code, &NpyType::code);
  if (type == kNpyTypes.end())
    return std::unexpected("element type '" + std::string(*code) + "' is not handled");
  auto shape = parse_shape(*shape_part);
  if (!shape) return std::unexpected(shape.error());

  RecordedArray array{std::string(type->dtype), std::move(*shape), {}};
  const auto values = blob.subspan(kPrefix + length);
  if (array.num_elements() * type->size != std::ssize(values))
    return std::unexpected("the .npy image holds " + std::to_string(values.size()) +
                           " bytes, not what its shape " + shape_text(array.shape) + " says");
  array.bytes.assign(values.begin(), values.end());
  return array;
}

std::expected<OracleGroup, std::string> load_group(const std::filesystem::path& folder,
                                                   const std::string& name) {
  const auto index_path = folder / (name + ".json");
  const auto index_text = read_file(index_path);
  if (!index_text) return std::unexpected(index_text.error());
  const auto data = read_file(folder / (name + ".bin"));
  if (!data) return std::unexpected(data.error());
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data->data()), data->size());
  try {  // the one place where the JSON library may throw
    const Json index = Json::parse(*index_text);
    OracleGroup group;
    group.dali_version = index.at("dali").get<std::string>();
    for (const Json& entry : index.at("cases")) {
      auto oracle_case = parse_case(entry, bytes);
      if (!oracle_case) return std::unexpected(index_path.string() + ": " + oracle_case.error());
      group.cases.push_back(std::move(*oracle_case));
    }
    return group;
  } catch (const Json::exception& error) {
    return std::unexpected(index_path.string() + ": " + error.what());
  }
}

std::optional<std::string> compare(const OracleCase& oracle_case, size_t output, size_t sample,
                                   const RecordedArray& got) {
  std::ostringstream text;
  text << oracle_case.name << ": output " << output << ", sample " << sample << ": ";
  if (output >= oracle_case.outputs.size() || sample >= oracle_case.outputs[output].size()) {
    text << "DALI gave no such sample";
    return text.str();
  }
  const RecordedArray& expected = oracle_case.outputs[output][sample];
  if (got.dtype != expected.dtype || got.shape != expected.shape) {
    text << "got " << got.dtype << " " << shape_text(got.shape) << ", expected " << expected.dtype << " "
         << shape_text(expected.shape);
    return text.str();
  }
  const Findings findings = compare_elements(oracle_case, expected, got);
  const int64_t count = expected.num_elements();
  text.precision(9);
  if (findings.num_beyond > 0) {
    text << "index " << index_text(expected.shape, findings.first) << ": got " << got.element(findings.first)
         << ", expected " << expected.element(findings.first) << " (tolerance " << oracle_case.tolerance
         << kind_text(oracle_case.kind) << "); " << findings.num_beyond << " of " << count
         << " elements are beyond it, by up to " << findings.largest;
    return text.str();
  }
  if (oracle_case.mean_tolerance && count > 0 && findings.sum > *oracle_case.mean_tolerance * count) {
    text << "the mean difference is " << findings.sum / static_cast<long double>(count) << ", more than "
         << *oracle_case.mean_tolerance;
    return text.str();
  }
  return std::nullopt;
}

}  // namespace galatea::testing
