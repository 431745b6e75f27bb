#include "policy/trim.h"

#include <algorithm>
#include <set>
#include <string>

#include "policy/operation.h"

namespace galatea::policy {
namespace {

/// The names that a node, and the definitions that it refers to, use.
struct Uses {
  const Document& document;
  std::set<std::string, std::less<>> augmentations, definitions;

  void visit(const Node& node) {
    if (node.kind == Node::Kind::kApply) augmentations.insert(node.name);
    if (node.kind == Node::Kind::kReference && definitions.insert(node.name).second)
      visit(*document.definition(node.name));
    for (const Node& child : node.children) visit(child);
    if (node.from_all)
      for (const Augmentation& entry : document.augmentations) augmentations.insert(entry.name);
    for (const PoolItem& item : node.pool) {
      if (!item.name.empty()) augmentations.insert(item.name);
      for (const Node& inner : item.node) visit(inner);
    }
  }
};

}  // namespace

Document trimmed(const Document& document) {
  Uses uses{document, {}, {}};
  uses.visit(document.policy);
  Document made = document;
  std::erase_if(made.augmentations,
                [&](const Augmentation& entry) { return !uses.augmentations.contains(entry.name); });
  std::erase_if(made.definitions,
                [&](const auto& definition) { return !uses.definitions.contains(definition.first); });
  if (made.augmentations.empty()) return document;  // it does nothing; a table has at least one row
  // Arguments that only those took are mistakes now. What operations of imports take is not known here.
  auto takes = [](const Augmentation& entry, const std::string& extra) {
    const Operation* operation = find_operation(entry.op);
    return operation == nullptr || std::ranges::find(operation->extras, extra) != operation->extras.end();
  };
  std::erase_if(made.extras, [&](const Extra& extra) {
    return document.imports.empty() &&
           std::ranges::none_of(made.augmentations,
                                [&](const Augmentation& entry) { return takes(entry, extra.name); });
  });
  return made;
}

}  // namespace galatea::policy
