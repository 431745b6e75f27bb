// Films: all bytes are the file, which lies in memory, and which a host feeds (inputs.video), a sequence of frames a
// sample.
//
// Must hold: no crash; errors name the film; what can be listed is decoded, or an error; the sequences of a fed film
// are those of its frames.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/json.h"
#include "runtime/tensor.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/video/paint.h"
#include "stdlib_ops/native/video_functions.h"
#include "tests/fuzz/target.h"
#include "tests/native/plain_call.h"

namespace galatea::fuzz::of_video {
namespace {

using namespace galatea::native;
using namespace galatea::native::video;

constexpr int64_t kMostFrames = 8, kSide = 16;

void decode(std::span<const uint8_t> bytes) {
  FilmLibrary library({});
  const FilmFile file{.name = "made.up", .identity = "made.up", .open = [bytes] {
                        return bytes_elsewhere("made.up", bytes);
                      }};
  const auto index = library.index_of(file);
  if (!index) return require(index.error().message().contains("made.up"));
  std::vector<int64_t> frames;
  for (int64_t k = 0; k < std::min((*index)->num_frames(), kMostFrames); ++k) frames.push_back(k);
  const StreamFacts& stream = (*index)->stream();
  const Box corner{0, 0, std::min<int64_t>(stream.height, kSide), std::min<int64_t>(stream.width, kSide)};
  std::vector<uint8_t> pixels(frames.size() * kSide * kSide * 3);
  const Status done =
      paint_clip(library, file, **index, frames, {}, corner, [] { return false; }, pixels.data());
  require(done || done.error().message().contains("made.up"));
}

/// A native function of films, as a program calls it.
class Function {
 public:
  Function(const char* name, const std::string& config) {
    static const std::vector<runtime::NativeFunction> functions = video_functions();
    function_ = &*std::ranges::find(functions, name, &runtime::NativeFunction::name);
    state_ = function_->prepare(config).value();
  }
  Status call(std::span<const runtime::Tensor> inputs, std::span<const Cell> scalars, std::span<Cell> results,
              runtime::Tensor* output) const {
    testing::PlainCall call;
    call.inputs = inputs;
    call.scalars = scalars;
    call.scalar_results = results;
    call.output = output;
    call.state = state_.get();
    return function_->call(call);
  }

 private:
  const runtime::NativeFunction* function_;
  std::shared_ptr<runtime::NativeState> state_;
};

void require_about_film(const Status& done) { require(done || done.error().message().contains("the film")); }

/// The corner of some of its sequences: the first, one behind it, the last.
void feed(std::span<const uint8_t> bytes) {
  constexpr int64_t kLength = 3;
  static const Function sequences(kVideoSequences, R"({"sequence_length": 3})");
  static const std::string config =
      R"({"pad_mode": "none", "given": ["start_frame", "sequence_length"], "is_fed": true})";
  static const Function peek(kVideoPeek, config), decode(kVideoDecode, config);
  static runtime::Allocator allocator(0);
  const int64_t size = std::ssize(bytes);
  const auto film = runtime::allocate_tensor(allocator, DType::kU8, {&size, 1});
  require(film.has_value());
  std::ranges::copy(bytes, film->data);
  const std::span<const runtime::Tensor> inputs(&*film, 1);
  Cell counted;
  if (const Status done = sequences.call(inputs, {}, {&counted, 1}, nullptr); !done)
    return require_about_film(done);
  const int64_t count = cell_to_int(DType::kI64, counted);
  require(count >= 0);
  for (const int64_t number : {int64_t{0}, int64_t{1}, count - 1}) {
    if (number < 0 || number >= count) continue;
    std::vector<Cell> scalars = {cell_from_int(DType::kI64, number * kLength),
                                 cell_from_int(DType::kI64, kLength)};
    Cell extents[3];
    const Status looked = peek.call(inputs, scalars, extents, nullptr);
    require(looked.has_value());
    const int64_t frames = cell_to_int(DType::kI64, extents[0]);
    require(frames >= 1 && frames <= kLength && (frames == kLength || number == count - 1));
    const int64_t wanted[] = {frames, std::min(cell_to_int(DType::kI64, extents[1]), kSide),
                              std::min(cell_to_int(DType::kI64, extents[2]), kSide)};
    for (int k = 0; k < 3; ++k) scalars.push_back(cell_from_int(DType::kI64, 0));
    for (const int64_t extent : wanted) scalars.push_back(cell_from_int(DType::kI64, extent));
    const int64_t clip[] = {wanted[0], wanted[1], wanted[2], 3};
    auto output = runtime::allocate_tensor(allocator, DType::kU8, clip);
    require(output.has_value());
    require_about_film(decode.call(inputs, scalars, {}, &*output));
  }
}

}  // namespace

GALATEA_FUZZ_TARGET(video, 150)(const uint8_t* data, size_t size) {
  decode({data, size});
  feed({data, size});
}

}  // namespace galatea::fuzz::of_video
