// The arguments of numpy's functions, and the functions by topic: making arrays (numpy_make.cpp), functions
// of elements (numpy_math.cpp) and of whole arrays (numpy_reduce.cpp). The module itself stands in numpy.cpp.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dsl/array.h"

namespace galatea::dsl::numpy {

/// The arguments of a call by name; kUndefined where none was given.
class Named {
 public:
  Named(Evaluator& evaluator, CallArguments& a, std::vector<std::string_view> names)
      : evaluator_(evaluator),
        names_(std::move(names)),
        values_(names_.size()),
        spans_(names_.size(), a.span) {
    if (a.positional.size() > names_.size()) {
      wrong_count(a);
      return;
    }
    for (size_t i = 0; i < a.positional.size(); ++i) values_[i] = a.positional[i], spans_[i] = a.spans[i];
    for (const CallArguments::Keyword& keyword : a.keywords) {
      size_t i = static_cast<size_t>(std::find(names_.begin(), names_.end(), keyword.name) - names_.begin());
      bool copy = keyword.name == "copy" || keyword.name == "order";  // arrays are constant
      if (i == names_.size() && copy) continue;
      if (i == names_.size() || !values_[i].is(ValueKind::kUndefined)) {
        Message message = i == names_.size() ? Message::kUnknownParameter : Message::kArgumentTwice;
        evaluator.fail(message, keyword.name_span, {"np." + a.name, keyword.name, ""});
        good_ = false;
        return;
      }
      values_[i] = keyword.value;
      spans_[i] = keyword.span;
    }
    for (const Value& value : values_) good_ = good_ && !value.is_poison() && !contains_poison(value);
  }
  // The first `count` arguments must be there.
  bool needs(CallArguments& a, size_t count) {
    for (size_t i = 0; good_ && i < count; ++i) {
      if (values_[i].is(ValueKind::kUndefined)) wrong_count(a);
    }
    return good_;
  }
  bool good() const { return good_; }
  const Value& operator[](size_t i) const { return values_[i]; }
  Span span(size_t i) const { return spans_[i]; }
  bool given(size_t i) const {
    return !values_[i].is(ValueKind::kUndefined) && !values_[i].is(ValueKind::kNone);
  }
  Value array(size_t i) const { return to_array(evaluator_, values_[i], spans_[i]); }
  // dtype= at `i`; false after an error.
  bool dtype(size_t i, std::optional<DType>& out) const {
    if (!given(i)) return true;
    out = to_dtype(evaluator_, values_[i], spans_[i]);
    return out.has_value();
  }
  // A number at `i`; false after an error.
  bool number(size_t i, Value& out) const {
    out = plain(values_[i]);
    return out.is_number() || refuse(i, "a number");
  }
  bool integers(size_t i, std::vector<int64_t>& out) const {
    Value value = plain(values_[i]);
    std::vector<Value> list = {value};
    if (value.is_sequence()) list = value.elements();
    for (const Value& element : list) {
      if (!plain(element).is_integral()) return refuse(i, "an integer, or a tuple of integers");
      out.push_back(plain(element).as_int());
    }
    return true;
  }
  bool refuse(size_t i, std::string wanted) const {
    evaluator_.fail(Message::kArgumentKind, spans_[i],
                    {std::string(names_[i]), std::move(wanted), evaluator_.type_text(values_[i])});
    return false;
  }

 private:
  void wrong_count(const CallArguments& a) {
    good_ = false;
    evaluator_.fail(
        Message::kArgumentCount, a.span,
        {"np." + a.name, fmt::format("1 to {}", names_.size()), std::to_string(a.positional.size())});
  }
  Evaluator& evaluator_;
  std::vector<std::string_view> names_;
  std::vector<Value> values_;
  std::vector<Span> spans_;
  bool good_ = true;
};

/// Axes in a new order.
Value transposed(Evaluator& ev, const Value& value, const std::vector<size_t>& order);

// ---- numpy_make.cpp ----
Value np_array(Evaluator& ev, CallArguments& a);
Value np_filled(Evaluator& ev, CallArguments& a);
Value np_filled_like(Evaluator& ev, CallArguments& a);
Value np_arange(Evaluator& ev, CallArguments& a);
Value np_linspace(Evaluator& ev, CallArguments& a);
Value np_eye(Evaluator& ev, CallArguments& a);
Value np_reshape(Evaluator& ev, CallArguments& a);
Value np_ravel(Evaluator& ev, CallArguments& a);
Value np_transpose(Evaluator& ev, CallArguments& a);
Value np_join(Evaluator& ev, CallArguments& a);

// ---- numpy_math.cpp ----
/// Names of the functions that np_real is.
std::vector<const char*> real_functions();
Value np_real(Evaluator& ev, CallArguments& a);
Value np_binary(Evaluator& ev, CallArguments& a);
Value np_unary(Evaluator& ev, CallArguments& a);
Value np_round(Evaluator& ev, CallArguments& a);
Value np_clip(Evaluator& ev, CallArguments& a);
Value np_where(Evaluator& ev, CallArguments& a);

// ---- numpy_reduce.cpp ----
Value np_reduce(Evaluator& ev, CallArguments& a);
Value np_cumsum(Evaluator& ev, CallArguments& a);
Value np_dot(Evaluator& ev, CallArguments& a);
Value np_tolist(Evaluator& ev, CallArguments& a);
Value np_item(Evaluator& ev, CallArguments& a);
Value np_astype(Evaluator& ev, CallArguments& a);

// ---- files (numpy_load.cpp) ----
Value np_load(Evaluator& ev, CallArguments& a);

}  // namespace galatea::dsl::numpy
