// Golden texts of the caret form and of the JSON form, and the sink's rules.
#include "base/diagnostic.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace galatea {
namespace {

constexpr const char* kText =
    "import numpy as np\n"
    "\n"
    "def train(data: str):\n"
    "    image = fn.resize(image, sise=[64, 64])\n"
    "    image = fn.crop(\n"
    "        image,\n"
    "        crop=(1, 2, 3),\n"
    "    )\n"
    "    return image\n";

class DiagnosticTest : public testing::Test {
 protected:
  /// The span of the n-th occurrence (from 0) of a text.
  Span of(const std::string& needle, int n = 0) const {
    const std::string& text = sources_.file(file_)->text();
    size_t at = text.find(needle);
    while (n-- > 0) at = text.find(needle, at + 1);
    EXPECT_NE(at, std::string::npos) << needle;
    return {file_, static_cast<uint32_t>(at), static_cast<uint32_t>(at + needle.size())};
  }
  void use(std::string text) { file_ = sources_.add("other.dali-dsl", std::move(text)); }

  SourceMap sources_;
  uint32_t file_ = sources_.add("train.dali-dsl", kText);
};

TEST_F(DiagnosticTest, OneMarkWithNoteAndHelp) {
  Diagnostic d;
  d.code = "G0201";
  d.message = "`sise` is not an argument of `fn.resize`";
  d.span = of("sise");
  d.span_text = "no argument of this name";
  d.notes = {"its arguments are `size`,\n`mode` and others"};
  d.help = "did you mean `size`?";
  EXPECT_EQ(render_text(d, sources_),
            "error[G0201]: `sise` is not an argument of `fn.resize`\n"
            " --> train.dali-dsl:4:30\n"
            "  |\n"
            "4 |     image = fn.resize(image, sise=[64, 64])\n"
            "  |                              ^^^^ no argument of this name\n"
            "  |\n"
            "  = note: its arguments are `size`,\n"
            "          `mode` and others\n"
            "  = help: did you mean `size`?\n");
}

TEST_F(DiagnosticTest, LabelsOfOneLineShareItsRows) {
  Diagnostic d;
  d.code = "G0202";
  d.severity = Severity::kWarning;
  d.message = "odd";
  d.span = of("image,");
  d.span_text = "this";
  d.labels = {{of("fn.resize"), "called here"}, {of("[64, 64]"), "and that"}};
  EXPECT_EQ(render_text(d, sources_),
            "warning[G0202]: odd\n"
            " --> train.dali-dsl:4:23\n"
            "  |\n"
            "4 |     image = fn.resize(image, sise=[64, 64])\n"
            "  |             --------- ^^^^^^      -------- and that\n"
            "  |             |         |\n"
            "  |             |         this\n"
            "  |             called here\n");
}

TEST_F(DiagnosticTest, OverlappingMarksShowThePrimaryOnTop) {
  Diagnostic d;
  d.message = "odd";
  d.span = of("resize");
  d.labels = {{of("fn.resize(image, sise=[64, 64])"), "within this call"}};
  EXPECT_EQ(render_text(d, sources_),
            "error: odd\n"
            " --> train.dali-dsl:4:16\n"
            "  |\n"
            "4 |     image = fn.resize(image, sise=[64, 64])\n"
            "  |             ---^^^^^^---------------------- within this call\n");
}

TEST_F(DiagnosticTest, LinesFarApartAreElided) {
  Diagnostic d;
  d.message = "odd";
  d.span = of("return image");
  d.labels = {{of("numpy"), "from here"}};
  EXPECT_EQ(render_text(d, sources_),
            "error: odd\n"
            " --> train.dali-dsl:9:5\n"
            "  |\n"
            "1 | import numpy as np\n"
            "  |        ----- from here\n"
            "...\n"
            "9 |     return image\n"
            "  |     ^^^^^^^^^^^^\n");
}

TEST_F(DiagnosticTest, MarkOverSeveralLines) {
  Diagnostic d;
  d.message = "odd";
  d.span = of("fn.crop(\n        image,\n        crop=(1, 2, 3),\n    )");
  d.span_text = "this call";
  d.labels = {{of("crop=(1, 2, 3)"), "three numbers"}};
  EXPECT_EQ(render_text(d, sources_),
            "error: odd\n"
            " --> train.dali-dsl:5:13\n"
            "  |\n"
            "5 |       image = fn.crop(\n"
            "  |  _____________^\n"
            "6 | |         image,\n"
            "7 | |         crop=(1, 2, 3),\n"
            "  | |         -------------- three numbers\n"
            "8 | |     )\n"
            "  | |_____^ this call\n");
}

TEST_F(DiagnosticTest, MarkFromTheStartOfALineOpensInTheGutter) {
  use("if a:\n    b()\nelse:\n    c()\n    d()\n    e()\n    f()\n");
  Diagnostic d;
  d.message = "odd";
  d.span = of("if a:\n    b()\nelse:\n    c()\n    d()\n    e()\n    f()");
  d.labels = {{of("if a:\n    b()\n"), "first arm"}};
  EXPECT_EQ(render_text(d, sources_),
            "error: odd\n"
            " --> other.dali-dsl:1:1\n"
            "  |\n"
            "1 | // if a:\n"
            "2 | ||     b()\n"
            "  | ||_______- first arm\n"
            "... |\n"
            "7 | |      f()\n"
            "  | |________^\n");
}

TEST_F(DiagnosticTest, CallsAndOtherFiles) {
  uint32_t library = sources_.add("auto_aug.dali-dsl", "def f(x):\n    return x.y\n");
  Diagnostic d;
  d.message = "odd";
  d.span = of("fn.resize");
  d.labels = {{{library, 21, 24}, "raised here"}};
  d.calls = {{{library, 0, 3}, "f"}, {of("def"), ""}};
  EXPECT_EQ(render_text(d, sources_),
            "error: odd\n"
            " --> train.dali-dsl:4:13\n"
            "  |\n"
            "4 |     image = fn.resize(image, sise=[64, 64])\n"
            "  |             ^^^^^^^^^\n"
            " ::: auto_aug.dali-dsl:2:12\n"
            "  |\n"
            "2 |     return x.y\n"
            "  |            --- raised here\n"
            "  |\n"
            "  = called: at auto_aug.dali-dsl:1:1, in `f`\n"
            "  = called: at train.dali-dsl:3:1\n");
}

TEST_F(DiagnosticTest, LongChainsOfCallsAreShortened) {
  Diagnostic d;
  d.message = "too deep";
  d.calls.assign(100, {of("def"), "f"});
  std::string text = render_text(d, sources_);
  EXPECT_NE(text.find("= calls: 92 more\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 4 + 1 + 4) << text;
}

TEST_F(DiagnosticTest, NoPlaceTabsWideCharactersAndForeignBytes) {
  Diagnostic d;
  d.message = "no folder";
  d.help = "make it";
  EXPECT_EQ(render_text(d, sources_), "error: no folder\n  = help: make it\n");

  use("\tx = '写真' + \x1b y\xff z\n");
  d.help.clear();
  d.span = of("z");
  d.labels = {{of("写真"), ""}};
  EXPECT_EQ(render_text(d, sources_),
            "error: no folder\n"
            " --> other.dali-dsl:1:18\n"
            "  |\n"
            "1 |     x = '写真' + \xEF\xBF\xBD y\xEF\xBF\xBD z\n"
            "  |          ----         ^\n");
  d.message = "bytes \xff\x1b[2J";
  std::string text = render_text(d, sources_, {.color = true});
  EXPECT_EQ(text.find("\x1b[2J"), std::string::npos);
}

TEST_F(DiagnosticTest, VeryLongLinesAreCut) {
  use(std::string(5000, 'a') + " here " + std::string(5000, 'b') + "\n");
  Diagnostic d;
  d.message = "odd";
  d.span = of("here");
  d.span_text = "it";
  EXPECT_EQ(render_text(d, sources_), "error: odd\n --> other.dali-dsl:1:5002\n  |\n1 | …" +
                                          std::string(38, 'a') + " here " + std::string(114, 'b') +
                                          "…\n  | " + std::string(40, ' ') + "^^^^ it\n");
}

// Only a window of such a line is decoded: its left edge may not cut a character, and a mark outside it stays
// at the edge.
TEST_F(DiagnosticTest, VeryLongLinesOfSeveralBytesPerCharacter) {
  std::string wide;
  for (int i = 0; i < 5001; ++i) wide += "\u00e9";
  for (const char* before : {"", "a"}) {
    use(before + wide + " here " + wide + " there\n");
    Diagnostic d;
    d.message = "odd";
    d.span = of("here");
    d.labels = {{of("there"), "far"}};
    std::string shown, right;
    for (int i = 0; i < 38; ++i) shown += "\u00e9";
    for (int i = 0; i < 114; ++i) right += "\u00e9";
    const std::string column = std::to_string(5003 + std::string(before).size());
    EXPECT_EQ(render_text(d, sources_), "error: odd\n --> other.dali-dsl:1:" + column + "\n  |\n1 | \u2026" +
                                            shown + " here " + right + "\u2026\n  | " + std::string(40, ' ') +
                                            "^^^^" + std::string(116, ' ') + "- far\n");
  }
}

TEST_F(DiagnosticTest, SpansAtTheEndAndBeyondAreDrawn) {
  Diagnostic d;
  d.message = "unexpected end";
  auto size = static_cast<uint32_t>(std::string(kText).size());
  d.span = {file_, size + 100, size + 200};
  std::string text = render_text(d, sources_);
  EXPECT_EQ(text,
            "error: unexpected end\n"
            "  --> train.dali-dsl:10:1\n"
            "   |\n"
            "10 |\n"
            "   | ^\n");
}

TEST_F(DiagnosticTest, ColorsAreBalanced) {
  Diagnostic d;
  d.message = "odd";
  d.span = of("resize");
  std::string text = render_text(d, sources_, {.color = true});
  EXPECT_EQ(text.substr(0, 12), "\033[1;31merror");
  size_t on = 0, off = 0;
  for (size_t i = text.find('\033'); i != std::string::npos; i = text.find('\033', i + 1)) {
    (text.compare(i, 4, "\033[0m") == 0 ? off : on) += 1;
  }
  EXPECT_EQ(on, off);
  EXPECT_GT(on, 3u);
}

TEST_F(DiagnosticTest, Json) {
  Diagnostic d;
  d.code = "G0201";
  d.message = "odd";
  d.span = of("sise");
  d.span_text = "here";
  d.labels = {{of("fn.crop(\n"), "there"}};
  d.calls = {{of("def"), "train"}};
  d.notes = {"one"};
  d.edits = {{of("sise"), "size", true}};
  EXPECT_EQ(
      render_json({d}, sources_),
      R"({"diagnostics":[{"code":"G0201","severity":"error","message":"odd","file":"train.dali-dsl","line":4,)"
      R"("column":30,"end_line":4,"end_column":34,"labels":[{"file":"train.dali-dsl","line":4,"column":30,)"
      R"("end_line":4,"end_column":34,"text":"here"},{"file":"train.dali-dsl","line":5,"column":13,"end_line":6,)"
      R"("end_column":1,"text":"there"}],"calls":[{"file":"train.dali-dsl","line":3,"function":"train"}],)"
      R"("notes":["one"],"help":null,"edits":[{"file":"train.dali-dsl","line":4,"column":30,"end_line":4,)"
      R"("end_column":34,"replacement":"size","certain":true}]}]})");
  EXPECT_EQ(render_json({}, sources_), R"({"diagnostics":[]})");
  Diagnostic placeless;
  placeless.message = "bad \xff byte";
  auto document = parse_json(render_json({placeless}, sources_));
  EXPECT_TRUE(document["diagnostics"][0]["file"].is_null());
  EXPECT_EQ(document["diagnostics"][0]["message"], "bad \xEF\xBF\xBD byte");
}

TEST_F(DiagnosticTest, SinkReportsEachPlaceOnce) {
  DiagnosticSink sink;
  Diagnostic d;
  d.code = "G0201";
  d.message = "odd";
  d.span = of("sise");
  for (int i = 0; i < 14; ++i) sink.report(d);
  d.code = "G0202";
  d.severity = Severity::kWarning;
  sink.report(d);
  EXPECT_EQ(sink.num_errors(), 1u);
  auto taken = sink.take();
  ASSERT_EQ(taken.size(), 2u);
  ASSERT_EQ(taken[0].notes.size(), 1u);
  EXPECT_EQ(taken[0].notes[0], "in 14 calls; the first is shown");
  EXPECT_TRUE(taken[1].notes.empty());
  EXPECT_FALSE(sink.has_errors());
}

TEST_F(DiagnosticTest, SinkStopsAtItsLimit) {
  DiagnosticSink sink(3);
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < 10; ++i) {
      Diagnostic d;
      d.code = "G0201";
      d.message = "odd";
      d.span = {file_, i, i + 1};
      sink.report(d);
    }
  }
  auto taken = sink.take();
  ASSERT_EQ(taken.size(), 4u);
  EXPECT_EQ(taken[3].message, "7 more errors are not shown");
  EXPECT_EQ(taken[3].severity, Severity::kNote);
}

TEST_F(DiagnosticTest, SinkMergesEqualMessagesWithoutAPlace) {
  DiagnosticSink sink;
  Diagnostic d;
  d.message = "no folder a";
  sink.report(d);
  sink.report(d);
  d.message = "no folder b";
  sink.report(d);
  EXPECT_EQ(sink.num_errors(), 2u);
}

TEST(ClosestMatch, FindsSlipsAndNothingElse) {
  std::vector<std::string> names = {"resize", "rotate", "crop", "flip", "hue", "hsv", "saturation", "size"};
  EXPECT_EQ(closest_match("reszie", names), "resize");
  EXPECT_EQ(closest_match("sise", names), "size");
  EXPECT_EQ(closest_match("satturation", names), "saturation");
  EXPECT_EQ(closest_match("Crop", names), "crop");
  EXPECT_EQ(closest_match("heu", names), "hue");
  EXPECT_EQ(closest_match("blur", names), std::nullopt);
  EXPECT_EQ(closest_match("x", {"y", "z"}), std::nullopt);
  EXPECT_EQ(closest_match("", names), std::nullopt);
  EXPECT_EQ(closest_match(std::string(100000, 'a'), names), std::nullopt);
}

}  // namespace
}  // namespace galatea
