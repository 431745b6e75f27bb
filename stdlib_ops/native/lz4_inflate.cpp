#include "stdlib_ops/native/lz4_inflate.h"

#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <lz4.h>

#include "base/json.h"
#include "base/scalar_op.h"
#include "stdlib_ops/native/fed_file.h"

namespace galatea::native {
namespace {

using Numbers = std::vector<int64_t>;

class InflateState final : public runtime::NativeState {
 public:
  bool chunked = false, fed_offsets = false, fed_sizes = false;
  std::optional<Numbers> offsets, sizes;
};

std::optional<Numbers> list_of(const nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return std::nullopt;
  return found->get<Numbers>();
}

Result<std::shared_ptr<runtime::NativeState>> prepare_inflate(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "inflate: configuration is not a JSON object");
  auto state = std::make_shared<InflateState>();
  state->chunked = json.value("chunked", false);
  state->fed_offsets = json.value("fed_offsets", false);
  state->fed_sizes = json.value("fed_sizes", false);
  state->offsets = list_of(json, "offsets");
  state->sizes = list_of(json, "sizes");
  return state;
}

std::unexpected<Error> inflate_error(std::string message, std::string help) {
  return make_error(ErrorKind::kUser, "G0802", std::move(message), std::move(help));
}

Numbers numbers_of_input(const runtime::Tensor& tensor) {
  Numbers numbers;
  for (int64_t i = 0; i < tensor.volume(); ++i) {
    const uint8_t* at = tensor.data + i * (tensor.ndim > 0 ? tensor.strides[0] : 0) * size_of(tensor.dtype);
    // A number of 64 bits without a sign that is too large becomes negative, and is refused as that.
    numbers.push_back(cell_to_int(tensor.dtype, load_cell(tensor.dtype, at)));
  }
  return numbers;
}

struct Chunk {
  int64_t offset = 0, size = 0;
};

/// Where the chunks lie, each within the sample's `total` bytes.
Result<std::vector<Chunk>> chunks_of(const runtime::NativeContext& context, int64_t total) {
  const auto& state = *static_cast<const InflateState*>(context.state);
  if (!state.chunked) return std::vector{Chunk{0, total}};
  std::optional<Numbers> offsets = state.offsets, sizes = state.sizes;
  size_t input = 1;
  if (state.fed_offsets) offsets = numbers_of_input(context.inputs[input++]);
  if (state.fed_sizes) sizes = numbers_of_input(context.inputs[input++]);
  if (offsets && sizes && offsets->size() != sizes->size())
    return inflate_error(
        fmt::format("there are {} chunk_offsets and {} chunk_sizes", offsets->size(), sizes->size()),
        "give one of each for every chunk, or only one of the lists");
  const size_t count = offsets ? offsets->size() : sizes->size();
  std::vector<Chunk> chunks(count);
  int64_t packed = 0;  // where the next chunk begins if nothing else says so
  for (size_t k = 0; k < count; ++k) {
    Chunk& chunk = chunks[k];
    chunk.offset = offsets ? (*offsets)[k] : packed;
    if (chunk.offset < 0 || chunk.offset > total)
      return inflate_error(fmt::format("chunk {} begins at byte {} of {}", k, chunk.offset, total),
                           "chunk_offsets count bytes of the sample from 0");
    if (sizes) {
      chunk.size = (*sizes)[k];
    } else {
      const int64_t end = k + 1 < count ? (*offsets)[k + 1] : total;
      chunk.size = end < chunk.offset ? -1 : end - chunk.offset;
    }
    if (chunk.size < 0 || chunk.size > total - chunk.offset)
      return inflate_error(fmt::format("chunk {} has {} bytes from byte {} on, and the sample {}", k,
                                       chunk.size, chunk.offset, total),
                           sizes ? "chunk_sizes count bytes of compressed chunks"
                                 : "without chunk_sizes the offsets must ascend");
    packed = chunk.offset + chunk.size;
  }
  return chunks;
}

Status inflate(runtime::NativeContext& context) {
  std::vector<uint8_t> copy;
  const std::span<const uint8_t> bytes = bytes_of_input(context.inputs[0], copy);
  GALATEA_ASSIGN(const std::vector<Chunk> chunks, chunks_of(context, static_cast<int64_t>(bytes.size())));
  const runtime::Tensor& out = *context.output;
  const auto count = static_cast<int64_t>(chunks.size());
  if (static_cast<const InflateState*>(context.state)->chunked && out.extents[0] != count)
    return inflate_error(fmt::format("there are {} chunks, and the output has {}", count, out.extents[0]),
                         "give one offset and one size for every chunk");
  const int64_t wanted = count == 0 ? 0 : out.num_bytes() / count;
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  for (size_t k = 0; k < chunks.size(); ++k) {
    if (context.cancelled()) return {};
    const Chunk& chunk = chunks[k];
    if (wanted > kMost || chunk.size > kMost)
      return inflate_error(fmt::format("chunk {} has more than {} bytes", k, kMost),
                           "compress it as several chunks: a block of LZ4 has less than 2 GiB");
    uint8_t nothing = 0;  // LZ4 takes no null pointer
    auto* const to = reinterpret_cast<char*>(
        out.num_bytes() == 0 ? &nothing : out.data + static_cast<int64_t>(k) * wanted);
    const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(bytes.data()) + chunk.offset, to,
                                         static_cast<int>(chunk.size), static_cast<int>(wanted));
    if (made < 0)
      return inflate_error(
          fmt::format("chunk {} is no block of LZ4 that holds {} bytes", k, wanted),
          "compress it without a frame (lz4.block.compress(…, store_size=False)), and check shape and dtype");
    if (made != wanted)
      return inflate_error(
          fmt::format("chunk {} holds {} bytes, and shape and dtype ask for {}", k, made, wanted),
          "check shape and dtype");
  }
  return {};
}

int64_t inflate_working_bytes(std::span<const runtime::Tensor> inputs, std::span<const Cell>,
                              const runtime::NativeState*) {
  constexpr int64_t kOfChunk = sizeof(Chunk) + 2 * sizeof(int64_t);
  int64_t bytes = bytes_of_copy(inputs[0]);
  for (const runtime::Tensor& list : inputs.subspan(1)) bytes += kOfChunk * list.volume();
  return bytes;
}

}  // namespace

runtime::NativeFunction inflate_function() {
  return {.name = kInflateLz4,
          .category = "decode",
          .prepare = prepare_inflate,
          .call = inflate,
          .working_bytes = inflate_working_bytes};
}

}  // namespace galatea::native
