#include "base/settings.h"

#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "base/result.h"

namespace galatea {
namespace {

TEST(Settings, TableIsComplete) {
  std::set<std::string_view> names;
  for (const Setting& s : all_settings()) {
    EXPECT_TRUE(names.insert(s.name).second) << s.name;
    EXPECT_FALSE(s.documentation.empty()) << s.name;
    EXPECT_EQ(s.example.substr(0, s.name.size() + 1), std::string(s.name) + "=") << s.name;
    EXPECT_TRUE(s.type == "path" || s.type == "bool" || s.type == "int" || s.type == "text") << s.name;
  }
}

TEST(Settings, EnvironmentWinsOverTheDefault) {
  ::unsetenv("GALATEA_CACHE");
  EXPECT_TRUE(setting_bool("GALATEA_CACHE"));
  EXPECT_FALSE(setting_is_from_environment("GALATEA_CACHE"));
  ::setenv("GALATEA_CACHE", "Off", 1);
  EXPECT_FALSE(setting_bool("GALATEA_CACHE"));
  EXPECT_TRUE(setting_is_from_environment("GALATEA_CACHE"));
  ::setenv("GALATEA_CACHE", "", 1);
  EXPECT_EQ(setting("GALATEA_CACHE"), "1");
  ::unsetenv("GALATEA_CACHE");
}

TEST(Settings, NumbersThatAreNoneLeaveTheDefault) {
  ::setenv("COLUMNS", "132", 1);
  EXPECT_EQ(setting_int("COLUMNS"), 132);
  ::setenv("COLUMNS", "13x", 1);
  EXPECT_EQ(setting_int("COLUMNS"), 0);
  ::unsetenv("COLUMNS");
}

TEST(Settings, UnknownNamesAreBugs) { EXPECT_THROW(setting("GALATEA_NOTHING"), InternalError); }

}  // namespace
}  // namespace galatea
