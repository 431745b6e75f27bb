#include "tests/readers/recorded_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/fault.h"
#include "base/json.h"
#include "tests/readers/run_text.h"

namespace galatea::testing {
namespace {

using Json = nlohmann::json;

/// An element as the scripts write it: integers exactly, floats as the shortest text that gives them.
bool same_element(const runtime::Tensor& tensor, int64_t e, const Json& value) {
  const Cell cell = load_cell(tensor.dtype, tensor.data + e * static_cast<int64_t>(size_of(tensor.dtype)));
  if (tensor.dtype == DType::kU64) return value.get<uint64_t>() == cell.bits;
  if (tensor.dtype == DType::kI64) return value.get<int64_t>() == static_cast<int64_t>(cell.bits);
  if (value.is_null()) return std::isnan(cell_to_double(tensor.dtype, cell));
  if (value.is_boolean()) return value.get<bool>() == (cell_to_double(tensor.dtype, cell) != 0);
  return value.get<double>() == cell_to_double(tensor.dtype, cell);
}

}  // namespace

const std::string kRecorded = std::string(GALATEA_SOURCE_DIR) + "/tests/readers/recorded";

std::string in_folder(std::string text, const std::string& folder) {
  for (size_t at = 0; (at = text.find('@', at)) != std::string::npos; at += folder.size())
    text.replace(at, 1, folder);
  return text;
}

std::string recorded_bytes(const std::string& name) { return *read_whole_file(kRecorded + "/" + name); }

void expect_as_recorded(const std::string& file, size_t least) {
  const Json cases = parse_json(recorded_bytes(file));
  ASSERT_GE(cases.size(), least);
  for (const Json& recorded : cases) {
    SCOPED_TRACE(recorded["name"].get<std::string>());
    const int64_t batch = recorded["batch"];
    const TextRun run = run_text(in_folder(recorded["body"]), fmt::format("batch_size={}", batch));
    ASSERT_EQ(run.errors, std::vector<std::string>());
    ASSERT_EQ(run.batch->outputs.size(), recorded["outputs"].size());
    for (size_t k = 0; k < run.batch->outputs.size(); ++k) {
      ASSERT_EQ(run.batch->outputs[k].samples.size(), static_cast<size_t>(batch));
      for (int64_t i = 0; i < batch; ++i) {
        const runtime::Tensor& ours = run.batch->outputs[k].samples[static_cast<size_t>(i)];
        const Json& theirs = recorded["outputs"][k][static_cast<size_t>(i)];
        EXPECT_EQ(numpy_name(ours.dtype), theirs["dtype"].get<std::string>());
        ASSERT_EQ(std::vector<int64_t>(ours.extents, ours.extents + ours.ndim),
                  theirs["shape"].get<std::vector<int64_t>>())
            << "output " << k << " of sample " << i;
        for (int64_t e = 0; e < ours.volume(); ++e)
          ASSERT_TRUE(same_element(ours, e, theirs["values"][static_cast<size_t>(e)]))
              << "output " << k << " of sample " << i << ", element " << e;
      }
    }
  }
}

std::string first_error(const std::string& body, const std::string& options) {
  const TextRun run = run_text(in_folder(body), options);
  return run.errors.empty() ? "" : run.errors.front();
}

Taken::Taken()
    : allocate([this](int k, DType dtype, const std::vector<int64_t>& extents) -> Result<runtime::Tensor*> {
        int64_t bytes = static_cast<int64_t>(size_of(dtype));
        for (const int64_t extent : extents) bytes *= extent;
        EXPECT_LT(bytes, 1 << 20) << "more than the file has";
        memory.emplace_back(static_cast<size_t>(bytes) + 1);
        tensors.resize(std::max(tensors.size(), static_cast<size_t>(k) + 1));
        tensors[static_cast<size_t>(k)].dtype = dtype;
        tensors[static_cast<size_t>(k)].ndim = static_cast<int>(extents.size());
        std::ranges::copy(extents, tensors[static_cast<size_t>(k)].extents);
        tensors[static_cast<size_t>(k)].data = memory.back().data();
        return &tensors[static_cast<size_t>(k)];
      }) {}

void damage(const std::string& whole,
            const std::function<Status(std::shared_ptr<const native::ByteSource>)>& read,
            std::string_view spared) {
  int errors = 0;
  auto look = [&](std::string bytes) {
    const Status status = read(native::bytes_in_memory("made.up", std::move(bytes)));
    if (status) return;
    ++errors;
    ASSERT_EQ(status.error().kind, ErrorKind::kUser) << status.error().message();
    ASSERT_NE(status.error().message().find("made.up"), std::string::npos) << status.error().message();
  };
  for (size_t size = 0; size < whole.size(); ++size) look(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at) {
    if (spared.find(whole[at]) != std::string_view::npos) continue;
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      look(std::move(bytes));
    }
  }
  EXPECT_GT(errors, 0);
}

}  // namespace galatea::testing
