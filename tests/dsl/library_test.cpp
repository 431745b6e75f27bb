// The library as pasted code names it: import paths, operator objects, old names, host modules, records,
// arrays.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/dsl/support.h"
#include "tests/support/own_folder.h"

namespace galatea::dsl::testing {
namespace {
namespace fs = std::filesystem;

Staged stage_text(const std::string& text, std::vector<std::pair<std::string, std::string>> parameters = {}) {
  FrontendOptions options;
  options.parameters = std::move(parameters);
  options.pipeline = "p";
  return stage("test.dali-dsl", text, options);
}

// The texts of the notes and errors, without places.
std::vector<std::string> messages_of(const Staged& staged) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : staged.result.diagnostics) out.push_back(diagnostic.message);
  return out;
}

std::string normal_graph(const std::string& imports, const std::string& decorator, const std::string& body) {
  Staged staged = stage_text(imports + "\n@" + decorator + "\ndef p():\n" + body);
  EXPECT_TRUE(staged.result.ok) << imports << staged.diagnostics;
  return staged.graphs;
}

// ---- imports ----

TEST(Library, EveryPathOfDaliNamesTheSameThings) {
  const std::string expected =
      normal_graph("from nvidia.dali import pipeline_def, fn, types", "pipeline_def(batch_size=2)",
                   "    x = fn.random.uniform(range=[0.0, 1.0], dtype=types.FLOAT)\n    return x\n");
  struct Spelling {
    const char *imports, *decorator, *fn, *types;
  };
  for (const Spelling& s :
       {Spelling{"import nvidia.dali as dali", "dali.pipeline_def(batch_size=2)", "dali.fn", "dali.types"},
        {"import nvidia.dali\nimport nvidia.dali.fn as f\nimport nvidia.dali.types as t",
         "nvidia.dali.pipeline_def(batch_size=2)", "f", "t"},
        {"from nvidia.dali.pipeline import pipeline_def\nimport nvidia.dali.fn as fn\nimport "
         "nvidia.dali.types as types",
         "pipeline_def(batch_size=2)", "fn", "types"},
        {"from nvidia.dali.pipeline.experimental import pipeline_def\nfrom nvidia.dali import fn, types",
         "pipeline_def(batch_size=2)", "fn", "types"},
        {"from nvidia.dali import *", "pipeline_def(batch_size=2)", "fn", "types"},
        {"from galatea import pipeline_def, fn, types", "pipeline_def(batch_size=2)", "fn", "types"},
        {"import galatea as g", "g.pipeline_def(batch_size=2)", "g.fn", "g.types"},
        {"from nvidia import dali", "dali.pipeline_def(batch_size=2)", "dali.fn", "dali.types"}}) {
    if (std::string(s.imports).find('*') != std::string::npos) continue;  // refused: see the error goldens
    std::string body = std::string("    x = ") + s.fn + ".random.uniform(range=[0.0, 1.0], dtype=" + s.types +
                       ".FLOAT)\n    return x\n";
    EXPECT_EQ(normal_graph(s.imports, s.decorator, body), expected) << s.imports;
  }
  EXPECT_EQ(normal_graph("from nvidia.dali import pipeline_def\nfrom nvidia.dali.fn import random\nfrom "
                         "nvidia.dali.types import FLOAT, DALIDataType",
                         "pipeline_def(batch_size=2)",
                         "    x = random.uniform(range=[0.0, 1.0], dtype=DALIDataType.FLOAT)\n    assert "
                         "FLOAT == DALIDataType.FLOAT\n    return x\n"),
            expected);
}

