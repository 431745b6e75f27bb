#include "tests/limits/hostile_inputs.h"

#include <sstream>

namespace galatea::limits {
namespace {

std::string times(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// "a0, a1, …" from a pattern in which # stands for the number.
std::string numbered(const std::string& pattern, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    for (char c : pattern) out += c == '#' ? std::to_string(i) : std::string(1, c);
  }
  return out;
}

std::string pipeline(const std::string& body) {
  std::string text =
      "from nvidia.dali import pipeline_def, fn, types\n@pipeline_def(batch_size=2)\ndef p():\n";
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
  return text;
}

// Statements repeated in a loop after others.
std::string loop(const std::string& before, int rounds, const std::string& statement) {
  return before + "\nfor i in range(" + std::to_string(rounds) + "):\n    " + statement + "\n";
}

void add_syntax(std::vector<HostileInput>& out) {
  constexpr int kMany = 100'000;
  out.push_back({"brackets", "x = " + times("(", kMany) + "1" + times(")", kMany) + "\n", "G0702"});
  out.push_back({"signs", "x = " + times("-", kMany) + "1\n", "G0703"});
  out.push_back({"not", "x = " + times("not ", kMany) + "1\n", "G0703"});
  out.push_back({"lambda", "x = " + times("lambda: ", kMany) + "1\n", "G0703"});
  out.push_back({"choice", "x = " + times("1 if 1 else ", kMany) + "1\n", "G0703"});
  out.push_back({"power", "x = " + times("1**", kMany) + "1\n", "G0703"});
  out.push_back({"sum", "x = " + times("1+", kMany) + "1\n", "G0704"});
  out.push_back({"attributes", "x = a" + times(".a", kMany) + "\n", "G0704"});
  out.push_back({"calls", "x = a" + times("()", kMany) + "\n", "G0704"});
  out.push_back({"comparisons", "x = " + times("1<", kMany) + "2\n", "G0704"});
  out.push_back({"loops of a comprehension", "x = [0" + times(" for a in b", 3000) + "]\n", "G0704"});
  out.push_back({"file", times("x = 1\n", 800'000), "G0710"});
  out.push_back({"digits", "x = " + times("1", 1'000'000) + "\n", "G0207"});
  out.push_back({"digits of a float", "x = " + times("1", 1'000'000) + ".0\n", ""});
  out.push_back({"list of a million", "x = [" + times("1,", 1'000'000) + "]\n", "G0706"});
  out.push_back({"statements on a line", times("x = 1;", 300'000) + "\n", ""});
  out.push_back({"parameters", "def f(" + numbered("a#,", 20'000) + "): pass\n", ""});
  out.push_back({"variables", numbered("v# = #\n", 100'000), ""});
}

void add_sizes(std::vector<HostileInput>& out) {
  out.push_back({"2**10**9", "x = 2**10**9\n", "G0207"});
  out.push_back({"shift", "x = 1 << 10**9\n", "G0207"});
  out.push_back({"text times 10**12", "x = 'a'*10**12\n", "G0709"});
  out.push_back({"list times 10**12", "x = [0]*10**12\n", "G0709"});
  out.push_back({"text doubled", loop("x = 'a'", 100, "x = x + x"), "G0709"});
  out.push_back({"list doubled", loop("x = [0]", 100, "x = x + x"), "G0709"});
  out.push_back({"list extended by itself", loop("x = [0]", 100, "x.extend(x)"), "G0706 G0709"});
  out.push_back({"list += itself", loop("x = [0]", 100, "x += x"), "G0706 G0709"});
  out.push_back({"list spread", loop("x = [0]", 100, "x = [*x, *x]"), "G0709"});
  out.push_back({"arguments spread", loop("def f(*a): return a\nx = (0,)", 100, "x = f(*x, *x)"), "G0709"});
  out.push_back({"text joined", loop("x = 'a'", 100, "x = x.join([x]*100)"), "G0709"});
  out.push_back({"text replaced", loop("x = 'aaaaaaaaaa'", 100, "x = x.replace('a', x)"), "G0709"});
  out.push_back({"width of an f-string", "x = f'{1:1000000000}'\n", "G0241"});
  out.push_back({"width of a format", "x = '%1000000000d' % 1\n", "G0241"});
  out.push_back({"many widths", "x = ('%99999d' * 5000) % ((1,) * 5000)\n", "G0709"});
  out.push_back({"many texts", loop("x = []", 300, "x.append('x' * 10000000 + str(i))"), "G0708"});
  out.push_back({"parts of a text", "x = ('a,'*3000000).split(',')\n", "G0709"});
}

void add_work(std::vector<HostileInput>& out) {
  out.push_back({"while True", "while True: pass\n", "G0706"});
  out.push_back({"range(10**18)", "for i in range(10**18): pass\n", "G0706"});
  out.push_back({"list(range(10**18))", "x = list(range(10**18))\n", "G0706"});
  out.push_back({"recursion", "def f(n): return f(n+1)\nf(0)\n", "G0705"});
  out.push_back({"recursion through map", "def f(n): return list(map(f, [n]))\nf(0)\n", "G0705"});
  out.push_back({"two calls each", "def f(n): return 1 if n < 2 else f(n-1)+f(n-2)\nf(100)\n", "G0706"});
  out.push_back({"insert at the front", loop("x = []", 150'000, "x.insert(0, i)"), "G0706"});
  out.push_back({"count", loop("x = [0]*1000000", 150'000, "x.count(1)"), "G0706"});
  out.push_back({"in", loop("x = [0]*1000000", 150'000, "y = 1 in x"), "G0706"});
  out.push_back({"slices", loop("x = list(range(900000))", 150'000, "y = x[1:]"), "G0706"});
  out.push_back({"characters", loop("x = 'a'*900000", 150'000, "y = x[1]"), "G0706"});
  out.push_back({"len", loop("x = 'a'*9000000", 150'000, "y = len(x)"), "G0706"});
  out.push_back({"equal texts", loop("x = 'a'*9000000\ny = 'a'*9000000", 150'000, "z = x == y"), "G0706"});
  out.push_back({"text in text", "z = 'a'*1000000+'b' in 'a'*9000000\n", ""});
  out.push_back({"sums", loop("x = [0]*1000000", 150'000, "y = sum(x)"), "G0706"});
  out.push_back({"keys dropped", loop("d = {i: i for i in range(100000)}", 100'000, "d.pop(i)"), "G0706"});
  out.push_back({"dicts copied", loop("d = {i: i for i in range(100000)}", 100'000, "e = dict(d)"), "G0706"});
}

void add_sharing(std::vector<HostileInput>& out) {
  const std::string shared = loop("a = [1]\nb = [1]", 60, "a = [a, a]; b = [b, b]");
  const std::string deep = loop("a = []\nb = []", 100'000, "a = [a]; b = [b]");
  out.push_back({"shared, shown", shared + "print(a)\n", "G0706"});
  out.push_back({"shared, compared", shared + "print(a == b)\n", "G0706"});
  out.push_back({"shared, as a key", loop("a = (1,)", 60, "a = (a, a)") + "d = {a: 1}\n", "G0706"});
  out.push_back({"deep, shown", deep + "print(a)\n", "G0713"});
  out.push_back({"deep, compared", deep + "print(a == b)\n", "G0713"});
  out.push_back(
      {"deep, ordered", loop("a = ()\nb = ()", 100'000, "a = (a,); b = (b,)") + "a < b\n", "G0713"});
  out.push_back({"deep, as a key", loop("a = ()", 100'000, "a = (a,)") + "d = {a: 1}\n", "G0713"});
  out.push_back({"in itself, shown", "a = []\na.append(a)\nprint(a)\n", ""});
  out.push_back({"in itself, compared", "a = []\na.append(a)\nb = []\nb.append(b)\na == b\n", "G0713"});
}

void add_graphs(std::vector<HostileInput>& out) {
  const std::string choice = "c = fn.random.coin_flip(dtype=types.BOOL)\n";
  const std::string two = choice + "x = [fn.random.uniform()]\ny = [fn.random.uniform()]\n";
  out.push_back({"operators",
                 pipeline("x = fn.random.uniform()\nfor i in range(200000):\n    x = x + x\nreturn x"),
                 "G0707"});
  out.push_back({"branches",
                 pipeline(choice + "x = 1\nfor i in range(60000):\n    if c:\n        x = i\nreturn x + 1"),
                 "G0707"});
  out.push_back(
      {"branches in branches",
       pipeline("def f(x, n):\n    if n == 0:\n        return x\n    if x > 0.5:\n        return f(x + "
                "1, n - 1)\n    return f(x + 2, n - 1)\nreturn f(fn.random.uniform(), 30)"),
       "G0707"});
  out.push_back(
      // Each list is merged once, however often it is named.
      {"shared, merged",
       pipeline(two + "for i in range(60):\n    x = [x, x]\n    y = [y, y]\nz = x if c else y\nreturn c"),
       ""});
  out.push_back(
      {"deep, merged",
       pipeline(two + "for i in range(100000):\n    x = [x]\n    y = [y]\nz = x if c else y\nreturn c"),
       "G0713"});
  out.push_back(
      {"variables kept at returns",
       pipeline("def f(x):\n" + numbered("    a# = #\n", 2000) +
                "    g = lambda: x\n    for i in range(5000):\n        if x > i:\n            return x\n"
                "    return x\nreturn f(fn.random.uniform())"),
       "G0706"});
  out.push_back({"outputs", pipeline("x = fn.random.uniform()\nreturn tuple([x]*200000)"), "G0707"});
  out.push_back(
      {"calls kept by operators",
       pipeline("def f(n, x):\n    if n == 0:\n        return x\n    for i in range(500):\n        x = x + "
                "x\n    return f(n-1, x)\nreturn f(250, fn.random.uniform())"),
       "G0707"});
}

}  // namespace

std::vector<HostileInput> hostile_inputs() {
  std::vector<HostileInput> out;
  add_syntax(out);
  add_sizes(out);
  add_work(out);
  add_sharing(out);
  add_graphs(out);
  return out;
}

}  // namespace galatea::limits
