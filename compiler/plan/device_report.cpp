// See device_report.h. Where a slot's bytes come from is followed backwards through views and merges.
#include "compiler/plan/device_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text_writer.h"
#include "base/words.h"
#include "runtime/device_graphs.h"

namespace galatea::plan {

using runtime::Instruction;
using runtime::Opcode;
using runtime::Program;

namespace {

/// What made each slot; views, copies and merges lead further back.
class Origins {
 public:
  explicit Origins(const Program& program) : made_by_(static_cast<size_t>(program.num_slots)) {
    for (const Instruction& i : program.code) {
      switch (i.op) {
        case Opcode::kView:
        case Opcode::kCopySlot:
        case Opcode::kMakeDense:
          from_[i.dst].push_back(i.a);
          break;
        case Opcode::kAllocate:
        case Opcode::kAllocateOutput:
        case Opcode::kStoreElements:
        case Opcode::kConstantTensor:
        case Opcode::kToHost:
          made_by_[static_cast<size_t>(i.dst)] = &i;
          break;
        case Opcode::kFeed:
          made_by_[static_cast<size_t>(i.dst)] = &i;
          if (i.a >= 0) made_by_[static_cast<size_t>(i.a)] = &i;
          break;
        case Opcode::kRead:
          for (int32_t k = 0; k < i.imm; ++k)
            made_by_[static_cast<size_t>(program.lists[static_cast<size_t>(i.a + k)])] = &i;
          break;
        case Opcode::kCallNative: {
          const runtime::NativeCallSpec& call = program.natives[static_cast<size_t>(i.a)];
          if (call.output >= 0) made_by_[static_cast<size_t>(call.output)] = &i;
          break;
        }
        default:
          break;
      }
    }
  }

  /// Slots with memory of their own that may lie behind `slot`.
  std::set<int32_t> of(int32_t slot) const {
    std::set<int32_t> out, seen;
    std::vector<int32_t> work = {slot};
    while (!work.empty()) {
      const int32_t at = work.back();
      work.pop_back();
      if (!seen.insert(at).second) continue;
      const auto further = from_.find(at);
      if (further == from_.end())
        out.insert(at);
      else
        work.insert(work.end(), further->second.begin(), further->second.end());
    }
    return out;
  }
  const Instruction* maker(int32_t slot) const { return made_by_[static_cast<size_t>(slot)]; }

 private:
  std::vector<const Instruction*> made_by_;
  std::map<int32_t, std::vector<int32_t>> from_;
};

class Reporter {
 public:
  Reporter(const Program& program, const DeviceOffers& offers, DeviceReport& out)
      : program_(program), offers_(offers), origins_(program), out_(out) {}

  void run() {
    for (const Instruction& i : program_.code) {
      if (i.op == Opcode::kCallKernel && i.on_device) look_at_call(i);
      if (i.op == Opcode::kToHost) downloads_.push_back(&i);
      if (i.op == Opcode::kBarrier && i.a == runtime::kDeviceBarrier) look_at_barrier(i);
      if (i.op == Opcode::kReturn) look_at_outputs(i);
    }
  }

 private:
  const runtime::Location* location(const Instruction& i) const {
    return i.location < 0 ? nullptr : &program_.locations[static_cast<size_t>(i.location)];
  }
  uint32_t line(const Instruction& i) const { return location(i) ? location(i)->line : 0; }
  std::string op(const Instruction& i) const {
    if (i.op == Opcode::kRead) return program_.sources[static_cast<size_t>(i.b)].factory;
    if (i.op == Opcode::kFeed) return program_.external_inputs[static_cast<size_t>(i.b)].port.name;
    return location(i) ? location(i)->op : std::string();
  }

  void look_at_call(const Instruction& i) {
    const runtime::KernelCallSpec& call = program_.kernel_calls[static_cast<size_t>(i.a)];
    const runtime::ProgramKernel& kernel = program_.kernels[static_cast<size_t>(call.kernel)];
    const auto inputs = static_cast<size_t>(kernel.device->inputs);
    for (size_t t = 0; t < inputs && t < call.tensors.size(); ++t)
      for (int32_t slot : origins_.of(call.tensors[t])) goes_up(slot, "read by " + kernel.name);
  }

