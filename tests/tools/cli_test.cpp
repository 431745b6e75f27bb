// The command line as scripts see it: exit statuses, what goes to stdout and stderr, files written.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/tools/command_line.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using galatea::parse_json;
using galatea::testing::CommandLine;
using galatea::testing::contains;
using galatea::testing::Outcome;
using galatea::testing::read_file;

TEST_F(CommandLine, WrongUsageIsStatusTwoWithAHint) {
  Outcome o = run({"rnu", "x"});
  EXPECT_EQ(o.status, 2);
  EXPECT_TRUE(contains(o.err, "there is no subcommand `rnu`")) << o.err;
  EXPECT_TRUE(contains(o.err, "did you mean `run`?")) << o.err;
  o = run({"run", "x", "--bach-size=3"});
  EXPECT_EQ(o.status, 2);
  EXPECT_TRUE(contains(o.err, "did you mean `--batch-size`?")) << o.err;
  o = run({"build", "x"});
  EXPECT_EQ(o.status, 2);
  EXPECT_TRUE(contains(o.err, "later release")) << o.err;
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{},
                                             {"run"},
                                             {"run", "x", "--batch-size", "0"},
                                             {"run", "x", "--device", "tpu"},
                                             {"run", "x", "--set", "novalue"},
                                             {"explain", "x", "--emit=nothing"},
                                             {"check"},
                                             {"run", "x", "y"},
                                             {"--colour"},
                                             {"run", "x", "--epochs", "2", "--batches", "3"},
                                             {"run", "x", "--device", "gpu:99999999999"},
                                             {"run", "x", "--memory-limit", "-5"},
                                             {"run", "x", "--memory-limit", "0"},
                                             {"run", "x", "--memory-limit", "1.5MB"},
                                             {"run", "x", "--memory-limit", "12XB"},
                                             {"run", "x", "--memory-limit", "8EB"},
                                             {"run", "x", "--memory-limit", "99999999999999999999"},
                                             {"run", "x", "--seed", "99999999999999999999"},
                                             {"run", "x", "--save", ""},
                                             {"run", "x", "--trace", ""},
                                             {"view", "x", "-o", ""},
                                             {"view", "x", "-o", "s.gif"},
                                             {"view", "x", "-o", "s.png", "--boxes", "boxes"},
                                             {"view", "x", "-o", "s.png", "--box-format", "ltrb"},
                                             {"policy", "view", "x", "-o", "s.jpeg"},
                                             {"view", "x"}}) {
    o = run(bad);
    EXPECT_EQ(o.status, 2) << (bad.empty() ? "" : bad.back());
    EXPECT_TRUE(o.out.empty()) << o.out;
    EXPECT_FALSE(o.err.empty());
  }
}

TEST_F(CommandLine, HelpShowsTypesDefaultsAndExamples) {
  for (const char* name : {"run", "check", "fmt", "explain", "view", "ops", "settings", "version"}) {
    Outcome o = run({name, "--help"});
    EXPECT_EQ(o.status, 0) << name;
    EXPECT_TRUE(contains(o.out, "--diagnostics text|json")) << o.out;
    EXPECT_TRUE(contains(o.out, "default: auto; example: --color=never")) << o.out;
  }
  // Arguments of several words, bounded or not, look alike.
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check"}, {"fmt"}, {"policy", "validate"}, {"policy", "score"}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("--help");
    const std::string help = run(arguments).out;
    const std::string name = command.front() == "policy" ? "policies" : "files";
    EXPECT_TRUE(contains(help, "[OPTIONS] " + name + "...\n")) << help;
    EXPECT_TRUE(contains(help, name == "files" ? "files FILE ... REQUIRED" : "policies POLICY ... REQUIRED"))
        << help;
  }
}

