// Programs from a grammar, and tokens glued together in other ways. See random_program.h.
#include "tests/fmt/random_program.h"

#include <initializer_list>
#include <random>
#include <vector>

#include "dsl/lexer.h"

namespace galatea::dsl::testing {
namespace {

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }
  std::string one_of(std::initializer_list<const char*> words) {
    return *(words.begin() + below(words.size()));
  }

 private:
  std::mt19937 random_;
};

class Program {
 public:
  explicit Program(uint32_t seed) : dice_(seed) {}

  std::string text() {
    std::string out =
        dice_.one_of({"", "from nvidia.dali import pipeline_def, fn, types\n", "\"\"\"Doc.\"\"\"\n"});
    for (size_t i = 2 + dice_.below(4); i > 0; --i) out += statement(2, "");
    return out;
  }

 private:
  std::string name() {
    return dice_.one_of({"a", "image", "label", "encoded_images", "probability_of_a_flip", "fn", "size"});
  }
  std::string leaf() {
    switch (dice_.below(4)) {
      case 0:
        return dice_.one_of({"1", "224", "0XfF", "1E5", "1.", ".5", "10_000"});
      case 1:
        return dice_.one_of({"'HWC'", "\"it's\"", "'say \"x\"'", "r'\\d'", "f'{size}px'", "'''long'''"});
      default:
        return name();
    }
  }
  std::string arguments(int depth) {
    std::string out;
    auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
    for (size_t i = dice_.below(3); i > 0; --i) add(expression(depth));
    if (dice_.chance(10)) add("*" + name());
    if (dice_.chance(50)) add("size=" + expression(depth));
    if (dice_.chance(30)) add("output_layout=" + expression(depth));
    if (dice_.chance(10)) add("**" + name());
    if (!out.empty() && dice_.chance(15)) out += ",";
    return out;
  }
  std::string expression(int depth) {
    if (depth <= 0) return leaf();
    auto e = [&] { return expression(depth - 1); };
    switch (dice_.below(19)) {
      case 0:
      case 1:
      case 2:
        return "fn." + name() + "." + name() + "(" + arguments(depth - 1) + ")";
      case 3:
        return name() + "(" + arguments(depth - 1) + ")." + name() + "(" + arguments(depth - 1) + ")";
      case 4:
        return "(" + e() + " " + dice_.one_of({"+", "-", "*", "//", "**", "<<", "&"}) + " " + e() + ")";
      case 5:
        return name() + " + " + name() + " * " + leaf() + " - " + name();
      case 6:
        return "(" + e() + " " + dice_.one_of({"<", "==", "in", "not in", "is not"}) + " " + e() + ")";
      case 7:
        return "(" + e() + " and " + e() + " or not " + e() + ")";
      case 8:
        return "(" + e() + " if " + e() + " else " + e() + ")";
      case 9:
        return "[" + e() + ", " + e() + ", " + e() + "]";
      case 10:
        return "(" + e() + ", " + e() + ")";
      case 11:
        return "{'key': " + e() + ", 'other': " + e() + "}";
      case 12:
        return "[" + e() + " for x in " + name() + " if " + e() + "]";
      case 13:
        return "{k: " + e() + " for k, v in " + name() + "}";
      case 14:
        return name() + "[" + name() + " : " + name() + " + 1]";
      case 15:
        return "(lambda x, y=1: " + e() + ")";
      case 16:
        return "(-" + name() + " ** " + name() + ")";
      case 17:
        return "'a' 'b'";
      default:
        return leaf();
    }
  }
  std::string suite(int depth, const std::string& indent) {
    std::string out;
    for (size_t i = 1 + dice_.below(3); i > 0; --i) out += statement(depth, indent);
    return out;
  }
  std::string statement(int depth, const std::string& indent) {
    const std::string inner = indent + "    ";
    const int deep = 1 + static_cast<int>(dice_.below(3));
    switch (dice_.below(depth > 0 ? 13 : 8)) {
      case 0:
      case 1:
      case 2:
        return indent + name() + " = " + expression(deep) + "\n";
      case 3:
        return indent + "a, b = " + expression(deep) + ", " + expression(1) + "\n";
      case 4:
        return indent + name() + ": int = " + expression(deep) + "\n";
      case 5:
        return indent + "assert " + expression(deep) + ", 'why'\n";
      case 6:
        return indent + "fn." + name() + "(" + arguments(3) + ")\n";
      case 7:
        return indent + name() + "[" + leaf() + "] += " + expression(deep) + "\n";
      case 8:
      case 9:
        return indent + "if " + expression(2) + ":\n" + suite(depth - 1, inner) +
               (dice_.chance(50) ? indent + "else:\n" + suite(depth - 1, inner) : "");
      case 10:
        return indent + "for " + dice_.one_of({"x", "x, y", "i, (x, y)"}) + " in " + expression(2) + ":\n" +
               suite(depth - 1, inner);
      default: {
        std::string out = dice_.chance(50) ? indent + "@pipeline_def(batch_size=4)\n" : "";
        out += indent + "def " + name() + "(" +
               dice_.one_of({"", "a", "a, b=1", "a, *args, c: int = 2, **kw", "a: list[int] = [], *, b=1"}) +
               ")" + dice_.one_of({"", " -> int"}) + ":\n";
        if (dice_.chance(30)) out += inner + "'''  Doc\n\n" + inner + "   more  \n" + inner + "'''\n";
        return out + suite(depth - 1, inner) + inner + "return " + expression(2) + ", " + expression(1) +
               "\n";
      }
    }
  }

