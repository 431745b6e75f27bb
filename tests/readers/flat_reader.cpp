// readers.flat: rows of numbers with a label each.
//
// A .flat file is "FLAT", the number of records, and for each record its label, how many numbers it has,
// and the numbers: 32-bit integers and floats of this machine.
#include "tests/readers/flat_reader.h"

#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "base/json.h"
#include "runtime/memory_gate.h"

namespace galatea::testing {
namespace {

std::unexpected<Error> flat_error(const char* code, std::string message, std::string help) {
  return make_error(ErrorKind::kUser, code, std::move(message), std::move(help));
}

class FlatSource final : public runtime::SampleSource {
 public:
  /// Looks at the file once, and says what is wrong with it before the first sample is asked for.
  static Result<std::unique_ptr<runtime::SampleSource>> open(const std::string& config) {
    auto source = std::make_unique<FlatSource>();
    source->path_ = parse_json(config).value("path", "");
    std::ifstream in(source->path_, std::ios::binary);
    if (!in) return flat_error("FLAT001", fmt::format("cannot open {}", source->path_), "check the path");
    char magic[4] = {};
    int32_t count = 0;
    in.read(magic, sizeof magic);
    if (std::memcmp(magic, "FLAT", sizeof magic) != 0 || !get(in, count) || count < 0)
      return flat_error("FLAT002", fmt::format("{} is not a .flat file", source->path_), "give another file");
    for (Record record; count > 0; --count) {
      if (!get(in, record.label) || !get(in, record.size) || record.size < 0)
        return flat_error("FLAT002", fmt::format("{} ends {} records early", source->path_, count),
                          "copy the file again");
      record.begin = in.tellg();
      source->records_.push_back(record);
      in.seekg(record.size * static_cast<std::streamoff>(sizeof(float)), std::ios::cur);
    }
    return source;
  }

  int64_t size() const override { return static_cast<int64_t>(records_.size()); }
  std::string describe(int64_t index) const override { return fmt::format("{}#{}", path_, index); }
  int64_t bytes(int64_t index) const override {
    return runtime::claimed_bytes(at(index).size * static_cast<int64_t>(sizeof(float))) +
           runtime::claimed_bytes(sizeof(int32_t));
  }

  /// On any thread, several at a time: what it needs is its own, or does not change.
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    const Record& record = at(index);
    GALATEA_ASSIGN(runtime::Tensor * numbers, allocate(0, DType::kF32, {record.size}));
    GALATEA_ASSIGN(runtime::Tensor * label, allocate(1, DType::kI32, {}));
    std::ifstream in(path_, std::ios::binary);
    in.seekg(record.begin);
    in.read(reinterpret_cast<char*>(numbers->data), numbers->num_bytes());
    if (!in)
      return flat_error("FLAT003", fmt::format("{} ends within record {}", path_, index),
                        "copy the file again; on_error=\"skip\" goes on without the record");
    std::memcpy(label->data, &record.label, sizeof record.label);
    return {};
  }

 private:
  struct Record {
    std::streamoff begin = 0;
    int32_t label = 0, size = 0;
  };

  static bool get(std::istream& in, int32_t& number) {
    return static_cast<bool>(in.read(reinterpret_cast<char*>(&number), sizeof number));
  }
  const Record& at(int64_t index) const { return records_[static_cast<size_t>(index)]; }

  std::string path_;
  std::vector<Record> records_;
};

}  // namespace

op::SourceDeclaration flat_reader() {
  op::SourceDeclaration reader;
  reader.name = "readers.flat";
  reader.summary = "Reads rows of numbers with a label each.";
  reader.documentation = "Two outputs: the numbers of a record, and its label.";
  reader.args = {
      {.name = "path", .kind = op::ArgKind::kString, .required = true, .documentation = "The .flat file."}};
  reader.outputs = {{.name = "numbers", .documentation = "of a record", .dtypes = {DType::kF32}, .ndim = 1},
                    {.name = "label", .documentation = "of the record", .dtypes = {DType::kI32}, .ndim = 0}};
  reader.codes = {{"FLAT001", "the file cannot be opened"},
                  {"FLAT002", "the file is not a .flat file, or was cut off"},
                  {"FLAT003", "a record lies past the end of the file"}};
  reader.open = FlatSource::open;
  return reader;
}

}  // namespace galatea::testing
