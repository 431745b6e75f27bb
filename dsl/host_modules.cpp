// The table of host modules, and the few of their names that have a meaning here. See host_modules.h.
#include "dsl/host_modules.h"

#include <fmt/format.h>
#include <algorithm>

namespace galatea::dsl {
namespace {

struct HostModule {
  std::string_view prefix;
  const char* advice;
};

constexpr const char* kTraining =
    "training code belongs to the host program, which runs the pipeline and gets its outputs";
constexpr const char* kDrawing = "look at the outputs with `galatea view`, or in the host program";
constexpr const char* kImages =
    "read with `fn.readers.file` and `fn.decoders.image`, and use the operators of `fn`";
constexpr const char* kFiles =
    "a pipeline file opens no files: pass paths and values as parameters of the pipeline (`--set "
    "name=value`)";
constexpr const char* kOptionsHelp =
    "make the options parameters of the pipeline; `--set name=value` gives them";
constexpr const char* kRandom =
    "use `fn.random.uniform`, `fn.random.coin_flip` or `fn.random.choice`: they draw for each sample";
constexpr const char* kRunning = "remove the line; code that runs the pipeline belongs to the host program";
constexpr const char* kFeeding = "feed data from the host program through `fn.external_source(name=…)`";
constexpr const char* kNoPython = "no Python runs while data is read: write it with operators and arithmetic";
constexpr const char* kPlain =
    "write it with lists, dicts, functions and loops; they run while the pipeline is built";

constexpr const char* kTypeNames =
    "in annotations of a pipeline's parameters write `int`, `float`, `str`, `bool` or `list[int]`; others "
    "are not evaluated";

constexpr HostModule kHostModules[] = {
    {"nvidia.dali.plugin", kTraining},
    {"nvidia.dali.plugin.pytorch.fn", kNoPython},
    {"dali", "the module is called `nvidia.dali`: write `from nvidia.dali import fn`"},
    {"nvidia.dali.backend", kRunning},
    {"nvidia.dali.backend_impl", kRunning},
    {"nvidia.dali.tensors", kFeeding},
    {"nvidia.dali.experimental", kRunning},
    {"nvidia.dali.external_source", kFeeding},
    {"nvidia.dali.reducers", kRunning},
    {"nvidia.dali.plugin_manager", kRunning},
    {"nvidia.dali.pickling", kRunning},
    {"types", "Python's own module `types`; DALI's: `from nvidia.dali import types`"},
    {"numbers", kPlain},
    {"nvidia.dali.sysconfig", kRunning},
    {"nvidia.dali.trace", kRunning},
    {"nvidia.dali._utils", kRunning},
    {"nvidia.dali._autograph", kRunning},
    {"nvidia.dali._debug_mode", kRunning},
    {"torch", kTraining},
    {"torchvision", kTraining},
    {"torchaudio", kTraining},
    {"pytorch_lightning", kTraining},
    {"lightning", kTraining},
    {"timm", kTraining},
    {"apex", kTraining},
    {"tensorflow", kTraining},
    {"keras", kTraining},
    {"jax", kTraining},
    {"flax", kTraining},
    {"paddle", kTraining},
    {"mxnet", kTraining},
    {"transformers", kTraining},
    {"tritonclient", kTraining},
    {"cupy", kTraining},
    {"numba", kTraining},
    {"accelerate", kTraining},
    {"horovod", kTraining},
    {"matplotlib", kDrawing},
    {"pylab", kDrawing},
    {"IPython", kDrawing},
    {"ipywidgets", kDrawing},
    {"seaborn", kDrawing},
    {"tqdm", kDrawing},
    {"cv2", kImages},
    {"PIL", kImages},
    {"skimage", kImages},
    {"imageio", kImages},
    {"albumentations", kImages},
    {"kornia", kImages},
    {"scipy", kFeeding},
    {"pandas", kFeeding},
    {"sklearn", kFeeding},
    {"librosa", kFeeding},
    {"soundfile", kFeeding},
    {"webdataset", kFeeding},
    {"lmdb", kFeeding},
    {"h5py", kFeeding},
    {"pycocotools", kFeeding},
    {"datasets", kFeeding},
    {"os", kFiles},
    {"sys", kFiles},
    {"io", kFiles},
    {"glob", kFiles},
    {"pathlib", kFiles},
    {"shutil", kFiles},
    {"tempfile", kFiles},
    {"json", kFiles},
    {"yaml", kFiles},
    {"csv", kFiles},
    {"pickle", kFiles},
    {"zipfile", kFiles},
    {"tarfile", kFiles},
    {"urllib", kFiles},
    {"requests", kFiles},
    {"wget", kFiles},
    {"argparse", kOptionsHelp},
    {"absl", kOptionsHelp},
    {"hydra", kOptionsHelp},
    {"omegaconf", kOptionsHelp},
    {"random", kRandom},
    {"numpy.random", kRandom},
    {"secrets", kRandom},
    {"time", kRunning},
    {"timeit", kRunning},
    {"datetime", kRunning},
    {"logging", kRunning},
    {"warnings", kRunning},
    {"gc", kRunning},
    {"subprocess", kRunning},
    {"threading", kRunning},
    {"multiprocessing", kRunning},
    {"concurrent", kRunning},
    {"asyncio", kRunning},
    {"queue", kRunning},
    {"signal", kRunning},
    {"traceback", kRunning},
    {"platform", kRunning},
    {"psutil", kRunning},
    {"nvtx", kRunning},
    {"pynvml", kRunning},
    {"unittest", kRunning},
    {"pytest", kRunning},
    {"nose", kRunning},
    {"nose2", kRunning},
    {"nose_utils", kRunning},
    {"inspect", kRunning},
    {"importlib", kRunning},
    {"ctypes", kRunning},
    {"struct", kRunning},
    {"string", kPlain},
    {"re", kPlain},
    {"functools", kPlain},
    {"itertools", kPlain},
    {"operator", kPlain},
    {"collections", kPlain},
    {"copy", kPlain},
    {"dataclasses", kPlain},
    {"enum", kPlain},
    {"abc", kPlain},
    {"contextlib", kPlain},
    {"bisect", kPlain},
    {"heapq", kPlain},
    {"statistics", kPlain},
    {"decimal", kPlain},
    {"fractions", kPlain},
    {"hashlib", kPlain},
    {"pprint", kPlain},
    {"jaxtyping", kTypeNames},
    {"nptyping", kTypeNames},
    {"torchtyping", kTypeNames},
    {"beartype", kTypeNames},
    {"typeguard", kTypeNames},
    {"pydantic", kTypeNames}};

// ---- os.path ----

bool texts(Evaluator& ev, const CallArguments& a, size_t least, size_t most) {
  for (const Value& value : a.positional) {
    if (value.is_poison()) return false;
  }
  if (!a.keywords.empty())
    return ev.fail(Message::kUnknownParameter, a.keywords[0].name_span, {a.name, a.keywords[0].name, ""}),
           false;
  if (a.positional.size() < least || a.positional.size() > most)
    return ev.fail(Message::kArgumentCount, a.span,
                   {a.name, least == most ? std::to_string(least) : "at least 1",
                    std::to_string(a.positional.size())}),
           false;
  for (size_t i = 0; i < a.positional.size(); ++i) {
    if (!a.positional[i].is(ValueKind::kString))
      return ev.fail(Message::kWrongArgument, a.spans[i],
                     {a.name, "a string", ev.type_text(a.positional[i])}),
             false;
  }
  return true;
}

// A path that `check` does not know makes one that it does not know.
bool any_unknown(const CallArguments& a) {
  for (const Value& value : a.positional) {
    if (value.is(ValueKind::kUnknown)) return true;
  }
  return false;
}

Value path_join(Evaluator& ev, CallArguments& a) {
  if (any_unknown(a)) return Value(ValueKind::kUnknown);
  if (!texts(ev, a, 1, SIZE_MAX)) return Value::poison();
  std::string path = a.positional[0].text();
  for (size_t i = 1; i < a.positional.size(); ++i) {
    const std::string& part = a.positional[i].text();
    if (part.starts_with("/"))
      path = part;
    else
      path += (path.empty() || path.ends_with("/") ? "" : "/") + part;
  }
  return ev.make_string(std::move(path));
}

size_t name_begin(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

Value path_basename(Evaluator& ev, CallArguments& a) {
  if (any_unknown(a)) return Value(ValueKind::kUnknown);
  if (!texts(ev, a, 1, 1)) return Value::poison();
  const std::string& path = a.positional[0].text();
  return ev.make_string(path.substr(name_begin(path)));
}

Value path_dirname(Evaluator& ev, CallArguments& a) {
  if (any_unknown(a)) return Value(ValueKind::kUnknown);
  if (!texts(ev, a, 1, 1)) return Value::poison();
  const std::string& path = a.positional[0].text();
  std::string head = path.substr(0, name_begin(path));
  size_t last = head.find_last_not_of('/');
  return ev.make_string(last == std::string::npos ? head : head.substr(0, last + 1));
}

Value path_splitext(Evaluator& ev, CallArguments& a) {
  if (any_unknown(a)) return Value(ValueKind::kUnknown);
  if (!texts(ev, a, 1, 1)) return Value::poison();
  const std::string& path = a.positional[0].text();
  size_t begin = name_begin(path), dot = path.rfind('.');
  size_t first_letter = path.find_first_not_of('.', begin);  // `.name` has no extension
  bool has = dot != std::string::npos && first_letter != std::string::npos && dot > first_letter;
  return ev.make_tuple(
      {ev.make_string(has ? path.substr(0, dot) : path), ev.make_string(has ? path.substr(dot) : "")});
}

// ---- names without effect ----

Value call_type_name(Evaluator& ev, CallArguments& a) {
  return ev.fail(Message::kNotCallable, a.span, {"the name of a type"});
}

Value call_autoserialize(Evaluator& ev, CallArguments& a) {
  if (a.positional.size() != 1)
    return ev.fail(Message::kArgumentCount, a.span,
                   {"autoserialize", "1", std::to_string(a.positional.size())});
  ev.note(Message::kNoEffect, a.callee_span.valid() ? a.callee_span : a.span,
          {"`@autoserialize`", "a pipeline file is its own serialized form"});
  return a.positional[0];
}

// tfrecord.FixedLenFeature(shape, dtype, default) and VarLenFeature([shape,] dtype, default): what
// readers.tfrecord takes, {"dtype": …, "fixed": …, "shape": …}. Defaults are not used, as in DALI.
Value call_feature(Evaluator& ev, CallArguments& a) {
  for (const Value& value : a.positional)
    if (value.is_poison()) return Value::poison();
  if (!a.keywords.empty())
    return ev.fail(Message::kUnknownParameter, a.keywords[0].name_span,
                   {a.name, a.keywords[0].name,
                    "give its arguments by position, as in `" + a.name + "([1], tfrecord.int64, -1)`"});
  const bool fixed = a.name == "FixedLenFeature";
  const bool has_shape = fixed || (!a.positional.empty() && !a.positional[0].is(ValueKind::kDType));
  const size_t at = has_shape ? 1 : 0;  // of the element type
  if (a.positional.size() < at + 1 || a.positional.size() > at + 2)
    return ev.fail(Message::kArgumentCount, a.span,
                   {a.name, has_shape ? "3" : "2", std::to_string(a.positional.size())});
  if (!a.positional[at].is(ValueKind::kDType))
    return ev.fail(
        Message::kWrongArgument, a.spans[at],
        {a.name, "tfrecord.int64, tfrecord.float32 or tfrecord.string", ev.type_text(a.positional[at])});
  Value shape = ev.make_list({});
  if (has_shape) {
    if (!a.positional[0].is_sequence() ||
        !std::ranges::all_of(a.positional[0].elements(), &Value::is_integral))
      return ev.fail(Message::kWrongArgument, a.spans[0],
                     {a.name, "a list of extents", ev.type_text(a.positional[0])});
    shape = a.positional[0];
  }
  Value feature = ev.make_dict(a.span);
  for (auto& [name, value] : {std::pair<const char*, Value>{"dtype", a.positional[at]},
                              {"fixed", Value::of(fixed)},
                              {"shape", shape}}) {
    const Value key = ev.make_string(name);
    feature.dict().set(ev.key_of(key), key, value);
  }
  return feature;
}

}  // namespace

const char* host_module_advice(std::string_view path) {
  const HostModule* best = nullptr;
  for (const HostModule& module : kHostModules) {
    bool inside =
        path == module.prefix || (path.starts_with(module.prefix) && path[module.prefix.size()] == '.');
    if (inside && (!best || module.prefix.size() > best->prefix.size())) best = &module;
  }
  return best ? best->advice : nullptr;
}

const char* draw_advice(std::string_view path) {
  if (!path.starts_with("random.") && !path.contains(".random.")) return nullptr;
  const std::string_view name = path.substr(path.rfind('.') + 1);
  constexpr std::string_view kNormal[] = {"normal", "randn", "gauss", "normalvariate", "standard_normal"};
  constexpr std::string_view kChoice[] = {"choice", "choices", "randint", "randrange", "integers"};
  if (std::ranges::find(kNormal, name) != std::end(kNormal))
    return "write `fn.random.normal(mean=0.0, stddev=1.0)`: it draws for each sample";
  if (std::ranges::find(kChoice, name) != std::end(kChoice))
    return "write `fn.random.choice(10)`, which draws one of 0 … 9 for each sample";
  return nullptr;
}

const char* python_name_advice(std::string_view name) {
  constexpr const char* kTypes =
      "there are no classes; use dicts, and `galatea.struct(name=value)` for records";
  constexpr const char* kCode = "text is not evaluated: write functions, and choose with `if`";
  constexpr const char* kSteps = "loop with `for`, or take elements of a list: `xs[0]`";
  constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"open", kFiles},
      {"input", kFiles},
      {"eval", kCode},
      {"exec", kCode},
      {"compile", kCode},
      {"__import__", kCode},
      {"globals", kCode},
      {"locals", kCode},
      {"vars", kCode},
      {"dir", kCode},
      {"iter", kSteps},
      {"next", kSteps},
      {"set", "write a list, `[…]`, or a dict; `dict.fromkeys(xs)` keeps each key once"},
      {"frozenset", "write a tuple, or a dict"},
      {"object", kTypes},
      {"super", kTypes},
      {"property", kTypes},
      {"staticmethod", kTypes},
      {"classmethod", kTypes},
      {"issubclass", kTypes},
      {"setattr", kTypes},
      {"delattr", kTypes},
      {"bytes", "write a string; bytes reach a pipeline through a reader or `fn.external_source`"},
      {"bytearray", "write a list of numbers, or `types.Constant`"},
      {"memoryview", "write a list of numbers, or `types.Constant`"},
      {"complex", "data has real element types; keep two real values instead"},
      {"slice", "write the slice in the brackets: `x[a:b]`"},
      {"id", "compare values with `==`"},
      {"hash", "use the value itself as a key"},
      {"breakpoint", "`print(x)` shows values and types while the pipeline is built"},
      {"help", "`galatea ops NAME` describes an operator"}};
  for (const auto& [known, advice] : kNames) {
    if (known == name) return advice;
  }
  return nullptr;
}

