// Devices in the text: what DALI accepts and refuses (recorded by tests/oracle/make_devices.py), with devices
// of results; then the mapping to one device.
#include <gtest/gtest.h>

#include "base/json.h"
#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/verifier.h"
#include "compiler/passes/map_devices.h"
#include "tests/dsl/support.h"

namespace galatea::dsl {
namespace {

using testing::stage_body;
using testing::Staged;

const char* const kInputs =
    "    c = fn.external_source(name='c', dtype=types.UINT8, ndim=3, layout='HWC')\n"
    "    e = fn.external_source(name='e', dtype=types.UINT8, ndim=1)\n"
    "    n = fn.random.uniform(range=[0.5, 1.5])\n"
    "    g, m = c.gpu(), n.gpu()\n";

Staged stage_text(const std::string& body, const std::string& device = "auto") {
  FrontendOptions options;
  options.host.device = device;
  return testing::stage("devices.dali-dsl",
                        "import numpy as np\nfrom nvidia.dali import fn, math, pipeline_def, types\n\n"
                        "@pipeline_def(batch_size=2)\ndef p():\n" +
                            body,
                        options);
}

TEST(Devices, CallsAreAcceptedAsDaliDoes) {
  const auto recorded =
      parse_json(testing::read_file(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/devices.json"));
  ASSERT_GT(recorded["calls"].size(), 50U);
  for (const auto& each : recorded["calls"]) {
    const std::string call = each["call"];
    const Staged staged = stage_text(kInputs + ("    return " + call) + "\n", "gpu");
    if (each["device"].is_null()) {
      ASSERT_EQ(staged.codes.size(), 1U) << call << "\n" << staged.diagnostics;
      EXPECT_TRUE(staged.codes[0] == "G0461" || staged.codes[0] == "G0462" || staged.codes[0] == "G0463")
          << call << "\n"
          << staged.diagnostics;
      EXPECT_NE(staged.diagnostics.find("help:"), std::string::npos) << call << "\n" << staged.diagnostics;
      continue;
    }
    ASSERT_TRUE(staged.result.ok) << call << "\n" << staged.diagnostics;
    EXPECT_EQ(staged.verdict, "") << call;
    const ir::Graph& graph = *staged.result.graphs.front();
    const ir::ValueId result = graph.block(graph.exit_block()).terminator.results[0];
    EXPECT_EQ(graph.type(result).device, each["device"] == "gpu" ? ir::Device::kGpu : ir::Device::kCpu)
        << call << "\n"
        << staged.graphs;
  }
}

std::vector<std::string> codes(const Staged& staged) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : staged.result.diagnostics) out.push_back(diagnostic.code);
  return out;
}

TEST(Devices, OneNoteWhereItRunsOnTheCpu) {
  const std::string body = std::string(kInputs) + "    return fn.flip(g), c.gpu()\n";
  EXPECT_EQ(codes(stage_text(body)), std::vector<std::string>{"G0275"});
  EXPECT_TRUE(codes(stage_text(body, "cpu")).empty());
  EXPECT_TRUE(codes(stage_text(body, "gpu")).empty());
  // No note beside an error.
  EXPECT_EQ(codes(stage_text(std::string(kInputs) + "    return fn.flip(g, device='cpu')\n")),
            std::vector<std::string>{"G0462"});
}

TEST(Devices, ArmsAgree) {
  const std::string head = std::string(kInputs) + "    if n < 1.0:\n        y = fn.flip(g)\n    else:\n";
  EXPECT_EQ(stage_text(head + "        y = c\n    return y\n", "gpu").codes,
            std::vector<std::string>{"G0304"});
  EXPECT_TRUE(stage_text(head + "        y = c.gpu()\n    return y\n", "gpu").result.ok);
  // A number lies where the node lies that it meets.
  const Staged number = stage_text(
      std::string(kInputs) + "    if n < 1.0:\n        y = m\n    else:\n        y = 0.5\n    return y\n",
      "gpu");
  EXPECT_TRUE(number.result.ok) << number.diagnostics;
}

TEST(Devices, MappingToTheCpuLeavesNoTrace) {
  const Staged with = stage_text(std::string(kInputs) +
                                     "    y = fn.flip(fn.decoders.image(e, device='mixed')).cpu()\n"
                                     "    return y + m, fn.reductions.mean(g).cpu()\n",
                                 "gpu");
  const Staged without = stage_text(
      "    c = fn.external_source(name='c', dtype=types.UINT8, ndim=3, layout='HWC')\n"
      "    e = fn.external_source(name='e', dtype=types.UINT8, ndim=1)\n"
      "    n = fn.random.uniform(range=[0.5, 1.5])\n"
      "    y = fn.flip(fn.decoders.image(e))\n"
      "    return y + n, fn.reductions.mean(c)\n",
      "gpu");
  ASSERT_TRUE(with.result.ok && without.result.ok) << with.diagnostics << without.diagnostics;
  ir::Graph& mapped = *with.result.graphs.front();
  EXPECT_TRUE(passes::names_gpu(mapped));
  const op::DeviceMapping mapping = passes::map_devices(mapped, false);
  EXPECT_EQ(mapping.outputs_on_gpu, (std::vector<bool>{false, false}));
  EXPECT_TRUE(ir::verify(mapped));
  EXPECT_EQ(ir::to_text(mapped), ir::to_text(*without.result.graphs.front()));
}

TEST(Devices, MappingToAGpuKeepsPlaces) {
  const Staged staged = stage_text(std::string(kInputs) +
                                       "    y = fn.flip(fn.decoders.image(e, device='mixed'))\n"
                                       "    return y, fn.resize(y.cpu(), size=[4, 4]), n\n",
                                   "gpu");
  ASSERT_TRUE(staged.result.ok) << staged.diagnostics;
  ir::Graph& graph = *staged.result.graphs.front();
  const op::DeviceMapping mapping = passes::map_devices(graph, true);
  EXPECT_TRUE(mapping.stated);
  EXPECT_EQ(mapping.outputs_on_gpu, (std::vector<bool>{true, false, false}));
  EXPECT_TRUE(ir::verify(graph));
  const std::string text = ir::to_text(graph);
  EXPECT_EQ(text.find("to_cpu"), std::string::npos) << text;
  EXPECT_EQ(text.find(" gpu"), std::string::npos) << text;
  for (const char* place :
       {"flip(%0) {placed=\"gpu\"}", "placed=\"mixed\"", "size=[4.0, 4.0], placed=\"cpu\""})
    EXPECT_NE(text.find(place), std::string::npos) << place << "\n" << text;
}

}  // namespace
}  // namespace galatea::dsl
