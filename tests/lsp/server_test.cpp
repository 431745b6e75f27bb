// The language server, asked as an editor asks it: every request, texts that are being typed, messages that are
// none, names across files.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include <unistd.h>

#include <gtest/gtest.h>

#include "base/fault.h"
#include "tests/lsp/session.h"
#include "tests/support/cases.h"
#include "tests/support/own_folder.h"

namespace galatea::tools::lsp {
namespace {

namespace fs = std::filesystem;

/// Whether all of the words are among them.
bool holds(const std::vector<std::string>& all, const std::vector<std::string>& words) {
  return std::ranges::all_of(words,
                             [&](const std::string& w) { return std::ranges::find(all, w) != all.end(); });
}

bool has_error(const std::vector<Json>& diagnostics) {
  return std::ranges::any_of(diagnostics, [](const Json& d) { return d["severity"] == 1; });
}

TEST(Lsp, SaysWhatItCanAndCountsAsTheEditorDoes) {
  EXPECT_EQ(Session().initialized["capabilities"]["positionEncoding"], "utf-16");
  const Json bytes = {{"general", {{"positionEncodings", {"utf-16", "utf-8"}}}}};
  EXPECT_EQ(Session(bytes).initialized["capabilities"]["positionEncoding"], "utf-8");
}

TEST(Lsp, PublishesDiagnosticsWithCodesAndFixes) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    image = fn.rotate(image, angel=3)\n    return image, label\n"));
  const std::vector<Json> found = session.diagnostics("/p/a.dali-dsl");
  ASSERT_EQ(std::ranges::count(found, 1, [](const Json& d) { return d["severity"].get<int>(); }), 1);
  const Json& error = *std::ranges::find(found, 1, [](const Json& d) { return d["severity"].get<int>(); });
  EXPECT_EQ(error["range"]["start"], (Json{{"line", 7}, {"character", 29}}));
  EXPECT_TRUE((error["message"].get<std::string>()).contains("angel")) << error["message"].get<std::string>();
  EXPECT_EQ(error["source"], "galatea");
  EXPECT_EQ(error["code"].get<std::string>().substr(0, 1), "G");
  const auto address = error["codeDescription"]["href"].get<std::string>();
  EXPECT_TRUE(address.starts_with("file:///") && address.ends_with(error["code"].get<std::string>() + ".md"))
      << address;
  const Json actions = session.of_document("textDocument/codeAction",
                                           {{"range", error["range"]}, {"context", Json::object()}});
  ASSERT_EQ(actions.size(), 1u);
  const Json& edit = actions[0]["edit"]["changes"][uri_of("/p/a.dali-dsl")][0];
  EXPECT_EQ(edit["newText"], "angle");
  EXPECT_EQ(edit["range"], error["range"]);
}

TEST(Lsp, ChangesAreFollowedAndMistakesGo) {
  Session session;
  const std::string path = "/p/a.dali-dsl";
  session.open(path, pipeline("    return imag, label\n"));
  EXPECT_TRUE(has_error(session.diagnostics(path)));
  session.notify("textDocument/didChange",
                 {{"textDocument", {{"uri", uri_of(path)}, {"version", 2}}},
                  {"contentChanges", {{{"range", to_json(Range{{7, 15}, {7, 15}})}, {"text", "e"}}}}});
  EXPECT_FALSE(has_error(session.diagnostics(path)));
  session.notify("textDocument/didClose", {{"textDocument", {{"uri", uri_of(path)}}}});
  EXPECT_TRUE(session.diagnostics(path).empty());
}

TEST(Lsp, AnInterruptedEvaluationPublishesNothing) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    return imag, label\n"));
  session.last_message = nullptr;
  const std::atomic<bool> at_once = true;
  EXPECT_TRUE(session.server().work(at_once)) << "it stays to be done";
  EXPECT_EQ(session.last_message, nullptr);
  EXPECT_FALSE(session.diagnostics("/p/a.dali-dsl").empty());
}

TEST(Lsp, HoverTellsTypesOfDataAndValuesOfNames) {
  Session session;
  session.open("/p/a.dali-dsl",
               pipeline("    small = fn.resize(image, size=[size, 32])\n    return sm|all, label\n"));
  EXPECT_TRUE((hover_text(session.at_cursor("textDocument/hover"))).contains("small: u8[224,32,3] HWC"))
      << hover_text(session.at_cursor("textDocument/hover"));
  session.open("/p/a.dali-dsl", pipeline("    return fn.resize(image, size=[si|ze, 32]), label\n"));
  EXPECT_TRUE((hover_text(session.at_cursor("textDocument/hover"))).contains("size: int `224`"))
      << hover_text(session.at_cursor("textDocument/hover"));
}

