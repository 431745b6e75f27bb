#include "binding/made_text.h"

namespace galatea_python {
namespace {

galatea_text_range range_of(const TextRange& given) {
  const auto& [line, column, end_line, end_column] = given;
  return {line, column, end_line, end_column};
}

}  // namespace

void set_made_text(galatea_program_options* options, const std::map<std::string, std::string>& sources,
                   const std::vector<MadeRange>& line_map, const std::map<std::string, Constant>& constants) {
  for (const auto& [name, text] : sources)
    check(galatea_program_options_add_source(options, name.c_str(), text.c_str()));
  for (const auto& [part, source, place] : line_map) {
    const galatea_text_range from = range_of(part), to = range_of(place);
    check(galatea_program_options_map_range(options, &from, source.c_str(), &to));
  }
  for (const auto& [name, constant] : constants) {
    const auto& [dtype, extents, bytes] = constant;
    galatea_tensor tensor;
    check(galatea_tensor_init(&tensor, const_cast<char*>(bytes.c_str()), static_cast<galatea_dtype>(dtype),
                              static_cast<int32_t>(extents.size()), extents.data()));
    int64_t size = galatea_dtype_size(tensor.dtype);
    for (const int64_t extent : extents) size *= extent;
    if (size != static_cast<int64_t>(bytes.size()))
      throw nb::value_error(("the constant " + name + " has " + std::to_string(bytes.size()) +
                             " bytes, and its extents say " + std::to_string(size))
                                .c_str());
    check(galatea_program_options_add_array(options, name.c_str(), &tensor));
  }
}

}  // namespace galatea_python
