// See generate.h. Generated code is position independent, so that nearly all is there already.
#include <elf.h>

#include <cstring>
#include <limits>
#include <vector>

#include "base/result.h"
#include "compiler/codegen/llvm/generate.h"

namespace galatea::codegen {
namespace {

class Linker {
 public:
  explicit Linker(std::string_view elf) : elf_(elf) {}

  runtime::CodeObject run(std::string_view function) {
    read_sections();
    place_sections();
    for (size_t i = 0; i < sections_.size(); ++i)
      if (sections_[i].sh_type == SHT_RELA) relocate(sections_[i]);
    runtime::CodeObject out;
    out.entry = entry_of(function);
    out.bytes = std::move(bytes_);
    return out;
  }

 private:
  static constexpr uint64_t kAbsent = std::numeric_limits<uint64_t>::max();

  template <typename T>
  T read(uint64_t at) const {
    GALATEA_CHECK(at <= elf_.size() && sizeof(T) <= elf_.size() - at, "the object of LLVM ends early");
    T out;
    std::memcpy(&out, elf_.data() + at, sizeof(T));
    return out;
  }
  std::string text(uint64_t table, uint64_t at) const {
    const Elf64_Shdr& strings = sections_.at(table);
    std::string out;
    for (char c = read<char>(strings.sh_offset + at); c != '\0'; c = read<char>(strings.sh_offset + ++at))
      out.push_back(c);
    return out;
  }
  std::string section_name(size_t i) const { return text(name_table_, sections_[i].sh_name); }

  void read_sections() {
    const auto header = read<Elf64_Ehdr>(0);
    GALATEA_CHECK(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_REL &&
                      (header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64),
                  "LLVM made something other than an object for x86-64 or AArch64");
    is_aarch64_ = header.e_machine == EM_AARCH64;
    name_table_ = header.e_shstrndx;
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
      sections_.push_back(read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
      if (sections_.back().sh_type == SHT_SYMTAB) symbols_ = i;
    }
  }

  /// Code first, constants behind it.
  void place_sections() {
    places_.assign(sections_.size(), kAbsent);
    for (const bool is_code : {true, false}) {
      for (size_t i = 0; i < sections_.size(); ++i) {
        const Elf64_Shdr& section = sections_[i];
        if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_size == 0) continue;
        if (((section.sh_flags & SHF_EXECINSTR) != 0) != is_code) continue;
        const std::string name = section_name(i);
        // Nothing is ever thrown through generated code.
        if (name == ".eh_frame") continue;
        GALATEA_CHECK((section.sh_flags & (SHF_WRITE | SHF_TLS)) == 0 && section.sh_type == SHT_PROGBITS,
                      "generated code needs the section " + name);
        GALATEA_CHECK(section.sh_addralign <= runtime::kCodeAlignment,
                      "generated code asks for more alignment than there is: " + name);
        const uint64_t align = std::max<uint64_t>(section.sh_addralign, 1);
        bytes_.resize((bytes_.size() + align - 1) / align * align, '\0');
        places_[i] = bytes_.size();
        GALATEA_CHECK(section.sh_offset <= elf_.size() && section.sh_size <= elf_.size() - section.sh_offset,
                      "the object of LLVM ends early");
        bytes_ += elf_.substr(section.sh_offset, section.sh_size);
      }
    }
  }

  Elf64_Sym symbol(uint64_t number) const {
    return read<Elf64_Sym>(sections_.at(symbols_).sh_offset + number * sizeof(Elf64_Sym));
  }

  uint64_t address_of(const Elf64_Sym& s) const {
    const bool is_here = s.st_shndx < places_.size() && places_[s.st_shndx] != kAbsent;
    GALATEA_CHECK(is_here, "generated code calls or reads `" +
                               text(sections_.at(symbols_).sh_link, s.st_name) +
                               "`, which is not part of it");
    return places_[s.st_shndx] + s.st_value;
  }

