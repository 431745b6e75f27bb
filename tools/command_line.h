// Subcommands and their options, as the command line has them.
//
// Comes in: names, variables, help. Goes out: values in the variables, once main.cpp has parsed. The library
// behind it, CLI11, is a name here: its templates take longer to compile than any subcommand, so only
// command_line.cpp and main.cpp see them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace galatea::tools {

/// What --help says about an option: its type, default (empty: none) and an example.
struct OptionHelp {
  const char* type;
  const char* default_value;
  const char* meaning;
  const char* example;
};

/// What an option takes; each returns the option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  Option& one_of(const std::vector<std::string>& words);
  /// Words that stand for values; `target` gets that of the word which is given.
  template <typename T>
  Option& one_of(T& target, std::vector<std::pair<std::string, T>> words) {
    std::vector<std::string> known;
    for (const auto& [word, value] : words) known.push_back(word);
    return one_of(known).then([&target, words = std::move(words)](const std::string& text) {
      for (const auto& [word, value] : words)
        if (word == text) target = value;
    });
  }
  /// Both included. `T`: int, int64_t, uint64_t or double.
  template <typename T>
  Option& between(T least, T most);
  /// Says what is wrong with a text ("": nothing), and may change it.
  Option& checked(std::function<std::string(std::string&)> check);
  /// Bytes, at least one, with units such as kb and GiB (powers of 1024).
  Option& in_bytes();
  /// A text of at least one letter: a shell makes nothing of a variable that is not set.
  Option& not_empty();
  /// A file that becomes a PNG: its name ends so, or has no ending.
  Option& png();
  /// So many values behind one another.
  Option& values(int least, int most);
  /// One value a time, however often it is given.
  Option& one_each();
  Option& not_with(const Option& other);
  Option& then(std::function<void(const std::string&)> action);

 private:
  CLI::Option* option_;
};

/// `T`: std::string, a number (int, int64_t, uint64_t, double), an optional number, or a list of strings.
template <typename T>
Option add_option(CLI::App* app, const char* names, T& variable, const OptionHelp& help);
void add_flag(CLI::App* app, const char* names, bool& variable, const char* meaning);

CLI::App* add_subcommand(CLI::App& parent, const char* name, const char* meaning);
/// Takes the name of one of its own subcommands.
void take_subcommand(CLI::App* app);
/// Whether the command line names this subcommand.
bool is_named(const CLI::App* app);
void set_footer(CLI::App* app, const char* text);
std::string help_of(const CLI::App* app);

}  // namespace galatea::tools