  void goes_up(int32_t slot, const std::string& why) {
    const Instruction* maker = origins_.maker(slot);
    if (!maker) return;
    const bool is_decode = maker->op == Opcode::kCallNative && maker->on_device;
    if ((maker->on_device && !is_decode) || !uploaded_.insert(slot).second) return;
    if (is_decode) add_offer(*maker);
    if (maker->op == Opcode::kConstantTensor) {
      const auto& constant = *program_.constant_tensors[static_cast<size_t>(maker->a)];
      out_.once.push_back({fmt::format("a constant of {} elements", constant.volume()), why, line(*maker)});
    } else if (maker->op == Opcode::kStoreElements) {
      out_.uploads.push_back({fmt::format("a few numbers ({})", op(*maker)), why, line(*maker)});
    } else {
      const bool is_fed = maker->op == Opcode::kFeed;
      out_.uploads.push_back({(is_fed ? "the input " : "the result of ") + op(*maker), why, line(*maker)});
    }
  }

  void add_offer(const Instruction& maker) {
    const runtime::NativeCallSpec& call = program_.natives[static_cast<size_t>(maker.a)];
    const auto known = offers_.find({call.function, call.config});
    const bool reads = known != offers_.end() && known->second.reads;
    const bool is_certain = !reads && program_.decoder == runtime::DecodeChoice::kDevice;
    DeviceReport::Offered& out = (reads ? out_.reads : out_.decodes).emplace_back();
    out.what = "the results of " + op(maker);
    out.why = fmt::format(
        "{}{} {} those that suit it; the CPU the others, before they go up", is_certain ? "" : "where ",
        is_certain ? call.alternative : call.alternative + " is here it", reads ? "reads" : "decodes");
    out.line = line(maker);
    if (known != offers_.end()) out.suited = known->second.suited;
  }

  void look_at_barrier(const Instruction& barrier) {
    ++out_.parameter_uploads;
    const Instruction* next = &barrier + 1;
    while (next->op == Opcode::kRelease) ++next;
    const bool is_last = next->op == Opcode::kReturn;
    for (const Instruction* i : downloads_) {
      const std::string what = "the result of " + source_of(i->a);
      out_.downloads.push_back(
          {what, is_last ? "an output on the CPU" : "needed by " + op(barrier), is_last ? 0 : line(*i)});
    }
    if (is_last)
      out_.last_waits = barrier.imm != 0;
    else if (barrier.imm != 0)
      out_.waits.push_back({"for " + (downloads_.empty() ? op(barrier) : source_of(downloads_.back()->a)),
                            fmt::format("{} needs the value on the host", op(barrier)), line(barrier)});
    downloads_.clear();
  }

  std::string source_of(int32_t slot) const {
    for (int32_t origin : origins_.of(slot))
      if (const Instruction* maker = origins_.maker(origin)) return op(*maker);
    return "the GPU";
  }

  void look_at_outputs(const Instruction& i) {
    for (int32_t k = 0; k < i.imm; ++k) {
      const runtime::OutputSpec& output = program_.outputs[static_cast<size_t>(k)];
      if (!output.on_device) continue;
      for (int32_t slot : origins_.of(program_.lists[static_cast<size_t>(i.a + k)]))
        goes_up(slot, fmt::format("output {} is on the GPU", k));
    }
  }

  const Program& program_;
  const DeviceOffers& offers_;
  Origins origins_;
  DeviceReport& out_;
  std::vector<const Instruction*> downloads_;  ///< since the last barrier
  std::set<int32_t> uploaded_;
};

nlohmann::json json_of(const std::vector<DeviceReport::Transfer>& transfers) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& each : transfers)
    out.push_back({{"what", each.what}, {"why", each.why}, {"line", each.line}});
  return out;
}

nlohmann::json json_of(const std::vector<DeviceReport::Offered>& offered) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& each : offered)
    out.push_back({{"what", each.what}, {"why", each.why}, {"line", each.line}, {"suited", each.suited}});
  return out;
}