TEST_F(CommandLine, VersionSettingsOps) {
  EXPECT_TRUE(contains(run({"version"}).out, "LLVM"));
  for (const char* word : {"--version", "-V"}) {
    const Outcome short_form = run({word});
    EXPECT_EQ(short_form.status, 0);
    EXPECT_TRUE(run({"version"}).out.starts_with(short_form.out.substr(0, short_form.out.find('\n')) + " "))
        << short_form.out;
  }
  EXPECT_EQ(run({"help", "check"}).out, run({"check", "--help"}).out);
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help", "chekc"}).status, 2);
  EXPECT_TRUE(contains(run({"settings"}).out, "GALATEA_CACHE_DIR"));
  EXPECT_TRUE(contains(run({"settings"}).out, "from the environment"));
  EXPECT_TRUE(contains(run({"ops"}).out, "\nresize "));
  Outcome one = run({"ops", "resize"});
  EXPECT_TRUE(contains(one.out, "fn.resize: ")) << one.out;
  EXPECT_TRUE(contains(one.out, "\narguments:\n")) << one.out;
  Outcome none = run({"ops", "resise"});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(contains(none.err, "did you mean `resize`?")) << none.err;
}

TEST_F(CommandLine, OpsAsJson) {
  Outcome o = run({"ops", "--json"});
  ASSERT_EQ(o.status, 0);
  Json document = parse_json(o.out);
  bool found = false;
  for (const Json& op : document["operators"]) {
    for (const char* key : {"name", "inputs", "args", "devices", "kind", "random"})
      EXPECT_TRUE(op.contains(key)) << op;
    if (op["name"] == "readers.file") {
      EXPECT_EQ(op["output_ports"][0]["dtypes"], Json::array({"u8"}));
      EXPECT_EQ(op["output_ports"][0]["extents"], nullptr);
      EXPECT_EQ(op["output_ports"][0]["ndim"], 1);
      EXPECT_EQ(op["output_ports"][1]["name"], "label");
      EXPECT_EQ(op["output_ports"][1]["extents"], Json::array({1}));
    }
    if (op["name"] != "resize") continue;
    EXPECT_EQ(op["input_ports"][0]["layouts"], Json::array({"HWC", "CHW", "DHWC", "CDHW", "DCHW"}));
    found = true;
    EXPECT_EQ(op["inputs"].size(), 2u);
    EXPECT_EQ(op["args"]["size"]["type"], "float list");
    EXPECT_EQ(op["args"]["size"]["per_sample"], true);
  }
  EXPECT_TRUE(found);
}

TEST_F(CommandLine, ExplainsCodes) {
  Outcome o = run({"explain", "G0850"});
  EXPECT_EQ(o.status, 0);
  EXPECT_TRUE(contains(o.out, "host program")) << o.out;
  for (const char* part :
       {"G0203: ", "message: ", "This fails:", "    image = image.permute(2, 0, 1)", "This passes:"})
    EXPECT_TRUE(contains(run({"explain", "G0203"}).out, part)) << part;
  EXPECT_TRUE(contains(run({"explain", "G0230"}).out, "G0230")) << "codes are found exactly";
  EXPECT_EQ(run({"explain", "G9999"}).status, 2);
}

TEST_F(CommandLine, ErrorsWhileRunningHaveTheirChainOfCalls) {
  const std::string path = write("chain.dali-dsl",
                                 "from nvidia.dali import pipeline_def, fn, types\n"
                                 "\n"
                                 "def cut(image):\n"
                                 "    return fn.crop(image, crop=[5000, 5000])\n"
                                 "\n"
                                 "def prepare(data):\n"
                                 "    return cut(fn.decoders.image(data))\n"
                                 "\n"
                                 "@pipeline_def(batch_size=1, num_threads=1)\n"
                                 "def train():\n"
                                 "    encoded, label = fn.readers.file(file_root=\"" +
                                     samples() +
                                     "\")\n"
                                     "    return prepare(encoded)\n");
  Outcome o = run({"run", path, "--batches", "1", "--backend", "interpreter", "--diagnostics=json"});
  EXPECT_EQ(o.status, 1) << o.err;
  const Json diagnostic = parse_json(o.out)["diagnostics"][0];
  EXPECT_EQ(diagnostic["line"], 4);
  ASSERT_EQ(diagnostic["calls"].size(), 2u) << diagnostic;
  EXPECT_EQ(diagnostic["calls"][0]["line"], 7);
  EXPECT_EQ(diagnostic["calls"][0]["function"], "prepare");
  EXPECT_EQ(diagnostic["calls"][1]["line"], 12);
  EXPECT_EQ(diagnostic["calls"][1]["function"], "train");
}

