// A host of the C API: handles that end themselves, errors as text, float vectors fed and taken.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "include/galatea.h"

namespace galatea_host {

struct Destroy {
  void operator()(galatea_error* p) const { galatea_error_destroy(p); }
  void operator()(galatea_engine* p) const { galatea_engine_destroy(p); }
  void operator()(galatea_program_options* p) const { galatea_program_options_destroy(p); }
  void operator()(galatea_program* p) const { galatea_program_destroy(p); }
  void operator()(galatea_session* p) const { galatea_session_destroy(p); }
  void operator()(galatea_batch* p) const { galatea_batch_destroy(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

inline std::string text_of(galatea_error* error) {
  Owned<galatea_error> owned(error);
  return error ? galatea_error_text_borrow(error) : "";
}
inline std::string code_of(galatea_error* error) {
  Owned<galatea_error> owned(error);
  return error ? galatea_error_code_borrow(error) : "";
}
#define EXPECT_OK(call) EXPECT_EQ(text_of(call), "")
#define ASSERT_OK(call) ASSERT_EQ(text_of(call), "")

inline Owned<galatea_engine> make_engine() {
  galatea_engine* engine = nullptr;
  EXPECT_OK(galatea_engine_create(&engine));
  return Owned<galatea_engine>(engine);
}

inline Owned<galatea_program_options> make_options() {
  galatea_program_options* options = nullptr;
  EXPECT_OK(galatea_program_options_create(&options));
  return Owned<galatea_program_options>(options);
}

inline Owned<galatea_program> compile(galatea_engine* engine, const char* text,
                                      const galatea_program_options* options = nullptr) {
  galatea_program* program = nullptr;
  EXPECT_OK(galatea_program_create_from_text(engine, "test.dali-dsl", text, options, &program));
  return Owned<galatea_program>(program);
}

inline Owned<galatea_session> start(galatea_program* program, int32_t max_held = 8,
                                    bool synchronous = false) {
  galatea_session_options options;
  galatea_session_options_init(&options);
  options.max_held_batches = max_held;
  options.synchronous = synchronous;
  galatea_session* session = nullptr;
  EXPECT_OK(galatea_session_create(program, &options, &session));
  return Owned<galatea_session>(session);
}

/// Feeds vectors of floats.
inline galatea_error* feed(galatea_session* session, std::vector<std::vector<float>> samples,
                           const int64_t* ids = nullptr) {
  std::vector<galatea_tensor> tensors(samples.size());
  for (size_t k = 0; k < samples.size(); ++k) {
    auto length = static_cast<int64_t>(samples[k].size());
    EXPECT_OK(galatea_tensor_init(&tensors[k], samples[k].data(), GALATEA_FLOAT, 1, &length));
  }
  return galatea_session_feed(session, "x", tensors.data(), static_cast<int32_t>(tensors.size()), ids);
}

inline Owned<galatea_batch> next(galatea_session* session) {
  galatea_batch* batch = nullptr;
  EXPECT_OK(galatea_session_next(session, -1, &batch));
  return Owned<galatea_batch>(batch);
}

inline std::vector<float> floats(const galatea_batch* batch, int32_t output, int32_t sample) {
  galatea_tensor tensor;
  EXPECT_OK(galatea_batch_tensor_borrow(batch, output, sample, &tensor));
  EXPECT_EQ(tensor.dtype, GALATEA_FLOAT);
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + (tensor.ndim ? tensor.extents[0] : 1)};
}

}  // namespace galatea_host
