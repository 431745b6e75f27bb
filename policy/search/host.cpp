#include "policy/search/host.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"

namespace galatea::policy {
namespace {

using Json = nlohmann::ordered_json;

bool is_finite_number(const Json& value) { return value.is_number() && std::isfinite(value.get<double>()); }

class HostStrategy : public Strategy {
 public:
  HostStrategy(const Space& space, Host& host, bool minimize)
      : space_(space), host_(host), minimize_(minimize) {}

  Ask ask(int64_t number) override {
    const Json answer = ask_host({{"ask", number}});
    Ask asked;
    asked.kind = Ask::Kind::kAllLater;
    if (answer.contains("end")) asked.kind = Ask::Kind::kEnd;
    if (!answer.contains("point")) return asked;
    asked.trial.number = number;
    std::optional<Point> point = point_of(answer["point"]);
    if (!point) {
      host_.refuse(fmt::format("the host's answer for trial {} is no point of the space", number));
      return asked;
    }
    asked.kind = Ask::Kind::kTrial;
    asked.trial.point = std::move(*point);
    return asked;
  }

  void tell(const Trial& trial) override {
    Json told = {{"trial", trial.number}, {"point", point_text(trial.point)}};
    if (trial.failed)
      told["failed"] = trial.reason;
    else
      told["score"] = own(trial.score);
    if (trial.pruned) told["pruned"] = true;
    if (!trial.scores.empty()) told["scores"] = own(trial.scores);
    if (trial.microseconds) told["microseconds"] = *trial.microseconds;
    host_.send(json_text(Json{{"tell", told}}));
  }

  std::optional<bool> prunes(const Trial& trial) override {
    const Json answer = ask_host(
        {{"prunes", trial.number}, {"point", point_text(trial.point)}, {"scores", own(trial.scores)}});
    if (!answer.contains("prune") || !answer["prune"].is_boolean()) return std::nullopt;
    return answer["prune"].get<bool>();
  }

 private:
  /// The scores as the objective gave them.
  double own(double score) const { return minimize_ ? -score : score; }
  std::vector<double> own(std::vector<double> scores) const {
    for (double& score : scores) score = own(score);
    return scores;
  }

  Json ask_host(const Json& question) {
    host_.send(json_text(question));
    const std::optional<std::string> line = host_.answer();
    return line ? parse_ordered_json(*line)["answer"] : Json::object();
  }

  /// Null stands for the value of what is not chosen.
  Json point_text(const Point& point) const {
    Json text = Json::array();
    const std::vector<bool> active = space_.active(point);
    for (size_t i = 0; i < point.size(); ++i) text.push_back(active[i] ? Json(point[i]) : Json(nullptr));
    return text;
  }
  std::optional<Point> point_of(const Json& text) const {
    if (!text.is_array() || text.size() != space_.genes().size()) return std::nullopt;
    Point point;
    for (size_t i = 0; i < text.size(); ++i) {
      if (!text[i].is_null() && !is_finite_number(text[i])) return std::nullopt;
      point.push_back(text[i].is_null() ? space_.genes()[i].low : text[i].get<double>());
    }
    return space_.contains(point) ? std::optional(point) : std::nullopt;
  }

  const Space& space_;
  Host& host_;
  bool minimize_;
};

}  // namespace

Host::Host(int descriptor) : descriptor_(descriptor), parent_(::getppid()) {
  ::fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
}

Host::~Host() { ::close(descriptor_); }

void Host::refuse(std::string problem) {
  is_gone_ = true;
  if (problem_.empty()) problem_ = std::move(problem);
}

void Host::hang_up() { is_gone_ = true; }

void Host::send(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size() && !is_gone_;) {
    const ssize_t count = ::send(descriptor_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count >= 0)
      sent += static_cast<size_t>(count);
    else if (errno == ENOTSOCK || errno == EBADF)
      refuse("the descriptor of `--host` is no socket");
    else if (errno != EINTR)
      is_gone_ = true;
  }
}

