// How long each copy and launch of a session takes on the device, by events around it.
//
// Comes in: the commands of a stream, which are enqueued here, one call of the driver each and an event behind
// it. Goes out: for each kind of copy and each kernel, how often, how long, how many bytes. What runs beside a
// command in another stream lengthens it. One thread at a time.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/commands.h"
#include "runtime/device_session.h"

namespace galatea::runtime::cuda {

class CommandTimes {
 public:
  /// `name_of`: what a function is called in the results.
  CommandTimes(std::shared_ptr<const Context> context, std::function<std::string(FunctionHandle)> name_of)
      : context_(std::move(context)), name_of_(std::move(name_of)) {}

  Status enqueue(const Stream& stream, std::span<const Command> commands);
  /// All of what was enqueued so far and is done, in the order of names.
  std::vector<CommandTime> results();

 private:
  /// A command between two events; its end is the next one's begin.
  struct Timed {
    std::string what;
    int64_t bytes = 0;
    std::shared_ptr<const Event> begin, end;
  };
  Result<std::shared_ptr<const Event>> mark(const Stream& stream) const;
  std::string name(const Command& command) const;
  /// Adds up what the device is done with.
  void collect();

  std::shared_ptr<const Context> context_;
  std::function<std::string(FunctionHandle)> name_of_;
  std::deque<Timed> running_;
  std::map<std::string, CommandTime> totals_;
};

}  // namespace galatea::runtime::cuda
