// The message tables of all layers together.
#include "tools/messages.h"

#include <gtest/gtest.h>

#include <map>

namespace galatea::tools {
namespace {

TEST(DiagnosticPages, CodesAreWellFormedAndWorded) {
  std::map<std::string, int> per_hundred;
  for (const DiagnosticPage& page : all_diagnostic_pages()) {
    ASSERT_EQ(page.code.size(), 5u) << page.code;
    EXPECT_EQ(page.code[0], 'G');
    EXPECT_EQ(page.code.find_first_not_of("0123456789", 1), std::string_view::npos) << page.code;
    EXPECT_FALSE(page.text.empty()) << page.code;
    // A message is the middle of a sentence for the caret text: no capital, no full stop.
    EXPECT_FALSE(page.text.ends_with('.')) << page.code << " " << page.text;
    ++per_hundred[std::string(page.code.substr(0, 3))];
  }
  for (const char* layer : {"G01", "G04", "G05", "G08", "G09"}) EXPECT_GT(per_hundred[layer], 0) << layer;
}

TEST(DiagnosticPages, ToolErrorsAreFilledIn) {
  Error error = tool_error(Message::kCannotWrite, std::string("a/b"), std::string("no room")).error();
  EXPECT_EQ(error.diagnostics[0].code, "G0854");
  EXPECT_EQ(error.message(), "cannot write `a/b`: no room");
  EXPECT_FALSE(error.diagnostics[0].help.empty());
}

}  // namespace
}  // namespace galatea::tools
