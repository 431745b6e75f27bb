// See form_key.h. Every struct is taken apart by name: a field that is added has to be thought of here.
#include "compiler/kernel/form_key.h"

#include "compiler/kernel/key_writer.h"

namespace galatea::kernel {

uint64_t KeyWriter::number_of(const Expr& e) {
  if (const auto found = by_address_.find(e.get()); found != by_address_.end()) return found->second;
  // `kinds` follows from the rest, and `hash` too.
  const auto& [kind, type, op, value, origin, index, symbol, a, b, target, border, fill, args, span, hash,
               kinds, shares] = *e;
  std::string text;
  put(text, kind), put(text, type), put(text, op), put(text, value.bits), put(text, index);
  put(text, symbol), put(text, a), put(text, b);
  put(text, target.kind), put(text, target.index), put(text, border), put(text, fill.bits);
  if (origins_)
    put(text, origin == 0 ? 0 : by_origin_.try_emplace(origin, by_origin_.size() + 1).first->second);
  put(text, args.size());
  for (const Expr& arg : args) put(text, number_of(arg));
  const auto [place, is_new] = by_text_.try_emplace(std::move(text), by_text_.size());
  if (is_new) nodes_ += place->first;
  by_address_.emplace(e.get(), place->second);
  return place->second;
}

std::string form_key(const Kernel& kernel) {
  KeyWriter key(true);
  const auto& [name, params, inputs, stages, outputs] = kernel;
  key.number(params.size());
  for (const auto& [param_name, type] : params) key.number(type);
  key.number(inputs.size());
  for (const auto& [input_name, type, extents, dense_axes] : inputs)
    key.number(type), key.exprs(extents), key.number(dense_axes);
  key.number(stages.size());
  for (const auto& [stage_name, form, type, extents, body, band_axis, first, taps, weight, source,
                    accumulator, combiner, reduce_extents, scan_axis, finish, span] : stages) {
    key.number(form), key.number(type), key.exprs(extents), key.expr(body);
    key.number(band_axis), key.expr(first), key.expr(taps), key.expr(weight), key.expr(source);
    key.number(accumulator), key.number(combiner), key.exprs(reduce_extents), key.number(scan_axis);
    key.expr(finish);
  }
  key.number(outputs.size());
  for (const auto& [stage, axis_of, streaming, dense_axes] : outputs) {
    key.number(stage), key.number(axis_of.size());
    for (const int axis : axis_of) key.number(axis);
    key.number(streaming), key.number(dense_axes);
  }
  return key.take();
}

std::string options_key(const ScheduleOptions& options) {
  KeyWriter key;
  const auto& [gpu, fuse, vector_bits, look_up_cost, random_seed] = options;
  key.number(gpu), key.number(fuse), key.number(vector_bits), key.number(look_up_cost);
  key.number(random_seed);
  return key.take();
}

}  // namespace galatea::kernel
