// An auditor of the dynamic linker (LD_AUDIT): counts the calls of exported functions that go from
// the plugin into npucore, from when the process opens a library of the name kCallAuditBegin until
// it opens kCallAuditEnd. Neither exists: the linker tells its auditors what it looks for. When the
// process ends it writes a line "COUNT SYMBOL" for each to the file that CALL_AUDIT names.
#include "call_audit.hpp"

#include <link.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum : std::uintptr_t { kOther = 1, kPlugin, kLibrary };

struct Counter {
  std::atomic<const char*> symbol{nullptr};
  std::atomic<std::uint64_t> calls{0};
};
std::array<Counter, 1024> counters;
std::atomic<bool> counting{false};

void count(const char* symbol) {
  if (!counting) return;
  for (Counter& counter : counters) {
    const char* none = nullptr;
    const bool is_new = counter.symbol.compare_exchange_strong(none, symbol);
    if (!is_new && std::strcmp(none, symbol) != 0) continue;
    ++counter.calls;
    return;
  }
}

// The linker never ends its auditors, but it does run their destructors.
struct Report {
  ~Report() {
    const char* path = std::getenv("CALL_AUDIT");
    std::FILE* file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return;
    for (const Counter& counter : counters) {
      if (!counter.symbol.load()) break;
      std::fprintf(file, "%llu %s\n", static_cast<unsigned long long>(counter.calls.load()),
                   counter.symbol.load());
    }
    std::fclose(file);
  }
} report;

}  // namespace

extern "C" {

unsigned int la_version(unsigned int) {
  return LAV_CURRENT;
}

char* la_objsearch(const char* name, std::uintptr_t*, unsigned int) {
  if (std::strcmp(name, kCallAuditBegin) == 0) {
    counting = true;
  }
  if (std::strcmp(name, kCallAuditEnd) == 0) {
    counting = false;
  }
  return const_cast<char*>(name);
}

unsigned int la_objopen(struct link_map* map, Lmid_t, std::uintptr_t* cookie) {
  if (std::strstr(map->l_name, "/libgstnpu.so")) {
    *cookie = kPlugin;
    return LA_FLG_BINDFROM;
  }
  if (std::strstr(map->l_name, "/libnpucore.so")) {
    *cookie = kLibrary;
    return LA_FLG_BINDTO;
  }
  *cookie = kOther;
  return 0;
}

std::uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned int, std::uintptr_t* from,
                            std::uintptr_t* to, unsigned int* flags, const char*) {
  *flags |= LA_SYMB_NOPLTEXIT;
  if (*from != kPlugin || *to != kLibrary) {
    *flags |= LA_SYMB_NOPLTENTER;
  }
  return symbol->st_value;
}

Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym* symbol, unsigned int, std::uintptr_t*, std::uintptr_t*,
                                  La_x86_64_regs*, unsigned int*, const char* name, long int*) {
  count(name);
  return symbol->st_value;
}
}
