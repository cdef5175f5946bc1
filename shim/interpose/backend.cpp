// SPDX-License-Identifier: Apache-2.0
// Finds and opens the driver that the process would have used, from the loader's own search list.
#include "backend.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "loader_cache.h"
#include "process/libc_2_28.h"
#include "process/memory.h"

namespace cufault::interpose {
namespace {

constexpr const char *soname = "libcuda.so.1";
constexpr int stub_library = 34;

struct identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  [[nodiscard]] bool operator==(const identity &) const = default;
};

bool identify(const char *file, identity &of) noexcept {
  struct statx about {};
  if (::statx(AT_FDCWD, file, 0, STATX_INO | STATX_TYPE, &about) != 0 || !S_ISREG(about.stx_mode)) return false;
  of.device = std::uint64_t{about.stx_dev_major} << 32 | about.stx_dev_minor;
  of.inode = about.stx_ino;
  return true;
}

bool identify_self(identity &self) noexcept {
  Dl_info about{};
  return ::dladdr(reinterpret_cast<const void *>(&identify_self), &about) != 0 && about.dli_fname != nullptr &&
         identify(about.dli_fname, self);
}

// The toolkit's stub has the driver's SONAME and answers every call with CUDA_ERROR_STUB_LIBRARY, this harmless one too.
bool is_stub(void *handle) noexcept {
  const auto version = reinterpret_cast<int (*)(int *)>(::dlsym(handle, "cuDriverGetVersion"));
  int ignored = 0;
  return version != nullptr && version(&ignored) == stub_library;
}

// Two slashes at the front are what audit.cpp knows the shim's own request by.
void *open_marked(const char *file) noexcept {
  path marked;
  marked << "/" << file;
  return ::dlopen(marked.c_str(), RTLD_NOW | RTLD_LOCAL);
}

class search {
 public:
  search(backend &found, process::message &why) noexcept : found_(found), why_(why), self_known_(identify_self(self_)) {}

  // True: opened, the search is over.
  bool try_file(std::string_view folder, std::string_view name) noexcept {
    path file;
    file << folder << (folder.empty() || name.empty() || folder.back() == '/' ? "" : "/") << name;
    identity candidate;
    if (file.cut() || !identify(file.c_str(), candidate) || (self_known_ && candidate == self_)) return false;
    void *const handle = open_marked(file.c_str());
    if (handle == nullptr) {
      const char *const error = ::dlerror();
      why_ << "\n  " << file.view() << ": " << (error == nullptr ? "cannot be opened" : error);
      return false;
    }
    if (is_stub(handle)) {
      why_ << "\n  " << file.view() << ": the toolkit's stub, no driver";
      ::dlclose(handle);
      return false;
    }
    found_.handle = handle;
    found_.file = file;
    return true;
  }

