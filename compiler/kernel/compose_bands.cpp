// Moves the way in which a band reads its rows into the stage that makes them.
//
// Comes in: stages where a band reads h[first(y) + k, a*x + b, c] (a mirror or a crop that sank into the last
// store). Goes out: h made over x directly, h'[y, x, c] = h[y, a*x + b, c], and read as h'[.., x, c]: rows
// are contiguous again, and columns that nobody reads are not made. Mirroring then costs nothing: it only
// changes the horizontal band's tables. No value changes.
#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

/// Whether the only read of `producer` is the source of `consumer`.
bool only_source_of(const Kernel& kernel, int producer, int consumer) {
  for (const KernelOutput& output : kernel.outputs)
    if (output.stage == producer) return false;
  int reads = 0;
  for (size_t s = 0; s < kernel.stages.size(); ++s)
    for_each_stage_expr(kernel.stages[s], [&](const Expr& e) {
      any_node(e, [&](const ExprNode& n) {
        if (reads_stage(n, producer))
          reads += static_cast<int>(s) == consumer && &n == kernel.stages[s].source.get() ? 1 : 2;
        return false;
      });
    });
  return reads == 1;
}

Expr substitute(const Expr& e, int number, const Expr& value) {
  if (!e) return e;
  return rewrite(e, [&](const Expr& node) {
    return node->kind == ExprKind::kAxis && node->index == number ? value : Expr();
  });
}

/// Reads of axis `dim` of the producer at `index` (over axis `from` of the consumer) become plain.
void compose(Stage& rows, Stage& reader, int dim, int from, const Expr& index) {
  const auto d = static_cast<size_t>(dim);
  Expr at = substitute(index, from, axis(dim));
  if (reader.source->border == Border::kClamp)
    at = max(min(at, rows.extents[d] - const_int(1)), const_int(0));
  for (Expr* e : {&rows.body, &rows.weight, &rows.source, &rows.finish}) *e = substitute(*e, dim, at);
  if (rows.form == StageForm::kBand && rows.band_axis == dim) rows.first = substitute(rows.first, dim, at);
  rows.extents[d] = reader.extents[static_cast<size_t>(from)];
  std::vector<Expr> indices = reader.source->args;
  indices[d] = axis(from);
  reader.source = load(reader.source->target, reader.source->type, std::move(indices), reader.source->border,
                       reader.source->fill);
}

}  // namespace

void compose_bands(Kernel& kernel) {
  for (size_t s = kernel.stages.size(); s-- > 0;) {
    Stage& reader = kernel.stages[s];
    if (reader.form != StageForm::kBand || reader.source->kind != ExprKind::kLoad ||
        reader.source->target.kind != LoadTarget::Kind::kStage)
      continue;
    const int producer = reader.source->target.index;
    Stage& rows = kernel.stages[static_cast<size_t>(producer)];
    if ((rows.form != StageForm::kMap && rows.form != StageForm::kBand) || may_raise_flag(rows) ||
        !only_source_of(kernel, producer, static_cast<int>(s)))
      continue;
    if (reader.source->border != Border::kNone && reader.source->border != Border::kClamp) continue;
    std::vector<int> from(reader.source->args.size(), -1);
    std::vector<int> uses(static_cast<size_t>(reader.rank()), 0);
    for (size_t d = 0; d < from.size(); ++d) {
      Affine form;
      if (contains(reader.source->args[d], ExprKind::kTap) ||
          contains(reader.source->args[d], ExprKind::kLoad))
        continue;
      if (!match_affine(reader.source->args[d], &form) || form.axis < 0) continue;
      ++uses[static_cast<size_t>(form.axis)];
      if (reader.source->args[d]->kind != ExprKind::kAxis && form.axis != reader.band_axis)
        from[d] = form.axis;
    }
    for (size_t d = 0; d < from.size(); ++d)
      if (from[d] >= 0 && uses[static_cast<size_t>(from[d])] == 1)
        compose(rows, reader, static_cast<int>(d), from[d], Expr(reader.source->args[d]));
  }
}

}  // namespace galatea::kernel::lowering
