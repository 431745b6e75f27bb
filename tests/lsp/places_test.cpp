// What stands at places that are no names: signs, literals, texts that are being typed; mistakes in other files,
// and files in other encodings.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/lsp/session.h"
#include "tests/support/own_folder.h"

namespace galatea::tools::lsp {
namespace {

namespace fs = std::filesystem;

std::string hover_in(const std::string& body) {
  Session session;
  session.open("/p/a.dali-dsl", pipeline(body));
  return hover_text(session.at_cursor("textDocument/hover"));
}

TEST(LspPlaces, EveryExpressionHasItsType) {
  const std::pair<const char*, const char*> kWanted[] = {
      {"    a = fn.random.uniform() |* 2 + 1\n", "fn.random.uniform() * 2: f32[]"},
      {"    a = fn.random.uniform() * 2 |+ 1\n", "fn.random.uniform() * 2 + 1: f32[]"},
      {"    a = fn.random.uniform() |> 0.5\n", "fn.random.uniform() > 0.5: bool[]"},
      {"    a = no|t (fn.random.uniform() > 0.5)\n", "not (fn.random.uniform() > 0.5): bool[]"},
      {"    a = |-size\n", "-size: int `-224`"},
      {"    a = image[2:9, :, 0|]\n", "image[2:9, :, 0]: u8["},
      {"    a = [size, |32]\n", "32: int `32`"},
      {"    a = [size, 32|]\n", "[size, 32]: list `[224, 32]`"},
      {"    a = |{\"b\": size}\n", "{\"b\": size}: dict"},
      {"    a = \"fla|t\"\n", "\"flat\": str `'flat'`"},
      {"    a = f\"{size} p|x\"\n", "f\"{size} px\": str `'224 px'`"},
      {"    a = 3 i|f size > 4 else 5\n", "3 if size > 4 else 5: int `3`"},
      {"    a = [x * 2 fo|r x in [1, 2]]\n", "[x * 2 for x in [1, 2]]: list `[2, 4]`"},
      {"    a = fn.flip(image|)\n", "image: u8["},
      {"    a = fn.flip(image, horizontal=1|)\n", "fn.flip(image, horizontal=1): u8[h,w,3] HWC"}};
  for (const auto& [body, wanted] : kWanted) {
    const std::string found = hover_in(body + std::string("    return image\n"));
    EXPECT_TRUE(found.contains(wanted)) << body << found;
  }
  // Statements are none.
  EXPECT_EQ(hover_in("    retu|rn image\n"), "");
  EXPECT_EQ(hover_in("    x |= image\n    return x\n"), "");
}

TEST(LspPlaces, DataTellsWhoseItIsAndWhereItLies) {
  EXPECT_TRUE(hover_in("    return ima|ge\n").contains("Per sample, on the CPU."));
  EXPECT_TRUE(hover_in("    x = image.gpu()\n    return |x\n").contains("Per sample, on the GPU."));
  EXPECT_TRUE(hover_in("    x = fn.flip(image) |+ 1\n    return x\n").contains("Per sample, on the CPU."));
  EXPECT_TRUE(hover_in("    x = types.Constant([1, 2])\n    return |x\n")
                  .contains("The same for every sample, on the CPU."));
  EXPECT_TRUE(hover_in("    x = fn.batch_permutation()\n    return |x\n")
                  .contains("Per sample, from its whole batch, on the CPU."));
  EXPECT_TRUE(hover_in("    x = fn.reductions.mean(image, batch=True)\n    return |x\n")
                  .contains("Per batch, on the CPU."));
  EXPECT_FALSE(hover_in("    return image, si|ze\n").contains("sample"));
  EXPECT_TRUE(hover_in("    return fn.decoders.image(encoded, de|vice=\"mixed\")\n").contains("`\"mixed\"`"));
}

std::vector<std::string> completed(const std::string& text) {
  Session session;
  session.open("/p/a.dali-dsl", text);
  return labels_of(session.at_cursor("textDocument/completion"));
}

TEST(LspPlaces, WordsThatAnArgumentTakesAreCompleted) {
  using Words = std::vector<std::string>;
  const Words modes = {"default", "stretch", "not_larger", "not_smaller"};
  EXPECT_EQ(completed(pipeline("    x = fn.resize(image, mode=\"|\")\n")), modes);
  EXPECT_EQ(completed(pipeline("    x = fn.resize(image, mode='not|')\n")), modes);
  // Nobody has written the end of the text.
  EXPECT_EQ(completed(pipeline("    x = fn.resize(image, mode=\"|\n    return x\n")), modes);
  EXPECT_EQ(completed(pipeline("    x = fn.resize(image, mode=\"n|\n    return x\n")), modes);
  const Words unquoted = completed(pipeline("    x = fn.resize(image, mode=|)\n"));
  EXPECT_NE(std::ranges::find(unquoted, "\"not_larger\""), unquoted.end());
  EXPECT_EQ(completed(pipeline("    x = fn.flip(image, device=\"|\")\n")), (Words{"cpu", "gpu", "mixed"}));
  EXPECT_EQ(completed("from nvidia.dali import pipeline_def\n\n\n@pipeline_def(on_error=\"|\")\n"),
            (Words{"raise", "skip", "replace"}));
  EXPECT_TRUE(completed(pipeline("    x = fn.readers.file(file_root=\"|\")\n")).empty()) << "any text";
  // What is said is taken.
  for (const std::string& mode : modes) {
    Session session;
    session.open("/p/a.dali-dsl",
                 pipeline("    return fn.resize(image, size=[4, 4], mode=\"" + mode + "\")\n"));
    for (const Json& diagnostic : session.diagnostics("/p/a.dali-dsl"))
      EXPECT_NE(diagnostic["severity"], 1) << diagnostic;
  }
}

class LspPlacesFiles : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  const fs::path folder_ = galatea::testing::make_own_folder("lsp-places");
};

std::vector<Json> errors_of(Session& session, const std::string& path) {
  std::vector<Json> found = session.diagnostics(path);
  std::erase_if(found, [](const Json& one) { return one["severity"] != 1; });
  return found;
}

/// What is wrong in an imported file is told where it is imported: nothing of what depends on it is checked.
TEST_F(LspPlacesFiles, MistakesOfImportedFilesStandAtTheImport) {
  const std::string broken = write("broken.dali-dsl", "SIZE = 3\nDEPTH = \nWIDTH = )\n");
  write("between.dali-dsl", "from .broken import SIZE\n");
  const std::string main = (folder_ / "main.dali-dsl").string();
  for (const char* module : {"broken", "between"}) {
    Session session;
    session.open(main, fmt::format("X = 1\nfrom .{} import SIZE\nx = SIZE\n", module));
    const std::vector<Json> errors = errors_of(session, main);
    ASSERT_EQ(errors.size(), 1u) << module;
    EXPECT_EQ(errors[0]["range"]["start"]["line"], 1);
    const std::string words = errors[0]["message"];
    EXPECT_TRUE(words.starts_with("broken.dali-dsl, line 2: ")) << words;
    const Json& there = errors[0]["relatedInformation"][0]["location"];
    EXPECT_EQ(there["uri"], uri_of(broken));
    EXPECT_EQ(there["range"]["start"]["line"], 1);
  }
  Session session;
  session.open(main, "from .broken import SIZE\nx = SIZE\n");
  session.open(broken, "SIZE = 3\n");
  EXPECT_TRUE(errors_of(session, main).empty()) << "mended in the editor, not yet on the disk";
}

constexpr const char* kPolicy =
    "{\"format\": \"augment-policy\", \"version\": 1, \"bins\": 11,\n"
    " \"augmentations\": {\"rotate\": {\"range\": [0, 30], \"negate\": true}},\n"
    " \"policy\": {\"choose\": 1, \"from\": [{\"apply\": \"rotate\", \"mag\": {\"bin\": 3}}]}}\n";

/// A policy counts as it stands in the editor, for the pipeline that loads it, too.
TEST_F(LspPlacesFiles, UnsavedPoliciesAreLoaded) {
  const std::string document = write("p.json", kPolicy), main = (folder_ / "main.dali-dsl").string();
  std::string wrong = kPolicy;
  wrong.replace(wrong.find("\"apply\": \"rotate\"") + 10, 6, "rotat");
  Session session(Json::object(), folder_.string());
  session.open(
      main,
      std::string(kHead) +
          "from galatea.auto_aug import policy\n\n\n@pipeline_def(batch_size=2)\ndef train(data: str):\n"
          "    encoded, label = fn.readers.file(file_root=data)\n"
          "    return policy.load(\"p.json\")(fn.decoders.image(encoded)), label\n");
  EXPECT_TRUE(errors_of(session, main).empty());
  session.open(document, wrong);
  const std::vector<Json> errors = errors_of(session, main);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0]["range"]["start"]["line"], 9) << "where it is loaded";
  EXPECT_TRUE(errors[0]["message"].get<std::string>().starts_with("p.json, line 3: ")) << errors[0];
  EXPECT_EQ(errors_of(session, document).size(), 1u);
  session.open(document, kPolicy);
  EXPECT_TRUE(errors_of(session, main).empty());
}

