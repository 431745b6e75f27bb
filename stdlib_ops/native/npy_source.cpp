#include "stdlib_ops/native/npy_source.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "base/port.h"
#include "base/scalar_op.h"
#include "runtime/memory_gate.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/fed_file.h"
#include "stdlib_ops/native/file_source.h"
#include "stdlib_ops/native/in_file.h"
#include "stdlib_ops/native/npy_region.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {
namespace {

Status check_kind(const NpyHeader& header, DType dtype, size_t rank, const std::string& path) {
  if (header.dtype == dtype && header.shape.size() == rank) return {};
  return make_error(ErrorKind::kUser, "G0802",
                    fmt::format("{} is {}; it must be {} of {} axes, as all arrays of this reader", path,
                                type_text(header.dtype, header.shape), short_name(dtype), rank),
                    "arrays of one reader have one element type and number of axes: name others apart "
                    "(files=, file_filter=); on_error=\"skip\" goes on without them");
}

/// The part of a file; what lies outside of the array is `fill_value`.
Status read_part(const ByteSource& file, const NpyHeader& header, const NpyRegion::Part& part,
                 double fill_value, const runtime::Tensor& to) {
  bool outside = false;
  for (size_t i = 0; i < part.shape.size(); ++i)
    outside = outside || part.start[i] < 0 || part.start[i] + part.shape[i] > header.shape[i];
  if (outside) fill_with(to, fill_value);
  return read_npy_part(file, header, part.start, part.shape, to.data);
}

class NumpySource final : public runtime::SampleSource {
 public:
  NumpySource(std::vector<std::string> paths, NpyRegion region, DType dtype, size_t rank, bool keeps_headers)
      : paths_(std::move(paths)),
        region_(std::move(region)),
        dtype_(dtype),
        rank_(rank),
        headers_(keeps_headers) {}
  int64_t size() const override { return static_cast<int64_t>(paths_.size()); }
  std::string describe(int64_t index) const override {
    return far::shown(paths_[static_cast<size_t>(index)]);
  }
  void will_read(int64_t index) const override { will_open(paths_[static_cast<size_t>(index)]); }

  Status read(int64_t index, const AllocateOutput& allocate) const override {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file,
                   open_file(paths_[static_cast<size_t>(index)]));
    const std::string& path = file->name();
    GALATEA_ASSIGN(const NpyHeader header, headers_.of(*file));
    GALATEA_TRY(check_kind(header, dtype_, rank_, path));
    GALATEA_ASSIGN(const NpyRegion::Part part, region_.of(header.shape, path));
    GALATEA_ASSIGN(const runtime::Tensor* out, allocate(0, header.dtype, part.shape));
    return read_part(*file, header, part, region_.fill_value, *out);
  }

 private:
  std::vector<std::string> paths_;
  NpyRegion region_;
  DType dtype_;  ///< of all arrays
  size_t rank_;
  mutable NpyHeaders headers_;
};

class NumpyNames final : public runtime::SampleSource {
 public:
  explicit NumpyNames(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  int64_t size() const override { return static_cast<int64_t>(paths_.size()); }
  std::string describe(int64_t index) const override {
    return far::shown(paths_[static_cast<size_t>(index)]);
  }
  void will_read(int64_t index) const override { will_open(paths_[static_cast<size_t>(index)]); }
  int64_t bytes(int64_t index) const override {
    return runtime::claimed_bytes(static_cast<int64_t>(paths_[static_cast<size_t>(index)].size()));
  }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    const std::string& path = paths_[static_cast<size_t>(index)];
    GALATEA_ASSIGN(const runtime::Tensor* out, allocate(0, DType::kU8, {static_cast<int64_t>(path.size())}));
    std::ranges::copy(path, out->data);
    return {};
  }

 private:
  std::vector<std::string> paths_;
};

// ---- regions of samples

/// The array that the sample names, and which part of it.
struct FedPart {
  std::shared_ptr<const ByteSource> file;
  NpyHeader header;
  NpyRegion::Part part;
};

class PartState final : public InFileState {
 public:
  explicit PartState(bool keeps_headers) : headers(keeps_headers) {}
  Result<FedPart> find(std::span<const Cell> scalars, std::shared_ptr<const ByteSource> file) const;
  Result<FileWindow> window(const runtime::NativeArguments& call) const override;

  std::vector<std::string> bounds;
  size_t count = 0;  ///< numbers of each
  DType dtype = DType::kU8;
  size_t rank = 0;
  NpyRegion region;
  mutable NpyHeaders headers;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_part(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "numpy.part: configuration is not a JSON object");
  auto state = std::make_shared<PartState>(json.value("cache_header_information", false));
  state->bounds = json.at("bounds").get<std::vector<std::string>>();
  state->count = json.at("count").get<size_t>();
  const auto dtype = dtype_from_short_name(json.at("dtype").get<std::string>());
  GALATEA_CHECK(dtype.has_value(), "numpy.part: configuration names no element type");
  state->dtype = *dtype;
  state->rank = json.at("ndim").get<size_t>();
  state->region = region_of(json);
  return state;
}

Result<FedPart> PartState::find(std::span<const Cell> scalars, std::shared_ptr<const ByteSource> file) const {
  FedPart found{.file = std::move(file), .header = {}, .part = {}};
  GALATEA_ASSIGN(found.header, headers.of(*found.file));
  GALATEA_TRY(check_kind(found.header, dtype, rank, found.file->name()));
  NpyRegion wanted = region;
  for (const std::string& bound : bounds) {
    const bool relative = bound.starts_with("rel_");
    std::vector<int64_t>& whole = bound.ends_with("start") ? wanted.start
                                  : bound.ends_with("end") ? wanted.end
                                                           : wanted.shape;
    std::vector<float>& shares = bound.ends_with("start") ? wanted.rel_start
                                 : bound.ends_with("end") ? wanted.rel_end
                                                          : wanted.rel_shape;
    for (const Cell& cell : scalars.first(count)) {
      if (relative)
        shares.push_back(static_cast<float>(cell_to_double(DType::kF32, cell)));
      else
        whole.push_back(cell_to_int(DType::kI64, cell));
    }
    scalars = scalars.subspan(count);
  }
  GALATEA_ASSIGN(found.part, wanted.of(found.header.shape, found.file->name()));
  return found;
}

