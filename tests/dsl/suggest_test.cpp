// The table of names from elsewhere, line by line: each name is refused with its edit, and each edit is
// accepted.
#include "dsl/suggest.h"

#include <gtest/gtest.h>

#include <set>

#include "stdlib_ops/register_all.h"
#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

const op::Registry& registry() {
  static const op::Registry* all = [] {
    auto* made = new op::Registry;
    ops::register_all(*made);
    return made;
  }();
  return *all;
}

/// An expression over an image `x`, or over the bytes of one, as the output of a pipeline.
Staged stage_expression(const std::string& expression, bool encoded) {
  std::string body = "x, label = fn.readers.file(file_root=\"photos\")\n";
  if (!encoded) body += "x = fn.decoders.image(x)\n";
  return stage_body(body + "return " + expression);
}

/// One over a signal `x`, or over its spectrogram.
Staged stage_sound(const std::string& expression, bool is_spectrum) {
  std::string body =
      "x, label = fn.readers.file(file_root=\"sounds\")\n"
      "x, rate = fn.decoders.audio(x, downmix=True)\n";
  if (is_spectrum) body += "x = fn.spectrogram(x, nfft=512)\n";
  return stage_body(body + "return " + expression);
}

// Accepted; or names an operator that DALI has and galatea has not yet.
bool is_good(const Staged& staged) {
  const std::set<std::string> codes(staged.codes.begin(), staged.codes.end());
  return codes.empty() || codes == std::set<std::string>{"G0402"};
}

void expect_good(const std::string& expression) {
  Staged image = stage_expression(expression, false);
  if (is_good(image) || is_good(stage_sound(expression, false)) || is_good(stage_sound(expression, true)))
    return;
  Staged bytes = stage_expression(expression, true);
  EXPECT_TRUE(is_good(bytes)) << expression << "\n" << image.diagnostics << bytes.diagnostics;
}

// The help of the first report about an expression over an image `x`.
std::string help_for(const std::string& expression) {
  Staged staged = stage_expression(expression, false);
  return staged.result.diagnostics.empty() ? "" : staged.result.diagnostics[0].help;
}

// One error, of this code, whose help is the entry's.
void expect_refused(const Staged& staged, const std::string& code, const std::string& help) {
  EXPECT_EQ(staged.codes, std::vector<std::string>{code}) << staged.diagnostics;
  for (const Diagnostic& diagnostic : staged.result.diagnostics) {
    if (diagnostic.code == code) {
      EXPECT_EQ(diagnostic.help, help);
    }
  }
}

TEST(Suggest, Operators) {
  for (const Suggestion& entry : all_suggestions()) {
    if (entry.place != Place::kOperator) continue;
    SCOPED_TRACE(entry.name);
    expect_refused(stage_expression("fn." + std::string(entry.name) + "(x)", false), "G0401",
                   help_of(entry, "x"));
    if (!entry.write.empty()) expect_good(std::string(entry.write));
  }
}

// A call with all that the operator requires besides the argument in question.
std::string call_with(const op::Operator& op, const std::string& argument) {
  std::string call = "fn." + op.name + "(";
  bool first = true;
  for (int i = 0; i < op.min_inputs; ++i) {
    call += first ? "x" : ", x";
    first = false;
  }
  for (const op::ArgSpec& spec : op.args) {
    if (!spec.required || argument.starts_with(spec.name + "=")) continue;
    call += (first ? "" : ", ") + spec.name +
            (spec.kind == op::ArgKind::kDType   ? "=types.FLOAT"
             : spec.kind == op::ArgKind::kFloat ? "=15.0"
                                                : "=[64, 64]");
    first = false;
  }
  // What no schema says: a size, a matrix or something to read is given by one of several arguments.
  if (op.name == "resize" && argument.starts_with("interp")) call += ", size=[64, 64]";
  if (argument.starts_with("crop_h")) call += ", crop_w=64";
  if (argument.starts_with("crop_w")) call += ", crop_h=64";
  if (op.name == "warp_affine" && !argument.starts_with("matrix"))
    call += ", matrix=[1.0, 0.0, 5.0, 0.0, 1.0, 0.0]";
  if (argument.starts_with("in_rate")) call += ", out_rate=16000.0";
  if (argument.starts_with("out_rate")) call += ", in_rate=44100.0";
  if (op.name == "readers.file" && !argument.starts_with("file"))
    call += "file_root=\"photos\"", first = false;
  return call + (first ? "" : ", ") + argument + ")";
}

