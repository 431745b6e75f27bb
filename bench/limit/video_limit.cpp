// The limit of pipelines over films: libav decoding the frames of clips, and nothing done with them.
//
// Comes in: --data FOLDER, films of a constant frame rate in folders of it; --length, --stride, --step of clips as
// fn.readers.video has them; --threads N; --warm-up N and --epochs N. Goes out: one line of JSON with samples (clips),
// seconds, CPU seconds.
//
// Each thread has its own decoder of each film, which stays open, with one thread. For a clip: a seek to the last key
// frame before it, then packets until all of its frames have come out; a packet whose own frame is not wanted is
// decoded only if others need it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace {

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "video_limit: {}\n", message);
  std::exit(1);
}

void require(int code, const std::string& film) {
  if (code < 0) fail(fmt::format("{} cannot be decoded (libav says {})", film, code));
}

struct Clip {
  std::string film;
  int64_t first = 0;
};

struct Arguments {
  std::string data;
  int64_t length = 16, stride = 2, step = 40;
  int threads = 1, warm_up = 1, epochs = 3;
};

class Film {
 public:
  explicit Film(const std::string& path) : path_(path) {
    require(avformat_open_input(&container_, path.c_str(), nullptr, nullptr), path);
    require(avformat_find_stream_info(container_, nullptr), path);
    const AVCodec* codec = nullptr;
    const int index = av_find_best_stream(container_, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    require(index, path);
    stream_ = container_->streams[index];
    decoder_ = avcodec_alloc_context3(codec);
    require(avcodec_parameters_to_context(decoder_, stream_->codecpar), path);
    decoder_->thread_count = 1;
    require(avcodec_open2(decoder_, codec, nullptr), path);
    ticks_ = av_rescale_q(1, av_inv_q(stream_->avg_frame_rate), stream_->time_base);
    start_ = stream_->start_time == AV_NOPTS_VALUE ? 0 : stream_->start_time;
  }
  ~Film() {
    av_packet_free(&packet_);
    av_frame_free(&frame_);
    avcodec_free_context(&decoder_);
    avformat_close_input(&container_);
  }
  Film(const Film&) = delete;
  Film& operator=(const Film&) = delete;

  int64_t num_frames() const { return stream_->nb_frames; }

  void decode(int64_t first, int64_t length, int64_t stride) {
    std::set<int64_t> wanted;
    for (int64_t k = 0; k < length; ++k) wanted.insert(start_ + (first + k * stride) * ticks_);
    require(av_seek_frame(container_, stream_->index, *wanted.begin(), AVSEEK_FLAG_BACKWARD), path_);
    avcodec_flush_buffers(decoder_);
    bool is_at_end = false;
    for (std::set<int64_t> missing = wanted; !missing.empty();) {
      if (is_at_end) fail(path_ + " has frames at uneven times, or fewer than it says");
      is_at_end = !send_packet(wanted);
      while (avcodec_receive_frame(decoder_, frame_) == 0) missing.erase(frame_->pts);
    }
  }

 private:
  /// False: there was none, and what the decoder holds back comes out.
  bool send_packet(const std::set<int64_t>& wanted) {
    for (;;) {
      av_packet_unref(packet_);
      if (av_read_frame(container_, packet_) < 0) return avcodec_send_packet(decoder_, nullptr) > 0;
      if (packet_->stream_index != stream_->index) continue;
      decoder_->skip_frame = wanted.contains(packet_->pts) ? AVDISCARD_DEFAULT : AVDISCARD_NONREF;
      require(avcodec_send_packet(decoder_, packet_), path_);
      return true;
    }
  }

  std::string path_;
  AVFormatContext* container_ = nullptr;
  AVStream* stream_ = nullptr;  ///< the container's
  AVCodecContext* decoder_ = nullptr;
  AVPacket* packet_ = av_packet_alloc();
  AVFrame* frame_ = av_frame_alloc();
  int64_t ticks_ = 1, start_ = 0;
};

std::vector<Clip> clips_of(const Arguments& arguments) {
  std::vector<Clip> clips;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments.data)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const int64_t last = Film(path).num_frames() - arguments.length * arguments.stride;
    for (int64_t first = 0; first <= last; first += arguments.step) clips.push_back({path, first});
  }
  if (clips.empty()) fail("no clips in " + arguments.data);
  return clips;
}

/// One thread: takes clips from the list until it is empty.
void work(const Arguments& arguments, const std::vector<Clip>& clips, std::atomic<size_t>& next,
          std::map<std::string, std::unique_ptr<Film>>& films) {
  for (size_t k = next++; k < clips.size(); k = next++) {
    std::unique_ptr<Film>& film = films[clips[k].film];
    if (!film) film = std::make_unique<Film>(clips[k].film);
    film->decode(clips[k].first, arguments.length, arguments.stride);
  }
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Decodes the frames of clips with libav alone");
  Arguments arguments;
  app.add_option("--data", arguments.data)->required();
  app.add_option("--length", arguments.length);
  app.add_option("--stride", arguments.stride);
  app.add_option("--step", arguments.step);
  app.add_option("--threads", arguments.threads);
  app.add_option("--warm-up", arguments.warm_up);
  app.add_option("--epochs", arguments.epochs);
  CLI11_PARSE(app, argc, argv);

  std::vector<Clip> clips = clips_of(arguments);
  std::mt19937 random(42);
  std::vector<std::map<std::string, std::unique_ptr<Film>>> films(static_cast<size_t>(arguments.threads));
  const auto run_epochs = [&](int count) {
    for (int epoch = 0; epoch < count; ++epoch) {
      std::ranges::shuffle(clips, random);
      std::atomic<size_t> next = 0;
      std::vector<std::thread> threads;
      for (auto& own : films) threads.emplace_back([&] { work(arguments, clips, next, own); });
      for (std::thread& thread : threads) thread.join();
    }
  };
  run_epochs(arguments.warm_up);
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = cpu_seconds();
  run_epochs(arguments.epochs);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{{\"samples\": {}, \"seconds\": {:.6f}, \"cpu_seconds\": {:.6f}}}\n",
             clips.size() * static_cast<size_t>(arguments.epochs), seconds, cpu_seconds() - cpu_begin);
}
