#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"
#include "api/host_tensor.h"
#include "api/sized.h"
#include "compiler/choose_gpu.h"

using galatea::api::guard;
using galatea::api::misuse;

namespace {

/// As many as an array of the language may have.
constexpr int64_t kMostArrayElements = 1'000'000;

/// An option that must be at least 1.
template <typename Target>
galatea_error* set_positive(Target& target, int64_t value, const char* name) {
  if (value < 1) return misuse(fmt::format("{} is {}; it must be at least 1", name, value));
  target = static_cast<typename Target::value_type>(value);
  return nullptr;
}

}  // namespace

extern "C" {

galatea_error* galatea_program_options_create(galatea_program_options** options) {
  if (!options) return misuse("options is NULL");
  *options = nullptr;
  return guard([&]() -> galatea_error* {
    *options = new galatea_program_options;
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_pipeline(galatea_program_options* options, const char* name) {
  return guard([&]() -> galatea_error* {
    if (!options || !name) return misuse("options or name is NULL");
    options->frontend.pipeline = name;
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_parameter(galatea_program_options* options, const char* name,
                                                     const char* value) {
  return guard([&]() -> galatea_error* {
    if (!options || !name || !value) return misuse("options, name or value is NULL");
    auto& parameters = options->frontend.parameters;
    auto same = std::find_if(parameters.begin(), parameters.end(),
                             [&](const auto& parameter) { return parameter.first == name; });
    if (same == parameters.end()) {
      parameters.emplace_back(name, value);
    } else {
      same->second = value;
    }
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_batch_size(galatea_program_options* options, int32_t batch_size) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    return set_positive(options->frontend.host.batch_size, batch_size, "batch_size");
  });
}

galatea_error* galatea_program_options_set_num_threads(galatea_program_options* options,
                                                       int32_t num_threads) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    return set_positive(options->frontend.host.num_threads, num_threads, "num_threads");
  });
}

galatea_error* galatea_program_options_set_prefetch_depth(galatea_program_options* options,
                                                          int32_t prefetch_depth) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    return set_positive(options->frontend.host.prefetch_queue_depth, prefetch_depth, "prefetch_depth");
  });
}

galatea_error* galatea_program_options_set_seed(galatea_program_options* options, int64_t seed) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    options->frontend.host.seed = seed;
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_device(galatea_program_options* options, const char* device) {
  return guard([&]() -> galatea_error* {
    if (!options || !device) return misuse("options or device is NULL");
    if (const std::string why = galatea::why_no_device_name(device); !why.empty()) return misuse(why);
    options->frontend.host.device = device;
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_decoder(galatea_program_options* options, const char* decoder) {
  return guard([&]() -> galatea_error* {
    if (!options || !decoder) return misuse("options or decoder is NULL");
    const std::string name = decoder;
    using galatea::runtime::DecodeChoice;
    if (name != "auto" && name != "cpu" && name != "nvjpeg")
      return misuse(fmt::format("decoder '{}' is none of auto, cpu, nvjpeg", name));
    options->code.decoder = name == "cpu"      ? DecodeChoice::kHost
                            : name == "nvjpeg" ? DecodeChoice::kDevice
                                               : DecodeChoice::kAuto;
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_on_error(galatea_program_options* options, const char* policy) {
  return guard([&]() -> galatea_error* {
    if (!options || !policy) return misuse("options or policy is NULL");
    const std::string name = policy;
    using galatea::ir::OnError;
    if (name == "raise") {
      options->frontend.host.on_error = OnError::kRaise;
    } else if (name == "skip") {
      options->frontend.host.on_error = OnError::kSkip;
    } else if (name == "replace") {
      options->frontend.host.on_error = OnError::kReplace;
    } else {
      return misuse(fmt::format("on_error '{}' is none of raise, skip, replace", name));
    }
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_exact(galatea_program_options* options, int exact) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    options->frontend.host.exact = exact != 0;
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_memory_limit(galatea_program_options* options, int64_t bytes) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    return set_positive(options->frontend.host.memory_limit, bytes, "memory_limit");
  });
}

galatea_error* galatea_program_options_set_backend(galatea_program_options* options, const char* backend) {
  return guard([&]() -> galatea_error* {
    if (!options || !backend) return misuse("options or backend is NULL");
    const std::string name = backend;
    if (name != "llvm" && name != "interpreter")
      return misuse(fmt::format("backend '{}' is none of llvm, interpreter", name));
    options->code.backend = name;
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_tiers(galatea_program_options* options, const char* tiers) {
  return guard([&]() -> galatea_error* {
    if (!options || !tiers) return misuse("options or tiers is NULL");
    options->code.tiers = galatea::codegen::tiers_from_word(tiers);
    if (!options->code.tiers) return misuse(fmt::format("tiers '{}' is none of auto, best, first", tiers));
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_input_type(galatea_program_options* options, const char* input,
                                                      galatea_dtype dtype, int32_t ndim, const char* layout) {
  return guard([&]() -> galatea_error* {
    if (!options || !input) return misuse("options or input is NULL");
    // The host may have written any number; an enumeration may not hold it.
    int32_t number = 0;
    static_assert(sizeof number == sizeof dtype);
    std::memcpy(&number, &dtype, sizeof number);
    if (number < 0 || number >= galatea::kNumDTypes)
      return misuse(fmt::format("{} is no element type", number));
    if (ndim < 0 || ndim > GALATEA_MAX_RANK)
      return misuse(fmt::format("{} dimensions are not within 0 … {}", ndim, GALATEA_MAX_RANK));
    const galatea::Layout axes(layout ? layout : "");
    if (!axes.empty() && axes.size() != ndim)
      return misuse(fmt::format("the layout {} does not have {} letters", axes.str(), ndim));
    options->frontend.input_types[input] = {static_cast<galatea::DType>(number), ndim, axes};
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_import_root(galatea_program_options* options, const char* folder) {
  return guard([&]() -> galatea_error* {
    if (!options || !folder) return misuse("options or folder is NULL");
    options->frontend.import_root = folder;
    return nullptr;
  });
}

galatea_error* galatea_program_options_add_policy(galatea_program_options* options, const char* path) {
  return guard([&]() -> galatea_error* {
    if (!options || !path || !*path) return misuse("options or path is NULL or empty");
    options->frontend.policies.push_back({path, {}});
    return nullptr;
  });
}

galatea_error* galatea_program_options_add_source(galatea_program_options* options, const char* name,
                                                  const char* text) {
  return guard([&]() -> galatea_error* {
    if (!options || !name || !*name || !text) return misuse("options, name or text is NULL or empty");
    options->frontend.made_from[name] = text;
    return nullptr;
  });
}

galatea_error* galatea_program_options_map_range(galatea_program_options* options,
                                                 const galatea_text_range* part, const char* name,
                                                 const galatea_text_range* place) {
  return guard([&]() -> galatea_error* {
    if (!options || !part || !name || !place) return misuse("options, part, name or place is NULL");
    if (!options->frontend.made_from.contains(name))
      return misuse(
          fmt::format("there is no source '{}': galatea_program_options_add_source() adds one", name));
    galatea::dsl::MadeRange made;
    made.source = name;
    for (auto [given, target] : {std::pair{part, &made.range}, {place, &made.place}}) {
      const auto [line, column, end_line, end_column] = *given;
      if (line < 1 || column < 1 || end_line < line || (end_line == line && end_column < column))
        return misuse(fmt::format("{}:{} to {}:{} is no range: lines and columns count from 1", line, column,
                                  end_line, end_column));
      *target = {{static_cast<uint32_t>(line), static_cast<uint32_t>(column)},
                 {static_cast<uint32_t>(end_line), static_cast<uint32_t>(end_column)}};
    }
    options->frontend.ranges.push_back(std::move(made));
    return nullptr;
  });
}

galatea_error*(galatea_program_options_add_array)(galatea_program_options* options, const char* name,
                                                  const galatea_tensor* array) {
  return galatea_program_options_add_array_sized(options, name, array, galatea::api::kFirstTensorSize);
}

galatea_error* galatea_program_options_add_array_sized(galatea_program_options* options, const char* name,
                                                       const galatea_tensor* array, size_t tensor_size) {
  return guard([&]() -> galatea_error* {
    if (!options || !name || !*name || !array) return misuse("options, name or array is NULL or empty");
    galatea::api::HostTensors read;
    if (galatea_error* error = galatea::api::read_tensors(array, 1, tensor_size, read)) return error;
    const galatea::runtime::Tensor& tensor = read.tensors[0];
    galatea::dsl::NamedArray made;
    made.dtype = tensor.dtype;
    int64_t size = 1;
    for (int d = 0; d < tensor.ndim; ++d) {
      made.extents.push_back(tensor.extents[d]);
      if (tensor.extents[d] < 0 || __builtin_mul_overflow(size, tensor.extents[d], &size) ||
          size > kMostArrayElements)
        return misuse(fmt::format("the array '{}' has a negative extent, or more than {} elements", name,
                                  kMostArrayElements));
    }
    if (size > 0 && !tensor.data) return misuse(fmt::format("the data of the array '{}' are NULL", name));
    auto bytes = std::make_shared<std::vector<uint8_t>>();
    bytes->reserve(static_cast<size_t>(size) * static_cast<size_t>(size_of(tensor.dtype)));
    std::vector<int64_t> index(made.extents.size(), 0);
    for (int64_t n = 0; n < size; ++n) {
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d) at += index[d] * tensor.strides[d];
      const uint8_t* element = tensor.data + at * size_of(tensor.dtype);
      bytes->insert(bytes->end(), element, element + size_of(tensor.dtype));
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < made.extents[d]) break;
        index[d] = 0;
      }
    }
    made.bytes = std::move(bytes);
    options->frontend.arrays[name] = std::move(made);
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_limit(galatea_program_options* options, const char* name,
                                                 int64_t value) {
  return guard([&]() -> galatea_error* {
    if (!options || !name) return misuse("options or name is NULL");
    const std::string wrong = galatea::dsl::set_limit(options->frontend.limits, name, value);
    return wrong.empty() ? nullptr : misuse(wrong);
  });
}

galatea_error* galatea_program_options_set_nodes(galatea_program_options* options, int nodes) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    options->look.nodes = nodes != 0;
    return nullptr;
  });
}

galatea_error* galatea_program_options_set_draw(galatea_program_options* options, int32_t draw) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    if (draw < 0) return misuse(fmt::format("draw is {}; it must be at least 0", draw));
    options->look.draw = draw;
    return nullptr;
  });
}

void galatea_program_options_destroy(galatea_program_options* options) { delete options; }

}  // extern "C"