TEST(Library, OperatorsThatDaliDoesNotHave) {
  const auto graph = [](const std::string& imports, const std::string& call) {
    return normal_graph("from nvidia.dali import fn, pipeline_def, types\n" + imports,
                        "pipeline_def(batch_size=2)",
                        "    x = fn.external_source(name=\"x\", dtype=types.UINT8, ndim=3, layout=\"HWC\")\n"
                        "    y = " +
                            call + "(x, size=4)\n    return y\n");
  };
  const std::string expected = graph("", "fn.galatea.cutout");
  EXPECT_EQ(graph("import galatea", "galatea.cutout"), expected);
  EXPECT_EQ(graph("import galatea", "galatea.fn.galatea.cutout"), expected);
  EXPECT_EQ(graph("from galatea import cutout", "cutout"), expected);
  const std::string wrong =
      stage_text(
          "import galatea\n@galatea.pipeline_def(batch_size=2)\ndef p():\n    return galatea.cutouts(1)\n")
          .diagnostics;
  EXPECT_NE(wrong.find("did you mean `cutout`?"), std::string::npos) << wrong;
}

TEST(Library, ImportsOfTheHostProgramAreSilentUntilTheyAreUsed) {
  std::string imports =
      "from __future__ import annotations\n"
      "import os, sys, time, random, argparse, json\n"
      "import torch\nimport torch.nn as nn\nfrom torch.utils.data import DataLoader\n"
      "import matplotlib.pyplot as plt\nfrom PIL import Image\nfrom pathlib import Path\n"
      "from typing import List, Optional, Tuple\nfrom collections.abc import Sequence\n"
      "from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy\n"
      "import nvidia.dali.backend as backend\nfrom nvidia.dali import tensors\n"
      "import cv2, numpy as np\n"
      "from nvidia.dali import pipeline_def, fn\n";
  Staged silent =
      stage_text(imports + "@pipeline_def\ndef p(sizes: List[int] = [1]):\n    return fn.random.uniform()\n");
  EXPECT_TRUE(silent.result.ok) << silent.diagnostics;
  EXPECT_TRUE(silent.result.diagnostics.empty()) << silent.diagnostics;
  for (const char* use :
       {"os.listdir('x')", "Image.open('x')", "torch.tensor([1])", "nn.Linear", "DALIGenericIterator([])",
        "random.random()", "Path('x')", "time.time()", "os.environ['A']", "np.random.rand(3)",
        "cv2.imread('x')", "tensors.TensorCPU(1)", "LastBatchPolicy.PARTIAL"}) {
    Staged used = stage_text(imports + "@pipeline_def\ndef p():\n    x = " + use +
                             "\n    y = x\n    return fn.random.uniform()\n");
    EXPECT_EQ(used.codes, std::vector<std::string>{"G0286"}) << use << "\n" << used.diagnostics;
    ASSERT_FALSE(used.result.diagnostics.empty());
    EXPECT_FALSE(used.result.diagnostics[0].help.empty()) << use;
  }
  EXPECT_EQ(stage("t.dali-dsl", "import loguru\n").codes, std::vector<std::string>{});
  EXPECT_EQ(stage("t.dali-dsl", "import loguru\nloguru.logger.info('x')\n").codes,
            std::vector<std::string>{"G0286"});
  EXPECT_EQ(stage("t.dali-dsl", "import nvidia.dalli\n").codes, std::vector<std::string>{"G0601"});
}

TEST(Library, PathsOfFilesAreText) {
  Staged staged = stage("t.dali-dsl",
                        "import os\nfrom os.path import join\nprint(os.path.join('a', 'b/', 'c'), join('a', "
                        "'/b'), os.path.basename('a/b.c'), "
                        "os.path.dirname('/a/b'), os.path.splitext('a.b/c.tar.gz'), os.path.splitext('.x'), "
                        "repr(os.path.dirname('x')))\n");
  ASSERT_EQ(staged.result.diagnostics.size(), 1u) << staged.diagnostics;
  EXPECT_EQ(messages_of(staged)[0], "a/b/c /b b.c /a ('a.b/c.tar', '.gz') ('.x', '') ''");
}

