// Runs a fuzz target over kept inputs, without libFuzzer.
//
// Comes in: folders or files. Goes out: 0 if the target survived each of them; it is an error if there are
// none.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs(int count, char** arguments) {
  std::vector<fs::path> out;
  for (int i = 1; i < count; ++i) {
    if (!fs::is_directory(arguments[i])) {
      out.emplace_back(arguments[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(arguments[i])) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<fs::path> paths = inputs(count, arguments);
  for (const fs::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "cannot read %s\n", path.c_str());
      return 1;
    }
    std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    // Said before the call: whoever crashes is the last one named.
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    // And a few shorter forms of each.
    for (size_t part = 0; part < 8; ++part)
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size() * part / 8);
  }
  if (paths.empty()) std::fprintf(stderr, "there is nothing to replay\n");
  return paths.empty() ? 1 : 0;
}
