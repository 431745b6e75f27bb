// Each sample's memory is asked for before the sample begins (kAdmit); the bounds here are those of what it
// asks for.
//
// Comes in: the expressions that the program computes at run time. Goes out: their largest value, by ranges,
// when no picture is larger than a given size. It holds for each run; a run may stay far below, since a range
// does not see that a small window of a large picture is drawn, say.
#include "tools/explain_memory.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "compiler/kernel/expr.h"
#include "compiler/shape/graph_shapes.h"
#include "stdlib_ops/native/image.h"
#include "stdlib_ops/native/image_functions.h"

namespace galatea::tools {
namespace {

/// A camera's thumbnail and its 12 megapixels, and full HD between them.
struct PictureSize {
  int64_t height = 0, width = 0;
};
constexpr PictureSize kPictureSizes[] = {{480, 640}, {1080, 1920}, {3024, 4032}};

/// Rounded up, so that a bound stays one.
std::string bytes_text(double bytes) {
  constexpr double kMega = 1 << 20, kGiga = 1 << 30;
  const auto in = [bytes](double unit) { return std::ceil(bytes / unit * 10) / 10; };
  if (bytes >= kGiga) return fmt::format("{:.1f} GiB", in(kGiga));
  if (bytes >= kMega) return fmt::format("{:.1f} MiB", in(kMega));
  return fmt::format("{:.0f} bytes", std::ceil(bytes));
}

/// "u8[h,w,3]" in the graph's own names; what they do not tell is "?".
std::string claim_text(const plan::MemoryClaim& claim, shape::GraphShapes& shapes) {
  if (claim.kind == plan::MemoryClaim::Kind::kScratch) {
    const auto bytes = shapes.number_text(claim.extents.front());
    return bytes ? fmt::format("scratch, {} bytes", *bytes) : "scratch, as much as its size asks for";
  }
  std::string extents;
  for (const kernel::Expr& e : claim.extents)
    extents += (extents.empty() ? "" : ",") + shapes.number_text(e).value_or("?");
  return fmt::format("{}[{}]", short_name(claim.type), extents);
}

/// In bytes.
struct Bound {
  double sample = 0;   ///< of a sample in work
  double whole = 0;    ///< the same where its file is decoded as a whole
  double outputs = 0;  ///< of a delivered sample, beside what is equal for all
  friend bool operator==(const Bound&, const Bound&) = default;
};

std::optional<double> largest(const kernel::Expr& e, shape::GraphShapes& shapes) {
  const kernel::ScalarRange range = shapes.facts().range(e);
  if (range.nan || !std::isfinite(range.to)) return std::nullopt;
  return std::max(range.to, 0.0);
}

/// What no machine has: such a bound tells nothing (a picture of one row, scaled to a height, gets as wide as
/// that).
constexpr double kUseless = 1e12;

/// A sample decodes one file after another.
native::DecodeBounds decoding(const runtime::Program& program, PictureSize size) {
  for (const runtime::NativeCallSpec& call : program.natives)
    if (native::decodes_images(call.function))
      return native::most_decode_working_bytes(size.height, size.width);
  return {};
}

/// Nothing where a need has no bound: its extent is computed from pixels, or divided by a draw.
std::optional<Bound> bound_for(PictureSize size, const runtime::Program& program,
                               const CompileReport& report) {
  shape::GraphShapes shapes(*report.graph, {{'H', size.height}, {'W', size.width}});
  Bound all;
  for (const plan::MemoryNeed& need : report.memory.needs) {
    const auto sample = largest(need.sample, shapes), outputs = largest(need.outputs, shapes);
    if (!sample || !outputs) return std::nullopt;
    all.sample += *sample;
    all.outputs += *outputs;
  }
  if (all.sample + all.outputs > kUseless) return std::nullopt;
  const native::DecodeBounds decoder = decoding(program, size);
  all.whole = all.sample + static_cast<double>(decoder.whole);
  all.sample += static_cast<double>(decoder.by_rows);
  return all;
}

/// That may have memory at once: those in work; where samples of a batch meet, batches of them wait.
int64_t samples_at_once(const runtime::Program& program) {
  const int64_t of_batches = int64_t{program.prefetch_depth} * program.batch_size;
  return program.batch_steps.empty() ? program.num_threads
                                     : std::max<int64_t>(program.num_threads, of_batches);
}

std::string bound_text(const runtime::Program& program, const Bound& bound, double outputs, int batches) {
  const double of_batches = outputs + bound.outputs * program.batch_size * batches;
  return fmt::format("{} a sample, {} in all", bytes_text(bound.sample),
                     bytes_text(of_batches + bound.sample * static_cast<double>(samples_at_once(program))));
}

/// Behind bound_text().
std::string whole_text(const runtime::Program& program, const Bound& bound, double outputs, int batches) {
  if (bound.whole == bound.sample) return "";
  Bound whole = bound;
  whole.sample = bound.whole;
  return fmt::format("\n            {}, of files decoded whole",
                     bound_text(program, whole, outputs, batches));
}

/// One line where pictures do not matter.
std::string bounds_text(const runtime::Program& program, const CompileReport& report, double outputs,
                        int batches) {
  std::vector<std::optional<Bound>> bounds;
  for (PictureSize size : kPictureSizes) bounds.push_back(bound_for(size, program, report));
  if (std::all_of(bounds.begin(), bounds.end(), [](const auto& bound) { return !bound; }))
    return "  at most   unknown before the run: extents depend on more than the largest picture\n";
  if (std::all_of(bounds.begin(), bounds.end(), [&](const auto& bound) { return bound == bounds.front(); }))
    return fmt::format("  at most   {}\n", bound_text(program, *bounds.front(), outputs, batches));
  std::string text;
  for (size_t i = 0; i < bounds.size(); ++i)
    if (bounds[i])
      text += fmt::format("  {}{}, where pictures are no larger than {} x {}{}\n",
                          text.empty() ? "at most   " : "          ",
                          bound_text(program, *bounds[i], outputs, batches), kPictureSizes[i].height,
                          kPictureSizes[i].width, whole_text(program, *bounds[i], outputs, batches));
  if (decoding(program, kPictureSizes[0]).whole > 0)
    text += "            beside the files; decoded whole are progressive JPEG, PNG and WebP\n";
  return text;
}

}  // namespace

int64_t output_bytes(const runtime::OutputSpec& output) {
  int64_t bytes = size_of(output.port.dtype());
  for (const int64_t extent : output.port.numbers()) {
    if (extent < 0) return -1;
    bytes *= extent;
  }
  return bytes;
}

std::string describe_memory(const runtime::Program& program, const CompileReport& report) {
  if (report.graph == nullptr) return "";
  int64_t batch = 0;
  bool known = true;
  for (const runtime::OutputSpec& output : program.outputs) {
    const int64_t bytes = output_bytes(output);
    known = known && bytes >= 0;
    batch += std::max<int64_t>(bytes, 0) * program.batch_size;
  }
  const int batches = program.prefetch_depth + 1;
  const double delivered = static_cast<double>(batch) * batches;
  std::string text =
      fmt::format("\nmemory\n  outputs   {} a batch{}, in {} batches ({} ahead, one delivered): {}{}\n",
                  bytes_text(static_cast<double>(batch)), known ? "" : " and what varies", batches,
                  program.prefetch_depth, bytes_text(delivered), known ? "" : " and what varies");
  text += program.batch_steps.empty()
              ? fmt::format("  a sample  in each of {} threads, known when its header is read:\n",
                            program.num_threads)
              : fmt::format("  a sample  of which {} may be in work, or wait for others of their batch:\n",
                            samples_at_once(program));
  shape::GraphShapes shapes(*report.graph);
  for (const plan::MemoryClaim& claim : report.memory.claims) {
    if (claim.kind == plan::MemoryClaim::Kind::kScratch && kernel::is_const_int(claim.extents.front(), 0))
      continue;
    text += fmt::format("            {}: {}\n", claim.what, claim_text(claim, shapes));
  }
  text += bounds_text(program, report, delivered, batches);
  text += "            a run without --memory-limit keeps more than it needs, for later samples\n";
  if (program.memory_limit > 0)
    text += fmt::format("  limit     {}\n", bytes_text(static_cast<double>(program.memory_limit)));
  return text;
}

}  // namespace galatea::tools