TEST(Lsp, HoverTellsOperatorsAndTheirArguments) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    return fn.res|ize(image, size=32), label\n"));
  EXPECT_TRUE((hover_text(session.at_cursor("textDocument/hover"))).contains("**fn.resize**"))
      << hover_text(session.at_cursor("textDocument/hover"));
  // What the call gives stands above; defaults are as a text writes them.
  session.open("/p/a.dali-dsl",
               pipeline("    return fn.flip(fn.res|ize(image, size=[32, 48], antialias=False)), label\n"));
  session.diagnostics("/p/a.dali-dsl");
  const std::string resize = hover_text(session.at_cursor("textDocument/hover"));
  EXPECT_TRUE(resize.starts_with("```python\nresize(…): u8[32,48,3] HWC\n```")) << resize;
  EXPECT_TRUE(resize.contains("`interp_type: interpolation type = types.INTERP_LINEAR`")) << resize;
  EXPECT_TRUE(resize.contains("`antialias: bool = True`")) << resize;
  session.open("/p/a.dali-dsl", pipeline("    return fn.rotate(image, an|gle=32), label\n"));
  EXPECT_TRUE((hover_text(session.at_cursor("textDocument/hover"))).contains("`angle: float"))
      << hover_text(session.at_cursor("textDocument/hover"));
  session.open("/p/a.dali-dsl", pipeline("    return image, label  # wo|rds\n"));
  EXPECT_TRUE(session.at_cursor("textDocument/hover").is_null());
}

/// A text whose cursor stands at the first of a word.
std::string with_cursor_at(std::string text, const std::string& word) {
  return text.insert(text.find(word), "|");
}

TEST(Lsp, HoverTellsOptionsConstantsTypesAndModules) {
  const std::string text = std::string(kHead) +
                           "from nvidia.dali.auto_aug.rand_augment import rand_augment\n\n\n"
                           "@pipeline_def(batch_size=2, debug=False, seed=None)\n"
                           "def train(data: str, size: int = 224):\n"
                           "    encoded, label = fn.readers.file(file_root=data, name=\"Reader\")\n"
                           "    return rand_augment(fn.decoders.image(encoded), n=1, m=9), label\n";
  const std::pair<const char*, const char*> wanted[] = {
      {"batch_size", "Samples in a batch."},
      {"debug", "has no effect"},
      {"name=", "finds a reader"},
      {"None", "at its default"},
      {"False", "`False: bool`"},
      {"str,", "`str: type`"},
      {"int =", "whole number"},
      {"nvidia", "module nvidia\n"},
      {"dali ", "module nvidia.dali\n"},
      {"auto_aug", "module nvidia.dali.auto_aug\n"},
      {"rand_augment", "module nvidia.dali.auto_aug.rand_augment\n"},
      {"pipeline_def(", "runs once"},
      {"n=1", "an argument of"}};
  Session session;
  for (const auto& [word, said] : wanted) {
    session.open("/p/a.dali-dsl", with_cursor_at(text, word));
    session.diagnostics("/p/a.dali-dsl");
    const std::string hover = hover_text(session.at_cursor("textDocument/hover"));
    EXPECT_TRUE(hover.contains(said)) << word << ": " << hover;
  }
}

TEST(Lsp, InPixelFunctionsTypesAreThoseOfElements) {
  const std::string text =
      "import galatea\n" + std::string(kHead) +
      "\n\n@galatea.pixel(dtype=types.UINT8)\n"
      "def darker(image, strength):\n"
      "    def at(y, x, c):\n"
      "        half = image[y, x, c] * strength\n"
      "        is_dark = half < 9\n"
      "        return half if is_dark else half / 2\n"
      "    return at\n\n\n"
      "@pipeline_def(batch_size=2)\n"
      "def train(data: str):\n"
      "    encoded, label = fn.readers.file(file_root=data)\n"
      "    image = fn.decoders.image(encoded)\n"
      "    strength = fn.random.uniform(range=[0.25, 0.5])\n"
      "    # What follows takes the numbers that the element's values had.\n"
      "    dark = darker(image, strength)\n"
      "    return fn.resize(dark, size=[16, 16]), fn.cast(label, dtype=types.INT16), fn.flip(image)\n";
  Session session;
  for (const auto& [word, said] : {std::pair{"half =", "half: f32[]\n"},
                                   {"is_dark =", "is_dark: bool[]\n"},
                                   {"strength\n        is", "strength: f32[]\n"},
                                   {"dark = darker", "dark: u8[h,w,3] HWC\n"}}) {
    session.open("/p/a.dali-dsl", with_cursor_at(text, word));
    for (const Json& diagnostic : session.diagnostics("/p/a.dali-dsl"))
      EXPECT_NE(diagnostic["severity"], 1) << diagnostic;
    const std::string hover = hover_text(session.at_cursor("textDocument/hover"));
    EXPECT_TRUE(hover.contains(said)) << word << ": " << hover;
  }
}

