// Imports while the process runs out of memory, at each of their allocations in turn: a clean
// error, nothing left behind, and the next import works.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <npucore/importer.hpp>
#include <npucore/tensor.hpp>

#include "support/test_dmabuf.hpp"

#include "support.hpp"

namespace {

/// Allocations of this thread until the one that fails; 0: none does.
thread_local int until_failure = 0;

}  // namespace

// Each form of new that delete below may be given memory of.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (until_failure > 0 && --until_failure == 0) return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  void* memory = ::operator new(size, std::nothrow);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace npu::test {
namespace {

constexpr std::size_t kBytes = 4096;

/// Memory to import.
struct Source {
  Device& device;
  Importer importer{device};
  int fd = make_dmabuf(kBytes);
  void* pages = std::aligned_alloc(kBytes, kBytes);

  ~Source() {
    std::free(pages);
    ::close(fd);
  }
};

struct ImportCall : Named {
  void (*run)(Source&);
};

constexpr ImportCall kCalls[] = {
    {"Dmabuf", [](Source& source) { source.importer.import(source.fd); }},
    {"Keep", [](Source& source) { source.importer.keep(source.fd); }},
    {"KeptTensor", [](Source& source) { source.importer.keep(source.fd).tensor(); }},
    {"HostMemory",
     [](Source& source) {
       Tensor::import_host(source.device, {source.pages, kBytes}, MemoryUse::kInput);
     }},
};

class NoMemory : public OnSoftwareNpu, public testing::WithParamInterface<ImportCall> {};

TEST_P(NoMemory, FailsCleanly) {
  Source source{device_};
  const auto run = GetParam().run;
  run(source);  // what is made once is made
  int failures = 0;
  bool reached = true;
  for (int nth = 1; reached; ++nth) {
    until_failure = nth;
    try {
      run(source);
    } catch (const std::exception&) {
      ++failures;
    }
    reached = until_failure == 0;
    until_failure = 0;
    EXPECT_EQ(source.importer.stats().live, 0u) << "after failure of allocation " << nth;
    EXPECT_NO_THROW(run(source)) << "after failure of allocation " << nth;
  }
  EXPECT_GE(failures, 2) << "neither the entry nor its owner was refused memory";
}

INSTANTIATE_TEST_SUITE_P(Imports, NoMemory, testing::ValuesIn(kCalls), by_name);

}  // namespace
}  // namespace npu::test
