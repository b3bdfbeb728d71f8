// The process's own pages as device memory: ZE_extension_external_memmap_sysmem.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fixture.hpp"

namespace conformance {
namespace {

// Anonymous pages of the process.
class Pages {
 public:
  explicit Pages(size_t count, int protection = PROT_READ | PROT_WRITE)
      : bytes_(count * kPageBytes),
        data_(mmap(nullptr, bytes_, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(data_, bytes_); }
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  void* data_;
};

ze_result_t import(void* memory, size_t bytes, void** out, ze_host_mem_alloc_flags_t flags = 0,
                   ze_context_handle_t context = npu().context) {
  const ze_npu_core_external_memmap_sysmem_ext_desc_t desc{
      kZeNpuCoreStypeExternalMemmapSysmemExtDesc, nullptr, memory, bytes};
  return allocate_host(bytes, out, &desc, flags, kPageBytes, context);
}

ze_memory_allocation_properties_t properties_of(const void* pointer, ze_result_t* result) {
  ze_memory_allocation_properties_t properties{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
  *result = zeMemGetAllocProperties(npu().context, pointer, &properties, nullptr);
  return properties;
}

bool refused(ze_result_t result) {
  return result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY ||
         result == ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

bool available() {
  return npu().advertises(ZE_NPU_CORE_EXTERNAL_MEMMAP_SYSMEM_EXT_NAME);
}

class SystemMemory : public NpuTest {
 protected:
  void SetUp() override {
    NpuTest::SetUp();
    if (!available()) {
      GTEST_SKIP() << "no import of system memory";
    }
  }
};

class NoSystemMemory : public NpuTest {};

TEST_F(NoSystemMemory, IsAnUnsupportedFeature) {
  if (available()) {
    GTEST_SKIP() << "imports system memory";
  }
  const Pages pages(1);
  void* data = nullptr;
  EXPECT_EQ(import(pages.data(), pages.bytes(), &data), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(SystemMemory, KeepsItsAddress) {
  const Pages pages(2);
  void* data = nullptr;
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data), ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  EXPECT_EQ(data, pages.data());
}

TEST_F(SystemMemory, IsHostMemoryUntilItIsFreed) {
  const Pages pages(2);
  void* data = nullptr;
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data), ZE_RESULT_SUCCESS);
  Memory memory(npu().context, data);
  ze_result_t result = ZE_RESULT_SUCCESS;
  const auto properties = properties_of(pages.data() + kPageBytes + 7, &result);
  ASSERT_EQ(result, ZE_RESULT_SUCCESS);
  // Newer specifications have a type of its own for it.
  EXPECT_TRUE(properties.type == ZE_MEMORY_TYPE_HOST || properties.type > ZE_MEMORY_TYPE_SHARED);
  EXPECT_NE(properties.id, 0u);
  ASSERT_EQ(memory.free(), ZE_RESULT_SUCCESS);
  properties_of(pages.data(), &result);
  EXPECT_EQ(result, ZE_RESULT_ERROR_NOT_AVAILABLE);
}

TEST_F(SystemMemory, StaysTheProcesses) {
  const Pages pages(1);
  std::memset(pages.data(), 0x5a, kPageBytes);
  void* data = nullptr;
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeMemFree(npu().context, data), ZE_RESULT_SUCCESS);
  EXPECT_EQ(pages.data()[0], 0x5a);
  EXPECT_EQ(pages.data()[kPageBytes - 1], 0x5a);
  pages.data()[0] = 0;
}

TEST_F(SystemMemory, CoversThePagesThatItsRangeTouches) {
  const Pages pages(2);
  void* data = nullptr;
  const ze_result_t imported = import(pages.data() + 100, kPageBytes, &data);
  if (refused(imported)) {
    GTEST_SKIP() << "takes whole pages only";
  }
  ASSERT_EQ(imported, ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  EXPECT_EQ(data, pages.data() + 100);
  ze_result_t result = ZE_RESULT_SUCCESS;
  properties_of(pages.data(), &result);
  EXPECT_EQ(result, ZE_RESULT_SUCCESS);
  properties_of(pages.data() + pages.bytes() - 1, &result);
  EXPECT_EQ(result, ZE_RESULT_SUCCESS);
}

TEST_F(SystemMemory, RefusesNullAndNothing) {
  const Pages pages(1);
  void* data = nullptr;
  EXPECT_EQ(import(nullptr, kPageBytes, &data), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const ze_npu_core_external_memmap_sysmem_ext_desc_t nothing{
      kZeNpuCoreStypeExternalMemmapSysmemExtDesc, nullptr, pages.data(), 0};
  EXPECT_EQ(allocate_host(kPageBytes, &data, &nothing), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
}

TEST_F(SystemMemory, RefusesWhatTheContextAlreadyHas) {
  const Pages pages(2);
  void* data = nullptr;
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data), ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  void* again = nullptr;
  EXPECT_EQ(import(pages.data(), pages.bytes(), &again), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(import(pages.data() + kPageBytes, kPageBytes, &again),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const Memory own = host_memory(kPageBytes);
  EXPECT_EQ(import(own.as<>(), kPageBytes, &again), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(SystemMemory, RefusesWhatIsNotMapped) {
  void* hole = nullptr;
  {
    const Pages pages(1);
    hole = pages.data();
  }
  void* data = nullptr;
  EXPECT_TRUE(refused(import(hole, kPageBytes, &data)));
}

TEST_F(SystemMemory, NeedsTheReadOnlyFlagForReadOnlyPages) {
  const Pages pages(1, PROT_READ);
  void* data = nullptr;
  EXPECT_TRUE(refused(import(pages.data(), pages.bytes(), &data)));
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data, ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemFree(npu().context, data), ZE_RESULT_SUCCESS);
}

TEST_F(SystemMemory, TakesTheNewerReadOnlyFlagToo) {
  if (!npu().is_software()) {
    GTEST_SKIP() << "not known to every driver";
  }
  if (parameter_validation()) {
    GTEST_SKIP() << "not known to the loader's validation";
  }
  const Pages pages(1, PROT_READ);
  void* data = nullptr;
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data, kZeNpuCoreHostMemAllocFlagMemReadOnly),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemFree(npu().context, data), ZE_RESULT_SUCCESS);
}

TEST_F(SystemMemory, FeedsAndTakesAnInference) {
  const AddRelu reference;
  const Pages pages(2);
  void* data = nullptr;
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data), ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  auto* const y = reinterpret_cast<float*>(pages.data() + kPageBytes);
  std::memcpy(pages.data(), reference.x.as<>(), kAddReluBytes);
  ASSERT_EQ(set_arguments(reference.graph, {pages.data(), y}), ZE_RESULT_SUCCESS);
  const List list = make_list();
  ASSERT_EQ(append(list, reference.graph), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(make_queue(), list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::vector<float>(y, y + kAddReluElements), reference.expected());
}

// New pages at the addresses of those that were imported.
void replace(const Pages& pages, float value) {
  ASSERT_EQ(munmap(pages.data(), pages.bytes()), 0);
  void* const anew = mmap(pages.data(), pages.bytes(), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ASSERT_EQ(anew, pages.data());
  auto* const values = reinterpret_cast<float*>(pages.data());
  std::fill(values, values + kAddReluElements, value);
}

// The software NPU pins pages only where it can watch them.
bool can_pin() {
  const int fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
  if (fd >= 0) {
    close(fd);
  }
  return fd >= 0 || !npu().is_software();
}

TEST_F(SystemMemory, IsThePagesOfTheImportUntilItIsImportedAnew) {
  if (!can_pin()) {
    GTEST_SKIP() << "no userfaultfd";
  }
  const AddRelu reference;
  const Pages pages(2);
  const Memory y = host_memory(kPageBytes);
  std::memcpy(pages.data(), reference.x.as<>(), kAddReluBytes);
  void* data = nullptr;
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data), ZE_RESULT_SUCCESS);
  Memory memory(npu().context, data);
  ASSERT_EQ(set_arguments(reference.graph, {pages.data(), y.as<>()}), ZE_RESULT_SUCCESS);
  const Queue queue = make_queue();
  const auto results = [&] {
    const List list = make_list();
    EXPECT_EQ(append(list, reference.graph), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
    EXPECT_EQ(run(queue, list), ZE_RESULT_SUCCESS);
    return std::vector<float>(y.as<float>(), y.as<float>() + kAddReluElements);
  };
  EXPECT_EQ(results(), reference.expected());
  const std::vector<float> before = reference.expected();
  replace(pages, 1e6f);
  EXPECT_EQ(results(), before) << "the device reads what is mapped now";
  ASSERT_EQ(memory.free(), ZE_RESULT_SUCCESS);
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data), ZE_RESULT_SUCCESS);
  memory = Memory(npu().context, data);
  EXPECT_NE(results(), before) << "imported anew, the device reads what was";
}

TEST_F(SystemMemory, TakesResultsIntoThePagesOfTheImport) {
  if (!can_pin()) {
    GTEST_SKIP() << "no userfaultfd";
  }
  const AddRelu reference;
  const Pages pages(1);
  void* data = nullptr;
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data), ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  ASSERT_EQ(set_arguments(reference.graph, {reference.x.as<>(), pages.data()}), ZE_RESULT_SUCCESS);
  const List list = make_list();
  ASSERT_EQ(append(list, reference.graph), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
  replace(pages, -1.0f);
  ASSERT_EQ(run(make_queue(), list), ZE_RESULT_SUCCESS);
  const auto* const values = reinterpret_cast<const float*>(pages.data());
  EXPECT_EQ(std::vector<float>(values, values + kAddReluElements),
            std::vector<float>(kAddReluElements, -1.0f));
}

// A device that writes where it may not gets an MMU fault, and the context is lost. Not done to
// real hardware.
TEST_F(SystemMemory, ThatIsReadOnlyMustNotBeWrittenTo) {
  if (!npu().is_software()) {
    GTEST_SKIP() << "would fault a real device";
  }
  const Pages pages(2, PROT_READ);
  const Npu other;
  void* data = nullptr;
  ASSERT_EQ(import(pages.data(), pages.bytes(), &data, ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED,
                   other.context),
            ZE_RESULT_SUCCESS);
  const Memory memory(other.context, data);
  const Queue queue = other.make_queue();
  const List list = other.make_list();
  ASSERT_EQ(zeCommandListAppendMemoryCopy(list.get(), pages.data(), pages.data() + kPageBytes, 16,
                                          nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(run(queue, list), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(run(queue, list), ZE_RESULT_ERROR_UNKNOWN);
}

}  // namespace
}  // namespace conformance
