// See program_generator.h. In: a seed. Out: a program's text.
#include "tests/branch/program_generator.h"

#include <fmt/format.h>

namespace galatea::testing {

void ProgramGenerator::line(const std::string& text) {
  text_ += std::string(static_cast<size_t>(indent_) * 4, ' ') + text + "\n";
}

// ---- expressions ----

std::string ProgramGenerator::literal() {
  int value = chance(70) ? below(10) : below(256);
  return options_.wide ? fmt::format("(zero + {})", value) : std::to_string(value);
}

std::string ProgramGenerator::small(int depth) { return "(" + integer(depth) + " & 255)"; }

std::string ProgramGenerator::integer(int depth) {
  int kind = depth <= 0 ? below(3) : below(13);
  switch (kind) {
    case 0:
      return literal();
    case 1:
    case 2:
      return pick(ints_);
    case 3:
      return options_.wide || counters_.empty() ? pick(ints_) : pick(counters_);
    case 4:
      if (!tuples_.empty()) return fmt::format("{}[{}]", pick(tuples_), below(2));
      return pick(ints_);
    case 5:
      if (!lists_.empty()) return fmt::format("{}[{}]", pick(lists_), chance(50) ? below(3) : -1 - below(3));
      return pick(ints_);
    case 6:
      if (!dicts_.empty()) return fmt::format("{}[\"{}\"]", pick(dicts_), chance(50) ? "k" : "m");
      return pick(ints_);
    case 7:
      return fmt::format("({} {} {})", small(depth - 1), pick({"+", "-", "*", "&", "|", "^"}),
                         small(depth - 1));
    case 8:
      return fmt::format("({} % {})", small(depth - 1), 2 + below(9));
    case 9:
      return fmt::format("({} if {} else {})", integer(depth - 1), condition(depth - 1), integer(depth - 1));
    case 10:
      if (!calls_.empty()) return fmt::format("{}({}, {})", pick(calls_), small(depth - 1), small(depth - 1));
      return pick(ints_);
    case 11:
      if (!lists_.empty())
        return fmt::format("sum([v + {} if {} else v for v in {}])", literal(), boolean(0), pick(lists_));
      return pick(ints_);
    default:
      return fmt::format("({} // {})", small(depth - 1), 1 + below(5));
  }
}

std::string ProgramGenerator::boolean(int depth) {
  int kind = depth <= 0 ? below(2) : below(9);
  switch (kind) {
    case 0:
      return pick(bools_);
    case 1:
      return fmt::format("({} {} {})", pick(ints_), pick({"<", "<=", ">", ">=", "==", "!="}), literal());
    case 2:
      return fmt::format("({} {} {})", integer(depth - 1), pick({"<", "<=", ">", ">=", "==", "!="}),
                         integer(depth - 1));
    case 3:
      return fmt::format("({} and {})", boolean(depth - 1), boolean(depth - 1));
    case 4:
      return fmt::format("({} or {})", boolean(depth - 1), boolean(depth - 1));
    case 5:
      return fmt::format("(not {})", chance(50) ? integer(depth - 1) : boolean(depth - 1));
    case 6:
      return fmt::format("({} < {} <= {})", integer(depth - 1), integer(depth - 1), integer(depth - 1));
    case 7:
      return fmt::format("({} if {} else {})", boolean(depth - 1), condition(depth - 1), boolean(depth - 1));
    default:
      return chance(50) ? "True" : "False";
  }
}

std::string ProgramGenerator::condition(int depth) {
  if (chance(15)) return integer(depth);
  if (!in_comprehension_ && chance(10))
    return fmt::format("({} := {}) > {}", pick(ints_), small(depth), literal());
  return boolean(depth);
}

std::string ProgramGenerator::tuple(int depth) {
  if (chance(25)) return fmt::format("({} if {} else {})", pick(tuples_), condition(depth), pick(tuples_));
  return fmt::format("({}, {})", integer(depth), integer(depth));
}

std::string ProgramGenerator::list(int depth) {
  if (chance(25)) {
    in_comprehension_ = true;
    std::string element = small(depth);
    in_comprehension_ = false;
    return fmt::format("[{} if v > {} else v for v in {}]", element, literal(), pick(lists_));
  }
  if (chance(25)) return fmt::format("{}[1:] + [{}]", pick(lists_), integer(depth));
  return fmt::format("[{}, {}, {}]", integer(depth), integer(depth), integer(depth));
}

std::string ProgramGenerator::dict(int depth) {
  if (chance(30))
    return fmt::format("{{**{}, \"{}\": {}}}", pick(dicts_), chance(50) ? "k" : "m", integer(depth));
  return fmt::format("{{\"k\": {}, \"m\": {}}}", integer(depth), integer(depth));
}

// ---- statements ----

void ProgramGenerator::suite(int depth) {
  ++indent_;
  int count = 1 + below(3);
  for (int i = 0; i < count; ++i) statement(depth);
  --indent_;
}

void ProgramGenerator::statement(int depth) {
  if (--budget_ < 0) return line("pass");
  int kind = below(100);
  if (options_.changes && in_main_ && chance(15)) return change(depth);
  if (depth > 0 && kind < 30) return choose(depth);
  if (depth > 0 && kind < 38 && loops_ < 2) return for_loop(depth);
  if (depth > 0 && kind < 43 && loops_ < 2) return while_loop(depth);
  if (loops_ > 0 && kind < 55) return jump(depth);
  if (kind < 60) return early_return();
  assignment(depth);
}

void ProgramGenerator::assignment(int) {
  switch (below(in_main_ ? 9 : 4)) {
    case 0:
    case 1:
      return line(fmt::format("{} = {}", pick(ints_), small(3)));
    case 2:
      return line(fmt::format("{} = {}", pick(bools_), boolean(3)));
    case 3:
      return line(fmt::format("{} {}= {}", pick(ints_), pick({"&", "|", "^"}), small(2)));
    case 4:
      return line(fmt::format("{} = {}", pick(tuples_), tuple(2)));
    case 5:
      return line(fmt::format("{} = {}", pick(lists_), list(2)));
    case 6:
      return line(fmt::format("{} = {}", pick(dicts_), dict(2)));
    case 7:
      return line(fmt::format("{}, {} = {}, {}", ints_[0], ints_[1], small(2), small(2)));
    default:
      return line(fmt::format("{} = {}", fresh("unused"), integer(2)));
  }
}

// Changes in place, and second names, which the language may refuse but never get wrong.
void ProgramGenerator::change(int) {
  switch (below(6)) {
    case 0:
      return line(fmt::format("{}[{}] = {}", pick(lists_), below(3), small(2)));
    case 1:
      return line(fmt::format("{}[\"{}\"] = {}", pick(dicts_), chance(50) ? "k" : "m", small(2)));
    case 2:
      return line(fmt::format("{} = {}", lists_[0], lists_[1]));
    case 3:
      return line(fmt::format("{} = {}", dicts_[1], dicts_[0]));
    case 4:
      return line(fmt::format("{}.reverse()", pick(lists_)));
    default: {
      const std::string& name = pick(lists_);
      return line(fmt::format("{}.append({}.pop(0))", name, name));
    }
  }
}

void ProgramGenerator::choose(int depth) {
  line("if " + condition(2) + ":");
  suite(depth - 1);
  while (chance(25)) {
    line("elif " + condition(2) + ":");
    suite(depth - 1);
  }
  if (!chance(60)) return;
  line("else:");
  suite(depth - 1);
}

void ProgramGenerator::for_loop(int depth) {
  std::string counter = fresh("i");
  if (chance(25) && !options_.wide && in_main_)
    line(fmt::format("for {} in list({}):", counter, pick(lists_)));
  else
    line(fmt::format("for {} in range({}):", counter, 1 + below(3)));
  loop_body(counter, depth);
}

// The body of a loop, and sometimes its `else`.
void ProgramGenerator::loop_body(const std::string& counter, int depth) {
  counters_.push_back(counter);
  ++loops_;
  suite(depth - 1);
  --loops_;
  counters_.pop_back();
  if (!chance(30)) return;
  line("else:");
  suite(depth - 1);
}

void ProgramGenerator::while_loop(int depth) {
  std::string counter = fresh("n");
  line(counter + " = 0");
  line(fmt::format("while {} < {}:", counter, 1 + below(3)));
  ++indent_;
  line(counter + " += 1");
  --indent_;
  loop_body(counter, depth);
}

void ProgramGenerator::jump(int) {
  std::string word = chance(50) ? "break" : "continue";
  if (chance(15)) return line(word);
  line("if " + condition(1) + ":");
  ++indent_;
  if (chance(40)) assignment(0);
  line(word);
  --indent_;
}

void ProgramGenerator::early_return() {
  std::string value = in_main_ ? results() : small(2);
  if (chance(10)) return line("return " + value);
  line("if " + condition(1) + ":");
  line("    return " + value);
}

// ---- functions ----

void ProgramGenerator::begin_function(const std::string& head, std::vector<std::string> ints,
                                      std::vector<std::string> bools) {
  line("def " + head + ":");
  ints_ = std::move(ints);
  bools_ = std::move(bools);
  tuples_.clear(), lists_.clear(), dicts_.clear(), counters_.clear();
  loops_ = 0;
}

// Functions inside `f`, which see its variables.
void ProgramGenerator::helpers() {
  calls_.clear();
  begin_function("branchy(x, y, flag=False)", {"x", "y"}, {"flag"});
  budget_ = 6;
  suite(2);
  line("    return " + small(2));
  line("");
  begin_function("deep(x, n)", {"x"}, {"(x > 100)"});
  line("    if n == 0:");
  line("        return x");
  line(fmt::format("    if {}:", boolean(1)));
  line(fmt::format("        return deep({}, n - 1)", small(1)));
  line(fmt::format("    return deep({}, n - 1) ^ {}", small(1), literal()));
  line("");
  ints_ = {"x", "y"}, bools_ = {"(x < y)", "p", "q"};
  line(fmt::format("chosen = lambda x, y: {} if {} else {}", small(1), boolean(1), small(1)));
  line(fmt::format("deeper = lambda x, y: deep(x ^ y, {})", 1 + below(2)));
  calls_ = {"branchy", "chosen", "deeper"};
}

std::string ProgramGenerator::results() { return "(x0, x1, s0, *t0, u0[0], d0[\"k\"], u1[-1])"; }

std::string ProgramGenerator::make() {
  line("def f(a, b, c, p, q):");
  ++indent_;
  if (options_.wide) line("zero = a ^ a");
  helpers();
  in_main_ = true;
  ints_ = {"a", "b", "c", "x0", "x1"};
  bools_ = {"p", "q", "s0"};
  line(fmt::format("x0 = {}", literal()));
  line(fmt::format("x1 = {}", chance(50) ? "a & 31" : literal()));
  line(fmt::format("s0 = {}", chance(50) ? "True" : "p"));
  line(fmt::format("t0 = ({}, b)", literal()));
  line(fmt::format("t1 = ({}, {})", literal(), literal()));
  line(fmt::format("u0 = [{}, {}, c]", literal(), literal()));
  line(fmt::format("u1 = [a, {}, {}]", literal(), literal()));
  line(fmt::format("d0 = {{\"k\": {}, \"m\": {}}}", literal(), literal()));
  line(fmt::format("d1 = {{\"k\": b, \"m\": {}}}", literal()));
  tuples_ = {"t0", "t1"}, lists_ = {"u0", "u1"}, dicts_ = {"d0", "d1"};
  budget_ = 18;
  int count = 4 + below(5);
  for (int i = 0; i < count; ++i) statement(3);
  line("return " + results());
  return text_;
}

}  // namespace galatea::testing