TEST(Lsp, CompletesOptionsOfThePipeline) {
  Session session;
  session.open("/p/a.dali-dsl", std::string(kHead) + "@pipeline_def(batch_size=2, |)\n");
  const std::vector<std::string> options = labels_of(session.at_cursor("textDocument/completion"));
  EXPECT_TRUE(holds(options, {"num_threads=", "seed=", "on_error="}));
  EXPECT_FALSE(holds(options, {"batch_size="})) << "it is given";
  EXPECT_FALSE(holds(options, {"debug="})) << "it has no effect";
  session.open("/p/a.dali-dsl", std::string(kHead) + "@pipeline_def(exact=|)\n");
  EXPECT_TRUE(holds(labels_of(session.at_cursor("textDocument/completion")), {"True", "False"}));
  const Json help = session.at_cursor("textDocument/signatureHelp");
  const Json& parameters = help["signatures"][0]["parameters"];
  EXPECT_EQ(parameters[help["activeParameter"].get<size_t>()]["label"], "exact: bool = True");
}

TEST(Lsp, CompletesMembersOfModules) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    image = fn.|\n    return image\n"));
  EXPECT_TRUE(holds(labels_of(session.at_cursor("textDocument/completion")), {"resize", "readers", "flip"}));
  session.open("/p/a.dali-dsl", pipeline("    x = fn.readers.fi|\n"));
  const Json files = session.at_cursor("textDocument/completion");
  EXPECT_TRUE(holds(labels_of(files), {"file"}));
  EXPECT_FALSE(holds(labels_of(files), {"resize"}));
  EXPECT_EQ(files["items"][0]["textEdit"]["range"], to_json(Range{{7, 19}, {7, 21}}));
  session.open("/p/a.dali-dsl", pipeline("    x = fn.cast(image, dtype=types.|)\n"));
  EXPECT_TRUE(holds(labels_of(session.at_cursor("textDocument/completion")), {"FLOAT", "UINT8"}));
  session.open("/p/a.dali-dsl", pipeline("    x = fn.resize(image, size=2).|\n"));
  EXPECT_TRUE(labels_of(session.at_cursor("textDocument/completion")).empty()) << "not members of `resize`";
}

TEST(Lsp, CompletesArgumentsThatAreMissing) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    image = fn.rotate(image, fill_value=0, |\n    return image\n"));
  const std::vector<std::string> arguments = labels_of(session.at_cursor("textDocument/completion"));
  EXPECT_TRUE(holds(arguments, {"angle=", "interp_type=", "image", "label", "size", "range"}));
  EXPECT_FALSE(holds(arguments, {"fill_value="}));
  session.open("/p/a.dali-dsl", pipeline("    x = fn.rotate(image, angle=1, interp_type=|)\n"));
  EXPECT_TRUE(holds(labels_of(session.at_cursor("textDocument/completion")), {"types.INTERP_NN"}));
  session.open("/p/a.dali-dsl",
               std::string(kHead) + "def blur(image, amount):\n    return image\n\n\nx = blur(1, |)\n");
  EXPECT_TRUE(holds(labels_of(session.at_cursor("textDocument/completion")), {"amount="}));
}

TEST(Lsp, CompletesImportsAndNothingInWords) {
  Session session;
  session.open("/p/a.dali-dsl", "from nvidia.dali import |\n");
  EXPECT_TRUE(holds(labels_of(session.at_cursor("textDocument/completion")), {"fn", "types", "math"}));
  session.open("/p/a.dali-dsl", "from nvidia.|\n");
  EXPECT_TRUE(holds(labels_of(session.at_cursor("textDocument/completion")), {"dali"}));
  session.open("/p/a.dali-dsl", "from nvidia.dali.auto_aug.|\n");
  const std::vector<std::string> modules = labels_of(session.at_cursor("textDocument/completion"));
  EXPECT_TRUE(holds(modules, {"rand_augment", "auto_augment"}));
  EXPECT_FALSE(holds(modules, {"timm"})) << "which is galatea's own";
  session.open("/p/a.dali-dsl", "x = \"fn.|\"\n");
  EXPECT_TRUE(session.at_cursor("textDocument/completion").is_null());
  session.open("/p/a.dali-dsl", "x = 1  # fn.|\n");
  EXPECT_TRUE(session.at_cursor("textDocument/completion").is_null());
}

