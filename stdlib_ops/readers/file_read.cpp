// io.file.read: the bytes of a file whose name the sample brings.
//
// Comes in: a path, as bytes. Goes out: what the file holds (native/fed_file.h reads it).
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/fed_file.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_io_file_read() {
  Operator op;
  op.name = "io.file.read";
  op.summary = "The bytes of a file, by its name.";
  op.documentation =
      "The name is the bytes of a path, up to its end or to a zero byte; a relative one counts from the working "
      "directory. A file that is not there, or is none, is the sample's error; an empty one gives no elements.";
  op.kind = OperatorKind::kNative;
  op.inputs = {{.name = "filepaths",
                .documentation = "the bytes of a path",
                .dtypes = {DType::kU8, DType::kI8},
                .ndim = 1}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {ignored("dont_use_mmap", ArgKind::kBool, false, "Files are read, not mapped."),
             ignored("use_o_direct", ArgKind::kBool, false, "Reads past the system's cache.")};
  op.example =
      "filepaths = fn.external_source(name=\"filepaths\", dtype=types.UINT8, ndim=1)\n"
      "return fn.io.file.read(filepaths)\n";
  op.type_rule = [](const TypeContext&) -> Types {
    return std::vector{
        ir::Type{.dtype = DType::kU8, .ndim = 1, .layout = {}, .device = ir::Device::kCpu, .extents = {-1}}};
  };
  op.define = [](RecipeBuilder& b) {
    std::vector<Expr> size = b.native_scalars(native::kFileSize, {0}, {}, {}, {DType::kI64},
                                              {{0, std::numeric_limits<int64_t>::max()}});
    op::NativeOutput native;
    native.function = native::kFileRead;
    native.inputs = {0};
    native.makes = "file";
    b.output_native(0, std::move(native), std::move(size));
  };
  return op;
}

}  // namespace galatea::ops