void Host::receive(int wait) {
  pollfd polled = {descriptor_, POLLIN, 0};
  if (is_gone_) return;
  if (::poll(&polled, 1, wait) <= 0) {
    is_gone_ = ::getppid() != parent_;
    return;
  }
  char block[4096];
  const ssize_t count = ::recv(descriptor_, block, sizeof block, 0);
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) {
    is_gone_ = true;
    return;
  }
  text_.append(block, static_cast<size_t>(count));
  for (size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    const Json json = parse_ordered_json(line);
    if (!json.is_object()) return refuse("the host sent what is no object of JSON: " + line.substr(0, 100));
    const bool is_answer = json.contains("answer");
    if (is_answer && !json["answer"].is_object()) return refuse("the host's answer is no object: " + line);
    (is_answer ? answers_ : events_).push_back(std::move(line));
  }
}

std::optional<std::string> Host::answer() {
  // An interruption is looked for between trials: whoever sends it ends the host, or the host goes on.
  constexpr int kMilliseconds = 1000;
  while (answers_.empty() && !is_gone_) receive(kMilliseconds);
  if (answers_.empty()) return std::nullopt;
  std::string line = std::move(answers_.front());
  answers_.pop_front();
  return line;
}

std::optional<std::string> Host::event(std::chrono::milliseconds wait) {
  if (events_.empty()) receive(static_cast<int>(wait.count()));
  if (events_.empty()) return std::nullopt;
  std::string line = std::move(events_.front());
  events_.pop_front();
  return line;
}

std::string greeting_text(const Space& space, const HostGreeting& greeting) {
  Json values = Json::array();
  for (const Gene& gene : space.genes()) {
    Json value = {{"path", gene.path}};
    if (gene.kind == Gene::Kind::kChoice) {
      value["choices"] = gene.choices;
    } else {
      value["kind"] = gene.kind == Gene::Kind::kInteger ? "int" : "float";
      value["low"] = gene.low;
      value["high"] = gene.high;
      value["log"] = gene.is_log;
    }
    if (gene.parent >= 0) value["of"] = {gene.parent, static_cast<int64_t>(gene.item)};
    values.push_back(std::move(value));
  }
  return json_text(Json{{"search", 1},
                        {"values", values},
                        {"seed", greeting.seed},
                        {"trials", greeting.trials},
                        {"minimize", greeting.minimize},
                        {"prune", greeting.prune},
                        {"max_microseconds", greeting.max_microseconds}});
}

std::unique_ptr<Strategy> make_host_strategy(const Space& space, Host& host, bool minimize) {
  return std::make_unique<HostStrategy>(space, host, minimize);
}

bool HostObjective::start(ObjectiveCall call) {
  Json words = Json::object();
  for (const TrialWords::Word& word : call.words.words) words[word.name] = word.texts.at(0);
  began_[call.number] = std::chrono::steady_clock::now();
  host_.send(json_text(Json{{"run", call.number}, {"words", words}}));
  return true;
}

std::optional<ObjectiveEvent> HostObjective::read(const std::string& line) {
  const Json json = parse_ordered_json(line);
  const bool ends = json.contains("ended");
  const char* const key = ends ? "ended" : "report";
  if (!json.contains(key) || !json[key].is_number_integer()) return std::nullopt;
  ObjectiveEvent event;
  event.call = json[key].get<int64_t>();
  const auto began = began_.find(event.call);
  if (began == began_.end()) return std::nullopt;
  const bool has_score = json.contains("score");
  if (has_score && !is_finite_number(json["score"])) return std::nullopt;
  if (has_score) event.score = json["score"].get<double>();
  if (!ends) return has_score ? std::optional(event) : std::nullopt;
  Outcome outcome;
  if (has_score) outcome.scores = {event.score};
  if (json.contains("failed") && json["failed"].is_string()) outcome.reason = json["failed"];
  if (json.contains("stop")) host_.hang_up();
  if (!has_score && outcome.reason.empty()) outcome.reason = "it has no score";
  if (json.contains("microseconds")) {
    if (!is_finite_number(json["microseconds"])) return std::nullopt;
    outcome.microseconds = json["microseconds"].get<double>();
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began->second).count();
  event.ended = std::move(outcome);
  began_.erase(began);
  return event;
}

std::vector<ObjectiveEvent> HostObjective::collect(std::chrono::milliseconds wait) {
  const std::optional<std::string> line = host_.event(wait);
  if (!line) return {};
  if (auto event = read(*line)) return {std::move(*event)};
  host_.refuse("the host sent what says nothing of a trial that runs: " + line->substr(0, 100));
  return {};
}

void HostObjective::answer(int64_t, bool prune) { host_.send(json_text(Json{{"prune", prune}})); }

}  // namespace galatea::policy