TEST(Lsp, SignatureHelpNamesTheArgumentAtTheCursor) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    x = fn.rotate(image, angle=|\n"));
  const Json help = session.at_cursor("textDocument/signatureHelp");
  const Json& signature = help["signatures"][0];
  EXPECT_TRUE((signature["label"].get<std::string>()).contains("fn.rotate("))
      << signature["label"].get<std::string>();
  EXPECT_TRUE((signature["parameters"][help["activeParameter"].get<size_t>()]["label"].get<std::string>())
                  .contains("angle"))
      << signature["parameters"][help["activeParameter"].get<size_t>()]["label"].get<std::string>();
  session.open("/p/a.dali-dsl", std::string(kHead) + "def f(a, b):\n    return a\n\n\nx = f(1, |)\n");
  EXPECT_EQ(session.at_cursor("textDocument/signatureHelp")["activeParameter"], 1);
}

TEST(Lsp, NamesAreFoundByTheRulesOfScopes) {
  Session session;
  // `size` is a global, a parameter and a comprehension's own.
  session.open("/p/a.dali-dsl",
               "size = 1\n"
               "def f(size, other):\n"
               "    return [si|ze for size in other] + [size]\n"
               "x = f(size=size, other=[])\n");
  auto lines = [&](const Json& places) {
    std::vector<std::pair<int, int>> at;
    for (const Json& place : places)
      at.emplace_back(place["range"]["start"]["line"], place["range"]["start"]["character"]);
    return at;
  };
  using Places = std::vector<std::pair<int, int>>;
  const Json with = {{"context", {{"includeDeclaration", true}}}};
  EXPECT_EQ(lines(session.at_cursor("textDocument/references", with)), (Places{{2, 12}, {2, 21}}));
  session.open(
      "/p/a.dali-dsl",
      "size = 1\ndef f(size, other):\n    return [size for size in other] + [si|ze]\nx = f(size=size, other=[])\n");
  EXPECT_EQ(lines(session.at_cursor("textDocument/references", with)), (Places{{1, 6}, {2, 39}, {3, 6}}));
  session.open("/p/a.dali-dsl",
               "size = 1\ndef f(size, other):\n    return size\nx = f(size=si|ze, other=[])\n");
  EXPECT_EQ(lines(session.at_cursor("textDocument/references", with)), (Places{{0, 0}, {3, 11}}));
}

class LspFiles : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = galatea::testing::make_own_folder("lsp"); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  fs::path folder_;
};

TEST_F(LspFiles, CompletesPoliciesInTexts) {
  write("strong.json", "{}");
  fs::create_directories(folder_ / "policies");
  write("policies/weak.json", "{}");
  write("notes.txt", "");
  Session session;
  const auto labels = [&](const std::string& line) {
    session.open(
        (folder_ / "a.dali-dsl").string(),
        "from galatea.auto_aug import policy\nfrom galatea.auto_aug.auto_augment import auto_augment\n"
        "from galatea import fn\n" +
            line + "\n");
    std::vector<std::string> found = labels_of(session.at_cursor("textDocument/completion"));
    std::ranges::sort(found);
    return found;
  };
  EXPECT_EQ(labels("p = policy.load(\"|\")"), (std::vector<std::string>{"policies/", "strong.json"}));
  EXPECT_EQ(labels("p = policy.load(path=\"policies/w|\")"), (std::vector<std::string>{"weak.json"}));
  EXPECT_EQ(labels("p = policy.load(\"nowhere/|\")"), std::vector<std::string>{});
  EXPECT_TRUE(holds(labels("def f(x):\n    return auto_augment(x, |)"), {"policy_name=", "shape="}));
  EXPECT_EQ(session.at_cursor("textDocument/signatureHelp")["activeParameter"], 1);
  // All of them, and no other, are taken.
  const std::vector<std::string> names = labels("def f(x):\n    return auto_augment(x, policy_name=\"|\")");
  EXPECT_EQ(names, labels("def f(x):\n    return auto_augment(x, \"|\")"));
  EXPECT_EQ(names.size(), 4u);
  for (const std::string& name : names) {
    const std::string path = (folder_ / "b.dali-dsl").string();
    session.open(path,
                 "from galatea import fn, pipeline_def\n"
                 "from galatea.auto_aug.auto_augment import auto_augment\n\n\n@pipeline_def(batch_size=2)\n"
                 "def train(data: str):\n    encoded, label = fn.readers.file(file_root=data)\n"
                 "    return auto_augment(fn.decoders.image(encoded), \"" +
                     name + "\"), label\n");
    for (const Json& diagnostic : session.diagnostics(path))
      EXPECT_NE(diagnostic["severity"], 1) << diagnostic;
  }
}

