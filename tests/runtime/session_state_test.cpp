// The text of a state: what it holds comes back, and what is not such a text is refused with a reason.
#include "runtime/session_state.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/runtime/program_maker.h"

namespace galatea::runtime {
namespace {

using testing::mixed_program;
using testing::test_natives;

const SessionState kState = {
    {3, 17, 68, 1068, {{3, 68}, {7, 2}}}, 0xFEDCBA9876543210U, 1, 0x7FFFFFFFFFFFFFFFU, 4};

std::string why_refused(const std::string& text) {
  const auto state = parse_session_state(text);
  if (state) return {};
  EXPECT_EQ(state.error().diagnostics.front().code, "G0980") << text;
  return state.error().message();
}

TEST(SessionState, ComesBackWhoeverKeptIt) {
  const std::string text = to_text(kState);
  EXPECT_LT(text.size(), 400U);
  auto state = parse_session_state(text);
  ASSERT_TRUE(state.has_value()) << state.error().message();
  EXPECT_EQ(*state, kState);
  // A host's library may write the document in its own way.
  state = parse_session_state(json_text(parse_json(text), 4));
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(*state, kState);
}

TEST(SessionState, AnyDamageIsNoticed) {
  const std::string text = to_text(kState);
  for (size_t at = 0; at < text.size(); ++at) {
    EXPECT_NE(why_refused(text.substr(0, at)), "") << at;
    for (const int bit : {1, 4, 32}) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      const auto state = parse_session_state(changed);
      EXPECT_TRUE(!state || *state == kState) << changed;
    }
  }
  EXPECT_NE(why_refused("[]"), "");
  EXPECT_NE(why_refused(std::string(100'000, ' ')).find("100000 bytes"), std::string::npos);
  auto newer = parse_json(text);
  newer["galatea_state"] = 2;
  EXPECT_NE(why_refused(json_text(newer)).find("form 2"), std::string::npos);
}

TEST(SessionState, APositionThatDoesNotExistIsRefused) {
  static const NativeTable natives = test_natives();
  const auto program = mixed_program(10, 4, 2);
  auto session = Session::create(program, natives);
  ASSERT_TRUE(session.has_value());
  ASSERT_TRUE((*session)->next().has_value());
  EXPECT_EQ((*session)->position(), (ResumePoint{0, 1, 4, 4, {{0, 4}}}));
  auto state = parse_session_state((*session)->state().value());
  ASSERT_TRUE(state.has_value());
  const auto begin = [&](const ResumePoint& point) {
    SessionState changed = *state;
    changed.point = point;
    SessionOptions options;
    options.state = to_text(changed);
    return Session::create(program, natives, options);
  };
  auto last = begin({0, 2, 10, 10, {{0, 10}}});
  ASSERT_TRUE(last.has_value());
  auto given = (*last)->next();
  EXPECT_TRUE(given.has_value() && !*given) << "the end of the epoch";
  for (const auto& readers : std::vector<std::vector<std::pair<int64_t, int64_t>>>{
           {{0, 11}}, {{0, int64_t{1} << 59}}, {}, {{0, 4}, {0, 4}}}) {
    auto refused = begin({0, 1, 4, 4, readers});
    EXPECT_FALSE(refused.has_value());
  }
}

}  // namespace
}  // namespace galatea::runtime