TEST(Library, TfrecordFeaturesAreRecords) {
  Staged staged = stage("t.dali-dsl",
                        "import nvidia.dali.tfrecord as tfrec\nfrom nvidia.dali import fn, "
                        "pipeline_def\n@pipeline_def(batch_size=2)\ndef p():\n"
                        "    x = fn.readers.tfrecord(path='a', index_path='b', features={'image': "
                        "tfrec.FixedLenFeature((), tfrec.string, ''), "
                        "'label': tfrec.VarLenFeature(tfrec.int64, -1)})\n    return x['image']\n");
  EXPECT_EQ(staged.codes, std::vector<std::string>{}) << staged.diagnostics;
}

// ---- operators under other names ----

const char* kHead =
    "from nvidia.dali import pipeline_def, fn, ops, types\n@pipeline_def(batch_size=2)\ndef p():\n";

TEST(Library, OperatorObjectsAreTheirFunctions) {
  std::string by_function = std::string(kHead) +
                            "    x, y = fn.readers.file(file_root='d', name='R')\n    x = "
                            "fn.decoders.image(x)\n    x = fn.resize(x, size=[8, 8])\n"
                            "    c = fn.random.coin_flip(probability=0.25)\n    x = "
                            "fn.crop_mirror_normalize(x, mirror=c, std=[2.0, 2.0, 2.0])\n    return x, y\n";
  std::string by_object = std::string(kHead) +
                          "    read = ops.readers.File(file_root='d', name='R')\n    decode = "
                          "ops.decoders.Image()\n    resize = ops.Resize(size=[8, 8])\n"
                          "    flip = ops.random.CoinFlip(probability=0.25)\n    norm = "
                          "ops.CropMirrorNormalize(std=[2.0, 2.0, 2.0])\n"
                          "    x, y = read()\n    x = decode(x)\n    x = resize(x)\n    c = flip()\n    x = "
                          "norm(x, mirror=c)\n    return x, y\n";
  Staged function = stage_text(by_function), object = stage_text(by_object);
  ASSERT_TRUE(function.result.ok) << function.diagnostics;
  ASSERT_TRUE(object.result.ok) << object.diagnostics;
  ASSERT_EQ(function.result.graphs.at(0)->nodes.size(), object.result.graphs.at(0)->nodes.size());
  for (size_t i = 0; i < function.result.graphs[0]->nodes.size(); ++i)
    EXPECT_EQ(function.result.graphs[0]->nodes[i].op->name, object.result.graphs[0]->nodes[i].op->name);
}

TEST(Library, OldNamesOfOperatorsAndArgumentsGiveANote) {
  Staged staged = stage_text(std::string(kHead) +
                             "    x, _ = fn.file_reader(file_root='d')\n    x = fn.image_decoder(x)\n    x = "
                             "fn.resize(x, size=[8, 8], image_type=types.RGB)\n"
                             "    u = fn.uniform(range=[0.0, 1.0])\n    x = fn.crop_mirror_normalize(x, "
                             "output_dtype=types.FLOAT, mirror=fn.coin_flip())\n    return x, u\n");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  std::vector<std::string> found = messages_of(staged);
  for (const char* wanted : {"`fn.file_reader` is the old name of `fn.readers.file`",
                             "`fn.image_decoder` is the old name of `fn.decoders.image`",
                             "`fn.uniform` is the old name of `fn.random.uniform`",
                             "`fn.coin_flip` is the old name of `fn.random.coin_flip`",
                             "`image_type` has no effect: DALI does not use it any more",
                             "`output_dtype` of `fn.crop_mirror_normalize` is called `dtype` now"})
    EXPECT_NE(std::find(found.begin(), found.end(), wanted), found.end()) << wanted << "\n"
                                                                          << staged.diagnostics;
  EXPECT_EQ(found.size(), 6u) << staged.diagnostics;
}

