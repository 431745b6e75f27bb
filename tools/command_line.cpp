#include "tools/command_line.h"

#include <cstdint>
#include <optional>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

namespace galatea::tools {
namespace {

std::string describe(const OptionHelp& help) {
  std::string text = help.meaning;
  text += *help.default_value ? fmt::format(" (default: {}; example: {})", help.default_value, help.example)
                              : fmt::format(" (example: {})", help.example);
  return text;
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
  option_->transform(CLI::AsSizeValue(false).description(""));
  return *this;
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
  return Option(app->add_option(names, variable, describe(help))->type_name(help.type));
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
  return parent.add_subcommand(name, meaning);
}

void take_subcommand(CLI::App* app) { app->require_subcommand(0, 1); }

bool is_named(const CLI::App* app) { return app->parsed(); }

void set_footer(CLI::App* app, const char* text) { app->footer(text); }

std::string help_of(const CLI::App* app) { return app->help(); }

}  // namespace galatea::tools