/// Of a kernel of several operators the one that divides is named; where several do, all of them are.
TEST_F(CommandLine, DivisionsByZeroAreReportedWhereTheyAre) {
  const auto error_of = [&](const std::string& lines, const std::string& backend) {
    const std::string file =
        write("divides.dali-dsl",
              "from nvidia.dali import fn, pipeline_def, types\n"
              "\n"
              "\n"
              "@pipeline_def(batch_size=1, num_threads=1, seed=42)\n"
              "def p():\n"
              "    n = fn.random.uniform(range=[0, 255], dtype=types.INT32, shape=[64])\n"
              "    d = fn.random.uniform(range=[0, 2], dtype=types.INT32, shape=[64])\n" +
                  lines);
    const Outcome o = run({"run", file, "--backend", backend, "--batches", "1"});
    EXPECT_EQ(o.status, 1) << o.out;
    return o.err;
  };
  for (const char* backend : {"llvm", "interpreter"}) {
    const std::string one = error_of("    q = n // d\n    r = q + 5\n    return r * 3\n", backend);
    EXPECT_TRUE(contains(one, "divides.dali-dsl:8:9")) << one;
    EXPECT_TRUE(contains(one, "in arith.")) << one;
    EXPECT_FALSE(contains(one, "or in")) << one;
    const std::string two = error_of("    q = n // (d + 1)\n    r = q % d\n    return r * 3\n", backend);
    EXPECT_TRUE(contains(two, "divides.dali-dsl:8:9")) << two;
    EXPECT_TRUE(contains(two, "at line 9: they are one kernel")) << two;
    const std::string harmless = error_of("    q = n // 7\n    r = q % d\n    return r * 3\n", backend);
    EXPECT_TRUE(contains(harmless, "divides.dali-dsl:9:9")) << harmless;
    EXPECT_FALSE(contains(harmless, "or in")) << harmless;
  }
}

TEST_F(CommandLine, CheckSaysWhatIsWrongAndWhere) {
  Outcome good = run({"check", hello()});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_TRUE(contains(good.out, "fine")) << good.out;
  EXPECT_TRUE(contains(good.out, "u8[32,32,3] HWC")) << good.out;

  std::string text = read_file(hello());
  text.replace(text.find("size=[size"), 4, "sise");
  std::string bad = write("typo.dali-dsl", text);
  Outcome o = run({"check", bad});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "typo.dali-dsl:7:")) << o.err;
  EXPECT_TRUE(contains(o.err, "`size`")) << o.err;
  EXPECT_FALSE(contains(o.err, "\033[")) << o.err;

  o = run({"check", bad, "--color=always"});
  EXPECT_TRUE(contains(o.err, "\033[1;31merror")) << o.err;
  EXPECT_EQ(run({"check", "no/such/file.dali-dsl"}).status, 1);
}

TEST_F(CommandLine, WhatMustFailForEverySampleIsAnErrorInCheck) {
  std::string text = read_file(hello());
  text.replace(text.find("    return"), 0, "    small = fn.slice(small, start=[20], shape=[20], axes=[0])\n");
  std::string file = write("slice.dali-dsl", text);
  Outcome o = run({"check", file});
  EXPECT_EQ(o.status, 1) << o.out;
  EXPECT_TRUE(contains(o.err, "slice.dali-dsl:8:")) << o.err;
  EXPECT_TRUE(contains(o.err, "fails for every sample")) << o.err;
  EXPECT_EQ(run({"check", file, "--set", "size=64"}).status, 0);
}