// One that the entry is for.
const op::Operator* operator_of(const Suggestion& entry) {
  if (!entry.owner.empty()) return registry().find(entry.owner);
  for (const char* name : {"readers.file", "rotate", "cat", "reductions.mean", "normalize"}) {
    const op::Operator* op = registry().find(name);
    if (entry.write.empty() ? !op->source : op->find_arg(argument_of(entry)) != nullptr) return op;
  }
  return nullptr;
}

TEST(Suggest, Arguments) {
  int tried = 0;
  for (const Suggestion& entry : all_suggestions()) {
    if (entry.place != Place::kArgument) continue;
    SCOPED_TRACE(std::string(entry.owner) + " " + std::string(entry.name));
    const op::Operator* op = operator_of(entry);
    if (op == nullptr) {
      EXPECT_EQ(stage_expression("fn." + std::string(entry.owner) + "(x)", false).codes,
                std::vector<std::string>{"G0402"});
      continue;
    }
    ++tried;
    if (entry.write.empty()) {
      const Staged wrong = stage_expression(call_with(*op, std::string(entry.name) + "={}"), false);
      EXPECT_NE(wrong.diagnostics.find(entry.words), std::string::npos) << wrong.diagnostics;
      continue;
    }
    const std::string write(entry.write);
    std::string call = call_with(*op, write);
    // What the reader gives is a tuple.
    if (op->source) call = "fn.decoders.image(" + call + "[0])";
    expect_good(call);
    if (entry.name == "*") continue;
    const bool encoded = !is_good(stage_expression(call, false));
    // A value that no argument takes: the entry's own is shown.
    Staged wrong = stage_expression(call_with(*op, std::string(entry.name) + "={}"), encoded);
    ASSERT_FALSE(wrong.codes.empty());
    EXPECT_EQ(wrong.codes[0], "G0403") << wrong.diagnostics;
    EXPECT_NE(wrong.diagnostics.find("= help: write `" + write + "`"), std::string::npos)
        << wrong.diagnostics;
  }
  EXPECT_GT(tried, 60);
}

TEST(Suggest, ValuesByPosition) {
  EXPECT_EQ(help_for("fn.resize(x, [224, 224])"), "arguments are given by name: write `size=[224, 224]`");
  EXPECT_EQ(help_for("fn.cast(x, \"float\")"), "arguments are given by name: write `dtype=types.FLOAT`");
  EXPECT_EQ(help_for("fn.cast(x, types.UINT8)"), "arguments are given by name: write `dtype=types.UINT8`");
  EXPECT_EQ(help_for("fn.random.uniform(0.0, 1.0)"), "write `range=[0.0, 1.0]`");
  EXPECT_EQ(help_for("fn.random.coin_flip(0.3)"), "write `probability=0.3`");
  EXPECT_EQ(help_for("fn.cast(x, dtype=\"float32\")"), "write `dtype=types.FLOAT`");
  EXPECT_EQ(help_for("fn.cast(x, dtype=\"int8\")"), "write `dtype=types.INT8`");
  EXPECT_EQ(help_for("fn.cast(x, dtype=float)"), "write `dtype=types.FLOAT`");
  EXPECT_EQ(help_for("fn.resize(x, size=[8, 8], interp_type=\"linear\")"),
            "write `interp_type=types.INTERP_LINEAR`");
}

TEST(Suggest, Types) {
  for (const Suggestion& entry : all_suggestions()) {
    if (entry.place != Place::kType) continue;
    SCOPED_TRACE(entry.name);
    expect_refused(
        stage("t.dali-dsl", "from galatea import types\nt = types." + std::string(entry.name) + "\n"),
        "G0603", help_of(entry, ""));
    if (entry.write.empty()) continue;
    Staged right = stage("t.dali-dsl", "from galatea import types\nt = " + std::string(entry.write) + "\n");
    EXPECT_TRUE(right.result.ok) << right.diagnostics;
  }
}

TEST(Suggest, Members) {
  for (const Suggestion& entry : all_suggestions()) {
    if (entry.place != Place::kNodeMember) continue;
    SCOPED_TRACE(entry.name);
    expect_refused(stage_expression("x." + std::string(entry.name), false), "G0203", help_of(entry, "x"));
    if (!entry.write.empty()) expect_good(std::string(entry.write));
  }
}

TEST(Suggest, Names) {
  for (const Suggestion& entry : all_suggestions()) {
    SCOPED_TRACE(entry.name);
    const std::string name(entry.name);
    if (entry.place != Place::kName) continue;
    expect_refused(stage("t.dali-dsl", "x = " + name + "\n"), "G0201", help_of(entry, ""));
    if (!entry.write.empty()) {
      EXPECT_TRUE(stage("t.dali-dsl", "x = " + std::string(entry.write) + "\n").codes.empty());
    }
  }
}

