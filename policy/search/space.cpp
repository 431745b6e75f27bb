#include "policy/search/space.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "policy/messages.h"
#include "policy/reader.h"

namespace galatea::policy {
namespace {

using JsonKind = JsonValue::Kind;

/// A number or a word; what is longer goes by its place.
std::string choice_text(const JsonValue& value, size_t place) {
  constexpr size_t kShown = 40;
  const bool is_word = value.kind == JsonKind::kString && !value.text.empty() &&
                       value.text.size() <= kShown &&
                       std::ranges::all_of(value.text, [](char c) { return c >= ' ' && c <= '~'; });
  if (is_word) return value.text;
  const bool is_long =
      value.kind == JsonKind::kString || value.kind == JsonKind::kArray || value.kind == JsonKind::kObject;
  return is_long ? fmt::format("choice {}", place) : describe(value);
}

/// {"$int": [low, high]} or {"$int": [low, high], "log": true}: the member with the dollar; else nullptr.
const JsonMember* gene_in(const JsonValue& value) {
  if (value.kind != JsonKind::kObject) return nullptr;
  const JsonMember* found = nullptr;
  for (const JsonMember& member : value.members) {
    const bool is_kind = member.key.starts_with("$");
    if (is_kind ? found != nullptr : member.key != "log") return nullptr;
    if (is_kind) found = &member;
  }
  return found;
}

/// Finds the genes of a tree, in its order.
class Finder {
 public:
  Finder(DiagnosticSink& sink, std::vector<Gene>& genes) : sink_(sink), genes_(genes) {}

  void visit(const JsonValue& value, const std::string& path) {
    if (gene_in(value)) return add(value, path);
    for (const JsonMember& member : value.members) {
      if (member.key.starts_with("$"))
        fail(member.key_span, fmt::format("`{}` stands alone in its object", member.key),
             "take the other keys out; `log` alone may stand beside `$int` and `$float`");
      visit(member.value, path.empty() ? member.key : path + "." + member.key);
    }
    for (size_t i = 0; i < value.items.size(); ++i) visit(value.items[i], fmt::format("{}[{}]", path, i));
  }

 private:
  void fail(Span span, const std::string& what, const std::string& help) {
    sink_.report(diagnose(Message::kSpace, span, {what, help}));
  }

  void add(const JsonValue& value, const std::string& path) {
    const JsonMember& member = *gene_in(value);
    Gene gene;
    gene.path = path;
    gene.span = value.span;
    gene.parent = parent_;
    gene.item = item_;
    if (member.key == "$choice") return add_choice(value, member.value, std::move(gene));
    if (member.key != "$int" && member.key != "$float")
      return fail(member.key_span, fmt::format("there is no `{}`", member.key),
                  "there are `$choice`, `$int` and `$float`");
    const auto& items = member.value.items;
    gene.kind = member.key == "$int" ? Gene::Kind::kInteger : Gene::Kind::kNumber;
    const JsonKind wanted = JsonKind::kInteger;
    const bool fine = items.size() == 2 && items[0].is_number() && items[1].is_number() &&
                      (member.key == "$float" || (items[0].kind == wanted && items[1].kind == wanted)) &&
                      items[0].number <= items[1].number && items[0].number >= -1e9 && items[1].number <= 1e9;
    if (!fine)
      return fail(member.value.span,
                  fmt::format("`{}` takes [least, greatest]{}", member.key,
                              member.key == "$int" ? ", both whole numbers" : ""),
                  "write two numbers, the smaller first");
    gene.low = items[0].number;
    gene.high = items[1].number;
    if (const JsonValue* log = value.find("log")) {
      if (log->kind != JsonKind::kBool)
        return fail(log->span, "`log` is true or false, found " + describe(*log), "write `true`");
      gene.is_log = log->boolean;
      if (gene.is_log && gene.low <= 0)
        return fail(items[0].span, "a logarithmic scale begins above 0, found " + describe(items[0]),
                    "write a greater number, or take `log` out");
    }
    genes_.push_back(std::move(gene));
  }

  /// The choice, and behind it the genes of its items.
  void add_choice(const JsonValue& value, const JsonValue& list, Gene gene) {
    if (const JsonValue* log = value.find("log"))
      return fail(log->span, "a choice has no scale", "take `log` out");
    if (list.kind != JsonKind::kArray || list.items.empty())
      return fail(list.span, "a choice is made from a list", "list what to choose from");
    gene.high = static_cast<double>(list.items.size() - 1);
    for (size_t i = 0; i < list.items.size(); ++i) gene.choices.push_back(choice_text(list.items[i], i));
    const std::string path = gene.path;
    const size_t at = genes_.size();
    genes_.push_back(std::move(gene));
    const auto outer = std::pair(parent_, item_);
    for (size_t i = 0; i < list.items.size(); ++i) {
      parent_ = static_cast<std::ptrdiff_t>(at);
      item_ = static_cast<double>(i);
      visit(list.items[i], fmt::format("{}#{}", path, i));
      genes_[at].ends.push_back(genes_.size());
    }
    std::tie(parent_, item_) = outer;
  }

