// Films that the host feeds: the same frames as fn.decoders.video gives of the whole film, in sequences; what is
// kept of a film ends with its memory.
#include <gtest/gtest.h>

#include <filesystem>

#include <fmt/format.h>

#include "runtime/tensor.h"
#include "stdlib_ops/native/bytes.h"
#include "tests/readers/run_text.h"

namespace galatea::testing {
namespace {

using runtime::Tensor;
using Sequence = std::vector<uint8_t>;

std::string fed_path(const std::string& film) {
  return std::string(GALATEA_SOURCE_DIR) + "/tests/video/films/" + film;
}

Tensor film_tensor(const std::string& film) {
  static runtime::Allocator allocator(0);
  const auto text = native::text_of(fed_path(film), "film");
  EXPECT_TRUE(text);
  const int64_t size = std::ssize(*text);
  auto tensor = runtime::allocate_tensor(allocator, DType::kU8, {&size, 1});
  EXPECT_TRUE(tensor);
  std::copy(text->begin(), text->end(), tensor->data);
  return *tensor;
}

Sequence bytes_in(const Tensor& tensor) { return {tensor.data, tensor.data + tensor.num_bytes()}; }

/// The session of a pipeline that nobody has fed yet.
std::unique_ptr<runtime::Session> session_of(const std::string& body, const std::string& options) {
  TextRun run = run_text(body, options);
  EXPECT_EQ(run.errors.size(), 1U);
  for (const std::string& error : run.errors) EXPECT_TRUE(error.starts_with("G0904")) << error;
  return std::move(run.session);
}

/// The batches until the session wants another feed.
std::vector<std::vector<Sequence>> batches_of(runtime::Session& session) {
  std::vector<std::vector<Sequence>> batches;
  for (;;) {
    auto batch = session.next();
    if (!batch) {
      EXPECT_TRUE(code_and_message(batch.error()).starts_with("G0904")) << code_and_message(batch.error());
      return batches;
    }
    std::vector<Sequence>& sequences = batches.emplace_back();
    for (const Tensor& tensor : (**batch)->outputs[0].samples) sequences.push_back(bytes_in(tensor));
  }
}

/// All frames of a film, and what follows of them.
Sequence whole(const std::string& film, const std::string& rest) {
  const TextRun run =
      run_text(fmt::format("x, _ = fn.readers.file(files=[\"{}\"])\nclip = fn.decoders.video(x)\n{}",
                           fed_path(film), rest),
               "batch_size=1");
  EXPECT_EQ(run.errors, std::vector<std::string>());
  return run.batch ? bytes_in(run.batch->outputs[0].samples[0]) : Sequence();
}

Sequence joined(const std::vector<std::vector<Sequence>>& batches) {
  Sequence all;
  for (const auto& batch : batches)
    for (const Sequence& one : batch) all.insert(all.end(), one.begin(), one.end());
  return all;
}

const std::string kClip = "clip = fn.inputs.video(name=\"film\", sequence_length={}{})\n";

TEST(FedFilms, AreSequencesOfAllTheirFrames) {
  for (const char* film : {"h264.mkv", "vp9.webm", "mjpeg.avi"})
    for (const char* rest :
         {"return clip", "return fn.crop(clip, crop=[9, 14])", "return fn.resize(clip, size=[7, 5])"}) {
      SCOPED_TRACE(fmt::format("{}: {}", film, rest));
      const auto session =
          session_of(fmt::format(fmt::runtime(kClip), 4, "") + rest, "batch_size=3, num_threads=2");
      ASSERT_TRUE(session->feed("film", {film_tensor(film)}));
      const auto batches = batches_of(*session);
      EXPECT_EQ(joined(batches), whole(film, rest));
      for (size_t n = 0; n + 1 < batches.size(); ++n) EXPECT_EQ(batches[n].size(), 3U);
    }
}

TEST(FedFilms, AreFilledUpIfAskedFor) {
  const auto session = session_of(
      fmt::format(fmt::runtime(kClip), 40, ", last_sequence_policy=\"pad\", fill_value=[7, 8, 9]") +
          "return clip",
      "batch_size=2");
  ASSERT_TRUE(session->feed("film", {film_tensor("vp9.webm")}));
  const auto batches = batches_of(*session);
  ASSERT_EQ(batches.size(), 1U);
  ASSERT_EQ(batches[0].size(), 1U);
  Sequence expected = whole("vp9.webm", "return clip");
  for (const size_t all = expected.size() / 25 * 40; expected.size() < all;)
    expected.insert(expected.end(), {7, 8, 9});
  EXPECT_EQ(batches[0][0], expected);
}

TEST(FedFilms, OfOneFeedFollowEachOther) {
  const auto session = session_of(fmt::format(fmt::runtime(kClip), 10, "") + "return clip", "batch_size=2");
  ASSERT_TRUE(session->feed("film", {film_tensor("vp9.webm"), film_tensor("vp8.webm")}));
  ASSERT_TRUE(session->feed("film", {film_tensor("vp9.webm")}));
  ASSERT_TRUE(session->end_of_feed());
  std::vector<size_t> sizes;
  for (;;) {
    auto batch = session->next();
    ASSERT_TRUE(batch) << code_and_message(batch.error());
    if (!*batch) break;
    sizes.push_back((**batch)->outputs[0].samples.size());
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{2, 1, 2, 1, 2, 1}));  // 25 frames each
}

TEST(FedFilms, WhatIsNoFilmFailsItsFeedAlone) {
  const auto session = session_of(fmt::format(fmt::runtime(kClip), 25, "") + "return clip", "batch_size=2");
  std::vector<uint8_t> bytes(100, 7);
  const int64_t size = std::ssize(bytes);
  Tensor tensor;
  tensor.data = bytes.data();
  tensor.set_dense(DType::kU8, {&size, 1});
  const Status fed = session->feed("film", {tensor});
  ASSERT_FALSE(fed);
  EXPECT_TRUE(code_and_message(fed.error()).starts_with("G08")) << code_and_message(fed.error());
  const Status named = session->feed("film", {film_tensor("vp9.webm")}, {3});
  ASSERT_FALSE(named);
  EXPECT_TRUE(named.error().message().contains("ids were given")) << named.error().message();
  ASSERT_TRUE(session->feed("film", {film_tensor("vp9.webm")}));
  EXPECT_EQ(joined(batches_of(*session)), whole("vp9.webm", "return clip"));
}

TEST(FedFilms, BatchesOfOtherInputsHaveTheirSize) {
  const auto session =
      session_of(fmt::format(fmt::runtime(kClip), 10, "") +
                     "return clip, fn.external_source(name=\"x\", dtype=types.UINT8, ndim=0)",
                 "batch_size=2");
  uint8_t byte = 1;
  Tensor one;
  one.data = &byte;
  one.set_dense(DType::kU8, {});
  ASSERT_TRUE(session->feed("x", {one, one}));
  ASSERT_TRUE(session->feed("x", {one, one}));
  const Status fed = session->feed("film", {film_tensor("vp9.webm")});
  ASSERT_FALSE(fed);
  EXPECT_TRUE(fed.error().message().contains("1 samples were fed, but 'x' was fed 2"))
      << fed.error().message();
}

TEST(FedFilms, AreForgottenWithTheirLastSequence) {
  const auto session = session_of(fmt::format(fmt::runtime(kClip), 4, "") + "return clip", "batch_size=2");
  for (int round = 0; round < 3; ++round) {
    Tensor film = film_tensor("h264.mkv");
    const std::weak_ptr<runtime::Buffer> memory = film.buffer;
    ASSERT_TRUE(session->feed("film", {std::move(film)}));
    EXPECT_FALSE(batches_of(*session).empty());
    EXPECT_TRUE(memory.expired());
  }
}

TEST(FedFilms, SayWhatIsWrongWithACall) {
  const auto error_of = [](const std::string& args) {
    const TextRun run = run_text("return fn.inputs.video(" + args + ")", "batch_size=1");
    return run.errors.empty() ? std::string() : run.errors[0];
  };
  EXPECT_TRUE(error_of("sequence_length=0").contains("sequence_length is 0"));
  EXPECT_TRUE(error_of("sequence_length=1, last_sequence_policy=\"cut\"")
                  .contains("last_sequence_policy is \"cut\""));
  EXPECT_TRUE(error_of("sequence_length=1, color_space=\"x\"").contains("color_space is \"x\""));
  EXPECT_TRUE(error_of("sequence_length=1, fill_value=[1, 2]").contains("fill_value has 2 numbers"));
  EXPECT_TRUE(error_of("sequence_length=1, image_type=types.ANY_DATA").contains("image_type"));
}

}  // namespace
}  // namespace galatea::testing