TEST_F(CommandLine, DiagnosticsAsJson) {
  Json fine = parse_json(run({"check", hello(), "--diagnostics=json"}).out);
  EXPECT_EQ(fine, parse_json(R"({"diagnostics":[]})"));
  Outcome o = run({"check", write("broken.dali-dsl", "def f(:\n"), "--diagnostics=json"});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(o.err.empty()) << o.err;
  Json document = parse_json(o.out);
  ASSERT_FALSE(document["diagnostics"].empty());
  const Json& first = document["diagnostics"][0];
  for (const char* key : {"code", "severity", "message", "file", "line", "column", "end_line", "end_column",
                          "labels", "calls", "notes", "help", "edits"}) {
    EXPECT_TRUE(first.contains(key)) << key;
  }
  EXPECT_EQ(first["severity"], "error");
  EXPECT_EQ(first["line"], 1);
}

TEST_F(CommandLine, ASecondValueBehindSetIsNoFile) {
  const Outcome o = run({"check", hello(), "--set", "size=3", "b=2"});
  EXPECT_NE(o.err.find("write `--set b=2`"), std::string::npos) << o.err;
}

TEST_F(CommandLine, CheckMendsWhatNothingElseCanBeMeantBy) {
  const std::string wrong = "x = True && null\ny = [x].apend(1)\n",
                    mended = "x = True and None\ny = [x].apend(1)\n";
  const std::string file = write("wrong.dali-dsl", wrong);
  const auto text = [&] {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const Outcome shown = run({"check", file, "--fix", "--diff"});
  EXPECT_NE(shown.out.find("-x = True && null\n+x = True and None\n"), std::string::npos) << shown.out;
  EXPECT_EQ(text(), wrong);
  const Outcome fixed = run({"check", file, "--fix"});
  EXPECT_NE(fixed.out.find("2 mistakes mended"), std::string::npos) << fixed.out;
  EXPECT_EQ(text(), mended);
  EXPECT_EQ(fixed.status, 1);  // what is left
  EXPECT_EQ(run({"check", file, "--fix"}).out.find("mended"), std::string::npos);
  EXPECT_EQ(text(), mended);
}

TEST_F(CommandLine, RunSavesWhatComesOut) {
  const fs::path out = folder_ / "out";
  Outcome o =
      run({"run", hello(), "--save", out.string(), "--format", "png", "--stats=json", "--batches", "2"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(o.err.empty()) << o.err;
  Json stats = parse_json(o.out);
  EXPECT_EQ(stats["samples"], 8);
  EXPECT_EQ(stats["batches"], 2);
  EXPECT_EQ(stats["seed"], 7);
  EXPECT_EQ(stats["skipped"], 0);
  EXPECT_TRUE(contains(read_file(out / "out0/000007.png"), "IHDR"));
  EXPECT_FALSE(fs::exists(out / "out0/000008.png"));
  EXPECT_TRUE(contains(read_file(out / "out1/000007.npy"), "NUMPY"));
}

TEST_F(CommandLine, RunSavesClipsAsFilms) {
  const fs::path file = folder_ / "clips.dali-dsl", out = folder_ / "films";
  std::ofstream(file) << "from nvidia.dali import pipeline_def, fn\n\n\n@pipeline_def(batch_size=1)\n"
                         "def clips():\n"
                         "    clip = fn.readers.video(filenames=[\""
                      << GALATEA_SOURCE_DIR
                      << "/tests/video/films/mpeg4.avi\"], sequence_length=4)\n    return clip, clip * 0.5\n";
  const Outcome o = run({"run", file.string(), "--save", out.string(), "--format", "mp4", "--batches", "1"});
  if (o.status == 3) GTEST_SKIP() << o.err;  // no libav here
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(read_file(out / "out0/000000.mp4").substr(4, 4), "ftyp");
  EXPECT_TRUE(contains(read_file(out / "out1/000000.npy"), "NUMPY"));
}

TEST_F(CommandLine, BackendsAndFusionChangeNoBit) {
  auto outputs = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"run",       hello(), "--set",  "size=24",
                                          "--batches", "1",     "--save", (folder_ / name).string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Outcome o = run(arguments);
    EXPECT_TRUE(o.status == 0 || (o.status == 3 && name == "shim"))
        << name << o.err;  // 3: no C++ compiler here
    std::string bytes;
    for (int i = 0; i < 4; ++i)
      bytes += read_file(folder_ / name / "out0" / ("00000" + std::to_string(i) + ".npy"));
    return o.status == 3 ? std::string() : bytes;
  };
  const std::string expected = outputs("interpreter", {"--backend", "interpreter"});
  ASSERT_GT(expected.size(), size_t{4 * 24 * 24 * 3});
  EXPECT_EQ(outputs("llvm", {}), expected);
  EXPECT_EQ(outputs("unfused", {"--fuse=off"}), expected);
  EXPECT_EQ(outputs("threads", {"--threads", "5", "--batch-size", "7", "--prefetch", "1"}), expected);
  const std::string shim = outputs("shim", {"--backend", "cuda-shim"});
  EXPECT_EQ(shim.empty() ? expected : shim, expected);
}

TEST_F(CommandLine, RunWithoutOptionsIsQuiet) {
  Outcome o = run({"run", hello(), "--set", "size=16"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(o.out.empty()) << o.out;
  EXPECT_TRUE(o.err.empty()) << o.err;
}

TEST_F(CommandLine, ParametersAreChecked) {
  Outcome o = run({"run", hello(), "--set", "sise=16"});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "size")) << o.err;
  EXPECT_EQ(run({"run", hello(), "--set", "size=large"}).status, 1);
  EXPECT_EQ(run({"run", hello(), "--pipeline", "goodbye"}).status, 1);
  EXPECT_EQ(run({"run", hello(), "--set", "data=" + (folder_ / "none").string()}).status, 1);
}

TEST_F(CommandLine, CorruptSamplesFollowTheirPolicy) {
  const std::string data = "data=" + samples() + "-corrupt";
  Outcome o = run({"run", hello(), "--set", data});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "01_cut_short.jpg")) << o.err;
  EXPECT_TRUE(contains(o.err, "hello.dali-dsl:6")) << o.err;
  o = run({"run", hello(), "--set", data, "--on-error", "skip", "--stats=json", "--diagnostics=json"});
  ASSERT_EQ(o.status, 0) << o.err << o.out;
  const size_t line_end = o.out.find('\n');
  Json diagnostics = parse_json(o.out.substr(0, line_end)), stats = parse_json(o.out.substr(line_end));
  EXPECT_EQ(stats["samples"], 4);
  EXPECT_EQ(stats["skipped"], 2);
  EXPECT_EQ(diagnostics["diagnostics"].size(), 2u);
  for (const Json& d : diagnostics["diagnostics"]) EXPECT_EQ(d["severity"], "warning");
}

