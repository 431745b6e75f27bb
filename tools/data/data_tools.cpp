#include "tools/data/data_tools.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/json.h"
#include "dsl/lexer_bytes.h"
#include "stdlib_ops/native/npy.h"

namespace galatea::tools {
namespace {

Status check_picture(const native::DataPart& part, DataScratch& scratch) {
  GALATEA_ASSIGN(const native::ImageHeader header, native::read_header(part.bytes));
  const native::DecodeOptions options{.type = native::ImageType::kAny, .adjust_orientation = false};
  const native::Window all{0, 0, header.height, header.width};
  std::vector<uint8_t> pixels(static_cast<size_t>(header.height * header.width) *
                              static_cast<size_t>(native::decoded_channels(header, options.type)));
  return native::decode_window(part.bytes, header, all, options, scratch, pixels.data());
}

std::unexpected<Error> wrong_part(const native::DataPart& part, const char* what) {
  return make_error(ErrorKind::kUser, "G0802", fmt::format("the part \"{}\" {}", part.extension, what));
}

}  // namespace

void add_data_options(CLI::App* app, DataOptions& options) {
  add_option(
      app, "paths", options.paths,
      {"PATH", "",
       "archives of WebDataset, TFRecord or RecordIO files, a folder of them, a folder with a sub-folder a "
       "class, a folder that holds data.mdb, or a text file with \"path label\" a line",
       "photos"})
      .required();
  add_option(app, "--image-feature", options.features.image,
             {"NAME", "image/encoded, image, …", "which feature of a TFRecord holds the picture",
              "--image-feature png"});
  add_option(app, "--label-feature", options.features.label,
             {"NAME", "image/class/label, label, …", "which feature of a TFRecord is the label",
              "--label-feature digit"});
  add_option(app, "--name-feature", options.features.name,
             {"NAME", "image/filename, filename, …", "which feature of a TFRecord is the sample's name",
              "--name-feature id"});
}

std::string place_text(const native::DataPlace& place) {
  return place.offset == 0 ? place.file : fmt::format("{} at byte {}", place.file, place.offset);
}

std::string message_with_place(const native::DataPlace& place, const Error& error, const std::string& name) {
  const std::string& message = error.message();
  if (place.file.empty() || message.find(place.file) != std::string::npos) return message;
  const bool is_one_of_many = place.offset > 0 && !name.empty();
  return fmt::format("{}{}: {}", place_text(place), is_one_of_many ? fmt::format(" ({})", name) : "",
                     message);
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    uint32_t character = 0;
    const size_t length = dsl::utf8_length(text, at, character);
    if (length == 0 || character < ' ' || (character >= 0x7F && character < 0xA0)) {
      for (const char c : text.substr(at, std::max<size_t>(1, length)))
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += text.substr(at, length);
    }
    at += std::max<size_t>(1, length);
  }
  return out;
}

std::string samples_text(int64_t count) { return fmt::format("{} sample{}", count, count == 1 ? "" : "s"); }

std::string words_of(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string passed_over_text(const std::set<std::string>& passed_over) {
  if (passed_over.empty()) return {};
  return fmt::format("passed over, since no sample is made of it: {}\n", printable(words_of(passed_over)));
}

void leave_out_advice_for_pipelines(Reporter& reporter) {
  reporter.change_reports([](Diagnostic& diagnostic) {
    if (const size_t at = diagnostic.help.find("; on_error="); at != std::string::npos)
      diagnostic.help.resize(at);
  });
}

std::string bytes_text(int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB"};
  while (value >= 999.95 && unit + 1 < std::size(kUnits)) value /= 1000, ++unit;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

Result<uint8_t*> DataScratch::bytes(int64_t size) {
  if (memory_.size() < static_cast<size_t>(size)) memory_.resize(static_cast<size_t>(size));
  return memory_.data();
}

Status check_part(const native::DataPart& part, DataScratch& scratch, bool& was_looked_at) {
  was_looked_at = true;
  if (native::detect_format(part.bytes) != native::ImageFormat::kUnknown) return check_picture(part, scratch);
  std::string extension = part.extension.substr(part.extension.rfind('.') + 1);
  std::ranges::transform(extension, extension.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (native::is_image_extension(extension))
    return wrong_part(part, part.bytes.empty() ? "is empty" : "is no picture of a format that is known");
  const std::string_view text(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size());
  if (extension == "json") {
    if (parse_json(text).is_discarded()) return wrong_part(part, "is no JSON");
  } else if (extension == "npy") {
    GALATEA_TRY(native::read_npy_header(*native::bytes_in_memory("the array", std::string(text))));
  } else if (extension != "cls" && extension != "txt") {
    was_looked_at = false;
  }
  return {};
}

void DataProgress::show(double share, int64_t samples, const char* what) {
  line_.show(share, fmt::format("{} samples {}", samples, what));
}

}  // namespace galatea::tools