void list(TextWriter& out, const std::string& title, const std::vector<DeviceReport::Transfer>& transfers) {
  if (transfers.empty()) return;
  out.line(title);
  out.indent();
  for (const auto& each : transfers)
    out.line(fmt::format("{}: {}{}", each.what, each.why,
                         each.line > 0 ? fmt::format(" (line {})", each.line) : ""));
  out.dedent();
}

void list(TextWriter& out, const std::string& title, const std::vector<DeviceReport::Offered>& offered) {
  if (offered.empty()) return;
  out.line(title);
  out.indent();
  for (const auto& each : offered) {
    out.line(fmt::format("{}: {}{}", each.what, each.why,
                         each.line > 0 ? fmt::format(" (line {})", each.line) : ""));
    out.indent();
    for (const std::string& line : each.suited) out.line(line);
    out.dedent();
  }
  out.dedent();
}

std::string counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

DeviceOffers offers_of(const ir::Graph& graph, const ValueTable& table) {
  DeviceOffers out;
  for (const ir::Block& block : graph.blocks)
    for (const ir::NodeId id : block.nodes)
      if (const op::NativeOutput* maker = op::maker_of(table.lowering(id)); maker && table.is_offered(id))
        out.emplace(std::pair(maker->function, maker->config), *maker->device);
  return out;
}

DeviceReport report_device(const Program& program, const std::vector<Launch>& launches, std::string placement,
                           const DeviceBranches& branches, const DeviceOffers& offers,
                           const SourceMap& sources) {
  DeviceReport out;
  const auto line_of = [&](Span given) {
    const Span span = sources.resolve(given);
    const SourceFile* file = sources.file(span.file);
    return file ? file->position(span.begin).line : 0;
  };
  for (const BranchReport& branch : branches.reports)
    out.branches.push_back({line_of(branch.span), branch.arms, branch.waits, branch.why, branch.doubtful});
  for (const WholeTensor& tensor : branches.made_whole)
    out.made_whole.push_back({"the result of " + tensor.op,
                              "arms that are launched together hand on all of what they give; "
                              "`--selectors wait` makes no more of it than is read behind them",
                              line_of(tensor.span)});
  out.used = true;
  out.placement = std::move(placement);
  std::map<int32_t, std::set<uint32_t>> lines;
  for (const Instruction& i : program.code)
    if (i.op == Opcode::kCallKernel && i.on_device && i.location >= 0)
      lines[program.kernel_calls[static_cast<size_t>(i.a)].launch].insert(
          program.locations[static_cast<size_t>(i.location)].line);
  for (size_t number = 0; number < launches.size(); ++number) {
    const Launch& launch = launches[number];
    DeviceReport::LaunchLine& line = out.launches.emplace_back();
    for (int kernel : launch.kernels) {
      line.kernels.push_back(program.kernels[static_cast<size_t>(kernel)].name);
      const runtime::DeviceKernel& device = *program.kernels[static_cast<size_t>(kernel)].device;
      line.spreads = line.spreads || device.can_be_tiled;
      line.shares_phases = line.shares_phases || device.shares_phases;
    }
    const auto& of_launch = lines[static_cast<int32_t>(number)];
    line.lines.assign(of_launch.begin(), of_launch.end());
    line.sites = launch.calls.size();
    line.guarded = std::any_of(launch.calls.begin(), launch.calls.end(), [&](int32_t call) {
      return !program.kernel_calls[static_cast<size_t>(call)].guards.empty();
    });
    line.why = launch.why;
  }
  Reporter(program, offers, out).run();
  if (out.launches.size() >= runtime::kLeastGraphCommands)
    out.graphs.push_back(
        fmt::format("{}{} launches", out.waits.empty() ? "" : "up to ", out.launches.size()));
  if (out.downloads.size() * static_cast<size_t>(program.batch_size) >= runtime::kLeastGraphCommands)
    out.graphs.push_back("downloads of all samples");
  return out;
}