/// Whether nothing but the outermost axis of more than one element is a part of its extent, and none is outside.
bool is_in_one_piece(const NpyHeader& header, const NpyRegion::Part& part) {
  bool is_partial = false;
  for (size_t i = part.shape.size(); i-- > 0;) {
    if (part.start[i] < 0 || part.start[i] + part.shape[i] > header.shape[i]) return false;
    if (is_partial && part.shape[i] != 1) return false;
    is_partial = is_partial || part.shape[i] != header.shape[i];
  }
  return true;
}

Result<FileWindow> PartState::window(const runtime::NativeArguments& call) const {
  GALATEA_ASSIGN(const std::string path, name_of_fed_file(call.inputs[0]));
  FileWindow out{.path = path};
  if (far::is_far(path)) {
    out.why_not = "far away";
    return out;
  }
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> file, open_file(path));
  GALATEA_ASSIGN(const FedPart found, find(call.scalars, std::move(file)));
  if (!std::ranges::equal(found.part.shape,
                          std::span(call.output.extents, static_cast<size_t>(call.output.ndim))))
    return bad_array(path, "it changes while it is read");
  if (found.header.fortran_order && found.part.shape.size() > 1) out.why_not = "in Fortran's order";
  if (!is_in_one_piece(found.header, found.part)) out.why_not = "in more than one piece of its file";
  out.offset = found.header.data_offset;
  out.bytes = size_of(found.header.dtype);
  for (size_t i = found.part.shape.size(); i-- > 0;) out.bytes *= found.part.shape[i];
  int64_t stride = size_of(found.header.dtype);
  for (size_t i = found.part.shape.size(); i-- > 0;) {
    out.offset += found.part.start[i] * stride;
    stride *= found.header.shape[i];
  }
  return out;
}

const PartState& state_of(const runtime::NativeContext& context) {
  return *static_cast<const PartState*>(context.state);
}

Status part_shape(runtime::NativeContext& context) {
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> file, look_at_fed_file(context, context.inputs[0]));
  GALATEA_ASSIGN(const FedPart found, state_of(context).find(context.scalars, std::move(file)));
  for (size_t d = 0; d < found.part.shape.size(); ++d)
    context.scalar_results[d] = cell_from_int(DType::kI64, found.part.shape[d]);
  return {};
}

Status make_part(runtime::NativeContext& context) {
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> file, fed_file(context, context.inputs[0]));
  GALATEA_ASSIGN(const FedPart found, state_of(context).find(context.scalars, std::move(file)));
  const runtime::Tensor& out = *context.output;
  if (!std::ranges::equal(found.part.shape, std::span(out.extents, static_cast<size_t>(out.ndim))))
    return bad_array(found.file->name(), "it changes while it is read");
  return read_part(*found.file, found.header, found.part, state_of(context).region.fill_value, out);
}

}  // namespace

Result<NpyHeader> NpyHeaders::of(const ByteSource& file) {
  if (!kept_) return read_npy_header(file);
  {
    const std::shared_lock lock(mutex_);
    const auto known = known_.find(file.name());
    if (known != known_.end() && known->second.file_size == file.size()) return known->second.header;
  }
  GALATEA_ASSIGN(NpyHeader header, read_npy_header(file));
  const std::unique_lock lock(mutex_);
  known_.insert_or_assign(file.name(), Known{file.size(), header});
  return header;
}

Result<std::vector<std::string>> list_arrays(const nlohmann::json& config) {
  auto text = [&](const char* key, const char* otherwise) {
    return config.contains(key) && config[key].is_string() ? config[key].get<std::string>()
                                                           : std::string(otherwise);
  };
  return list_unlabelled_files({.root = text("file_root", ""),
                                .filter = text("file_filter", "*.npy"),
                                .files = texts_of(config, "files"),
                                .list = text("file_list", "")});
}

Result<std::unique_ptr<runtime::SampleSource>> open_numpy(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_ASSIGN(std::vector<std::string> paths, list_arrays(json));
  const bool has_dtype = json.contains("dtype") && !json["dtype"].is_null();
  const bool has_rank = json.contains("ndim") && !json["ndim"].is_null();
  NpyHeader first;
  if (!has_dtype || !has_rank) {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(paths.front()));
    GALATEA_ASSIGN(first, read_npy_header(*file));
  }
  const DType dtype = has_dtype ? *dtype_from_short_name(json["dtype"].get<std::string>()) : first.dtype;
  const size_t rank = has_rank ? json["ndim"].get<size_t>() : first.shape.size();
  return std::make_unique<NumpySource>(std::move(paths), region_of(json), dtype, rank,
                                       json.value("cache_header_information", false));
}

Result<std::unique_ptr<runtime::SampleSource>> open_numpy_names(const std::string& config) {
  GALATEA_ASSIGN(std::vector<std::string> paths, list_arrays(parse_json(config)));
  return std::make_unique<NumpyNames>(std::move(paths));
}

std::vector<runtime::NativeFunction> numpy_part_functions() {
  return {{.name = kNumpyPartShape, .category = "read", .prepare = prepare_part, .call = part_shape},
          {.name = kNumpyPart, .category = "read", .prepare = prepare_part, .call = make_part}};
}

}  // namespace galatea::native