TEST(Library, OldClassesOfOperators) {
  Staged staged = stage_text(std::string(kHead) +
                             "    x, _ = ops.FileReader(file_root='d')()\n    x = ops.ImageDecoder()(x)\n    "
                             "return x, ops.Uniform(range=[0.0, 1.0])(), ops.CoinFlip()()\n");
  EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(staged.result.diagnostics.size(), 4u) << staged.diagnostics;
  Staged wrong = stage_text(std::string(kHead) + "    return ops.resize(size=[1, 1])\n");
  EXPECT_EQ(wrong.codes, std::vector<std::string>{"G0401"});
  EXPECT_NE(wrong.diagnostics.find("`ops.Resize`"), std::string::npos) << wrong.diagnostics;
}

TEST(Library, WhatDaliHasAndGalateaLacksIsNamedSo) {
  for (const char* use : {"fn.optical_flow(1)", "ops.OpticalFlow()"}) {
    Staged staged = stage_text(std::string(kHead) + "    return " + use + "\n");
    EXPECT_EQ(staged.codes, std::vector<std::string>{"G0402"}) << use << "\n" << staged.diagnostics;
  }
  const Staged flow = stage_text(std::string(kHead) + "    return fn.optical_flow(1)\n");
  EXPECT_TRUE(flow.diagnostics.contains("engines of NVIDIA's GPUs")) << flow.diagnostics;
}

// ---- records ----

TEST(Library, RecordsAreParametersOfPipelines) {
  std::string text =
      "import galatea\nfrom nvidia.dali import pipeline_def\n@pipeline_def\ndef "
      "p(args=galatea.struct(size=224, rate=0.5, name='x', on=True), other=struct(a=1)):\n"
      "    print(args.size, args.rate, args.name, args.on, args, other.a)\n    return args.size\n";
  EXPECT_EQ(messages_of(stage_text(text))[0],
            "224 0.5 x True struct(size=224, rate=0.5, name='x', on=True) 1");
  EXPECT_EQ(messages_of(stage_text(
                text, {{"args.size", "64"}, {"args.rate", "2"}, {"args.name", "7"}, {"other.a", "3"}}))[0],
            "64 2.0 7 True struct(size=64, rate=2.0, name='7', on=True) 3");
  EXPECT_EQ(stage_text(text, {{"args.size", "x"}}).codes, std::vector<std::string>{"G0267"});
  EXPECT_EQ(stage_text(text, {{"args.sise", "1"}}).codes, std::vector<std::string>{"G0270"});
}

// ---- arrays and the graph ----

TEST(Library, ArraysReachOperatorsWithTheirType) {
  Staged staged = stage_text(
      "import numpy as np\nfrom nvidia.dali import pipeline_def, fn, types\n@pipeline_def(batch_size=2)\ndef "
      "p():\n"
      "    x = fn.random.uniform(range=np.array([0.0, 2.0]), dtype=types.FLOAT)\n"
      "    a = types.Constant(np.array([1, 2], dtype=np.uint8))\n    b = x + np.float32(0.5)\n    c = x * "
      "np.array([[1.0, 2.0]])\n"
      "    d = fn.random.uniform(range=[np.float32(0), np.int64(3)])\n    return a, b, c, d, np.arange(3)\n");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(staged.verdict, "");
  EXPECT_NE(staged.graphs.find("u8[2]"), std::string::npos) << staged.graphs;
}

