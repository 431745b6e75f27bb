// Modules of the host program: what pasted files import for the code around their pipelines.
//
// Comes in: a dotted name. Goes out: what to write instead. Importing one is silent; using it is an error,
// because a pipeline file reads no files, trains nothing and draws its random numbers in the graph.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "dsl/evaluator.h"

namespace galatea::dsl {

/// Help for who uses the module; nullptr: no module of a host program is known by this name.
const char* host_module_advice(std::string_view path);
/// For a function that draws otherwise than evenly from a range; nullptr: it does not.
const char* draw_advice(std::string_view path);
/// Help for who uses a built-in name of Python that the language leaves out; nullptr: no such name.
const char* python_name_advice(std::string_view name);
/// The functions of host modules that only work on text: os.path.join and its like.
void add_path_functions(Evaluator& evaluator, ModuleObject& os_path);
/// typing, __future__, collections.abc, nvidia.dali.tfrecord and what else has names but no effect.
void add_name_modules(Evaluator& evaluator, std::map<std::string, ModuleObject*>& modules);

}  // namespace galatea::dsl
