// Texts by which hosts and plug-ins describe operators: ports and arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/port.h"
#include "base/result.h"
#include "compiler/op/operator.h"

namespace galatea::api {

/// "image: u8|f32[h,w,3] HWC".
Result<Port> parse_port(std::string_view text);
/// "radius: int = 3".
Result<op::ArgSpec> parse_argument(std::string_view text);
/// Texts that end with NULL; NULL: none.
Result<std::vector<Port>> parse_ports(const char* const* texts);
Result<std::vector<op::ArgSpec>> parse_arguments(const char* const* texts);
/// What is wrong with an operator's name, or "".
std::string why_no_name(const std::string& name, const op::Registry& registry);
/// The operator's pages: the text's first line is the summary. NULL: `otherwise`.
void set_documentation(op::Operator& op, const char* text, const char* otherwise);

/// A host's declaration, which has a context and its end: the library's once it is taken, until the last that
/// uses it is gone.
template <typename Declaration>
class Declared {
 public:
  explicit Declared(const Declaration& host) : host_(host) {}
  ~Declared() {
    if (is_taken_ && host_.destroy) host_.destroy(host_.context);
  }
  Declared(const Declared&) = delete;
  Declared& operator=(const Declared&) = delete;
  void take() { is_taken_ = true; }
  const Declaration* operator->() const { return &host_; }

 private:
  Declaration host_;
  bool is_taken_ = false;
};

}  // namespace galatea::api