TEST(Library, ArraysChangeOnlyWhereNobodyCouldTell) {
  const char* head = "import numpy as np\na = np.arange(4)\n";
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "b = a.reshape(2, 2)\na[0] = 1\n").codes,
            std::vector<std::string>{"G0283"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "a[0] = 1\na[1:3] = [2, 3, 4]\n").codes,
            std::vector<std::string>{"G0224"});
  EXPECT_EQ(stage_body("import numpy as np\na = np.zeros(2)\nif fn.random.uniform() > 0.5:\n    a[0] = 1\n"
                       "return a\n")
                .codes,
            std::vector<std::string>{"G0283"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "a += 1\n").codes, std::vector<std::string>{"G0283"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "if a: pass\n").codes, std::vector<std::string>{"G0282"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "a + np.zeros(3)\n").codes,
            std::vector<std::string>{"G0279"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "np.uint8(300)\n").codes,
            std::vector<std::string>{"G0281"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "a.reshape(3)\n").codes,
            std::vector<std::string>{"G0285"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "np.array([[1], [2, 3]])\n").codes,
            std::vector<std::string>{"G0277"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "a / 0\n").codes, std::vector<std::string>{"G0208"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "np.zeros((10000, 10000))\n").codes,
            std::vector<std::string>{"G0284"});
  EXPECT_EQ(stage("t.dali-dsl", std::string(head) + "a & 1.5\n").codes, std::vector<std::string>{"G0280"});
}

// ---- pipelines ----

TEST(Library, CurrentPipelineAndOptionsWithoutEffect) {
  Staged staged = stage_text(
      "from nvidia.dali import Pipeline, newaxis, fn, types\nfrom nvidia.dali.pipeline.experimental import "
      "pipeline_def\nimport numpy as np\n"
      "@pipeline_def(batch_size=6, num_threads=3, device_id=0, seed=9, debug=True)\ndef p():\n    "
      "np.random.seed(3)\n    c = Pipeline.current()\n"
      "    print(c.max_batch_size, c.batch_size, c.num_threads, c.device_id, c.seed)\n    x = "
      "types.Constant([1, 2, 3])\n    return x[newaxis], x[:, newaxis('C')]\n");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(messages_of(staged),
            (std::vector<std::string>{"`debug` has no effect: the executor of galatea has no such choice",
                                      "`np.random.seed` has no effect: random numbers follow from the seed "
                                      "of the pipeline: `@pipeline_def(seed=…)`",
                                      "6 6 3 0 9"}));
  for (const auto& [option, code] : {std::pair{"compat='2.0'", "G0234"}, {"checkpoint='x'", "G0252"}}) {
    Staged refused =
        stage_text(std::string("from nvidia.dali import pipeline_def\n@pipeline_def(batch_size=1, ") +
                   option + ")\ndef p():\n    return 1\n");
    EXPECT_EQ(refused.codes, std::vector<std::string>{code}) << option;
  }
}

// ---- files ----

class ImportedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = galatea::testing::make_own_folder("galatea_imports");
    fs::create_directories(folder_ / "root" / "lib");
    fs::create_directories(folder_ / "outside");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  Staged check(const std::string& name) { return stage((folder_ / "root" / name).string(), std::nullopt); }
  fs::path folder_;
};

TEST_F(ImportedFiles, ADiamondIsStagedOnce) {
  write("root/base.dali-dsl", "print('base')\nvalue = [1]\n");
  write("root/left.dali-dsl", "from .base import value\nfrom . import base\n");
  write("root/lib/right.dali-dsl", "from ..base import value as v\n");
  write("root/main.dali-dsl",
        "from .left import value\nfrom .lib.right import v\nfrom . import left\nfrom .lib import "
        "right\nprint(value == v, left.value, right.v, left.base.value)\n");
  Staged staged = check("main.dali-dsl");
  EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
  EXPECT_EQ(messages_of(staged), (std::vector<std::string>{"base", "True [1] [1] [1]"}));
}

TEST_F(ImportedFiles, TheRootIsNotLeftAlsoNotThroughALink) {
  write("outside/secret.dali-dsl", "x = 1\n");
  fs::create_directory_symlink(folder_ / "outside", folder_ / "root" / "link");
  fs::create_symlink(folder_ / "outside" / "secret.dali-dsl", folder_ / "root" / "file_link.dali-dsl");
  write("root/a.dali-dsl", "from ..outside.secret import x\n");
  write("root/b.dali-dsl", "from .link.secret import x\n");
  write("root/c.dali-dsl", "from .file_link import x\n");
  write("root/d.dali-dsl", "from ...... import x\n");
  for (const char* name : {"a", "b", "c", "d"})
    EXPECT_EQ(check(std::string(name) + ".dali-dsl").codes, std::vector<std::string>{"G0606"}) << name;
  FrontendOptions wide;
  wide.import_root = folder_.string();
  EXPECT_TRUE(stage((folder_ / "root" / "a.dali-dsl").string(), std::nullopt, wide).result.ok);
}

