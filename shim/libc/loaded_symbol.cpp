// SPDX-License-Identifier: Apache-2.0
// Reads the dynamic symbol tables that the loader has in memory.
#include "loaded_symbol.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace cufault::libc {
namespace {

constexpr std::uint16_t hidden_version = 0x8000;

// What of an object's dynamic section a look-up by name needs.
class symbol_table {
 public:
  explicit symbol_table(const dl_phdr_info& object) noexcept : base_(object.dlpi_addr) {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
      if (object.dlpi_phdr[i].p_type == PT_DYNAMIC) read(at<ElfW(Dyn)>(object.dlpi_phdr[i].p_vaddr));
    }
  }

  [[nodiscard]] const ElfW(Sym) * find(const char* name) const noexcept {
    if (symbols_ == nullptr || strings_ == nullptr) return nullptr;
    if (gnu_hash_ != nullptr) return find_gnu(name);
    return hash_ != nullptr ? find_sysv(name) : nullptr;
  }

  [[nodiscard]] void* address(const ElfW(Sym) & symbol) const noexcept {
    void* const address = const_cast<void*>(at<void>(symbol.st_value));
    // An indirect function: its symbol is the resolver.
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) return reinterpret_cast<void* (*)()>(address)();
    return address;
  }

 private:
  template <class T>
  [[nodiscard]] const T* at(ElfW(Addr) offset) const noexcept {
    return reinterpret_cast<const T*>(base_ + offset);
  }
  // glibc relocates these in place, except where the section is read-only (the vdso).
  template <class T>
  [[nodiscard]] const T* relocated(ElfW(Addr) address) const noexcept {
    return address >= base_ ? reinterpret_cast<const T*>(address) : at<T>(address);
  }

  void read(const ElfW(Dyn) * entry) noexcept {
    for (; entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols_ = relocated<ElfW(Sym)>(entry->d_un.d_ptr);
          break;
        case DT_STRTAB:
          strings_ = relocated<char>(entry->d_un.d_ptr);
          break;
        case DT_GNU_HASH:
          gnu_hash_ = relocated<std::uint32_t>(entry->d_un.d_ptr);
          break;
        case DT_HASH:
          hash_ = relocated<std::uint32_t>(entry->d_un.d_ptr);
          break;
        case DT_VERSYM:
          versions_ = relocated<std::uint16_t>(entry->d_un.d_ptr);
          break;
        default:
          break;
      }
    }
  }

  [[nodiscard]] bool is(std::uint32_t index, const char* name) const noexcept {
    const ElfW(Sym)& symbol = symbols_[index];
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && (type == STT_FUNC || type == STT_GNU_IFUNC) &&
           (versions_ == nullptr || (versions_[index] & hidden_version) == 0) &&
           std::strcmp(strings_ + symbol.st_name, name) == 0;
  }

  [[nodiscard]] const ElfW(Sym) * find_gnu(const char* name) const noexcept {
    std::uint32_t hash = 5381;
    for (const char* letter = name; *letter != '\0'; ++letter) hash = hash * 33 + static_cast<unsigned char>(*letter);
    const std::uint32_t bucket_count = gnu_hash_[0];
    const std::uint32_t first_hashed = gnu_hash_[1];
    const std::uint32_t bloom_words = gnu_hash_[2];
    if (bucket_count == 0) return nullptr;
    const auto* const bloom = reinterpret_cast<const ElfW(Addr)*>(gnu_hash_ + 4);
    const std::uint32_t bits = sizeof(ElfW(Addr)) * 8;
    const ElfW(Addr) word = bloom[hash / bits % bloom_words];
    if ((word >> hash % bits & word >> (hash >> gnu_hash_[3]) % bits & 1) == 0) return nullptr;
    const auto* const buckets = reinterpret_cast<const std::uint32_t*>(bloom + bloom_words);
    const std::uint32_t* const chain = buckets + bucket_count;
    std::uint32_t index = buckets[hash % bucket_count];
    if (index < first_hashed) return nullptr;
    for (;; ++index) {
      const std::uint32_t other = chain[index - first_hashed];
      if ((other | 1) == (hash | 1) && is(index, name)) return &symbols_[index];
      if ((other & 1) != 0) return nullptr;
    }
  }

  // nchain counts the symbols; a library without the GNU table is rare enough to be read through.
  [[nodiscard]] const ElfW(Sym) * find_sysv(const char* name) const noexcept {
    for (std::uint32_t index = 0; index < hash_[1]; ++index) {
      if (is(index, name)) return &symbols_[index];
    }
    return nullptr;
  }

  ElfW(Addr) base_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  const std::uint32_t* gnu_hash_ = nullptr;
  const std::uint32_t* hash_ = nullptr;
  const std::uint16_t* versions_ = nullptr;
};

bool holds(const dl_phdr_info& object, const void* address) noexcept {
  const auto wanted = reinterpret_cast<ElfW(Addr)>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const ElfW(Addr) begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && wanted >= begin && wanted - begin < part.p_memsz) return true;
  }
  return false;
}

struct search {
  const void* from;
  const char* name;
  char* owner;
  std::size_t owner_size;
  bool behind = false;
  loaded_function found;
};

int visit(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<libc::search*>(data);
  if (!search.behind) {
    search.behind = holds(*object, search.from);
    return 0;
  }
  const symbol_table table(*object);
  const ElfW(Sym)* const symbol = table.find(search.name);
  if (symbol == nullptr) return 0;
  search.found = {table.address(*symbol), symbol->st_size};
  if (search.owner_size != 0) {
    std::strncpy(search.owner, object->dlpi_name, search.owner_size - 1);
    search.owner[search.owner_size - 1] = '\0';
  }
  return 1;
}

}  // namespace

loaded_function find_behind(const void* from, const char* name, char* owner, std::size_t owner_size) noexcept {
  search search{from, name, owner, owner_size, false, {}};
  ::dl_iterate_phdr(visit, &search);
  return search.found;
}

}  // namespace cufault::libc