TEST_F(CommandLine, FilesThatCannotBeReadNameTheReader) {
  fs::create_directories(folder_ / "data" / "a");
  fs::create_symlink("nowhere", folder_ / "data" / "a" / "0.jpg");
  const std::string data = "data=" + (folder_ / "data").string();
  const Outcome raised = run({"run", hello(), "--set", data});
  EXPECT_EQ(raised.status, 1);
  EXPECT_TRUE(contains(raised.err, "hello.dali-dsl:")) << raised.err;
  EXPECT_TRUE(contains(raised.err, "in readers.file")) << raised.err;
  const Outcome skipped = run({"run", hello(), "--set", data, "--on-error", "skip"});
  EXPECT_EQ(skipped.status, 0);
  EXPECT_TRUE(contains(skipped.err, "in readers.file")) << skipped.err;
}

TEST_F(CommandLine, SettingsThatSayNothingAreNamed) {
  ::setenv("GALATEA_CACHE_SIZE", "plenty", 1);
  const Outcome listed = run({"settings"}), checked = run({"check", hello()});
  ::setenv("GALATEA_CACHE_SIZE", "100MB", 1);
  const Outcome fine = run({"settings"});
  ::unsetenv("GALATEA_CACHE_SIZE");
  EXPECT_TRUE(contains(listed.out, "plenty  (size, from the environment; no size: 256MB is in force)"))
      << listed.out;
  EXPECT_EQ(checked.status, 0);
  EXPECT_TRUE(contains(checked.err, "GALATEA_CACHE_SIZE=plenty is no size: the default, 256MB, is in force"))
      << checked.err;
  EXPECT_EQ(fine.err, "");
}

