// Reading PTX; see ptx_program.h.
#include "tests/ptx/ptx_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace galatea::testing {

namespace {

/// In the order of PtxOp.
constexpr const char* kNames[] = {"add",  "sub", "mul",  "mad",  "div",    "rem",   "min",      "max",
                                  "abs",  "neg", "and",  "or",   "xor",    "not",   "shl",      "shr",
                                  "popc", "bfe", "prmt", "shf",  "fma",    "sqrt",  "selp",     "mov",
                                  "cvta", "cvt", "setp", "ld",   "st",     "atom",  "red",      "bar",
                                  "shfl", "bra", "ret",  "exit", "membar", "fence", "nanosleep"};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

bool is_type(const std::string& word) {
  return word == "pred" ||
         (word.size() >= 2 && std::string("usfb").find(word[0]) != std::string::npos &&
          std::all_of(word.begin() + 1, word.end(), [](unsigned char c) { return std::isdigit(c) != 0; }));
}
PtxType type_of(const std::string& word) {
  if (word == "pred") return {'p', 1};
  return {word[0], std::atoi(word.c_str() + 1)};
}

/// Machine instructions that one of PTX becomes, as sm_90 has them: registers are of 32 bits, and divisions
/// are sequences. Estimates; what is not named is one.
int weight_of(const PtxInstruction& i) {
  const PtxOp op = i.op;
  const bool integer = i.type.kind != 'f' && i.type.kind != 'p';
  const bool wide = integer && i.type.bits == 64;
  if (op == PtxOp::kMov || op == PtxOp::kCvta) return 0;
  if (op == PtxOp::kDiv || op == PtxOp::kRem)
    return integer ? (wide ? 110 : 18) : (i.type.bits == 64 ? 20 : 10);
  if (op == PtxOp::kSqrt) return i.type.bits == 64 ? 20 : 8;
  if (!wide) return 1;
  if (op == PtxOp::kMul && !i.has("wide")) return 4;
  if (op == PtxOp::kMad && !i.has("wide")) return 5;
  if (op == PtxOp::kMin || op == PtxOp::kMax || op == PtxOp::kAbs) return 4;
  if (op == PtxOp::kShl || op == PtxOp::kShr) return 3;
  static constexpr PtxOp kPairs[] = {PtxOp::kAdd, PtxOp::kSub, PtxOp::kSetp, PtxOp::kSelp, PtxOp::kAnd,
                                     PtxOp::kOr,  PtxOp::kXor, PtxOp::kNot,  PtxOp::kNeg};
  return std::ranges::find(kPairs, op) != std::end(kPairs) ? 2 : 1;
}

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Result<PtxProgram> run() {
    std::stringstream in(text_);
    int depth = 0;
    bool is_kernel = false;
    std::string statement_so_far;
    for (std::string line; std::getline(in, line);) {
      if (const size_t comment = line.find("//"); comment != std::string::npos) line.resize(comment);
      while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
      line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
      if (line.find(".func") != std::string::npos) is_kernel = false;
      if (const size_t entry = line.find(".entry "); entry != std::string::npos) {
        if (!out_.name.empty()) return fail("a second kernel");
        out_.name = line.substr(entry + 7, line.find_first_of("( ", entry + 7) - entry - 7);
        is_kernel = true;
      }
      if (line == "{") ++depth;
      if (line == "}") --depth;
      // Shared memory that a function is told of stands outside.
      if (depth == 0 && line.starts_with(".shared")) variable(line, kPtxShared, &out_.shared_bytes);
      if (!is_kernel || depth == 0 || line.empty() || line == "{" || line == "}") continue;
      if (line.starts_with('{') && line.ends_with('}')) {
        scope(line.substr(1, line.size() - 2));
        if (!error_.empty()) return fail(error_);
        continue;
      }
      statement_so_far += line;
      if (!line.ends_with(';') && !line.ends_with(':')) continue;
      statement(std::exchange(statement_so_far, ""));
      if (!error_.empty()) return fail(error_);
    }
    for (const auto& [number, label] : branches_) {
      if (!labels_.contains(label)) return fail("an unknown label " + label);
      out_.instructions[number].target = labels_[label];
    }
    return std::move(out_);
  }

