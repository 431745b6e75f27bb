#include "api/host_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/declare.h"
#include "api/guard.h"
#include "api/sized.h"
#include "compiler/op/source.h"
#include "runtime/messages.h"
#include "runtime/native.h"

/// One sample that is read.
struct galatea_read {
  const galatea::runtime::SampleSource::AllocateOutput* allocate = nullptr;
};

namespace galatea::api {

namespace message = runtime::message;

namespace {

using HostSource = Declared<galatea_source>;

class OpenSource final : public runtime::SampleSource {
 public:
  OpenSource(std::shared_ptr<HostSource> host, void* state) : host_(std::move(host)), state_(state) {}
  ~OpenSource() override {
    if ((*host_)->close) (*host_)->close(state_);
  }
  OpenSource(const OpenSource&) = delete;
  OpenSource& operator=(const OpenSource&) = delete;

  int64_t size() const override { return size_; }
  Status set_size(const std::string& name) {
    size_ = (*host_)->num_samples(state_);
    if (size_ >= 0) return {};
    return runtime::make_error(message::kHostError, fmt::format("{}: it has {} samples", name, size_));
  }
  std::string describe(int64_t index) const override {
    constexpr size_t kMost = 1024;
    if (!(*host_)->describe) return fmt::format("sample {}", index);
    std::string text(kMost, '\0');
    (*host_)->describe(state_, index, text.data(), text.size());
    text.resize(std::min(text.find('\0'), kMost - 1));
    return text;
  }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    galatea_read read{&allocate};
    if (galatea_error* error = (*host_)->read(state_, index, &read))
      return std::unexpected(take_error(error));
    return {};
  }

 private:
  std::shared_ptr<HostSource> host_;
  void* state_;
  int64_t size_ = 0;
};

}  // namespace

Status register_host_source(Library& library, const galatea_source& given) {
  const std::string name = given.name ? given.name : "";
  const auto refuse = [&](const std::string& why) {
    return runtime::make_error(message::kRegistration, name, why);
  };
  if (const std::string why = why_no_name(name, library.operators); !why.empty()) return refuse(why);
  if (library.natives.find_source(name)) return refuse("there is a source of this name");
  if (!given.open || !given.num_samples || !given.read)
    return refuse("`open`, `num_samples` or `read` is NULL");
  auto host = std::make_shared<HostSource>(given);
  op::Operator op;
  op.name = name;
  set_documentation(op, given.documentation, "A reader of the host.");
  op.kind = op::OperatorKind::kNative;
  op.source = true;
  GALATEA_ASSIGN(op.args, parse_arguments(given.arguments));
  for (op::ArgSpec& arg : op::common_reader_args()) {
    if (op.find_arg(arg.name))
      return refuse(fmt::format("every reader has an argument `{}` already", arg.name));
    op.args.push_back(std::move(arg));
  }
  GALATEA_ASSIGN(op.outputs, parse_ports(given.outputs));
  if (op.outputs.empty()) return refuse("it has no outputs");
  for (const Port& port : op.outputs)
    if (!port.is_concrete())
      return refuse(fmt::format(
          "output `{}` needs one element type, a number of dimensions and at most one layout", port.name));
  op.type_rule = [ports = op.outputs](const op::TypeContext&) -> Result<std::vector<ir::Type>> {
    return op::types_of(ports);
  };
  runtime::SourceFactory factory;
  factory.name = name;
  factory.outputs = op.outputs;
  factory.open = [host, name](const std::string& config) -> Result<std::unique_ptr<runtime::SampleSource>> {
    void* state = nullptr;
    if (galatea_error* error = (*host)->open((*host)->context, config.c_str(), &state))
      return std::unexpected(take_error(error));
    auto source = std::make_unique<OpenSource>(host, state);
    GALATEA_TRY(source->set_size(name));
    return source;
  };
  library.natives.add(std::move(factory));
  library.operators.add(std::move(op));
  host->take();
  return {};
}

}  // namespace galatea::api

using galatea::api::guard;
using galatea::api::misuse;

extern "C" {

void galatea_source_init_sized(galatea_source* source, size_t source_size) {
  if (!source) return;
  galatea_source defaults{};
  defaults.size = static_cast<int32_t>(source_size);
  galatea::api::write_struct(defaults, source, source_size);
}

galatea_error* galatea_read_output_borrow(galatea_read* read, int32_t output, galatea_dtype dtype,
                                          int32_t ndim, const int64_t* extents, void** data) {
  if (data) *data = nullptr;
  return guard([&]() -> galatea_error* {
    if (!read || !data || (ndim > 0 && !extents)) return misuse("read, extents or data is NULL");
    if (galatea_dtype_size(dtype) == 0)
      return misuse(fmt::format("{} is no element type", static_cast<int>(dtype)));
    if (ndim < 0 || ndim > GALATEA_MAX_RANK)
      return misuse(fmt::format("{} dimensions are not within 0 … {}", ndim, GALATEA_MAX_RANK));
    auto tensor = (*read->allocate)(output, static_cast<galatea::DType>(dtype),
                                    std::vector<int64_t>(extents, extents + ndim));
    if (!tensor) return galatea::api::make_api_error(tensor.error());
    *data = (*tensor)->data;
    return nullptr;
  });
}

}  // extern "C"