TEST_F(CommandLine, SizesHaveUnits) {
  // The outputs of a batch are more than a kilobyte and less than a gigabyte.
  for (const char* small : {"1000", "1000b", "1K", "1kb", "1KiB"})
    EXPECT_EQ(run({"run", hello(), "--batches", "1", "--memory-limit", small}).status, 1) << small;
  for (const char* large : {"1073741824", "1G", "1gb", "1GIB", "1e"})
    EXPECT_EQ(run({"run", hello(), "--batches", "1", "--memory-limit", large}).status, 0) << large;
}

TEST_F(CommandLine, ViewDrawsASheet) {
  const fs::path sheet = folder_ / "sheet.png";
  Outcome o = run({"view", hello(), "-o", sheet.string(), "--nodes", "--samples", "3"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, sheet.string() + "\n");
  std::string bytes = read_file(sheet);
  ASSERT_TRUE(contains(bytes, "IHDR"));
  // Width: two columns of pictures (image, small) of 208, one of words (label) of 96, gaps of 10.
  EXPECT_EQ((static_cast<unsigned char>(bytes[18]) << 8) + static_cast<unsigned char>(bytes[19]),
            10 + 2 * 218 + 106);
  o = run({"view", hello(), "-o", (folder_ / "none/sheet.png").string()});
  EXPECT_EQ(o.status, 1);
}

TEST_F(CommandLine, ExplainNamesWhatAPresetChanges) {
  const std::string text =
      "from galatea import fn, pipeline_def\n\n\n@pipeline_def(batch_size=2, compat=\"torchvision\")\ndef p():\n"
      "    data, label = fn.readers.file(file_root=\"x\")\n    image = fn.decoders.image(data)\n"
      "    image = fn.resize(image, size=[9, 9], compat=\"pil\")\n    image = fn.equalize(image, compat=\"dali\")\n"
      "    return fn.flip(image), label\n";
  const auto path = folder_ / "preset.dali-dsl";
  std::ofstream(path) << text;
  const Outcome o = run({"explain", path.string()});
  EXPECT_EQ(o.status, 0) << o.err;
  const size_t begin = o.out.find("\npresets\n");
  ASSERT_NE(begin, std::string::npos) << o.out;
  const std::string section = o.out.substr(begin);
  EXPECT_TRUE(contains(section, "fn.decoders.image (")) << section;
  EXPECT_TRUE(contains(section, "torchvision's numbers")) << section;
  EXPECT_TRUE(contains(section, "Pillow's numbers")) << section;
  EXPECT_TRUE(contains(section, "EXIF orientation is not applied")) << section;
  EXPECT_FALSE(contains(section, "fn.equalize")) << section;
  EXPECT_FALSE(contains(section, "fn.flip")) << section;
  EXPECT_FALSE(contains(run({"explain", hello()}).out, "\npresets\n"));
}

TEST_F(CommandLine, ExplainShowsEveryLevel) {
  for (const char* level : {"ast", "graph", "plan", "kernel", "loops", "llvm", "asm", "cuda"}) {
    Outcome o = run({"explain", hello(), std::string("--emit=") + level});
    EXPECT_EQ(o.status, 0) << level << o.err;
    EXPECT_TRUE(contains(o.out, "resize")) << level << "\n" << o.out;
  }
  EXPECT_TRUE(contains(run({"explain", hello(), "--emit=llvm"}).out, "define "));
  EXPECT_TRUE(contains(run({"explain", hello(), "--emit=cuda"}).out, "extern \"C\""));
  // What another processor would run can be looked at, but not run here.
#if defined(__x86_64__)
  ::setenv("GALATEA_TARGET", "aarch64", 1);
  EXPECT_TRUE(contains(run({"explain", hello(), "--emit=asm"}).out, ".4s"));
  EXPECT_TRUE(contains(run({"run", hello(), "--batches", "1"}).err, "error[G0852]"));
  ::unsetenv("GALATEA_TARGET");
#endif
  Outcome ptx = run({"explain", hello(), "--emit=ptx", "--arch", "sm_75"});
  if (ptx.status != 3) {  // 3: NVRTC is not here, and the message says so
    EXPECT_EQ(ptx.status, 0) << ptx.err;
    EXPECT_TRUE(contains(ptx.out, ".target sm_75")) << ptx.out.substr(0, 400);
  } else {
    EXPECT_TRUE(contains(ptx.err, "NVRTC")) << ptx.err;
  }
  EXPECT_EQ(run({"explain", hello(), "--emit=ptx", "--arch", "volta"}).status, 1);
  Outcome page = run({"explain", hello()});
  EXPECT_EQ(page.status, 0);
  EXPECT_TRUE(contains(page.out, "pipeline hello: batches of 4")) << page.out;
  EXPECT_TRUE(contains(page.out, "resize (line 7)")) << page.out;
}

TEST_F(CommandLine, InterruptionEndsInOrder) {
  // The signal comes when a sample has been saved: batches are delivered.
  const fs::path saved = folder_ / "saved";
  const Outcome o = run({"run", hello(), "--epochs", "1000000", "--save", saved.string(), "--stats=json"},
                        {.when = [&] { return fs::exists(saved / "out0" / "000000.npy"); }});
  EXPECT_EQ(o.status, 130) << o.err;
  EXPECT_TRUE(contains(o.err, "interrupted after ")) << o.err;
}

TEST_F(CommandLine, TraceIsAChromeTrace) {
  const fs::path trace = folder_ / "trace.json";
  ASSERT_EQ(run({"run", hello(), "--trace", trace.string()}).status, 0);
  Json document = parse_json(read_file(trace));
  EXPECT_GT(document["traceEvents"].size(), 10u);
}

TEST_F(CommandLine, SettingsHaveAnEffect) {
  ::setenv("GALATEA_LOG", "1", 1);
  Outcome o = run({"explain", hello(), "--emit=graph"});
  EXPECT_TRUE(contains(o.err, "kernel resize ")) << o.err;
  ::unsetenv("GALATEA_LOG");
  ::setenv("GALATEA_STOP_AFTER", "no_such_pass", 1);
  o = run({"explain", hello(), "--emit=graph"});
  EXPECT_NE(o.status, 0);
  EXPECT_TRUE(contains(o.err, "no_such_pass")) << o.err;
  ::unsetenv("GALATEA_STOP_AFTER");
  ::setenv("GALATEA_SKIP_PASSES", "push_region_into_decode", 1);
  o = run({"explain", hello(), "--emit=graph"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_FALSE(contains(o.out, "region_from")) << o.out;
  ::unsetenv("GALATEA_SKIP_PASSES");
  EXPECT_TRUE(contains(run({"explain", hello(), "--emit=graph"}).out, "region_from"));
}

TEST_F(CommandLine, FedPipelinesNeedAHost) {
  std::string file = write("fed.dali-dsl",
                           "from nvidia.dali import pipeline_def, fn, types\n"
                           "@pipeline_def(batch_size=4)\n"
                           "def fed():\n"
                           "    x = fn.external_source(name=\"x\", dtype=types.UINT8, ndim=1)\n"
                           "    return x + 1\n");
  Outcome o = run({"run", file});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "`x` can only be fed by a host program")) << o.err;
}

}  // namespace