TEST(Suggest, OptionsOfPipelines) {
  size_t tried = 0;
  for (const Suggestion& entry : all_suggestions()) {
    if (entry.place != Place::kParameter || entry.owner != "pipeline_def") continue;
    SCOPED_TRACE(entry.name);
    const std::string head = "from galatea import fn, pipeline_def\n@pipeline_def(",
                      body = "=1)\ndef p():\n    return fn.random.uniform()\n";
    expect_refused(stage("t.dali-dsl", head + std::string(entry.name) + body), "G0231", help_of(entry, ""));
    if (entry.write.empty()) continue;
    const Staged right = stage("t.dali-dsl", head + std::string(entry.write) + body);
    EXPECT_TRUE(right.result.ok) << right.diagnostics;
    ++tried;
  }
  EXPECT_GE(tried, 8u);
}

TEST(Suggest, NoNameStandsTwice) {
  std::set<std::string> seen;
  for (const Suggestion& entry : all_suggestions()) {
    std::string key = std::to_string(static_cast<int>(entry.place)) + " " + std::string(entry.owner) + " " +
                      std::string(entry.name);
    EXPECT_TRUE(seen.insert(key).second) << key;
    // What is typed is looked up in snake case.
    const bool exact = entry.place == Place::kName;
    if (!exact) {
      EXPECT_EQ(snake_case(entry.name), entry.name);
    }
    EXPECT_EQ(find_suggestion(entry.place, entry.owner, entry.name), &entry);
  }
}

TEST(Suggest, FormsOfNames) {
  EXPECT_EQ(snake_case("RandomHorizontalFlip"), "random_horizontal_flip");
  EXPECT_EQ(snake_case("HSV"), "hsv");
  EXPECT_EQ(snake_case("RGBToGray"), "rgb_to_gray");
  EXPECT_EQ(snake_case("decoders.Image"), "decoders.image");
  EXPECT_EQ(with_subject("fn.max(x, axis=\"x\") + x", "image"), "fn.max(image, axis=\"x\") + image");
  EXPECT_EQ(with_subject("fn.max(x)", ""), "fn.max(x)");
  // The argument of the call takes the place of x.
  Staged staged = stage_body(
      "data, label = fn.readers.file(file_root=\"photos\")\npicture = fn.decoders.image(data)\n"
      "return fn.RandomHorizontalFlip(picture)");
  ASSERT_EQ(staged.codes, std::vector<std::string>{"G0401"});
  EXPECT_EQ(staged.result.diagnostics[0].help,
            "write `fn.flip(picture, horizontal=fn.random.coin_flip(probability=0.5))`");
}

TEST(Suggest, NearNames) {
  EXPECT_EQ(help_for("fn.reszie(x)"), "did you mean `fn.resize`?");
  EXPECT_EQ(help_for("fn.GaussianBlur(x)"), "did you mean `fn.gaussian_blur`?");
  EXPECT_EQ(help_for("fn.coinflip(x)"), "did you mean `fn.random.coin_flip`?");
  EXPECT_EQ(help_for("fn.resize(x, sise=[8, 8])"), "did you mean `size`?");
  EXPECT_EQ(help_for("fn.zyxwvut(x)"), "`galatea ops` lists the operators");
}

/// A name of another module of the library: where it is.
TEST(Suggest, NamesWhereTheLibraryHasThem) {
  struct Import {
    const char *module, *name, *help;
  };
  for (const Import& import : {
           Import{"galatea.auto_aug", "augmentation",
                  "write `from galatea.auto_aug.core import augmentation`"},
           {"nvidia.dali.auto_aug", "augmentation",
            "write `from nvidia.dali.auto_aug.core import augmentation`"},
           {"nvidia.dali", "rand_augment",
            "write `from nvidia.dali.auto_aug.rand_augment import rand_augment`"},
           {"galatea", "FLOAT", "write `from galatea.types import FLOAT`"},
           {"nvidia.dali", "sqrt", "write `from nvidia.dali.math import sqrt`"},
           {"nvidia.dali", "fnn", "did you mean `fn`?"},
           {"galatea.auto_aug", "_call",
            "it has `augmentations`, `auto_augment`, `core`, `draws`, `policy`, `rand_augment`, `sound`, "
            "`suites`, `timm`, `torchvision`, `trivial_augment`"},
           {"math", "FLOAT", ""},
       }) {
    Staged staged =
        stage("t.dali-dsl", std::string("from ") + import.module + " import " + import.name + "\n");
    ASSERT_EQ(staged.codes, std::vector<std::string>{"G0603"}) << import.module << " " << import.name;
    EXPECT_EQ(staged.result.diagnostics[0].help, import.help) << import.module << " " << import.name;
  }
}

}  // namespace
}  // namespace galatea::dsl::testing