  DiagnosticSink& sink_;
  std::vector<Gene>& genes_;
  std::ptrdiff_t parent_ = -1;  ///< the choice and its item that is being visited
  double item_ = 0;
};

/// Where the genes of a choice's item begin.
size_t begin_of(const std::vector<Gene>& genes, size_t choice, size_t item) {
  return item == 0 ? choice + 1 : genes[choice].ends[item - 1];
}

/// The next gene that is not of an item of this one.
size_t behind(const std::vector<Gene>& genes, size_t gene) {
  return genes[gene].ends.empty() ? gene + 1 : genes[gene].ends.back();
}

JsonValue filled_in(const JsonValue& value, const std::vector<Gene>& genes, const Point& point,
                    size_t& next) {
  if (const JsonMember* member = gene_in(value)) {
    const size_t own = next;
    const double chosen = point[own];
    const Gene& gene = genes[own];
    next = behind(genes, own);
    JsonValue made;
    if (gene.kind == Gene::Kind::kChoice) {
      const auto item = static_cast<size_t>(chosen);
      size_t inner = begin_of(genes, own, item);
      made = filled_in(member->value.items[item], genes, point, inner);
    } else {
      made.kind = gene.kind == Gene::Kind::kInteger ? JsonKind::kInteger : JsonKind::kNumber;
      made.number = chosen;
      made.integer = gene.kind == Gene::Kind::kInteger ? static_cast<int64_t>(chosen) : 0;
    }
    made.span = value.span;
    return made;
  }
  JsonValue made = value;
  for (JsonMember& member : made.members) member.value = filled_in(member.value, genes, point, next);
  for (JsonValue& item : made.items) item = filled_in(item, genes, point, next);
  return made;
}

/// Four places suffice for a probability or a magnitude, and people can read them.
double shortened(double value, const Gene& gene) {
  if (gene.is_log) return std::clamp(std::stod(fmt::format("{:.4g}", value)), gene.low, gene.high);
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(gene.high - gene.low, 1e-9))) - 3);
  return std::clamp(std::stod(fmt::format("{:.6g}", std::round(value / unit) * unit)), gene.low, gene.high);
}

/// A whole number of a logarithmic scale: as likely as its interval, half a unit to each side, is long.
double drawn_log_integer(double low, double high, Random& random) {
  return std::clamp(std::round(std::exp(random.uniform(std::log(low - 0.5), std::log(high + 0.5)))), low,
                    high);
}

double drawn(const Gene& gene, Random& random) {
  if (gene.kind == Gene::Kind::kNumber)
    return shortened(gene.is_log ? std::exp(random.uniform(std::log(gene.low), std::log(gene.high)))
                                 : random.uniform(gene.low, gene.high),
                     gene);
  if (gene.is_log) return drawn_log_integer(gene.low, gene.high, random);
  return static_cast<double>(random.integer(static_cast<int64_t>(gene.low), static_cast<int64_t>(gene.high)));
}

/// A number of a logarithmic scale at most a tenth of the scale away; a whole one is another one.
double moved_log(const Gene& gene, double value, Random& random) {
  const double reach = std::log(gene.high / gene.low) / 10;
  const double factor = std::exp(random.uniform(-reach, reach));
  if (gene.kind == Gene::Kind::kNumber) return shortened(value * factor, gene);
  const double made = std::round(value * factor);
  return std::clamp(made == value ? value + (factor < 1 ? -1 : 1) : made, gene.low, gene.high);
}

/// Another value of the gene: half of the numbers move by a tenth of their range or less.
double moved(const Gene& gene, double value, Random& random) {
  if (gene.kind == Gene::Kind::kChoice || random.chance(0.5)) return drawn(gene, random);
  if (gene.is_log) return moved_log(gene, value, random);
  const double reach = (gene.high - gene.low) / 10;
  if (gene.kind == Gene::Kind::kNumber)
    return shortened(std::clamp(value + random.uniform(-reach, reach), gene.low, gene.high), gene);
  const auto steps =
      static_cast<double>(random.integer(1, std::max<int64_t>(1, static_cast<int64_t>(reach))));
  return std::clamp(value + (random.chance(0.5) ? steps : -steps), gene.low, gene.high);
}

/// How many values are counted; of a choice how many items.
int64_t count_of(const Gene& gene, int64_t levels) {
  if (gene.kind != Gene::Kind::kNumber) return gene.count();
  return gene.low == gene.high ? 1 : levels;
}

double counted_value(const Gene& gene, int64_t place, int64_t count) {
  if (gene.kind != Gene::Kind::kNumber) return gene.low + static_cast<double>(place);
  if (count == 1) return gene.low;
  const double part = static_cast<double>(place) / static_cast<double>(count - 1);
  return shortened(gene.is_log ? gene.low * std::pow(gene.high / gene.low, part)
                               : gene.low + (gene.high - gene.low) * part,
                   gene);
}

}  // namespace

