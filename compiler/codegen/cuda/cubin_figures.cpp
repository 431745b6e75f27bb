// Sections of a cubin: .text.F, .nv.shared.F, and .nv.info with numbers per symbol; see cubin_figures.h.
#include "compiler/codegen/cuda/cubin_figures.h"

#include <elf.h>

#include <cstring>
#include <map>

namespace galatea::codegen {

namespace {

/// Attributes of .nv.info: a format byte, an attribute byte, two bytes of size, then (format 4) the value.
constexpr uint8_t kSized = 4, kFrameSize = 0x11, kRegisters = 0x2f;

template <typename T>
bool read(const std::string& bytes, uint64_t offset, T* out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(out, bytes.data() + offset, sizeof(T));
  return true;
}

std::string name_at(const std::string& bytes, uint64_t offset) {
  if (offset >= bytes.size()) return "";
  return bytes.substr(offset, bytes.find('\0', offset) - offset);
}

struct Info {
  uint32_t frame = 0, registers = 0;
};
/// What .nv.info says, per number of the symbol.
std::map<uint32_t, Info> read_info(const std::string& cubin, const Elf64_Shdr& section) {
  std::map<uint32_t, Info> out;
  for (uint64_t at = section.sh_offset, end = section.sh_offset + section.sh_size; at + 4 <= end;) {
    uint8_t head[2] = {};
    uint16_t size = 0;
    if (!read(cubin, at, &head) || !read(cubin, at + 2, &size)) break;
    uint32_t values[2] = {};
    if (head[0] == kSized && size == 8 && read(cubin, at + 4, &values)) {
      if (head[1] == kFrameSize) out[values[0]].frame = values[1];
      if (head[1] == kRegisters) out[values[0]].registers = values[1];
    }
    at += 4 + (head[0] == kSized ? size : 0);
  }
  return out;
}

}  // namespace

std::vector<CubinFigures> read_cubin_figures(const std::string& cubin) {
  std::vector<CubinFigures> out;
  Elf64_Ehdr header;
  if (!read(cubin, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return out;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (size_t s = 0; s < sections.size(); ++s)
    if (!read(cubin, header.e_shoff + s * sizeof(Elf64_Shdr), &sections[s])) return out;
  if (header.e_shstrndx >= sections.size()) return out;
  const auto name_of = [&](const Elf64_Shdr& section) {
    return name_at(cubin, sections[header.e_shstrndx].sh_offset + section.sh_name);
  };
  std::map<std::string, int64_t> shared;
  std::map<uint32_t, Info> info;
  std::map<std::string, uint32_t> symbols;
  for (const Elf64_Shdr& section : sections) {
    const std::string name = name_of(section);
    if (name.starts_with(".nv.shared.")) shared[name.substr(11)] = static_cast<int64_t>(section.sh_size);
    if (name == ".nv.info") info = read_info(cubin, section);
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    for (uint64_t k = 0; k < section.sh_size / sizeof(Elf64_Sym); ++k) {
      Elf64_Sym symbol;
      if (!read(cubin, section.sh_offset + k * sizeof(Elf64_Sym), &symbol)) return out;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
        symbols[name_at(cubin, sections[section.sh_link].sh_offset + symbol.st_name)] =
            static_cast<uint32_t>(k);
    }
  }
  for (const Elf64_Shdr& section : sections) {
    const std::string name = name_of(section);
    if (!name.starts_with(".text.")) continue;
    CubinFigures figures{name.substr(6), 0, 0, 0, static_cast<int64_t>(section.sh_size)};
    if (const auto found = shared.find(figures.function); found != shared.end())
      figures.shared = found->second;
    if (const auto symbol = symbols.find(figures.function); symbol != symbols.end()) {
      figures.registers = static_cast<int>(info[symbol->second].registers);
      figures.local = info[symbol->second].frame;
    }
    out.push_back(std::move(figures));
  }
  return out;
}

}  // namespace galatea::codegen