/// Members that the schema knows are all explained.
TEST_F(LspPlacesFiles, EveryMemberOfAPolicyIsExplained) {
  Session session;
  const std::string path = (folder_ / "p.json").string();
  for (const char* member : {"format", "version", "bins", "augmentations", "range", "negate", "policy",
                             "choose", "from", "apply", "mag", "bin"}) {
    std::string text = kPolicy;
    session.open(path, text.insert(text.find(std::string("\"") + member + "\":") + 1, "|"));
    const std::string words = hover_text(session.at_cursor("textDocument/hover"));
    EXPECT_TRUE(words.starts_with(std::string("**") + member + "**: ") &&
                words.size() > 12 + std::strlen(member))
        << member << words;
  }
  for (const Json& item : session.at_cursor("textDocument/completion")["items"])
    EXPECT_FALSE(item["detail"].get<std::string>().empty()) << item;
}

TEST_F(LspPlacesFiles, OtherEncodingsAreToldOf) {
  const std::string latin = write("latin.dali-dsl", "# caf\xE9\nSIZE = 3  # \xE9\n");
  write("wide.dali-dsl", std::string("S\0I\0Z\0E\0 \0=\0 \0003\0\n\0", 18));
  const std::string marked = write("marked.dali-dsl", "\xEF\xBB\xBFSIZE = 3\n");
  const std::string main = (folder_ / "main.dali-dsl").string();
  for (const auto& [module, said] : {std::pair{"latin", "not UTF-8"}, {"wide", "wide.dali-dsl, line 1"}}) {
    Session session(Json::object(), folder_.string());
    session.open(main, fmt::format("from .{} import SIZE\nx = SIZE\n", module));
    const std::vector<Json> errors = errors_of(session, main);
    ASSERT_EQ(errors.size(), 1u) << module;
    EXPECT_TRUE(errors[0]["message"].get<std::string>().contains(said)) << errors[0];
    EXPECT_FALSE(session.request("workspace/symbol", {{"query", "SIZE"}}).dump().empty());
  }
  // A mark of the byte order is no letter; places behind letters of two units are the editor's.
  Session session;
  session.open(main,
               "\xEF\xBB\xBF"
               "from .marked import SIZE\n\"😀\"; x = SI|ZE\n");
  EXPECT_TRUE(errors_of(session, main).empty());
  EXPECT_TRUE(hover_text(session.at_cursor("textDocument/hover")).contains("SIZE: int `3`"));
  const Json definition = session.at_cursor("textDocument/definition");
  EXPECT_EQ(definition["uri"], uri_of(marked));
  const Json places =
      session.at_cursor("textDocument/references", {{"context", {{"includeDeclaration", true}}}});
  EXPECT_NE(
      std::ranges::find(places, Json{{"uri", uri_of(main)}, {"range", to_json(Range{{1, 10}, {1, 14}})}}),
      places.end())
      << places;
}