TEST_F(LspFiles, DefinitionsAndRenamesCrossImports) {
  const std::string library =
      write("colors.dali-dsl", std::string(kHead) + "def jitter(image):\n    return fn.flip(image)\n");
  const std::string other = write("other.dali-dsl", "from .colors import jitter as shake\n\ny = shake\n");
  Session session(Json::object(), folder_.string());
  const std::string main = (folder_ / "main.dali-dsl").string();
  session.open(main, "from .colors import jitter\n\nx = jit|ter\n");
  EXPECT_EQ(session.at_cursor("textDocument/definition")["uri"], uri_of(library));
  const Json changes = session.at_cursor("textDocument/rename", {{"newName", "wobble"}})["changes"];
  EXPECT_EQ(changes[uri_of(library)].size(), 1u);
  EXPECT_EQ(changes[uri_of(main)].size(), 2u);
  ASSERT_EQ(changes[uri_of(other)].size(), 1u) << "its own name for it stays";
  EXPECT_EQ(changes[uri_of(other)][0]["range"], to_json(Range{{0, 20}, {0, 26}}));
  EXPECT_TRUE(session.at_cursor("textDocument/rename", {{"newName", "if"}}).contains("error"));
}

TEST_F(LspFiles, UnsavedTextsAreImported) {
  const std::string library = write("sizes.dali-dsl", "SIZE = 1\n");
  const std::string main = (folder_ / "main.dali-dsl").string();
  Session session(Json::object(), folder_.string());
  session.open(main, "from .sizes import SIZE, DEPTH\nx = SIZE + DEPTH\n");
  ASSERT_TRUE(has_error(session.diagnostics(main))) << "there is no DEPTH yet";
  session.open(library, "SIZE = 1\nDEPTH = 2\n");
  EXPECT_FALSE(has_error(session.diagnostics(main)));
}

TEST_F(LspFiles, ANewFileIsImportedBeforeItIsSaved) {
  const std::string library = (folder_ / "depths.dali-dsl").string(),
                    main = (folder_ / "main.dali-dsl").string();
  Session session(Json::object(), folder_.string());
  session.open(main, "from .depths import DEPTH\nx = DEPTH\n");
  ASSERT_TRUE(has_error(session.diagnostics(main))) << "there is no such file yet";
  session.open(library, "DEPTH = 2\n");
  EXPECT_FALSE(has_error(session.diagnostics(main)));
  session.open(main, "from .depths import DEPTH\nx = DEP|TH\n");
  EXPECT_EQ(session.at_cursor("textDocument/definition")["uri"], uri_of(library));
  const Json changes = session.at_cursor("textDocument/rename", {{"newName", "LAYERS"}})["changes"];
  EXPECT_EQ(changes[uri_of(library)].size(), 1u);
  EXPECT_EQ(changes[uri_of(main)].size(), 2u);
}

TEST(Lsp, RefusesANewNameThatIsInUse) {
  Session session;
  const std::string text =
      "SIZE = 1\n\n\ndef first(a):\n    b = a + SI|ZE\n    return b\n\n\ndef second(c):\n    return c\n";
  session.open("/p/a.dali-dsl", text);
  const auto answer = [&](const char* name) {
    return session.at_cursor("textDocument/rename", {{"newName", name}});
  };
  EXPECT_TRUE(answer("b").dump().contains("`b` is in use already: it is bound at line 5 of a.dali-dsl"))
      << answer("b").dump();
  EXPECT_TRUE(answer("first").contains("error")) << "another name of the file";
  EXPECT_EQ(answer("c")["changes"].size(), 1u) << "`c` is of another function, which does not use SIZE";
  EXPECT_EQ(answer("SIZE")["changes"].size(), 1u) << "its own name";
}

TEST(Lsp, RefusesToRenameTheLibrary) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    return f|n.flip(image), label\n"));
  EXPECT_TRUE((session.at_cursor("textDocument/rename", {{"newName", "f"}}).dump()).contains("import … as"))
      << session.at_cursor("textDocument/rename", {{"newName", "f"}}).dump();
}

TEST(Lsp, OutlinesFoldsAndHints) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    return (image,\n            label)\n"));
  const Json symbols = session.of_document("textDocument/documentSymbol");
  ASSERT_EQ(symbols.size(), 1u);
  EXPECT_EQ(symbols[0]["name"], "train");
  const Json folds = session.of_document("textDocument/foldingRange");
  EXPECT_NE(std::ranges::find(folds, Json{{"startLine", 7}, {"endLine", 8}}), folds.end()) << folds;
  const Json hints =
      session.of_document("textDocument/inlayHint", {{"range", to_json(Range{{0, 0}, {99, 0}})}});
  std::vector<std::string> labels;
  for (const Json& hint : hints) labels.push_back(hint["label"]);
  EXPECT_TRUE(holds(labels, {": u8[h,w,3] HWC"}));
}