  void relocate(const Elf64_Shdr& relocations) {
    const uint64_t base = places_.at(relocations.sh_info);
    if (base == kAbsent) return;
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= relocations.sh_size; at += sizeof(Elf64_Rela)) {
      const auto entry = read<Elf64_Rela>(relocations.sh_offset + at);
      const uint64_t place = base + entry.r_offset;
      const auto value = static_cast<int64_t>(address_of(symbol(ELF64_R_SYM(entry.r_info))) +
                                              static_cast<uint64_t>(entry.r_addend) - place);
      const uint64_t type = ELF64_R_TYPE(entry.r_info);
      is_aarch64_ ? relocate_aarch64(type, place, value) : relocate_x86(type, place, value);
    }
  }
  void relocate_x86(uint64_t type, uint64_t place, int64_t value) {
    GALATEA_CHECK(type == R_X86_64_PC32 || type == R_X86_64_PLT32 || type == R_X86_64_PC64,
                  "generated code has a relocation of type " + std::to_string(type));
    write_distance(place, value, type == R_X86_64_PC64 ? 8 : 4);
  }
  /// ELF for the Arm 64-bit Architecture, "Relocation": those that say how far it is from here.
  void relocate_aarch64(uint64_t type, uint64_t place, int64_t value) {
    switch (type) {
      case R_AARCH64_PREL32:
        return write_distance(place, value, 4);
      case R_AARCH64_PREL64:
        return write_distance(place, value, 8);
      case R_AARCH64_ADR_PREL_LO21: {  // ADR: two low bits at 29, the others at 5
        const auto bits = static_cast<uint32_t>(value);
        return write_field(place, value, 21, 0x60FFFFE0, (bits & 3) << 29 | (bits >> 2 & 0x7FFFF) << 5);
      }
      case R_AARCH64_LD_PREL_LO19:
        return write_field(place, value, 21, 0x00FFFFE0, (static_cast<uint32_t>(value) >> 2 & 0x7FFFF) << 5);
      case R_AARCH64_JUMP26:
      case R_AARCH64_CALL26:
        return write_field(place, value, 28, 0x03FFFFFF, static_cast<uint32_t>(value) >> 2 & 0x3FFFFFF);
      default:
        GALATEA_CHECK(false, "generated code has a relocation of type " + std::to_string(type));
    }
  }
  void write_distance(uint64_t place, int64_t value, size_t size) {
    GALATEA_CHECK(place + size <= bytes_.size() && (size == 8 || value == static_cast<int32_t>(value)),
                  "a relocation of generated code does not fit");
    std::memcpy(bytes_.data() + place, &value, size);
  }
  /// Puts `field` into the bits `mask` of the instruction at `place`; `value` must be a signed number of
  /// `width` bits.
  void write_field(uint64_t place, int64_t value, int width, uint32_t mask, uint32_t field) {
    const int64_t bound = int64_t{1} << (width - 1);
    GALATEA_CHECK(place + 4 <= bytes_.size() && value >= -bound && value < bound,
                  "a relocation of generated code does not fit");
    uint32_t instruction = 0;
    std::memcpy(&instruction, bytes_.data() + place, 4);
    instruction = (instruction & ~mask) | field;
    std::memcpy(bytes_.data() + place, &instruction, 4);
  }

  uint64_t entry_of(std::string_view function) const {
    const Elf64_Shdr& table = sections_.at(symbols_);
    for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
      const Elf64_Sym s = symbol(i);
      if (s.st_shndx != SHN_UNDEF && text(table.sh_link, s.st_name) == function) return address_of(s);
    }
    GALATEA_CHECK(false, "the object of LLVM lacks the kernel's function");
  }

  std::string_view elf_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<uint64_t> places_;  ///< per section, its offset in bytes_
  uint64_t name_table_ = 0, symbols_ = 0;
  bool is_aarch64_ = false;
  std::string bytes_;
};

}  // namespace

runtime::CodeObject link_object(std::string_view elf, std::string_view function) {
  return Linker(elf).run(function);
}

}  // namespace galatea::codegen
