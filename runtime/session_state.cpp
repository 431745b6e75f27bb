#include "runtime/session_state.h"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "base/checksum.h"
#include "base/json.h"
#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

/// The form of the text. Members that this form does not know are an error: they may decide where to go on.
constexpr int64_t kForm = 1;
constexpr size_t kMaxStateBytes = 1 << 16;
/// No run gets that far; sums with it stay within 64 bits.
constexpr int64_t kMaxCount = int64_t{1} << 60;

std::string hex(uint64_t number) { return fmt::format("{:016x}", number); }

std::optional<uint64_t> hex_number(const nlohmann::json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, 16);
  return error == std::errc() && at == end && text.size() == 16 ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> count(const nlohmann::json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(kMaxCount))
    return std::nullopt;
  const auto number = value.get<int64_t>();
  return number >= 0 && number <= kMaxCount ? std::optional(number) : std::nullopt;
}

/// nlohmann's objects are sorted by name, so that equal documents have equal texts.
std::string check_of(nlohmann::json document) {
  document.erase("check");
  return hex(checksum(json_text(document)));
}

/// Takes members out of a document; what is left at the end is not known.
class Members {
 public:
  explicit Members(nlohmann::json document) : document_(std::move(document)) {}
  nlohmann::json take(const char* name) {
    auto at = document_.find(name);
    if (at == document_.end()) return nlohmann::json();
    nlohmann::json value = std::move(*at);
    document_.erase(at);
    return value;
  }
  void read(const char* name, int64_t& out) { store(name, count(take(name)), out); }
  void read(const char* name, uint64_t& out) { store(name, hex_number(take(name)), out); }
  void store(const char* name, auto value, auto& out) {
    if (value) out = *value;
    if (!value && wrong_.empty()) wrong_ = name;
  }
  void refuse(const char* name) {
    if (wrong_.empty()) wrong_ = name;
  }
  /// The first member that is missing, not understood, or not known; empty: all is well.
  std::string wrong() const {
    return wrong_.empty() && !document_.empty() ? document_.begin().key() : wrong_;
  }

 private:
  nlohmann::json document_;
  std::string wrong_;
};

/// Why values of this program depend on how many samples are a batch; empty: they do not.
std::string why_batch_counts(const LoadedProgram& loaded) {
  for (const LoadedProgram::Source& source : loaded.sources)
    if (source.options.pad_last_batch)
      return fmt::format("reader '{}' pads the last batch of an epoch", source.name);
  const Program& program = *loaded.program;
  if (!program.batch_steps.empty()) return "it has operators over whole batches";
  for (const Instruction& instruction : program.code)
    if (instruction.op == Opcode::kBatchSlot) return "its values depend on the place in the batch";
  return {};
}

}  // namespace

uint64_t data_fingerprint(const LoadedProgram& loaded) {
  uint64_t hash = checksum("galatea data");
  for (const LoadedProgram::Source& source : loaded.sources) {
    const int64_t size = source.samples->size();
    hash = checksum(fmt::format("{}\n", size), hash);
    for (int64_t index = 0; index < size; ++index) {
      hash = checksum(source.samples->describe(index), hash);
      hash = checksum("\n", hash);
    }
  }
  return hash;
}

std::string to_text(const SessionState& state) {
  auto readers = nlohmann::json::array();
  for (const auto& [epoch, position] : state.point.readers) readers.push_back({epoch, position});
  nlohmann::json document = {{"galatea_state", kForm},        {"epoch", state.point.epoch},
                             {"batch", state.point.batch},    {"sample", state.point.sample},
                             {"number", state.point.number},  {"readers", std::move(readers)},
                             {"program", hex(state.program)}, {"data", hex(state.data)},
                             {"seed", hex(state.seed)},       {"batch_size", state.batch_size}};
  if (!state.point.parts.empty()) document["parts"] = state.point.parts;
  document["check"] = check_of(document);
  return json_text(document);
}

Result<SessionState> parse_session_state(std::string_view text) {
  auto damaged = [](std::string why) { return make_error(message::kStateDamaged, std::move(why)); };
  if (text.size() > kMaxStateBytes)
    return damaged(fmt::format("it has {} bytes, and no state is that long", text.size()));
  nlohmann::json document = parse_json(text);
  if (!document.is_object() || !document.contains("galatea_state"))
    return damaged("it is no state of galatea");
  const auto form = count(document["galatea_state"]);
  if (form && *form > kForm)
    return damaged(fmt::format("it is of form {}, and this version of galatea knows form {}", *form, kForm));
  if (form != kForm) return damaged("it does not say its form");
  const auto check = document.find("check");
  if (check == document.end() || !check->is_string() || *check != check_of(document))
    return damaged("it was changed, or a part of it is missing (its checksum does not match)");
  document.erase("check");
  document.erase("galatea_state");
  Members members(std::move(document));
  SessionState state;
  members.read("epoch", state.point.epoch);
  members.read("batch", state.point.batch);
  members.read("sample", state.point.sample);
  members.read("number", state.point.number);
  members.read("program", state.program);
  members.read("data", state.data);
  members.read("seed", state.seed);
  int64_t batch_size = 0;
  members.read("batch_size", batch_size);
  if (batch_size > INT32_MAX) members.refuse("batch_size");
  state.batch_size = static_cast<int>(std::min<int64_t>(batch_size, INT32_MAX));
  const nlohmann::json readers = members.take("readers");
  if (!readers.is_array()) members.refuse("readers");
  for (const nlohmann::json& reader : readers) {
    const bool is_pair = reader.is_array() && reader.size() == 2;
    const auto epoch = is_pair ? count(reader[0]) : std::nullopt;
    const auto position = is_pair ? count(reader[1]) : std::nullopt;
    if (!epoch || !position) {
      members.refuse("readers");
      break;
    }
    state.point.readers.emplace_back(*epoch, *position);
  }
  const nlohmann::json parts = members.take("parts");
  if (!parts.is_null() && !parts.is_array()) members.refuse("parts");
  for (const nlohmann::json& part : parts) {
    const auto given = count(part);
    if (!given) members.refuse("parts");
    state.point.parts.push_back(given.value_or(0));
  }
  if (const std::string wrong = members.wrong(); !wrong.empty())
    return damaged(fmt::format("its `{}` is not what a state has there", wrong));
  return state;
}

Status check_fits(const SessionState& state, const LoadedProgram& loaded, uint64_t data) {
  const Program& program = *loaded.program;
  // The seed is part of the program's fingerprint, by the keys of its draws: it is what can be named.
  if (state.seed != program.seed) return make_error(message::kStateOfOtherSeed, state.seed, program.seed);
  if (state.program != program.fingerprint || state.point.readers.size() != loaded.sources.size())
    return make_error(message::kStateOfOtherProgram,
                      fmt::format("its fingerprint is {}, and that of '{}' is {}", hex(state.program),
                                  program.name, hex(program.fingerprint)));
  if (state.batch_size != program.batch_size)
    if (const std::string why = why_batch_counts(loaded); !why.empty())
      return make_error(message::kStateOfOtherBatch, state.batch_size, program.batch_size, why);
  if (state.data != data) {
    std::vector<std::string> sizes;
    for (const LoadedProgram::Source& source : loaded.sources)
      sizes.push_back(fmt::format("'{}' has {} samples", source.name, source.samples->size()));
    return make_error(message::kStateOfOtherData,
                      fmt::format("{}, and their number, names or order differ", fmt::join(sizes, ", ")));
  }
  return {};
}

}  // namespace galatea::runtime