// What a resize reads looks like a part, and is the whole picture; what a crop reads, before or behind it, is none.
TEST(Lsp, AWindowIsToldOfWhereAPartIsLeftOut) {
  const std::string window = "decodes only the window that is read";
  const std::pair<std::string, std::string> kBodies[] = {
      {"fn.resize(image, size=224)", ""},
      {"fn.resize(image, resize_shorter=fn.random.uniform(range=[256, 480]))", ""},
      {"fn.resize(image, size=[0, 100])", ""},
      {"fn.crop(image, crop=[100, 100])", window},
      {"fn.crop(image, crop=[100, 100], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]))", window},
      {"fn.random_resized_crop(image, size=224)", window},
      {"fn.crop(fn.resize(image, resize_shorter=256), crop=[100, 100])", window},
      {"fn.flip(image)", ""}};
  for (const auto& [body, wanted] : kBodies) {
    Session session;
    session.open("/p/a.dali-dsl", pipeline("    return " + body + ", label\n"));
    std::string said;
    for (const Json& hint :
         session.of_document("textDocument/inlayHint", {{"range", to_json(Range{{0, 0}, {99, 0}})}}))
      if (hint.contains("paddingLeft") && hint["position"]["line"] == 6) said = hint["label"];
    EXPECT_EQ(said.starts_with("decodes") ? said : "", wanted) << body;
  }
  // Where results need not be exact, decoders make a picture smaller for the resize behind it.
  Session session;
  session.open(
      "/p/a.dali-dsl",
      "from nvidia.dali import pipeline_def, fn\n@pipeline_def(batch_size=2, exact=False)\ndef p():\n"
      "    data, label = fn.readers.file(file_root=\"x\")\n"
      "    return fn.resize(fn.decoders.image(data), size=224), label\n");
  std::set<std::string> said;
  for (const Json& hint :
       session.of_document("textDocument/inlayHint", {{"range", to_json(Range{{0, 0}, {99, 0}})}}))
    if (hint.contains("paddingLeft")) said.insert(hint["label"].get<std::string>());
  EXPECT_TRUE(said.contains("decodes no larger than the resize needs"));
  EXPECT_FALSE(said.contains(window));
}

TEST(Lsp, FunctionsOfTheLibraryAreDocumented) {
  const std::string head =
      "from nvidia.dali import pipeline_def, fn\n"
      "from galatea.auto_aug import augmentations as a, rand_augment\n"
      "@pipeline_def(batch_size=2)\ndef p():\n    data, label = fn.readers.file(file_root=\"x\")\n"
      "    image = fn.decoders.image(data)\n";
  Session session;
  session.open("/p/a.dali-dsl", head + "    return rand_augment.rand_au|gment(image, n=2, m=9), label\n");
  const std::string rand = hover_text(session.at_cursor("textDocument/hover"));
  EXPECT_TRUE(rand.contains("rand_augment(data, n, m")) << rand;
  EXPECT_TRUE(rand.contains("n augmentations of magnitude bin m")) << rand;
  session.open("/p/b.dali-dsl",
               head + "    return a.shear|_x(image, magnitude_bin=5, num_magnitude_bins=11), label\n");
  const std::string shear = hover_text(session.at_cursor("textDocument/hover"));
  EXPECT_TRUE(shear.contains("Of `galatea.auto_aug.augmentations`")) << shear;
  EXPECT_TRUE(shear.contains("mag_range=(0, 0.3)")) << shear;
}

TEST(Lsp, HintsTellWhatTheCompilerDoesWithALine) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    image = fn.resize(image, size=[64, 64])\n"
                                         "    image = fn.flip(image)\n"
                                         "    return fn.brightness(image, brightness=1.5), label\n"));
  std::map<uint32_t, std::string> remarks;
  for (const Json& hint :
       session.of_document("textDocument/inlayHint", {{"range", to_json(Range{{0, 0}, {99, 0}})}}))
    if (hint.contains("paddingLeft")) remarks[hint["position"]["line"].get<uint32_t>()] = hint["label"];
  EXPECT_FALSE(remarks.contains(6)) << remarks[6];
  EXPECT_TRUE(remarks[8].contains("fused with")) << remarks[8];
  EXPECT_TRUE(remarks[8].contains("brightness")) << remarks[8];
  EXPECT_TRUE(remarks[9].contains("flip")) << remarks[9];
  // One for a kernel and a line, however many of its operators stand there.
  session.open("/p/a.dali-dsl", pipeline("    image = fn.flip(fn.resize(image, size=[64, 64])) * 0.5\n"
                                         "    return fn.brightness(image, brightness=1.5), label\n"));
  std::multimap<uint32_t, std::string> fused;
  for (const Json& hint :
       session.of_document("textDocument/inlayHint", {{"range", to_json(Range{{0, 0}, {99, 0}})}}))
    if (hint["label"].get<std::string>().contains("fused"))
      fused.emplace(hint["position"]["line"].get<uint32_t>(), hint["label"]);
  EXPECT_EQ(fused, (std::multimap<uint32_t, std::string>{{7, "fused with brightness"},
                                                         {8, "fused with resize, flip, arithmetic"}}));
  session.open("/p/a.dali-dsl", pipeline("    return fn.flop(image), label\n"));
  EXPECT_FALSE(session.of_document("textDocument/inlayHint", {{"range", to_json(Range{{0, 0}, {99, 0}})}})
                   .contains("error"));
}

