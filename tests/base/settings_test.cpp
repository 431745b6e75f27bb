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
    EXPECT_TRUE(s.type == "path" || s.type == "bool" || s.type == "int" || s.type == "size" ||
                s.type == "text" || s.type == "secret" || s.type == "count" ||
                s.type.find('|') != s.type.npos)
        << s.name;
    EXPECT_TRUE(setting_is_understood(s.name)) << s.name;
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
  EXPECT_FALSE(setting_is_understood("COLUMNS"));
  ::unsetenv("COLUMNS");
}

TEST(Settings, SizesHaveUnits) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"0", 0},           {"4096", 4096},           {"100KB", 100 << 10},
      {"64mb", 64 << 20}, {"2G", int64_t{2} << 30}, {"7B", 7}};
  for (const auto& [text, bytes] : sizes) {
    ::setenv("GALATEA_CACHE_SIZE", text, 1);
    EXPECT_EQ(setting_int("GALATEA_CACHE_SIZE"), bytes) << text;
    EXPECT_TRUE(setting_is_understood("GALATEA_CACHE_SIZE")) << text;
  }
  for (const char* text : {"abc", "-5", "1XB", "MB", "9223372036854775807GB", "1.5GB", "64 MB"}) {
    ::setenv("GALATEA_CACHE_SIZE", text, 1);
    EXPECT_EQ(setting_int("GALATEA_CACHE_SIZE"), int64_t{256} << 20) << text;
    EXPECT_FALSE(setting_is_understood("GALATEA_CACHE_SIZE")) << text;
  }
  ::unsetenv("GALATEA_CACHE_SIZE");
}

TEST(Settings, CountsBeginAtOne) {
  for (const char* text : {"0", "-3", "many", "3s", "2.5"}) {
    ::setenv("GALATEA_FAR_TRIES", text, 1);
    EXPECT_EQ(setting_int("GALATEA_FAR_TRIES"), 8) << text;
    const auto problems = setting_problems();
    ASSERT_EQ(problems.size(), 1u) << text;
    EXPECT_EQ(problems[0].message,
              std::string("GALATEA_FAR_TRIES=") + text + " is no count: the default, 8, is in force");
    EXPECT_EQ(problems[0].help, "for example GALATEA_FAR_TRIES=3");
  }
  ::setenv("GALATEA_FAR_TRIES", "1", 1);
  EXPECT_EQ(setting_int("GALATEA_FAR_TRIES"), 1);
  EXPECT_TRUE(setting_problems().empty());
  ::unsetenv("GALATEA_FAR_TRIES");
}

TEST(Settings, WordsAreThoseOfTheTable) {
  for (const char* word : {"auto", "best", "first"}) {
    ::setenv("GALATEA_TIERS", word, 1);
    EXPECT_TRUE(setting_is_understood("GALATEA_TIERS")) << word;
  }
  for (const char* word : {"Best", "auto|best", "bes", "firs", "t"}) {
    ::setenv("GALATEA_TIERS", word, 1);
    EXPECT_FALSE(setting_is_understood("GALATEA_TIERS")) << word;
  }
  ::unsetenv("GALATEA_TIERS");
}

TEST(Settings, BoolsThatAreNoneLeaveTheDefault) {
  ::setenv("GALATEA_CACHE", "maybe", 1);
  EXPECT_TRUE(setting_bool("GALATEA_CACHE"));
  EXPECT_FALSE(setting_is_understood("GALATEA_CACHE"));
  ::unsetenv("GALATEA_CACHE");
}

TEST(Settings, UnknownNamesAreBugs) { EXPECT_THROW(setting("GALATEA_NOTHING"), InternalError); }

}  // namespace
}  // namespace galatea
