#include "runtime/cuda/command_times.h"

#include <utility>

namespace galatea::runtime::cuda {

Status CommandTimes::enqueue(const Stream& stream, std::span<const Command> commands) {
  if (commands.empty()) return {};
  collect();
  GALATEA_ASSIGN(std::shared_ptr<const Event> last, mark(stream));
  for (const Command& command : commands) {
    GALATEA_TRY(cuda::enqueue(stream, {&command, 1}));
    GALATEA_ASSIGN(std::shared_ptr<const Event> end, mark(stream));
    running_.push_back({name(command), command.bytes(), std::exchange(last, end), end});
  }
  return {};
}

std::vector<CommandTime> CommandTimes::results() {
  collect();
  std::vector<CommandTime> out;
  out.reserve(totals_.size());
  for (const auto& [what, total] : totals_) out.push_back(total);
  return out;
}

Result<std::shared_ptr<const Event>> CommandTimes::mark(const Stream& stream) const {
  GALATEA_ASSIGN(Event made, Event::create(context_, Event::Kind::kTime));
  auto event = std::make_shared<Event>(std::move(made));
  GALATEA_TRY(event->record(stream));
  return std::shared_ptr<const Event>(std::move(event));
}

std::string CommandTimes::name(const Command& command) const {
  switch (command.kind) {
    case Command::Kind::kUpload:
      return "upload";
    case Command::Kind::kDownload:
      return "download";
    case Command::Kind::kCopy:
      return "copy on the device";
    case Command::Kind::kLaunch:
      break;
  }
  return "launch of " + name_of_(command.function);
}

void CommandTimes::collect() {
  while (!running_.empty()) {
    const Timed& first = running_.front();
    const auto done = first.end->is_done();
    if (!done || !*done) return;
    if (const auto seconds = first.end->seconds_since(*first.begin)) {
      CommandTime& total = totals_[first.what];
      total.what = first.what;
      ++total.count;
      total.seconds += *seconds;
      total.bytes += first.bytes;
    }
    running_.pop_front();
  }
}

}  // namespace galatea::runtime::cuda
