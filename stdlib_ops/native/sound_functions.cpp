#include "stdlib_ops/native/sound_functions.h"

#include "base/json.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/fed_file.h"
#include "stdlib_ops/native/sound/sound_file.h"

namespace galatea::native {
namespace {

constexpr const char* kSoundInput = "the input";

class SoundState final : public runtime::NativeState {
 public:
  bool downmix = false;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_sound(const std::string& config) {
  auto state = std::make_shared<SoundState>();
  state->downmix = parse_json(config).value("downmix", false);
  return state;
}

Status peek_sound(runtime::NativeContext& context) {
  std::vector<uint8_t> copy;
  GALATEA_ASSIGN(const auto file,
                 SoundFile::open(bytes_elsewhere(kSoundInput, bytes_of_input(context.inputs[0], copy))));
  context.scalar_results[0] = cell_from_int(DType::kI64, file->frames());
  context.scalar_results[1] = cell_from_int(DType::kI64, file->channels());
  context.scalar_results[2] = cell_from_int(DType::kI64, file->rate());
  return {};
}

Status decode_sound(runtime::NativeContext& context) {
  std::vector<uint8_t> copy;
  GALATEA_ASSIGN(const auto file,
                 SoundFile::open(bytes_elsewhere(kSoundInput, bytes_of_input(context.inputs[0], copy))));
  const int64_t begin = cell_to_int(DType::kI64, context.scalars[0]);
  const int64_t end = cell_to_int(DType::kI64, context.scalars[1]);
  const runtime::Tensor& out = *context.output;
  if (static_cast<const SoundState*>(context.state)->downmix)
    return file->read_mono(begin, end, out.dtype, out.data);
  return file->read(begin, end, out.dtype, out.data);
}

/// A copy of the input where it has gaps, and the codec.
int64_t bytes_of_sound(std::span<const runtime::Tensor> inputs, std::span<const Cell>,
                       const runtime::NativeState*) {
  return bytes_of_copy(inputs[0]) + sound_working_bytes(inputs[0].num_bytes());
}

std::vector<Port> encoded_sound_ports() {
  return {{.name = "data", .documentation = "the bytes of a sound file", .dtypes = {DType::kU8}, .ndim = 1}};
}

}  // namespace

std::vector<runtime::NativeFunction> sound_functions() {
  return {{.name = kSoundPeek,
           .category = "decode",
           .call = peek_sound,
           .working_bytes = bytes_of_sound,
           .inputs = encoded_sound_ports()},
          {.name = kSoundDecode,
           .category = "decode",
           .prepare = prepare_sound,
           .call = decode_sound,
           .working_bytes = bytes_of_sound,
           .inputs = encoded_sound_ports()}};
}

}  // namespace galatea::native
