// One decode, many policies: the outputs are those of a run for each policy alone, and each sample is decoded
// once.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "compiler/compile.h"
#include "compiler/ir/text/verifier.h"
#include "dsl/frontend.h"
#include "policy/mutate.h"
#include "policy/spelling.h"
#include "policy/writer.h"
#include "runtime/session.h"
#include "tests/native/sample_folder.h"
#include "tests/support/cases.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

/// A branch before the policy, one after it, and an output that does not depend on it.
constexpr const char* kText = R"(from galatea import fn, pipeline_def, types
from galatea.auto_aug import policy

@pipeline_def(batch_size=6, num_threads=2, seed=5)
def p():
    encoded, label = fn.readers.file(file_root="DATA", files=["class0/0.jpg", "class0/1.jpg",
                                     "class1/2.jpg", "class1/3.jpg"] * 4, labels=[0, 0, 1, 1] * 4,
                                     random_shuffle=True)
    image = fn.decoders.image_random_crop(encoded, output_type=types.RGB)
    image = fn.resize(image, size=[24, 32])
    if fn.random.coin_flip(dtype=types.BOOL):
        image = fn.flip(image, horizontal=1)
    image = policy.load("any.json")(image, shape=[24, 32])
    if label[0] > 0:
        image = fn.brightness(image, brightness=1.25)
    mean = fn.reductions.mean(image)
    return image, label + 1, mean
)";

struct Delivered {
  std::map<std::string, std::vector<std::string>> outputs;  ///< by name: the bytes of each sample
  std::map<std::string, int64_t> calls;                     ///< of the reader and the decoder
  int64_t samples = 0;
};

void collect(const runtime::Batch& batch, Delivered& run) {
  for (const runtime::Batch::Output& output : batch.outputs) {
    for (const runtime::Tensor& sample : output.samples) {
      ASSERT_TRUE(sample.ndim == 0 || sample.volume() == sample.strides[0] * sample.extents[0]) << "dense";
      run.outputs[output.spec.port.name].emplace_back(
          reinterpret_cast<const char*>(sample.data),
          static_cast<size_t>(sample.volume() * size_of(sample.dtype)));
    }
  }
  run.samples += batch.num_samples();
}

Delivered run_policies(const std::vector<dsl::PolicyText>& policies) {
  static const std::string kPhotographs = sample_folder("policies").string();
  std::string text = kText;
  text.replace(text.find("DATA"), 4, kPhotographs);
  SourceMap sources;
  dsl::FrontendOptions frontend;
  frontend.policies = policies;
  dsl::FrontendResult staged = dsl::stage_pipeline("p.dali-dsl", text, frontend, product().registry, sources);
  for (const Diagnostic& d : staged.diagnostics) ADD_FAILURE() << render_text(d, sources);
  Delivered run;
  if (!staged.ok) return run;
  const Status legal = ir::verify(*staged.graphs.at(0));
  EXPECT_TRUE(legal) << legal.error().message();
  CompileOptions options;
  options.registry = &product().registry;
  auto program = compile(*staged.graphs.at(0), sources, options);
  if (!program) return ADD_FAILURE() << program.error().message(), run;
  EXPECT_EQ((*program)->outputs.size(), staged.outputs.size());
  auto session = runtime::Session::create(*program, product().natives, {});
  if (!session) return ADD_FAILURE() << session.error().message(), run;
  for (;;) {
    auto next = (*session)->next();
    if (!next) return ADD_FAILURE() << next.error().message(), run;
    if (!next->has_value()) break;
    collect(***next, run);
  }
  for (const runtime::OperatorTime& time : (*session)->statistics().operators)
    if (time.kind == "read" || time.kind == "decode") run.calls[time.kind] += time.calls;
  return run;
}

dsl::PolicyText text_of(const std::string& name, const policy::Document& document) {
  return {name + ".json", policy::to_json(document)};
}

TEST(ManyPolicies, EachIsTheRunOfItAlone) {
  std::vector<dsl::PolicyText> policies;
  for (const char* spelling : {"rand_augment(n=2, m=9, shape=shape)", "image_net", "trivial_augment_wide()",
                               "rand-m9-mstd0.5-inc1", "AugMix(mixture_width=2, chain_depth=2)"})
    policies.push_back(text_of("policy" + std::to_string(policies.size()), *policy::document_of(spelling)));
  // Neighbours of one policy have most of their steps in common.
  const policy::Document origin = *policy::document_of("svhn(shape=shape)");
  for (uint64_t seed = 1; seed <= 3; ++seed)
    policies.push_back(text_of("child" + std::to_string(seed), policy::mutate(origin, seed, 2).document));

  const Delivered together = run_policies(policies);
  ASSERT_GT(together.samples, 0);
  EXPECT_EQ(together.calls.at("read"), together.samples);
  EXPECT_EQ(together.outputs.size(), 2 * policies.size() + 1);
  const auto tried = static_cast<size_t>(scaled(static_cast<int64_t>(policies.size()), 3));
  for (size_t k = 0; k < tried; ++k) {
    // Those at the end and those at the beginning in turns: children as well as named ones.
    const dsl::PolicyText& policy = policies[k % 2 == 0 ? policies.size() - 1 - k / 2 : k / 2];
    const Delivered alone = run_policies({policy});
    EXPECT_EQ(alone.samples, together.samples);
    EXPECT_EQ(alone.calls.at("decode"), together.calls.at("decode"));
    const std::string label = fs::path(policy.file).stem().string();
    for (const auto& [name, samples] : alone.outputs) {
      const auto found = together.outputs.find(name);
      const auto named = found != together.outputs.end() ? found : together.outputs.find(label + "/" + name);
      ASSERT_NE(named, together.outputs.end()) << label << " " << name;
      EXPECT_TRUE(named->second == samples) << label << " " << name;
    }
  }
}

}  // namespace
}  // namespace galatea::testing
