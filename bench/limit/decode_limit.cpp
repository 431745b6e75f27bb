// The limit of training pipelines: nothing but reading files and decoding the pixels that a run needed.
//
// Comes in: --boxes FILE (written by pipeline_bench --record): for each sample, in the order of delivery, the
// path and the box that was decoded, in stored coordinates; --threads N; --warm-up N. Goes out: one line of
// JSON with samples and seconds.
//
// For each sample: open, read into a reused buffer, stock libjpeg-turbo (exact transform, fancy upsampling,
// RGB), jpeg_crop_scanline to the box's columns, jpeg_skip_scanlines to its first row, rows into a reused
// strip, abort after its last row. No margin, no output image. The first epochs (--warm-up, 1) are not timed;
// the rest is timed as one list that the threads take from.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <jpeglib.h>

namespace {

struct Box {
  std::string path;
  unsigned y0 = 0, x0 = 0, y1 = 0, x1 = 0;
};

struct Work {
  std::vector<Box> warm_up, timed;
};

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "decode_limit: {}\n", message);
  std::exit(1);
}

/// Lines "epoch N" and "y0 x0 y1 x1 path".
Work read_boxes(const std::string& name, int num_warm_up) {
  std::ifstream in(name);
  if (!in) fail("cannot read " + name);
  Work work;
  int epoch = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("epoch ")) {
      epoch = std::atoi(line.c_str() + 6);
      continue;
    }
    std::istringstream fields(line);
    Box box;
    if (!(fields >> box.y0 >> box.x0 >> box.y1 >> box.x1) || !std::getline(fields >> std::ws, box.path))
      fail(name + ": bad line: " + line);
    (epoch < num_warm_up ? work.warm_up : work.timed).push_back(std::move(box));
  }
  if (work.timed.empty()) fail(name + " holds no epoch to be timed");
  return work;
}

/// What a thread keeps.
class Decoder {
 public:
  Decoder() {
    info_.err = jpeg_std_error(
        &errors_);  // an error ends the program: the run that drew the boxes decoded these files
    jpeg_create_decompress(&info_);
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  void decode(const Box& box) {
    read(box.path);
    jpeg_mem_src(&info_, file_.data(), static_cast<unsigned long>(size_));
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    info_.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&info_);
    JDIMENSION column = box.x0, width = box.x1 - box.x0;
    if (width < info_.output_width) jpeg_crop_scanline(&info_, &column, &width);
    if (box.y0 > 0) jpeg_skip_scanlines(&info_, box.y0);
    constexpr size_t kRows = 8;
    size_t stride = static_cast<size_t>(info_.output_width) * 3;
    if (strip_.size() < stride * kRows) strip_.resize(stride * kRows);
    JSAMPROW rows[kRows];
    for (size_t i = 0; i < kRows; ++i) rows[i] = strip_.data() + i * stride;
    while (info_.output_scanline < box.y1) {
      JDIMENSION left = box.y1 - info_.output_scanline;
      jpeg_read_scanlines(&info_, rows, left < kRows ? left : static_cast<JDIMENSION>(kRows));
    }
    jpeg_abort_decompress(&info_);
  }

 private:
  void read(const std::string& path) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (fd < 0 || ::fstat(fd, &status) != 0) fail("cannot open " + path);
    size_ = static_cast<size_t>(status.st_size);
    if (file_.size() < size_) file_.resize(size_);
    for (size_t at = 0; at < size_;) {
      ssize_t count = ::read(fd, file_.data() + at, size_ - at);
      if (count <= 0) fail("cannot read " + path);
      at += static_cast<size_t>(count);
    }
    ::close(fd);
  }

  jpeg_decompress_struct info_ = {};
  jpeg_error_mgr errors_ = {};
  std::vector<unsigned char> file_, strip_;
  size_t size_ = 0;
};

double cpu_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double decode_all(const std::vector<Box>& boxes, int num_threads) {
  std::atomic<size_t> next = 0;
  auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < num_threads; ++i) {
      threads.emplace_back([&] {
        Decoder decoder;
        for (size_t at = next++; at < boxes.size(); at = next++) decoder.decode(boxes[at]);
      });
    }
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int count, char** arguments) {
  std::string boxes;
  int threads = 1, warm_up = 1;
  for (int i = 1; i + 1 < count; i += 2) {
    if (!std::strcmp(arguments[i], "--boxes")) boxes = arguments[i + 1];
    if (!std::strcmp(arguments[i], "--threads")) threads = std::atoi(arguments[i + 1]);
    if (!std::strcmp(arguments[i], "--warm-up")) warm_up = std::atoi(arguments[i + 1]);
  }
  if (boxes.empty() || threads < 1) {
    fmt::print(stderr, "usage: decode_limit --boxes FILE [--threads N] [--warm-up N]\n");
    return 2;
  }
  Work work = read_boxes(boxes, warm_up);
  decode_all(work.warm_up, threads);
  double cpu_before = cpu_seconds();
  double seconds = decode_all(work.timed, threads);
  fmt::print("{{\"samples\": {}, \"seconds\": {:.6f}, \"cpu_seconds\": {:.6f}}}\n", work.timed.size(),
             seconds, cpu_seconds() - cpu_before);
  return 0;
}