 private:
  static std::unexpected<Error> fail(const std::string& what) {
    return make_error(ErrorKind::kInternal, "", "PTX with " + what);
  }

  void statement(const std::string& line) {
    if (line.ends_with(':')) {
      labels_[line.substr(0, line.size() - 1)] = static_cast<int>(out_.instructions.size());
    } else if (line.starts_with(".shared")) {
      variable(line, kPtxShared, &out_.shared_bytes);
    } else if (line.starts_with(".local")) {
      variable(line, kPtxLocal, &out_.local_bytes);
    } else if (!line.starts_with(".")) {
      instruction(line);
    }
  }
  /// "{ .reg .b16 tmp; mov.b32 {tmp, %rs6}, %r28; }", without its braces: registers with names of their own.
  void scope(const std::string& text) {
    for (std::string part : split(text, ';')) {
      part.erase(0, std::min(part.find_first_not_of(" \t"), part.size()));
      if (part.empty()) continue;
      if (!part.starts_with(".reg")) {
        instruction(part + ';');
        continue;
      }
      const std::vector<std::string> words = split(part, ' ');
      const int bits = words.size() == 3 ? type_of(words[1].substr(1)).bits : 0;
      if (bits == 0) error_ = "a scope that declares " + part;
      own_names_[words.back()] = (bits == 16 ? "%rs" : bits == 64 ? "%rd" : "%r") + words.back();
    }
    own_names_.clear();
  }
  /// ".shared .align 16 .b8 name[1024];"
  void variable(const std::string& line, uint64_t base, int64_t* used) {
    const std::string name = line.substr(line.rfind(' ') + 1);
    const size_t bracket = name.find('[');
    const std::string word = line.substr(line.rfind('.') + 1);
    int64_t bytes = type_of(word.substr(0, word.find(' '))).bits / 8;
    if (bracket != std::string::npos) bytes *= std::atoll(name.c_str() + bracket + 1);
    *used = (*used + 15) / 16 * 16;
    symbols_[name.substr(0, name.find_first_of("[;"))] = base + static_cast<uint64_t>(*used);
    *used += bytes;
  }

  int reg(const std::string& written) {
    const auto own = own_names_.find(written);
    const std::string& name = own == own_names_.end() ? written : own->second;
    const auto [place, is_new] = registers_.try_emplace(name, static_cast<int>(registers_.size()));
    return place->second;
  }

  PtxOperand operand(std::string word) {
    PtxOperand out;
    if (word.starts_with('[')) word = word.substr(1, word.size() - 2);
    if (const size_t plus = word.find('+'); plus != std::string::npos) {
      out.value = static_cast<uint64_t>(std::strtoll(word.c_str() + plus + 1, nullptr, 0));
      word.resize(plus);
    }
    if (word.starts_with('%') || own_names_.contains(word)) {
      out.reg = reg(word);
    } else if (word.starts_with("0f") || word.starts_with("0d")) {
      out.value = std::strtoull(word.c_str() + 2, nullptr, 16);
    } else if (std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '-') {
      out.value = word[0] == '-' ? static_cast<uint64_t>(std::strtoll(word.c_str(), nullptr, 0))
                                 : std::strtoull(word.c_str(), nullptr, 0);
    } else if (const size_t parameter = word.find("_param_"); parameter != std::string::npos) {
      out.value = std::strtoull(word.c_str() + parameter + 7, nullptr, 10);
    } else if (symbols_.contains(word)) {
      out.value += symbols_[word];
    } else {
      error_ = "an unknown name " + word;
    }
    return out;
  }