 private:
  backend &found_;
  process::message &why_;
  identity self_;
  bool self_known_;
};

// The loader's own list, as it took it from the environment when the process began (the program may have changed its
// environment since). The cache stands between what was asked for and the default folders.
bool search_in_order(search &search) noexcept {
  void *const program = ::dlopen(nullptr, RTLD_NOW);
  Dl_serinfo size{};
  if (program == nullptr || ::dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) {
    return in_loader_cache(soname, [&](std::string_view file) { return search.try_file("", file); });
  }
  auto *const list = static_cast<Dl_serinfo *>(process::map_pages(size.dls_size));
  if (list == nullptr) return false;
  bool found = false;
  bool cache_done = false;
  const auto look_in_cache = [&] {
    cache_done = true;
    return in_loader_cache(soname, [&](std::string_view file) { return search.try_file("", file); });
  };
  if (::dlinfo(program, RTLD_DI_SERINFOSIZE, list) == 0 && ::dlinfo(program, RTLD_DI_SERINFO, list) == 0) {
    for (unsigned i = 0; i < list->dls_cnt && !found; ++i) {
      const Dl_serpath &folder = list->dls_serpath[i];
      if ((folder.dls_flags & LA_SER_DEFAULT) != 0 && !cache_done) found = look_in_cache();
      if (!found) found = search.try_file(folder.dls_name, soname);
    }
  }
  if (!found && !cache_done) found = look_in_cache();
  process::unmap_pages(list, size.dls_size);
  return found;
}

const char *base_of(const link_map &map, ElfW(Addr) pointer) noexcept {
  // glibc has relocated the dynamic section of some machines and not of others.
  return reinterpret_cast<const char *>(pointer < map.l_addr ? pointer + map.l_addr : pointer);
}

// The number of dynamic symbols stands nowhere; the GNU hash table's last chain ends with the last one.
std::uint32_t count_symbols(const std::uint32_t *table) noexcept {
  const std::uint32_t buckets = table[0];
  const std::uint32_t first = table[1];
  const std::uint32_t *const bucket = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t *const chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

}  // namespace

bool open_real_driver(backend &found, process::message &why) noexcept {
  process::message tried;
  search looking(found, tried);
  if (search_in_order(looking)) return true;
  why << "no driver: " << soname << " is in no folder of LD_LIBRARY_PATH, /etc/ld.so.cache or the loader's defaults"
      << tried.view();
  return false;
}

bool open_driver_at(const char *file, backend &found, process::message &why) noexcept {
  found.handle = open_marked(file);
  found.file << file;
  if (found.handle != nullptr) return true;
  const char *const error = ::dlerror();
  why << "the driver library cannot be opened: " << (error == nullptr ? file : error);
  return false;
}

void find_place(backend &of) noexcept {
  link_map *map = nullptr;
  if (::dlinfo(of.handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return;
  struct question {
    const link_map *map;
    backend *of;
  } asked{map, &of};
  ::dl_iterate_phdr(
      [](dl_phdr_info *module, std::size_t, void *given) {
        const auto *const question_of = static_cast<question *>(given);
        // By its dynamic section, which is where the loader keeps it too.
        for (std::size_t i = 0; i < module->dlpi_phnum; ++i) {
          const ElfW(Phdr) &segment = module->dlpi_phdr[i];
          const bool same = segment.p_type == PT_DYNAMIC &&
                            module->dlpi_addr + segment.p_vaddr == reinterpret_cast<std::uintptr_t>(question_of->map->l_ld);
          if (!same) continue;
          backend &driver = *question_of->of;
          driver.low = UINTPTR_MAX;
          for (std::size_t k = 0; k < module->dlpi_phnum; ++k) {
            const ElfW(Phdr) &part = module->dlpi_phdr[k];
            if (part.p_type != PT_LOAD) continue;
            const std::uintptr_t at = module->dlpi_addr + part.p_vaddr;
            driver.low = at < driver.low ? at : driver.low;
            driver.high = at + part.p_memsz > driver.high ? at + part.p_memsz : driver.high;
          }
          return 1;
        }
        return 0;
      },
      &asked);
}

std::uint32_t count_uncovered(const backend &in, bool (*known)(const char *name)) noexcept {
  link_map *map = nullptr;
  if (::dlinfo(in.handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return 0;
  const char *strings = nullptr;
  const ElfW(Sym) *symbols = nullptr;
  const std::uint32_t *hash = nullptr;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = base_of(*map, entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym) *>(base_of(*map, entry->d_un.d_ptr));
    if (entry->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const std::uint32_t *>(base_of(*map, entry->d_un.d_ptr));
  }
  if (strings == nullptr || symbols == nullptr || hash == nullptr) return 0;
  std::uint32_t uncovered = 0;
  const std::uint32_t count = count_symbols(hash);
  for (std::uint32_t i = 0; i < count; ++i) {
    const ElfW(Sym) &symbol = symbols[i];
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const std::string_view name = strings + symbol.st_name;
    if (name.starts_with("cu") && !name.starts_with("cufault_") && !known(name.data())) ++uncovered;
  }
  return uncovered;
}

}  // namespace cufault::interpose
