#include "compiler/ir/attr.h"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>

namespace galatea::ir {
namespace {

/// A double that reads back as a double: with a point, an exponent, inf or nan.
std::string number_text(double value) {
  std::string out = fmt::format("{}", value);
  if (out.find_first_of(".einf") == std::string::npos) out += ".0";
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
  return out + "\"";
}

template <typename T, typename F>
std::string list_text(const std::vector<T>& list, const F& element) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) out += (i ? ", " : "") + element(list[i]);
  return out + "]";
}

}  // namespace

std::string to_text(const Attr& attr) {
  struct Writer {
    std::string operator()(None) const { return "none"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return fmt::to_string(value); }
    std::string operator()(double value) const { return number_text(value); }
    std::string operator()(const std::string& value) const { return quoted(value); }
    std::string operator()(DType value) const { return std::string(short_name(value)); }
    std::string operator()(const std::vector<int64_t>& list) const {
      return list_text(list, [](int64_t v) { return fmt::to_string(v); });
    }
    std::string operator()(const std::vector<double>& list) const {
      return list.empty() ? "float[]" : list_text(list, number_text);
    }
    std::string operator()(const std::vector<std::string>& list) const {
      return list.empty() ? "string[]" : list_text(list, quoted);
    }
    std::string operator()(const AttrList& list) const {
      return list_text(list.items, [](const Attr& item) { return to_text(item); });
    }
    std::string operator()(const AttrDict& dict) const {
      std::string out;
      for (const auto& [name, value] : dict.entries)
        out += (out.empty() ? "" : ", ") + quoted(name) + ": " + to_text(value);
      return "{" + out + "}";
    }
  };
  return std::visit(Writer{}, attr);
}

bool attr_flag(const Attr& attr) {
  if (auto* value = std::get_if<bool>(&attr)) return *value;
  if (is_none(attr)) return false;
  return attr_integer(attr) != 0;
}

int64_t attr_integer(const Attr& attr) {
  if (auto* value = std::get_if<int64_t>(&attr)) return *value;
  if (auto* value = std::get_if<bool>(&attr)) return *value ? 1 : 0;
  if (auto* value = std::get_if<DType>(&attr)) return static_cast<int64_t>(*value);
  if (auto* value = std::get_if<double>(&attr)) {
    GALATEA_CHECK(*value == std::floor(*value) && std::abs(*value) < 9e18, to_text(attr));
    return static_cast<int64_t>(*value);
  }
  if (auto* list = std::get_if<std::vector<int64_t>>(&attr); list && list->size() == 1) return list->front();
  GALATEA_CHECK(false, "not an integer: " + to_text(attr));
}

double attr_number(const Attr& attr) {
  if (auto* value = std::get_if<double>(&attr)) return *value;
  if (auto* list = std::get_if<std::vector<double>>(&attr); list && list->size() == 1) return list->front();
  return static_cast<double>(attr_integer(attr));
}

std::string attr_text(const Attr& attr) {
  if (is_none(attr)) return {};
  auto* value = std::get_if<std::string>(&attr);
  GALATEA_CHECK(value, "not a text: " + to_text(attr));
  return *value;
}

std::vector<int64_t> attr_integers(const Attr& attr) {
  if (is_none(attr)) return {};
  if (auto* list = std::get_if<std::vector<int64_t>>(&attr)) return *list;
  if (auto* list = std::get_if<std::vector<double>>(&attr)) {
    std::vector<int64_t> out;
    for (double value : *list) out.push_back(attr_integer(Attr(value)));
    return out;
  }
  return {attr_integer(attr)};
}

std::vector<double> attr_numbers(const Attr& attr) {
  if (is_none(attr)) return {};
  if (auto* list = std::get_if<std::vector<double>>(&attr)) return *list;
  if (auto* list = std::get_if<std::vector<int64_t>>(&attr))
    return std::vector<double>(list->begin(), list->end());
  return {attr_number(attr)};
}

std::vector<std::string> attr_texts(const Attr& attr) {
  if (is_none(attr)) return {};
  if (auto* list = std::get_if<std::vector<std::string>>(&attr)) return *list;
  return {attr_text(attr)};
}

int attr_length(const Attr& attr) {
  if (is_none(attr)) return 0;
  if (auto* list = std::get_if<std::vector<int64_t>>(&attr)) return static_cast<int>(list->size());
  if (auto* list = std::get_if<std::vector<double>>(&attr)) return static_cast<int>(list->size());
  if (auto* list = std::get_if<std::vector<std::string>>(&attr)) return static_cast<int>(list->size());
  if (auto* list = std::get_if<AttrList>(&attr)) return static_cast<int>(list->items.size());
  return 1;
}

bool operator==(const AttrList& a, const AttrList& b) { return a.items == b.items; }
bool operator==(const AttrDict& a, const AttrDict& b) { return a.entries == b.entries; }

namespace {

template <typename T>
std::optional<std::vector<T>> all_of_kind(const std::vector<Attr>& items) {
  std::vector<T> out;
  for (const Attr& item : items) {
    auto* value = std::get_if<T>(&item);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

}  // namespace

Attr list_attr(std::vector<Attr> items) {
  if (auto list = all_of_kind<int64_t>(items)) return std::move(*list);
  if (auto list = all_of_kind<double>(items)) return std::move(*list);
  if (auto list = all_of_kind<std::string>(items)) return std::move(*list);
  return AttrList{std::move(items)};
}

}  // namespace galatea::ir
