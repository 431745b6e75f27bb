// Whether two functions may be called alike: sizes and kinds of what they take and give. Types themselves
// differ, since ours do without NVIDIA's headers.
#pragma once

#include <type_traits>

namespace galatea::testing {

template <typename A, typename B>
constexpr bool is_same_kind = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
                              std::is_floating_point_v<A> == std::is_floating_point_v<B>;
template <>
inline constexpr bool is_same_kind<void, void> = true;

template <typename A, typename B>
struct SameShape : std::false_type {};
template <typename A, typename... As, typename B, typename... Bs>
  requires(sizeof...(As) == sizeof...(Bs))
struct SameShape<A (*)(As...), B (*)(Bs...)>
    : std::bool_constant<is_same_kind<A, B> && (is_same_kind<As, Bs> && ...)> {};

}  // namespace galatea::testing