TEST(Lsp, LensesPreviewAndExplainAPipeline) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline("    return image, label\n"));
  const Json lenses = session.of_document("textDocument/codeLens");
  ASSERT_EQ(lenses.size(), 2u);
  EXPECT_EQ(lenses[0]["range"]["start"], (Json{{"line", 4}, {"character", 4}}));
  EXPECT_EQ(lenses[0]["command"]["title"], "preview");
  EXPECT_EQ(session.request("workspace/executeCommand", lenses[0]["command"]), "http://127.0.0.1:1/?token=t");
  EXPECT_EQ(session.shown, std::vector<std::string>{"http://127.0.0.1:1/?token=t"});
  EXPECT_EQ(session.request("workspace/executeCommand", lenses[1]["command"]), "what it explains");
  ASSERT_EQ(session.commands.size(), 2u);
  EXPECT_EQ(session.commands[0], (std::vector<std::string>{"serve", "/p/a.dali-dsl", "--pipeline=train"}));
  EXPECT_EQ(session.commands[1][0], "explain");
  for (const Json& wrong : {Json{{"command", "rm"}, {"arguments", {"a", "b"}}},
                            Json{{"command", "galatea.preview"}, {"arguments", {1, 2}}}, Json::object()})
    EXPECT_TRUE(session.request("workspace/executeCommand", wrong).contains("error")) << wrong;
}

TEST(Lsp, FormatsAllOrTheLinesThatAreMeant) {
  Session session;
  session.open("/p/a.dali-dsl", "a=1\nb = 2\nc=3\n");
  EXPECT_EQ(session.of_document("textDocument/formatting").size(), 2u);
  const Json edits =
      session.of_document("textDocument/rangeFormatting", {{"range", to_json(Range{{2, 0}, {2, 3}})}});
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0], (Json{{"range", to_json(Range{{2, 0}, {3, 0}})}, {"newText", "c = 3\n"}}));
  session.open("/p/a.dali-dsl", "a = (\n");
  EXPECT_TRUE(session.of_document("textDocument/formatting").contains("error"));
}

TEST(Lsp, ColoursCoverTheTextInOrder) {
  Session session;
  const std::string text = pipeline("    \"\"\"two\n    lines 😀\"\"\"\n    return image, label  # end\n");
  session.open("/p/a.dali-dsl", text);
  const Json data = session.of_document("textDocument/semanticTokens/full")["data"];
  ASSERT_EQ(data.size() % 5, 0u);
  const TextBuffer buffer(text);
  Position at;
  for (size_t k = 0; k < data.size(); k += 5) {
    const auto lines = data[k].get<uint32_t>(), columns = data[k + 1].get<uint32_t>(),
               length = data[k + 2].get<uint32_t>();
    at = lines == 0 ? Position{at.line, at.character + columns} : Position{at.line + lines, columns};
    ASSERT_LE(at.character + length, units_of(buffer.line(at.line), Encoding::kUtf16)) << "line " << at.line;
  }
  EXPECT_EQ(at, (Position{9, 25})) << "the comment is the last";
}