TEST_F(LspPlacesFiles, RootsAreThoseOfTheWorkspace) {
  write("one/a.dali-dsl", "FIRST_SIZE = 1\n");
  write("two/b.dali-dsl", "SECOND_SIZE = 2\n");
  const auto folder = [&](const char* name) {
    return Json{{"uri", uri_of((folder_ / name).string())}, {"name", name}};
  };
  const op::Registry registry;
  std::vector<Json> answers;
  Server server(registry, [&](const Json& message) { answers.push_back(message); });
  const auto names = [&] {
    server.receive({{"id", 2}, {"method", "workspace/symbol"}, {"params", {{"query", "SIZE"}}}});
    std::vector<std::string> found;
    for (const Json& symbol : answers.back()["result"]) found.push_back(symbol["name"]);
    return found;
  };
  using Names = std::vector<std::string>;
  const Json folders = Json::array({folder("one"), folder("two")});
  server.receive({{"id", 1},
                  {"method", "initialize"},
                  {"params", {{"capabilities", Json::object()}, {"workspaceFolders", folders}}}});
  EXPECT_EQ(names(), (Names{"FIRST_SIZE", "SECOND_SIZE"}));
  const auto change = [&](const Json& added, const Json& removed) {
    server.receive({{"method", "workspace/didChangeWorkspaceFolders"},
                    {"params", {{"event", {{"added", added}, {"removed", removed}}}}}});
  };
  change(Json::array(), Json::array({folder("one")}));
  EXPECT_EQ(names(), (Names{"SECOND_SIZE"}));
  change(Json::array({folder("one")}), Json::array({folder("two")}));
  EXPECT_EQ(names(), (Names{"FIRST_SIZE"}));
}

}  // namespace
}  // namespace galatea::tools::lsp