void add_path_functions(Evaluator& ev, ModuleObject& os_path) {
  struct Function {
    const char* name;
    BuiltinFunction function;
  };
  for (const Function& f : {Function{"join", path_join},
                            {"basename", path_basename},
                            {"dirname", path_dirname},
                            {"splitext", path_splitext}})
    os_path.names[f.name] = {ev.make_builtin(f.name, f.function), {}};
  os_path.names["sep"] = {ev.make_string("/"), {}};
}

void add_name_modules(Evaluator& ev, std::map<std::string, ModuleObject*>& modules) {
  auto add = [&](const std::string& name) {
    auto* module = ev.arena.make<ModuleObject>();
    module->name = name;
    modules[name] = module;
    return module;
  };
  auto type_name = [&](const char* name) {
    return Binding{ev.make_builtin(name, call_type_name, Value::none(), true), {}};
  };
  for (const char* path : {"typing", "typing_extensions", "collections.abc"}) {
    ModuleObject* typing = add(path);
    for (const char* name :
         {"Any", "Callable", "Dict", "Final", "Generator", "Iterable", "Iterator", "List", "Literal",
          "Mapping", "Optional", "Sequence", "Set", "Tuple", "Type", "TypeVar", "Union"})
      typing->names[name] = type_name(name);
    typing->names["TYPE_CHECKING"] = {Value::of(false), {}};
  }
  ModuleObject* future = add("__future__");
  for (const char* name :
       {"annotations", "division", "print_function", "absolute_import", "unicode_literals", "generators"})
    future->names[name] = {Value::none(), {}};
  ModuleObject* triton = add("nvidia.dali.plugin.triton");
  triton->names["autoserialize"] = {ev.make_builtin("autoserialize", call_autoserialize), {}};
  for (const char* path : {"nvidia.dali.data_node", "nvidia.dali.pipeline.data_node"})
    add(path)->names["DataNode"] = type_name("DataNode");
  ModuleObject* tfrecord = add("nvidia.dali.tfrecord");
  for (const char* name : {"FixedLenFeature", "VarLenFeature"})
    tfrecord->names[name] = {ev.make_builtin(name, call_feature), {}};
  tfrecord->names["int64"] = {Value::of(DType::kI64), {}};
  tfrecord->names["float32"] = {Value::of(DType::kF32), {}};
  tfrecord->names["string"] = {Value::of(DType::kU8), {}};
  modules["galatea.tfrecord"] = modules["nvidia.dali.tfrecord"];
  for (const char* package : {"nvidia.dali", "galatea"})
    modules[package]->names["tfrecord"] = {Value(ValueKind::kModule, tfrecord), {}};
  auto* os_path = add("os.path");
  add_path_functions(ev, *os_path);
  os_path->lookup = ModuleObject::Lookup::kHost;
}

}  // namespace galatea::dsl
