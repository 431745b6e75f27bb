#include "tools/serve/previews.h"

#include <algorithm>

namespace galatea::tools::serve {

/// The right to make something: one has it at a time. The wish before it of the same view is given up.
class Previews::Turn {
 public:
  Turn(Previews& all, const std::string& view) : all_(all), view_(view) {
    std::unique_lock lock(all_.mutex_);
    std::shared_ptr<Patience>& of_view = all_.wishes_[view_];
    if (of_view) of_view->end();
    of_view = patience_ = std::make_shared<Patience>(kMostTime);
    revision_ = all_.revision_;
    if (all_.has_ended_ || all_.wishes_.size() > kMostViews) patience_->end();
    all_.changed_.notify_all();
    all_.changed_.wait(lock, [&] { return !all_.is_making_ || patience_->is_ended(); });
    has_turn_ = !patience_->is_ended();
    if (has_turn_) all_.is_making_ = true;
  }
  ~Turn() {
    const std::lock_guard lock(all_.mutex_);
    if (has_turn_) all_.is_making_ = false;
    const auto of_view = all_.wishes_.find(view_);
    if (of_view != all_.wishes_.end() && of_view->second == patience_) all_.wishes_.erase(of_view);
    all_.changed_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool is_given_up() const { return patience_->is_ended(); }
  const Patience& patience() const { return *patience_; }
  uint64_t revision() const { return revision_; }

 private:
  Previews& all_;
  const std::string view_;
  std::shared_ptr<Patience> patience_;
  uint64_t revision_ = 0;
  bool has_turn_ = false;
};

std::optional<KeptPreview> Previews::find_equal(const Choice& choice) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(kept_, [&](const KeptPreview& kept) {
    return kept.revision == revision_ && kept.preview->choice == choice && !kept.preview->has_errors();
  });
  return found == kept_.end() ? std::nullopt : std::optional(*found);
}

std::optional<KeptPreview> Previews::wish(const Choice& choice, const std::string& view, bool anew) {
  const Turn turn(*this, view);
  if (turn.is_given_up()) return std::nullopt;
  if (auto equal = find_equal(choice); equal && !anew) return equal;
  auto preview = make_preview(host_, file_, options_, choice, turn.patience());
  if (turn.is_given_up()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  KeptPreview kept{++last_number_, turn.revision(), std::move(preview)};
  // One without samples is not asked for again, and must not drive out what is still shown.
  if (!kept.preview->rows.empty()) kept_.push_back(kept);
  if (kept_.size() > kKept) kept_.pop_front();
  return kept;
}

std::optional<KeptPreview> Previews::kept(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(kept_, number, &KeptPreview::number);
  if (found == kept_.end()) return std::nullopt;
  std::rotate(found, found + 1, kept_.end());
  return kept_.back();
}

std::optional<Measurement> Previews::measured(const Preview& preview, const std::string& view) {
  const Turn turn(*this, view);
  if (turn.is_given_up()) return std::nullopt;
  Measurement measurement = measure(host_, preview, turn.patience());
  return turn.is_given_up() ? std::nullopt : std::optional(std::move(measurement));
}

std::optional<RowTrace> Previews::traced(const Preview& preview, const PreviewRow& row,
                                         const std::string& view) {
  const Turn turn(*this, view);
  if (turn.is_given_up()) return std::nullopt;
  RowTrace trace = trace_row(host_, preview, row);
  return turn.is_given_up() ? std::nullopt : std::optional(std::move(trace));
}

uint64_t Previews::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

void Previews::next_revision() {
  const std::lock_guard lock(mutex_);
  ++revision_;
  for (const auto& [view, patience] : wishes_) patience->end();
  changed_.notify_all();
}

uint64_t Previews::wait_for_change(uint64_t known, std::chrono::milliseconds most) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [&] { return revision_ != known || has_ended_; });
  return revision_;
}

void Previews::end() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  for (const auto& [view, patience] : wishes_) patience->end();
  changed_.notify_all();
}

}  // namespace galatea::tools::serve
