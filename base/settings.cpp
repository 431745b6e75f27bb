// The table of environment settings, and the only place that reads the environment.
#include "base/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/result.h"

namespace galatea {
namespace {

const Setting& find(std::string_view name) {
  const std::vector<Setting>& table = all_settings();
  auto found = std::find_if(table.begin(), table.end(), [name](const Setting& s) { return s.name == name; });
  GALATEA_CHECK(found != table.end(), "no setting of this name: " + std::string(name));
  return *found;
}

const char* from_environment(const Setting& setting) {
  // A variable that is set to nothing counts as not set.
  const char* value = std::getenv(std::string(setting.name).c_str());
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> kTable = {
      {"GALATEA_CACHE_DIR", "path", "",
       "where compiled code is kept; empty: galatea/ in the user's cache folder",
       "GALATEA_CACHE_DIR=/var/cache/galatea"},
      {"GALATEA_CACHE", "bool", "1", "whether compiled code is kept on disk", "GALATEA_CACHE=0"},
      {"GALATEA_CACHE_SIZE", "size", "256MB",
       "bytes that compiled code may take on disk, also in KB, MB, GB (powers of 1024); what was used least "
       "recently goes first",
       "GALATEA_CACHE_SIZE=64MB"},
      {"GALATEA_FAR_CACHE_SIZE", "size", "10GB",
       "bytes that copies of far data (http, s3) may take on disk, in far/ beside compiled code; what was used "
       "least recently goes first; 0: none are kept",
       "GALATEA_FAR_CACHE_SIZE=200GB"},
      {"GALATEA_FAR_MEMORY", "size", "64MB",
       "bytes of far data that a process keeps in memory, those read ahead among them",
       "GALATEA_FAR_MEMORY=256MB"},
      {"GALATEA_FAR_CONNECTIONS", "count", "16", "transfers of far data at a time",
       "GALATEA_FAR_CONNECTIONS=64"},
      {"GALATEA_FAR_TRIES", "count", "8", "how often a part of far data is asked for before it is given up",
       "GALATEA_FAR_TRIES=3"},
      {"GALATEA_FAR_TIME_LIMIT", "count", "120",
       "seconds that a part of far data may take, all tries together", "GALATEA_FAR_TIME_LIMIT=30"},
      {"GALATEA_FAR_STALL", "count", "20",
       "seconds without a byte after which a transfer of far data is tried again", "GALATEA_FAR_STALL=5"},
      {"GALATEA_TIERS", "auto|best|first", "auto",
       "auto: code that would take long to compile begins with a quick form of it; best: the best code at "
       "once; first: the quick form for all",
       "GALATEA_TIERS=best"},
      {"GALATEA_CODEGEN_MODULE", "path", "",
       "the code generator, loaded when a kernel has to be compiled; empty: beside this program or library",
       "GALATEA_CODEGEN_MODULE=/opt/galatea/libgalatea_codegen_llvm.so"},
      {"GALATEA_VIDEO_MODULE", "path", "",
       "what decodes films, loaded when one is read; empty: beside this program or library",
       "GALATEA_VIDEO_MODULE=/opt/galatea/libgalatea_video.so"},
      {"GALATEA_PERF_MAP", "bool", "0", "whether /tmp/perf-PID.map names kernels for the profiler perf",
       "GALATEA_PERF_MAP=1"},
      {"GALATEA_DUMP", "path", "",
       "a folder into which every level and every pass that changed something is written",
       "GALATEA_DUMP=dump"},
      {"GALATEA_LOG", "bool", "0",
       "one line on stderr for each kernel: name, operators fused, cached or compiled, times",
       "GALATEA_LOG=1"},
      {"GALATEA_VERIFY", "1|each|0", "1",
       "1: the graph is verified after every pass, its types after the last one; each: its types after every "
       "pass, too; 0: never",
       "GALATEA_VERIFY=each"},
      {"GALATEA_SKIP_PASSES", "text", "", "names of graph passes to leave out, with commas between",
       "GALATEA_SKIP_PASSES=push_region_into_decode"},
      {"GALATEA_STOP_AFTER", "text", "", "the graph pass after which no further one runs",
       "GALATEA_STOP_AFTER=fold_constants"},
      {"GALATEA_TARGET", "text", "",
       "CPU to compile for: x86-64-v3, x86-64-v4, x86-64-v4-vnni, aarch64; empty: this machine's",
       "GALATEA_TARGET=x86-64-v3"},
      {"GALATEA_CXX", "text", "c++", "the C++ compiler that `--backend cuda-shim` calls",
       "GALATEA_CXX=clang++-19"},
      {"GALATEA_CUDA_LIBRARY_PATH", "path", "",
       "a folder to look in first for the CUDA driver, NVRTC, nvJitLink, nvJPEG and cuFile; empty: the "
       "system's places",
       "GALATEA_CUDA_LIBRARY_PATH=/usr/local/cuda/lib64"},
      {"GALATEA_CUFILE", "auto|off|must", "auto",
       "whether a GPU reads files of arrays by itself (readers with device=\"gpu\"): where cuFile is here and reads "
       "storage directly; never; or it must be here, and may copy through the host itself",
       "GALATEA_CUFILE=off"},
      {"GALATEA_CUDA_SPIN", "bool", "0",
       "whether a thread that waits for a GPU asks it again and again, which answers some microseconds sooner "
       "and keeps a core busy; else it sleeps",
       "GALATEA_CUDA_SPIN=1"},
      {"CUDA_HOME", "path", "", "the folder of the CUDA toolkit; empty: /usr/local/cuda",
       "CUDA_HOME=/opt/cuda"},
      {"VIRTUAL_ENV", "path", "", "the Python environment in force: its packages may bring NVRTC",
       "VIRTUAL_ENV=/home/me/env"},
      {"AWS_ACCESS_KEY_ID", "secret", "", "of s3:// and gs://: the access key; empty: the profile's",
       "AWS_ACCESS_KEY_ID=AKIA…"},
      {"AWS_SECRET_ACCESS_KEY", "secret", "", "its secret", "AWS_SECRET_ACCESS_KEY=…"},
      {"AWS_SESSION_TOKEN", "secret", "", "its session, where it is a temporary one", "AWS_SESSION_TOKEN=…"},
      {"AWS_PROFILE", "text", "", "the profile of AWS's files; empty: default", "AWS_PROFILE=training"},
      {"AWS_SHARED_CREDENTIALS_FILE", "path", "",
       "profiles with keys; empty: .aws/credentials in the home folder",
       "AWS_SHARED_CREDENTIALS_FILE=/run/secrets/aws"},
      {"AWS_CONFIG_FILE", "path", "",
       "profiles with regions and end points; empty: .aws/config in the home folder",
       "AWS_CONFIG_FILE=/etc/aws/config"},
      {"AWS_REGION", "text", "",
       "the region of s3://; empty: AWS_DEFAULT_REGION, then the profile's, then us-east-1",
       "AWS_REGION=eu-central-1"},
      {"AWS_DEFAULT_REGION", "text", "", "the same, where AWS_REGION is not set",
       "AWS_DEFAULT_REGION=eu-west-1"},
      {"AWS_ENDPOINT_URL_S3", "text", "", "the server of s3://, where it is not Amazon's",
       "AWS_ENDPOINT_URL_S3=http://127.0.0.1:9000"},
      {"AWS_ENDPOINT_URL", "text", "", "the same, where AWS_ENDPOINT_URL_S3 is not set",
       "AWS_ENDPOINT_URL=http://127.0.0.1:9000"},
      {"STORAGE_EMULATOR_HOST", "text", "", "the server of gs://, where it is not Google's",
       "STORAGE_EMULATOR_HOST=http://127.0.0.1:9023"},
      {"AWS_CA_BUNDLE", "path", "",
       "certificates that servers of s3:// are held against; empty: CURL_CA_BUNDLE",
       "AWS_CA_BUNDLE=/etc/ssl/own.pem"},
      {"CURL_CA_BUNDLE", "path", "",
       "certificates that servers of https:// are held against; empty: libcurl's",
       "CURL_CA_BUNDLE=/etc/ssl/own.pem"},
      {"NO_COLOR", "text", "", "anything: no colours on a terminal (as --color=never)", "NO_COLOR=1"},
      {"TERM", "text", "dumb", "the kind of terminal; dumb: no colours and no progress bar", "TERM=xterm"},
      {"COLUMNS", "int", "0", "columns of the terminal; 0: ask the terminal", "COLUMNS=100"},
      {"XDG_CACHE_HOME", "path", "", "the user's cache folder; empty: .cache in the home folder",
       "XDG_CACHE_HOME=/var/cache/me"},
      {"HOME", "path", "", "the user's home folder, for the cache", "HOME=/home/me"},
  };
  return kTable;
}

std::string setting(std::string_view name) {
  const Setting& entry = find(name);
  const char* value = from_environment(entry);
  return value != nullptr ? std::string(value) : std::string(entry.default_value);
}

bool setting_is_from_environment(std::string_view name) { return from_environment(find(name)) != nullptr; }

namespace {

/// The words of a type that names them.
bool is_one_of(std::string_view words, std::string_view value) {
  while (true) {
    const size_t end = words.find('|');
    if (words.substr(0, end) == value) return true;
    if (end == std::string_view::npos) return false;
    words.remove_prefix(end + 1);
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::optional<bool> parse_bool(const std::string& text) {
  const std::string value = lower(text);
  if (value == "1" || value == "true" || value == "on" || value == "yes") return true;
  if (value == "0" || value == "false" || value == "off" || value == "no") return false;
  return std::nullopt;
}

/// A whole number; of a size, with a unit behind it.
std::optional<int64_t> parse_int(const std::string& text, std::string_view type) {
  const bool is_size = type == "size";
  int64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc()) return std::nullopt;
  const std::string unit = lower({end, last});
  const int64_t least = is_size ? 0 : type == "count" ? 1 : INT64_MIN;
  if (unit.empty()) return number < least ? std::nullopt : std::optional(number);
  if (!is_size || number < 0) return std::nullopt;
  const std::string_view units[] = {"b", "kb", "mb", "gb", "tb"};
  for (size_t k = 0; k < std::size(units); ++k) {
    if (unit != units[k] && unit != units[k].substr(0, 1)) continue;
    const int64_t bytes = int64_t{1} << (10 * k);
    return number > INT64_MAX / bytes ? std::nullopt : std::optional(number * bytes);
  }
  return std::nullopt;
}

}  // namespace

bool setting_bool(std::string_view name) {
  const auto value = parse_bool(setting(name));
  return value ? *value : parse_bool(std::string(find(name).default_value)).value_or(false);
}

int64_t setting_int(std::string_view name) {
  const Setting& entry = find(name);
  const auto value = parse_int(setting(name), entry.type);
  return value ? *value : parse_int(std::string(entry.default_value), entry.type).value_or(0);
}

bool setting_is_understood(std::string_view name) {
  const std::string_view type = find(name).type;
  if (type == "bool") return parse_bool(setting(name)).has_value();
  if (type == "int" || type == "count" || type == "size") return parse_int(setting(name), type).has_value();
  return type.find('|') == std::string_view::npos || is_one_of(type, setting(name));
}

std::vector<SettingProblem> setting_problems() {
  std::vector<SettingProblem> problems;
  for (const Setting& entry : all_settings()) {
    if (!entry.name.starts_with("GALATEA_") || setting_is_understood(entry.name)) continue;
    problems.push_back({fmt::format("{}={} is no {}: the default, {}, is in force", entry.name,
                                    setting(entry.name), entry.type, entry.default_value),
                        fmt::format("for example {}", entry.example)});
  }
  return problems;
}

}  // namespace galatea