std::string to_text(const DeviceReport& report) {
  if (!report.used) return "nothing runs on a GPU\n";
  TextWriter out;
  out.line(fmt::format(
      "a batch on the GPU: {}, {} of samples' bytes, {} of descriptors and parameters, {}, {} inside of the "
      "batch{}",
      fmt::format("{} launch{}", report.launches.size(), report.launches.size() == 1 ? "" : "es"),
      counted(report.uploads.size(), "upload"), counted(report.parameter_uploads, "upload"),
      counted(report.downloads.size(), "download"), counted(report.waits.size(), "wait"),
      report.last_waits ? ", and one at its end" : ""));
  out.indent();
  for (size_t k = 0; k < report.launches.size(); ++k) {
    const auto& launch = report.launches[k];
    out.line(
        fmt::format("launch {}: {}{}", k, fmt::join(launch.kernels, " | "),
                    launch.lines.empty() ? "" : fmt::format(" (line {})", fmt::join(launch.lines, ", "))));
    out.indent();
    if (!launch.why.empty()) out.line(launch.why);
    out.line(launch.spreads ? "a sample takes as many blocks as its output is worth" : "a block a sample");
    if (launch.shares_phases)
      out.line(
          "where a phase needs all of another, blocks wait for those of their sample that began before them");
    if (launch.guarded) out.line("blocks of an arm that a sample does not take leave at once");
    out.dedent();
  }
  list(out, "decoded for the GPU:", report.decodes);
  list(out, "read for the GPU:", report.reads);
  list(out, "uploads (host to GPU), in few copies a batch:", report.uploads);
  list(out, "uploads once a session:", report.once);
  list(out, "downloads (GPU to host):", report.downloads);
  list(out, "waits for the GPU inside of a batch:", report.waits);
  for (const auto& branch : report.branches) {
    out.line(fmt::format("branch on a condition of the GPU (line {}): {}", branch.line,
                         branch.waits       ? "waited for, since " + branch.why
                         : branch.arms == 2 ? "both arms are launched, and the GPU leaves one out"
                                            : fmt::format("all {} arms are launched, and the GPU leaves all "
                                                          "but one out",
                                                          branch.arms)));
    if (branch.if_failed.empty()) continue;
    out.indent();
    out.line(fmt::format("a batch waits for it if a sample has values that {} cannot take",
                         one_of(branch.if_failed)));
    out.dedent();
  }
  list(out, "made whole:", report.made_whole);
  if (!report.graphs.empty())
    out.line(fmt::format("one call of the driver each, as a CUDA graph, once equal ones have come often: {}",
                         fmt::join(report.graphs, "; ")));
  for (size_t begin = 0; begin < report.placement.size();) {
    const size_t end = std::min(report.placement.find('\n', begin), report.placement.size());
    out.line("placement: " + report.placement.substr(begin, end - begin));
    begin = end + 1;
  }
  return out.take();
}

std::string to_json(const DeviceReport& report) {
  nlohmann::json launches = nlohmann::json::array();
  for (const auto& launch : report.launches)
    launches.push_back({{"kernels", launch.kernels},
                        {"lines", launch.lines},
                        {"sites", launch.sites},
                        {"several_blocks_a_sample", launch.spreads},
                        {"blocks_wait_for_phases", launch.shares_phases},
                        {"chosen_by_gpu", launch.guarded},
                        {"why", launch.why}});
  nlohmann::json branches = nlohmann::json::array();
  for (const auto& branch : report.branches)
    branches.push_back({{"line", branch.line},
                        {"arms", branch.arms},
                        {"waits", branch.waits},
                        {"why", branch.why},
                        {"waits_if_values_fail", branch.if_failed}});
  const nlohmann::json out = {{"gpu", report.used},
                              {"launches", launches},
                              {"decodes", json_of(report.decodes)},
                              {"reads", json_of(report.reads)},
                              {"uploads", json_of(report.uploads)},
                              {"uploads_once", json_of(report.once)},
                              {"parameter_uploads", report.parameter_uploads},
                              {"downloads", json_of(report.downloads)},
                              {"waits", json_of(report.waits)},
                              {"branches", branches},
                              {"made_whole", json_of(report.made_whole)},
                              {"waits_at_end", report.last_waits},
                              {"graphs", report.graphs},
                              {"placement", report.placement}};
  return json_text(out) + "\n";
}

}  // namespace galatea::plan
