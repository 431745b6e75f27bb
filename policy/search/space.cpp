#include "policy/search/space.h"

#include <algorithm>
#include <cmath>

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

bool is_gene(const JsonValue& value) {
  return value.kind == JsonKind::kObject && value.members.size() == 1 &&
         value.members[0].key.starts_with("$");
}

/// Finds the genes of a tree, in its order.
class Finder {
 public:
  Finder(DiagnosticSink& sink, std::vector<Gene>& genes) : sink_(sink), genes_(genes) {}

  void visit(const JsonValue& value, const std::string& path) {
    if (is_gene(value)) return add(value, path);
    for (const JsonMember& member : value.members) {
      if (member.key.starts_with("$"))
        fail(member.key_span, fmt::format("`{}` stands alone in its object", member.key),
             "take the other keys out");
      visit(member.value, path.empty() ? member.key : path + "." + member.key);
    }
    for (size_t i = 0; i < value.items.size(); ++i) visit(value.items[i], fmt::format("{}[{}]", path, i));
  }

 private:
  void fail(Span span, const std::string& what, const std::string& help) {
    sink_.report(diagnose(Message::kSpace, span, {what, help}));
  }

  void add(const JsonValue& value, const std::string& path) {
    const JsonMember& member = value.members[0];
    Gene gene;
    gene.path = path;
    gene.span = value.span;
    const auto& items = member.value.items;
    if (member.key == "$choice") {
      if (member.value.kind != JsonKind::kArray || items.empty())
        return fail(member.value.span, "a choice is made from a list", "list what to choose from");
      for (const JsonValue& item : items) {
        std::vector<Gene> inner;
        Finder(sink_, inner).visit(item, path);
        if (!inner.empty())
          return fail(inner[0].span, "a choice inside of a choice",
                      "list all that there is to choose from in one");
      }
      gene.high = static_cast<double>(items.size() - 1);
      for (size_t i = 0; i < items.size(); ++i) gene.choices.push_back(choice_text(items[i], i));
    } else if (member.key == "$int" || member.key == "$float") {
      gene.kind = member.key == "$int" ? Gene::Kind::kInteger : Gene::Kind::kNumber;
      const JsonKind wanted = JsonKind::kInteger;
      const bool fine = items.size() == 2 && items[0].is_number() && items[1].is_number() &&
                        (member.key == "$float" || (items[0].kind == wanted && items[1].kind == wanted)) &&
                        items[0].number <= items[1].number && items[0].number >= -1e9 &&
                        items[1].number <= 1e9;
      if (!fine)
        return fail(member.value.span,
                    fmt::format("`{}` takes [least, greatest]{}", member.key,
                                member.key == "$int" ? ", both whole numbers" : ""),
                    "write two numbers, the smaller first");
      gene.low = items[0].number;
      gene.high = items[1].number;
    } else {
      return fail(member.key_span, fmt::format("there is no `{}`", member.key),
                  "there are `$choice`, `$int` and `$float`");
    }
    genes_.push_back(std::move(gene));
  }

  DiagnosticSink& sink_;
  std::vector<Gene>& genes_;
};

JsonValue filled_in(const JsonValue& value, const std::vector<Gene>& genes, const Point& point,
                    size_t& next) {
  if (is_gene(value)) {
    const double chosen = point[next];
    const Gene& gene = genes[next++];
    const JsonMember& member = value.members[0];
    JsonValue made;
    if (gene.kind == Gene::Kind::kChoice) {
      made = member.value.items[static_cast<size_t>(chosen)];
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
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(gene.high - gene.low, 1e-9))) - 3);
  return std::clamp(std::stod(fmt::format("{:.6g}", std::round(value / unit) * unit)), gene.low, gene.high);
}

double drawn(const Gene& gene, Random& random) {
  if (gene.kind == Gene::Kind::kNumber) return shortened(random.uniform(gene.low, gene.high), gene);
  return static_cast<double>(random.integer(static_cast<int64_t>(gene.low), static_cast<int64_t>(gene.high)));
}

/// Another value of the gene: half of the numbers move by a tenth of their range or less.
double moved(const Gene& gene, double value, Random& random) {
  if (gene.kind == Gene::Kind::kChoice || random.chance(0.5)) return drawn(gene, random);
  const double reach = (gene.high - gene.low) / 10;
  if (gene.kind == Gene::Kind::kNumber)
    return shortened(std::clamp(value + random.uniform(-reach, reach), gene.low, gene.high), gene);
  const auto steps =
      static_cast<double>(random.integer(1, std::max<int64_t>(1, static_cast<int64_t>(reach))));
  return std::clamp(value + (random.chance(0.5) ? steps : -steps), gene.low, gene.high);
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

bool Space::contains(const Point& point) const {
  if (point.size() != genes_.size()) return false;
  for (size_t i = 0; i < point.size(); ++i) {
    const Gene& gene = genes_[i];
    if (!(point[i] >= gene.low && point[i] <= gene.high)) return false;
    if (gene.kind != Gene::Kind::kNumber && point[i] != std::trunc(point[i])) return false;
  }
  return true;
}

Point Space::random(Random& random) const {
  Point point;
  for (const Gene& gene : genes_) point.push_back(drawn(gene, random));
  return point;
}

Point Space::mutated(const Point& point, Random& random) const {
  constexpr int kAttempts = 20;
  Point made = point;
  for (int attempt = 0; attempt < kAttempts && made == point; ++attempt) {
    const size_t at = random.index(genes_.size());
    made[at] = moved(genes_[at], point[at], random);
  }
  return made;
}

std::optional<Point> Space::counted(int64_t number, int64_t levels) const {
  Point point;
  for (const Gene& gene : genes_) {
    const int64_t count =
        gene.kind == Gene::Kind::kNumber ? (gene.low == gene.high ? 1 : levels) : gene.count();
    const int64_t digit = number % count;
    number /= count;
    point.push_back(gene.kind == Gene::Kind::kNumber
                        ? (count == 1
                               ? gene.low
                               : shortened(gene.low + (gene.high - gene.low) * static_cast<double>(digit) /
                                                          static_cast<double>(count - 1),
                                           gene))
                        : gene.low + static_cast<double>(digit));
  }
  return number == 0 ? std::optional(point) : std::nullopt;
}

}  // namespace galatea::policy
