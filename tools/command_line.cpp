#include "tools/command_line.h"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

namespace galatea::tools {
namespace {

/// Help texts as CLI11 makes them, but for arguments that take several words: NAME..., however many at most.
class HelpForm : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option* option) const override {
    const bool several = option->get_expected_max() > 1;
    const std::string name = make_option_name(option, true) + (several ? "..." : "");
    return option->get_required() ? name : "[" + name + "]";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const bool bounded =
        option->get_expected_max() > 1 && option->get_expected_max() < CLI::detail::expected_max_vector_size;
    if (bounded && option->get_positional() && text.find(" ...") == std::string::npos)
      text.insert(1 + option->get_type_name().size(), " ...");
    return text;
  }
};

std::string describe(const OptionHelp& help) {
  std::string text = help.meaning;
  text += *help.default_value ? fmt::format(" (default: {}; example: {})", help.default_value, help.example)
                              : fmt::format(" (example: {})", help.example);
  return text;
}

template <typename T>
struct Held {
  using Type = T;
};
template <typename T>
struct Held<std::optional<T>> {
  using Type = T;
};

/// What CLI11 lets pass: it takes numbers past 64 bits for the last one, and negative ones for large ones.
std::string what_does_not_fit(const std::string& text, bool is_signed) {
  errno = 0;
  if (is_signed) {
    std::strtoll(text.c_str(), nullptr, 0);
  } else {
    if (text.starts_with('-')) return fmt::format("`{}` is negative", text);
    std::strtoull(text.c_str(), nullptr, 0);
  }
  return errno == ERANGE ? fmt::format("`{}` does not fit into 64 bits", text) : "";
}

/// Writes "512MB" as a number of bytes; what is wrong with it, or "".
std::string spell_out_bytes(std::string& text) {
  int64_t bytes = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, bytes);
  std::string unit(at, end);
  for (char& c : unit) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (unit.ends_with('b')) unit.pop_back();
  if (unit.ends_with('i') && unit.size() > 1) unit.pop_back();
  constexpr std::string_view kUnits = "kmgtpe";
  const size_t power = unit.empty() ? 0 : kUnits.find(unit) + 1;  // 0 as well where there is no such unit
  const bool is_number = error == std::errc() && (unit.empty() || (unit.size() == 1 && power > 0));
  if (error == std::errc::result_out_of_range ||
      (is_number && bytes > std::numeric_limits<int64_t>::max() >> (10 * power)))
    return fmt::format("`{}` is more than any memory has", text);
  if (!is_number || bytes < 1)
    return fmt::format("`{}` is no size; it is a whole number of at least 1, such as 512MB or 2GiB", text);
  text = std::to_string(bytes << (10 * power));
  return "";
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words).description(""));
  return *this;
}

template <typename T>
Option& Option::between(T least, T most) {
  option_->check(CLI::Range(least, most).description(""));
  return *this;
}
template Option& Option::between(int, int);
template Option& Option::between(int64_t, int64_t);
template Option& Option::between(uint64_t, uint64_t);
template Option& Option::between(double, double);

Option& Option::checked(std::function<std::string(std::string&)> check) {
  option_->check(CLI::Validator(std::move(check), ""));
  return *this;
}

Option& Option::in_bytes() {
  option_->transform(CLI::Validator(spell_out_bytes, ""));
  return *this;
}

Option& Option::not_empty() {
  return checked([](const std::string& text) { return text.empty() ? "nothing is named" : ""; });
}

Option& Option::png() {
  return not_empty().checked([](const std::string& text) {
    const std::string ending = std::filesystem::path(text).extension().string();
    return ending.empty() || ending == ".png" || ending == ".PNG"
               ? std::string()
               : fmt::format("`{}` would hold a PNG: name it *.png", text);
  });
}

Option& Option::values(int least, int most) {
  option_->expected(least, most);
  return *this;
}

Option& Option::one_each() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::not_with(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::then(std::function<void(const std::string&)> action) {
  option_->each(action);
  return *this;
}

template <typename T>
Option add_option(CLI::App* app, const char* names, T& variable, const OptionHelp& help) {
  CLI::Option* option = app->add_option(names, variable, describe(help))->type_name(help.type);
  using Number = typename Held<T>::Type;
  if constexpr (std::is_integral_v<Number>)
    option->check(CLI::Validator(
        [](std::string& text) { return what_does_not_fit(text, std::is_signed_v<Number>); }, ""));
  return Option(option);
}
template Option add_option(CLI::App*, const char*, std::string&, const OptionHelp&);
template Option add_option(CLI::App*, const char*, std::vector<std::string>&, const OptionHelp&);
template Option add_option(CLI::App*, const char*, int&, const OptionHelp&);
template Option add_option(CLI::App*, const char*, int64_t&, const OptionHelp&);
template Option add_option(CLI::App*, const char*, uint64_t&, const OptionHelp&);
template Option add_option(CLI::App*, const char*, double&, const OptionHelp&);
template Option add_option(CLI::App*, const char*, std::optional<int>&, const OptionHelp&);
template Option add_option(CLI::App*, const char*, std::optional<int64_t>&, const OptionHelp&);
template Option add_option(CLI::App*, const char*, std::optional<uint64_t>&, const OptionHelp&);

void add_flag(CLI::App* app, const char* names, bool& variable, const char* meaning) {
  app->add_flag(names, variable, meaning);
}

CLI::App* add_subcommand(CLI::App& parent, const char* name, const char* meaning) {
  CLI::App* app = parent.add_subcommand(name, meaning);
  app->formatter(std::make_shared<HelpForm>());
  return app;
}

void take_subcommand(CLI::App* app) { app->require_subcommand(0, 1); }

bool is_named(const CLI::App* app) { return app->parsed(); }

void set_footer(CLI::App* app, const char* text) { app->footer(text); }

std::string help_of(const CLI::App* app) { return app->help(); }

}  // namespace galatea::tools