TEST_F(ImportedFiles, CyclesAndMissingFilesAreReportedOnce) {
  write("root/a.dali-dsl", "from .b import x\nprint(x)\n");
  write("root/b.dali-dsl", "from .a import y\nx = y\n");
  write("root/self.dali-dsl", "from . import self\n");
  write("root/gone.dali-dsl", "from .nothing import a, b\nfrom .nothing import c\nprint(a, b, c)\n");
  EXPECT_EQ(check("a.dali-dsl").codes, std::vector<std::string>{"G0605"});
  EXPECT_EQ(check("self.dali-dsl").codes, std::vector<std::string>{"G0605"});
  EXPECT_EQ(check("gone.dali-dsl").codes, std::vector<std::string>{"G0604"});
}

// ---- augmentations ----

/// A map of magnitudes that the user wrote may do more than compute: it is called for every call of the text.
TEST(Library, AUsersMapOfMagnitudesIsCalledEachTime) {
  const std::string text =
      "from galatea import pipeline_def, fn, types\n"
      "from galatea.auto_aug.core import augmentation\n"
      "@pipeline_def(batch_size=2)\n"
      "def p():\n"
      "    calls = []\n"
      "    def mapped(m):\n"
      "        calls.append(m)\n"
      "        return m\n"
      "    @augmentation(mag_range=(0.0, 1.0), mag_to_param=mapped)\n"
      "    def shifted(x, parameter):\n"
      "        return x + parameter\n"
      "    x = fn.random.uniform()\n"
      "    bin = fn.random.choice(3)\n"
      "    x = shifted(x, magnitude_bin=bin, num_magnitude_bins=3)\n"
      "    x = shifted(x, magnitude_bin=bin, num_magnitude_bins=3)\n"
      "    assert len(calls) == 6, f\"{len(calls)} calls\"\n"
      "    return x\n";
  const Staged staged = stage_text(text);
  EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
}

/// Tables that are found again are those that the number of bins and the signs ask for.
TEST(Library, TablesOfBinsAreToldApart) {
  auto constants = [](const std::string& second) {
    const Staged staged = stage_text(
        "from galatea import pipeline_def, fn, types\n"
        "from galatea.auto_aug import augmentations as a\n"
        "from galatea.auto_aug.core import signed_bin\n"
        "@pipeline_def(batch_size=2)\n"
        "def p():\n"
        "    x = fn.external_source(name=\"x\", dtype=types.UINT8, ndim=3, layout=\"HWC\")\n"
        "    bin = fn.random.choice(3)\n"
        "    x = a.brightness(x, magnitude_bin=signed_bin(bin), num_magnitude_bins=3)\n" +
        second + "    return x\n");
    EXPECT_TRUE(staged.result.ok) << staged.diagnostics;
    size_t count = 0;
    for (size_t at = 0; (at = staged.graphs.find("constant(", at)) != std::string::npos; ++at) ++count;
    return std::pair(count, staged.graphs);
  };
  const auto [once, graph] = constants("");
  const auto [same, twice] =
      constants("    x = a.brightness(x, magnitude_bin=signed_bin(bin), num_magnitude_bins=3)\n");
  const auto [more, other] =
      constants("    x = a.brightness(x, magnitude_bin=signed_bin(bin), num_magnitude_bins=5)\n");
  EXPECT_EQ(same, more) << "each call has a constant of its own";
  EXPECT_NE(twice, other) << "five bins are not three";
}

}  // namespace
}  // namespace galatea::dsl::testing
