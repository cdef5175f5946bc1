// SPDX-License-Identifier: Apache-2.0
// ELF and fat binary layouts, as far as names and parameters go. Layout of .nv.info: entries of format (1 byte), attribute
// (1 byte) and a 16-bit value or size; EIATTR_KPARAM_INFO describes one parameter, EIATTR_REGCOUNT a function's registers.
#include "module/binary.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "core/refusal.h"
#include "module/image.h"

namespace cufault::sim {

namespace {

constexpr std::uint32_t kFatMagic = 0xBA55ED50;
constexpr std::uint32_t kWrapperMagic = 0x466243B1;

struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t size;
};

struct FatEntry {
  std::uint16_t kind;  // 1 PTX, 2 ELF
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t size;
  std::uint32_t compressed_size;
  std::uint32_t unused;
  std::uint16_t minor, major;
  std::uint32_t architecture;
  std::uint32_t name_offset, name_size;
  std::uint64_t flags;
  std::uint64_t zero;
  std::uint64_t uncompressed_size;
};

struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void* more;
};

template <class T>
T at(const unsigned char* bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

bool begins(const void* bytes, std::uint32_t magic) { return std::memcmp(bytes, &magic, sizeof magic) == 0; }

// One cubin, with every offset checked against its size.
class Cubin {
 public:
  Cubin(const unsigned char* bytes, std::size_t size) : bytes_(bytes), size_(size) {
    header_ = at<Elf64_Ehdr>(bytes, 0);
    require(header_.e_shnum != 0 && header_.e_shentsize == sizeof(Elf64_Shdr) &&
                header_.e_shoff + std::uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr) <= size_ && header_.e_shstrndx < header_.e_shnum,
            CUDA_ERROR_INVALID_IMAGE);
    for (unsigned i = 0; i < header_.e_shnum; ++i)
      sections_.push_back(at<Elf64_Shdr>(bytes_, header_.e_shoff + i * sizeof(Elf64_Shdr)));
  }

  void read(Image& image) {
    for (unsigned i = 0; i < sections_.size(); ++i) {
      const std::string name = section_name(i);
      if (name.rfind(".text.", 0) == 0 && entry(name.substr(6))) kernel(image, name.substr(6));
      if (sections_[i].sh_type == SHT_SYMTAB) symbols(image, i);
    }
  }

 private:
  [[nodiscard]] std::string_view content(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return {};
    require(section.sh_offset <= size_ && section.sh_size <= size_ - section.sh_offset, CUDA_ERROR_INVALID_IMAGE);
    return {reinterpret_cast<const char*>(bytes_) + section.sh_offset, section.sh_size};
  }
  [[nodiscard]] std::string text(unsigned table, std::size_t offset) const {
    const std::string_view strings = content(sections_[table]);
    if (offset >= strings.size()) return {};
    return std::string(strings.substr(offset, std::min(strings.find('\0', offset), strings.size()) - offset));
  }
  [[nodiscard]] std::string section_name(unsigned i) const { return text(header_.e_shstrndx, sections_[i].sh_name); }
  // Kernels have an information section of their own; device functions do not list parameters there.
  [[nodiscard]] bool entry(const std::string& name) const {
    for (unsigned i = 0; i < sections_.size(); ++i)
      if (section_name(i) == ".nv.info." + name) return true;
    return false;
  }

  void kernel(Image& image, const std::string& name) {
    KernelImage made;
    made.name = name;
    std::map<unsigned, ParameterImage> parameters;
    for (unsigned i = 0; i < sections_.size(); ++i) {
      const std::string section = section_name(i);
      if (section == ".nv.shared." + name) made.static_shared = static_cast<int>(sections_[i].sh_size);
      if (section != ".nv.info." + name) continue;
      const std::string_view info = content(sections_[i]);
      const auto* data = reinterpret_cast<const unsigned char*>(info.data());
      for (std::size_t offset = 0; offset + 4 <= info.size();) {
        const unsigned format = data[offset], attribute = data[offset + 1];
        const std::size_t length = format == 4 ? at<std::uint16_t>(data, offset + 2) : 0;
        if (format == 4 && offset + 4 + length > info.size()) break;
        if (format == 4 && attribute == 0x17 && length >= 12) {  // EIATTR_KPARAM_INFO
          const unsigned ordinal = at<std::uint16_t>(data, offset + 8), place = at<std::uint16_t>(data, offset + 10);
          parameters[ordinal] = {place, at<std::uint32_t>(data, offset + 12) >> 18};
        }
        if (format == 4 && attribute == 0x05 && length >= 4)  // EIATTR_MAX_THREADS
          made.max_threads = static_cast<int>(at<std::uint32_t>(data, offset + 4));
        if (format == 3 && attribute == 0x19) made.parameter_bytes = at<std::uint16_t>(data, offset + 2);  // EIATTR_CBANK_PARAM_SIZE
        offset += 4 + length;
      }
    }
    for (const auto& [ordinal, parameter] : parameters) {
      made.parameters.push_back(parameter);
      made.parameter_bytes = std::max(made.parameter_bytes, parameter.offset + parameter.size);
    }
    const unsigned architecture = (header_.e_flags >> 8) & 0xff;
    made.binary_version = made.ptx_version = static_cast<int>(architecture >= 50 && architecture <= 130 ? architecture : header_.e_flags & 0xff);
    image.kernels.push_back(std::move(made));
  }

  void symbols(Image& image, unsigned section) {
    const std::string_view table = content(sections_[section]);
    for (std::size_t offset = 0; offset + sizeof(Elf64_Sym) <= table.size(); offset += sizeof(Elf64_Sym)) {
      const auto symbol = at<Elf64_Sym>(reinterpret_cast<const unsigned char*>(table.data()), offset);
      if ((symbol.st_info & 0xf) != STT_OBJECT || symbol.st_shndx == 0 || symbol.st_shndx >= sections_.size()) continue;
      const std::string where = section_name(symbol.st_shndx);
      if (where.rfind(".nv.global", 0) != 0 && where.rfind(".nv.constant3", 0) != 0) continue;
      GlobalImage made{text(sections_[section].sh_link, symbol.st_name), symbol.st_size, false, {}};
      const std::string_view data = content(sections_[symbol.st_shndx]);
      if (symbol.st_value < data.size() && symbol.st_size <= data.size() - symbol.st_value) {
        const auto* first = reinterpret_cast<const unsigned char*>(data.data()) + symbol.st_value;
        made.initial.assign(first, first + symbol.st_size);
      }
      image.globals.push_back(std::move(made));
    }
  }

  const unsigned char* bytes_;
  std::size_t size_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace

bool is_binary(const void* bytes) noexcept {
  return std::memcmp(bytes, ELFMAG, SELFMAG) == 0 || begins(bytes, kFatMagic) || begins(bytes, kWrapperMagic);
}

std::size_t binary_size(const void* bytes) noexcept {
  const auto* data = static_cast<const unsigned char*>(bytes);
  if (begins(bytes, kWrapperMagic)) return sizeof(Wrapper);
  if (begins(bytes, kFatMagic)) return sizeof(FatHeader) + at<FatHeader>(data, 0).size;
  const auto header = at<Elf64_Ehdr>(data, 0);
  std::uint64_t end = sizeof header;
  if (header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shnum != 0)
    end = std::max(end, header.e_shoff + std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  return std::max(end, header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize);
}

std::shared_ptr<const Image> read_binary(const void* bytes, std::string& log) {
  const auto* data = static_cast<const unsigned char*>(bytes);
  if (begins(bytes, kWrapperMagic)) {
    const auto wrapper = at<Wrapper>(data, 0);
    require(wrapper.data != nullptr && begins(wrapper.data, kFatMagic), CUDA_ERROR_INVALID_IMAGE);
    return read_binary(wrapper.data, log);
  }
  if (!begins(bytes, kFatMagic)) {
    auto image = std::make_shared<Image>();
    Cubin(data, binary_size(bytes)).read(*image);
    return image;
  }
  const auto header = at<FatHeader>(data, 0);
  const std::size_t end = header.header_size + header.size;
  for (std::size_t offset = header.header_size; offset + sizeof(FatEntry) <= end;) {
    const auto entry = at<FatEntry>(data, offset);
    const bool compressed = entry.uncompressed_size != 0;
    const unsigned char* payload = data + offset + entry.header_size;
    if (entry.size == 0 || offset + entry.header_size + entry.size > end) break;
    if (!compressed && entry.kind == 2 && entry.architecture == 90) return read_binary(payload, log);
    if (!compressed && entry.kind == 1 && entry.architecture <= 90)
      return read_ptx({std::string(reinterpret_cast<const char*>(payload), strnlen(reinterpret_cast<const char*>(payload), entry.size))}, log);
    offset += entry.header_size + entry.size;
  }
  refuse(CUDA_ERROR_NO_BINARY_FOR_GPU);
}

}  // namespace cufault::sim