std::optional<Space> Space::read(uint32_t file, const SourceMap& sources, DiagnosticSink& sink) {
  auto tree = read_json(file, sources, sink);
  if (!tree) return std::nullopt;
  Space space;
  Finder(sink, space.genes_).visit(*tree, "");
  if (sink.has_errors()) return std::nullopt;
  space.root_ = std::move(*tree);
  Point first;
  for (const Gene& gene : space.genes_) first.push_back(gene.low);
  ReadResult read = read_policy_tree(space.at(first));
  for (Diagnostic& diagnostic : read.diagnostics)
    if (diagnostic.severity == Severity::kError) sink.report(std::move(diagnostic));
  if (space.genes_.empty())
    sink.report(diagnose(
        Message::kSpace, {file, 0, 0},
        {"there is nothing to search: the document has no choices",
         "write {\"$choice\": […]}, {\"$int\": [low, high]} or {\"$float\": [low, high]} for a value"}));
  if (sink.has_errors()) return std::nullopt;
  return space;
}

JsonValue Space::at(const Point& point) const {
  size_t next = 0;
  return filled_in(root_, genes_, point, next);
}

std::vector<bool> Space::active(const Point& point) const {
  std::vector<bool> active;
  for (const Gene& gene : genes_) {
    const auto parent = static_cast<size_t>(gene.parent);
    active.push_back(gene.parent < 0 || (active[parent] && point[parent] == gene.item));
  }
  return active;
}

void Space::clear_inactive(Point& point) const {
  const std::vector<bool> is_active = active(point);
  for (size_t i = 0; i < genes_.size(); ++i)
    if (!is_active[i]) point[i] = genes_[i].low;
}

bool Space::contains(const Point& point) const {
  if (point.size() != genes_.size()) return false;
  for (size_t i = 0; i < point.size(); ++i) {
    const Gene& gene = genes_[i];
    if (!(point[i] >= gene.low && point[i] <= gene.high)) return false;
    if (gene.kind != Gene::Kind::kNumber && point[i] != std::trunc(point[i])) return false;
  }
  Point cleared = point;
  clear_inactive(cleared);
  return cleared == point;
}

Point Space::random(Random& random) const {
  Point point;
  for (const Gene& gene : genes_) point.push_back(drawn(gene, random));
  clear_inactive(point);
  return point;
}

Point Space::mutated(const Point& point, Random& random) const {
  constexpr int kAttempts = 20;
  const std::vector<bool> was_active = active(point);
  std::vector<size_t> places;
  for (size_t i = 0; i < genes_.size(); ++i)
    if (was_active[i]) places.push_back(i);
  Point made = point;
  for (int attempt = 0; attempt < kAttempts && made == point; ++attempt) {
    const size_t at = places[random.index(places.size())];
    made[at] = moved(genes_[at], point[at], random);
    if (made == point) continue;
    // What the new item is made of was not drawn before.
    for (size_t inner = at + 1; inner < behind(genes_, at); ++inner)
      if (!was_active[inner]) made[inner] = drawn(genes_[inner], random);
    clear_inactive(made);
  }
  return made;
}

int64_t Space::size(size_t begin, size_t end, int64_t levels) const {
  constexpr int64_t kMostPoints = int64_t{1} << 40;  // more than a search has trials
  int64_t size = 1;
  for (size_t gene = begin; gene < end; gene = behind(genes_, gene)) {
    int64_t count = genes_[gene].ends.empty() ? count_of(genes_[gene], levels) : 0;
    for (size_t item = 0; item < genes_[gene].ends.size(); ++item)
      count += this->size(begin_of(genes_, gene, item), genes_[gene].ends[item], levels);
    size = count > kMostPoints / size ? kMostPoints : size * count;
  }
  return size;
}

int64_t Space::set_counted(size_t begin, size_t end, int64_t number, int64_t levels, Point& point) const {
  for (size_t at = begin; at < end; at = behind(genes_, at)) {
    const Gene& gene = genes_[at];
    if (gene.ends.empty()) {
      const int64_t count = count_of(gene, levels);
      point[at] = counted_value(gene, number % count, count);
      number /= count;
      continue;
    }
    // One item after the other, each with all points of its own.
    const int64_t count = size(at, at + 1, levels);
    int64_t place = number % count;
    number /= count;
    for (size_t item = 0; item < gene.ends.size(); ++item) {
      const size_t inner = begin_of(genes_, at, item);
      const int64_t own = size(inner, gene.ends[item], levels);
      if (place < own) {
        point[at] = static_cast<double>(item);
        set_counted(inner, gene.ends[item], place, levels, point);
        break;
      }
      place -= own;
    }
  }
  return number;
}

std::optional<Point> Space::counted(int64_t number, int64_t levels) const {
  Point point;
  for (const Gene& gene : genes_) point.push_back(gene.low);
  return set_counted(0, genes_.size(), number, levels, point) == 0 ? std::optional(point) : std::nullopt;
}

}  // namespace galatea::policy