TEST(Lsp, WhatIsNoMessageIsAnswered) {
  Session session;
  auto code_of = [&](const Json& message) {
    session.last_message = nullptr;
    session.send(message);
    return session.last_message.is_null() ? 0 : session.last_message["error"]["code"].get<int>();
  };
  EXPECT_EQ(code_of(parse_json("{")), -32700);
  EXPECT_EQ(code_of(Json::array()), -32602);
  EXPECT_EQ(code_of({{"id", 1}, {"method", "textDocument/nothing"}}), -32601);
  EXPECT_EQ(code_of({{"id", 1}, {"method", "textDocument/hover"}}), -32602);
  EXPECT_EQ(
      code_of(
          {{"id", 1}, {"method", "textDocument/hover"}, {"params", {{"textDocument", 3}, {"position", -1}}}}),
      -32602);
  EXPECT_EQ(code_of({{"method", "textDocument/didChange"}, {"params", {{"textDocument", 3}}}}), 0)
      << "a notification";
  EXPECT_EQ(code_of({{"id", 1}, {"method", "initialize"}}), -32600);
  session.request("shutdown", Json::object());
  EXPECT_EQ(code_of({{"id", 1}, {"method", "textDocument/hover"}}), -32600);
  session.notify("exit", Json::object());
  EXPECT_TRUE(session.server().has_ended());
  EXPECT_EQ(session.server().status(), 0);
}

TEST(Lsp, PolicyDocumentsAreCheckedAndExplained) {
  Session session;
  const std::string text =
      R"({"format": "augment-policy", "version": 1, "bins": 11,
 "augmentations": {"rotate": {"range": [0, 30], "negate": true}, "invart": {}},
 "policy": {"apply": "rotate", "mag": {"bin": 3}}})";
  session.open("/p/policy.json", text);
  const std::vector<Json> wrong = session.diagnostics("/p/policy.json");
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0]["range"]["start"], to_json(Position{1, 65}));
  std::string right = text;
  right.replace(right.find("invart"), 6, "invert");
  right.insert(right.find("rotate\", \"mag"), "|");
  session.open("/p/policy.json", right);
  EXPECT_FALSE(has_error(session.diagnostics("/p/policy.json")));
  const std::string words = hover_text(session.at_cursor("textDocument/hover"));
  EXPECT_TRUE(words.contains("rotate") && words.contains("bin 10: ±30")) << words;
  EXPECT_TRUE(holds(labels_of(session.at_cursor("textDocument/completion")),
                    {"rotate", "equalize", "range", "policy"}));
  EXPECT_TRUE(session.of_document("textDocument/documentSymbol").is_null());
}

/// Every place of every example is asked for everything.
TEST(Lsp, EveryPlaceOfTheExamplesIsAnswered) {
  Session session;
  const uint32_t stride = testing::scale() == testing::kWhole ? 1 : testing::kSanitized ? 49 : 7;
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(GALATEA_SOURCE_DIR) / "examples")) {
    if (entry.path().extension() != ".dali-dsl") continue;
    ++files;
    const std::string text = *read_whole_file(entry.path().string());
    session.open(entry.path().string(), text);
    const TextBuffer buffer(text);
    for (uint32_t offset = 0; offset <= text.size(); offset += stride) {
      const Json at = {{"position", to_json(buffer.position(offset, Encoding::kUtf16))}};
      for (const char* method : {"textDocument/hover", "textDocument/completion", "textDocument/definition",
                                 "textDocument/references", "textDocument/signatureHelp"}) {
        const Json answer = session.of_document(method, at);
        ASSERT_FALSE(answer.is_object() && answer.contains("error"))
            << entry.path() << " " << at << method << answer;
      }
    }
  }
  EXPECT_GT(files, 8u);
}

/// Texts typed letter by letter, with letters that are wrong: nothing but answers comes back.
TEST(Lsp, TextsThatAreBeingTypedAreAnswered) {
  std::mt19937 random(11);
  const std::string whole = pipeline(
      "    if label == 3:\n        image = fn.rotate(image, angle=[x * 2 for x in range(3)])\n    return image, label\n");
  Session session;
  const std::string path = "/p/typed.dali-dsl";
  session.open(path, "");
  std::string text;
  for (size_t k = 0; k < whole.size(); ++k) {
    const char letter = random() % 12 == 0 ? "([{\"'\\\n:.=,"[random() % 11] : whole[k];
    const TextBuffer before(text);
    const Position end = before.position(static_cast<uint32_t>(text.size()), Encoding::kUtf16);
    text += letter;
    session.notify(
        "textDocument/didChange",
        {{"textDocument", {{"uri", uri_of(path)}, {"version", k + 2}}},
         {"contentChanges", {{{"range", to_json(Range{end, end})}, {"text", std::string(1, letter)}}}}});
    const Position now = TextBuffer(text).position(static_cast<uint32_t>(text.size()), Encoding::kUtf16);
    for (const char* method : {"textDocument/completion", "textDocument/signatureHelp"}) {
      const Json answer = session.of_document(method, {{"position", to_json(now)}});
      ASSERT_FALSE(answer.is_object() && answer.contains("error")) << text << answer;
    }
    if (k % 16 == 0) session.diagnostics(path);
  }
}

}  // namespace
}  // namespace galatea::tools::lsp