  /// "@!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+8];"
  void instruction(const std::string& line) {
    PtxInstruction out;
    std::string rest = line.substr(0, line.rfind(';'));
    if (rest.starts_with('@')) {
      const size_t end = rest.find_first_of(" \t");
      out.guard_negated = rest[1] == '!';
      out.guard = reg(rest.substr(out.guard_negated ? 2 : 1, end - (out.guard_negated ? 2 : 1)));
      rest.erase(0, rest.find_first_not_of(" \t", end));
    }
    const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    out.name = rest.substr(0, end);
    rest.erase(0, end);
    std::erase_if(rest, [](unsigned char c) { return std::isspace(c) != 0; });
    suffixes(&out);
    // The form for rare calls: who comes here with another is told so by the machine.
    if (out.op == PtxOp::kUnknown && out.name.starts_with("call")) rest.clear();
    if (out.op == PtxOp::kSt && out.space == PtxSpace::kParameter) return;
    if (out.op == PtxOp::kBra) {
      branches_.emplace_back(out_.instructions.size(), rest);
      rest.clear();
    }
    operands(rest, &out);
    out.weight = weight_of(out);
    out_.instructions.push_back(std::move(out));
  }
  static void suffixes(PtxInstruction* out) {
    const std::vector<std::string> words = split(out->name, '.');
    for (size_t k = 0; k < std::size(kNames); ++k)
      if (words[0] == kNames[k]) out->op = static_cast<PtxOp>(k);
    bool typed = false;
    for (size_t w = 1; w < words.size(); ++w) {
      if (!is_type(words[w])) {
        out->modifiers.push_back(words[w]);
        continue;
      }
      (typed ? out->from : out->type) = type_of(words[w]);
      typed = true;
    }
    if (out->has("global")) out->space = PtxSpace::kGlobal;
    if (out->has("shared")) out->space = PtxSpace::kShared;
    if (out->has("local")) out->space = PtxSpace::kLocal;
    if (out->has("param")) out->space = PtxSpace::kParameter;
  }
  void operands(const std::string& rest, PtxInstruction* out) {
    static constexpr PtxOp kWritesNothing[] = {PtxOp::kSt,        PtxOp::kBra,    PtxOp::kBar,
                                               PtxOp::kNanosleep, PtxOp::kMembar, PtxOp::kRed,
                                               PtxOp::kRet,       PtxOp::kExit,   PtxOp::kFence};
    bool writes = std::ranges::find(kWritesNothing, out->op) == std::end(kWritesNothing);
    std::string word;
    bool braces = false;
    const auto finish = [&] {
      if (word.empty()) return;
      for (const std::string& one : split(word, '|')) {
        if (writes)
          out->to.push_back(reg(one));
        else
          out->args.push_back(operand(one));
      }
      word.clear();
    };
    for (const char c : rest) {
      if (c == '{') braces = true;
      if (c == '}') braces = false;
      if (c == '{' || c == '}') continue;
      if (c != ',') {
        word += c;
        continue;
      }
      finish();
      if (!braces) writes = false;
    }
    finish();
  }

  const std::string& text_;
  PtxProgram out_;
  std::string error_;
  std::map<std::string, int> registers_, labels_;
  std::map<std::string, std::string> own_names_;  ///< of a scope, and what its registers are called outside
  std::map<std::string, uint64_t> symbols_;
  std::vector<std::pair<size_t, std::string>> branches_;

 public:
  const std::map<std::string, int>& registers() const { return registers_; }
};

/// The number of special registers is what the machine sets.
int bits_of(const std::string& name) {
  if (name.starts_with("%rd") || name.starts_with("%fd") || name.starts_with("%SP")) return 64;
  if (name.starts_with("%rs")) return 16;
  if (name.starts_with("%p")) return 1;
  return 32;
}

}  // namespace

bool PtxInstruction::has(const char* modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Result<PtxProgram> read_ptx(const std::string& text) {
  Reader reader(text);
  auto out = reader.run();
  if (!out) return out;
  out->register_bits.resize(reader.registers().size());
  for (const auto& [name, number] : reader.registers()) {
    out->register_bits[static_cast<size_t>(number)] = bits_of(name);
    if (name == "%tid.x") out->thread_register = number;
    if (name == "%ctaid.x") out->block_register = number;
    if (name == "%ntid.x") out->threads_register = number;
  }
  return out;
}

}  // namespace galatea::testing
