// What the fake NVRTC gives the fake nvJitLink.
#pragma once

namespace galatea::testing {

/// A relocatable object: this, the architecture's number, a line's end, the text.
inline constexpr const char* kFakeObject = "galatea-fake-object sm_";

}  // namespace galatea::testing
