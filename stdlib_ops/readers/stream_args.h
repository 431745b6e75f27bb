// The arguments of readers that can read containers without looking through them first.
//
// Comes in: a call's arguments. Goes out: what is wrong with them (native/container_stream.h reads them).
#pragma once

#include <string_view>
#include <vector>

#include "compiler/op/operator.h"

namespace galatea::ops {

std::vector<op::ArgSpec> stream_args();
/// Names of files, and an index for each or none. `paths` and `indices` are the names of these arguments.
Status check_index_each(const op::TypeContext& ctx, std::string_view paths, std::string_view indices);
/// What stream_args() and `indices` say of a stream.
Status check_stream(const op::TypeContext& ctx, std::string_view indices);

}  // namespace galatea::ops