  Dice dice_;
};

}  // namespace

std::string random_program(uint32_t seed) { return Program(seed).text(); }

std::string careless_spelling(const std::string& program, uint32_t seed, int& num_comments) {
  Dice dice(seed * 2654435761u + 1);
  std::vector<Diagnostic> diagnostics;
  std::vector<Token> tokens = lex(1, program, diagnostics);
  const size_t unit = 1 + dice.below(5);
  std::string out;
  size_t level = 0;
  int brackets = 0;
  bool at_start = true;
  num_comments = 0;
  auto comment = [&](const char* before) {
    ++num_comments;
    out += before + dice.one_of({"#c", "# why", "#: special", "#!x"});
  };
  for (const Token& token : tokens) {
    switch (token.kind) {
      case TokenKind::kIndent:
        ++level;
        continue;
      case TokenKind::kDedent:
        --level;
        continue;
      case TokenKind::kEnd:
        return out;
      case TokenKind::kNewline:
        if (dice.chance(10)) comment("  ");
        out.append(1 + dice.below(4), '\n');
        at_start = true;
        continue;
      default:
        break;
    }
    if (at_start) {
      if (dice.chance(10)) {
        out.append(level * unit, ' ');
        comment("");
        out.append(1 + dice.below(3), '\n');
      }
      out.append(level * unit, ' ');
      at_start = false;
    } else if (brackets > 0 && dice.chance(6)) {
      if (dice.chance(20)) comment(" ");
      out.append(1 + dice.below(2), '\n');
      if (dice.chance(15)) {
        comment("  ");
        out += '\n';
      }
      out.append(dice.below(9), ' ');
    } else if (brackets == 0 && dice.chance(2)) {
      out += " \\\n ";
    } else {
      out.append(1 + dice.below(2), ' ');
    }
    // Only where the brackets cannot mean a call, a parameter or a target.
    const bool number = token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat;
    const bool redundant = number && dice.chance(10);
    if (redundant) out += dice.chance(50) ? "((" : "( (\n";
    out += token.text;
    if (redundant) out += "))";
    if (token.kind == TokenKind::kOperator && token.text.size() == 1) {
      if (std::string_view("([{").find(token.text[0]) != std::string_view::npos) ++brackets;
      if (std::string_view(")]}").find(token.text[0]) != std::string_view::npos) --brackets;
    }
  }
  return out;
}

}  // namespace galatea::dsl::testing
