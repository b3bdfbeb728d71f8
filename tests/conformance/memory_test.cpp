// Memory: rows 7 to 16, 18, 20 and 21 of the conformance list.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "fixture.hpp"

namespace conformance {
namespace {

using Allocate = ze_result_t (*)(size_t bytes, void** out, const void* next, size_t alignment);

struct Kind {
  const char* name;
  ze_memory_type_t type;
  Allocate allocate;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

const Kind kKinds[] = {
    {"host", ZE_MEMORY_TYPE_HOST,
     [](size_t bytes, void** out, const void* next, size_t alignment) {
       return allocate_host(bytes, out, next, 0, alignment);
     }},
    {"device", ZE_MEMORY_TYPE_DEVICE, allocate_device},
    {"shared", ZE_MEMORY_TYPE_SHARED, allocate_shared},
};

ze_memory_allocation_properties_t blank_properties(void* next = nullptr) {
  ze_memory_allocation_properties_t properties{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
  properties.pNext = next;
  return properties;
}

class MemoryKind : public NpuTest, public testing::WithParamInterface<Kind> {};

TEST_P(MemoryKind, RefusesSizeZero) {
  void* data = nullptr;
  EXPECT_EQ(GetParam().allocate(0, &data, nullptr, kPageBytes), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
}

TEST_P(MemoryKind, RefusesAnAlignmentThatIsNoPowerOfTwo) {
  void* data = nullptr;
  EXPECT_EQ(GetParam().allocate(kPageBytes, &data, nullptr, 3),
            ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
}

TEST_P(MemoryKind, RefusesANullResultPointer) {
  EXPECT_EQ(GetParam().allocate(kPageBytes, nullptr, nullptr, kPageBytes),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_P(MemoryKind, IsPageAlignedAndTheCpusToo) {
  void* data = nullptr;
  ASSERT_EQ(GetParam().allocate(5000, &data, nullptr, 0), ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kPageBytes, 0u);
  std::memset(data, 0x5a, 5000);
  EXPECT_EQ(memory.as<uint8_t>()[4999], 0x5a);
}

TEST_P(MemoryKind, TellsItsPropertiesFromAnInteriorPointer) {
  void* data = nullptr;
  ASSERT_EQ(GetParam().allocate(5000, &data, nullptr, 0), ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  auto base = blank_properties();
  auto inside = blank_properties();
  ze_device_handle_t device = nullptr;
  ASSERT_EQ(zeMemGetAllocProperties(npu().context, data, &base, &device), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeMemGetAllocProperties(npu().context, memory.as<uint8_t>() + 4999, &inside, &device),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(base.type, GetParam().type);
  EXPECT_EQ(base.pageSize, kPageBytes);
  EXPECT_GT(base.id, 0u);
  EXPECT_EQ(inside.id, base.id);
}

TEST_P(MemoryKind, TellsItsRequestedSize) {
  void* data = nullptr;
  ASSERT_EQ(GetParam().allocate(5000, &data, nullptr, 0), ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  void* base = nullptr;
  void* base_from_inside = nullptr;
  size_t size = 0;
  ASSERT_EQ(zeMemGetAddressRange(npu().context, data, &base, &size), ZE_RESULT_SUCCESS);
  EXPECT_EQ(size, 5000u);
  EXPECT_NE(base, nullptr);
  ASSERT_EQ(
      zeMemGetAddressRange(npu().context, memory.as<uint8_t>() + 100, &base_from_inside, nullptr),
      ZE_RESULT_SUCCESS);
  EXPECT_EQ(base_from_inside, base);
}

INSTANTIATE_TEST_SUITE_P(Memory, MemoryKind, testing::ValuesIn(kKinds),
                         [](const auto& row) { return std::string(row.param.name); });

class MemoryCalls : public NpuTest {};

TEST_F(MemoryCalls, RefuseANullDescription) {
  void* data = nullptr;
  EXPECT_EQ(zeMemAllocHost(npu().context, nullptr, kPageBytes, kPageBytes, &data),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(zeMemAllocDevice(npu().context, nullptr, kPageBytes, kPageBytes, npu().device, &data),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(MemoryCalls, RefuseANullContext) {
  if (handles_are_wrapped()) {
    GTEST_SKIP() << "the loader reads through null itself";
  }
  void* data = nullptr;
  ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  EXPECT_EQ(zeMemAllocHost(nullptr, &desc, kPageBytes, kPageBytes, &data),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(MemoryCalls, KnowNothingOfOrdinaryMemory) {
  int local = 0;
  auto properties = blank_properties();
  ze_device_handle_t device = nullptr;
  EXPECT_EQ(zeMemGetAllocProperties(npu().context, &local, &properties, &device),
            ZE_RESULT_ERROR_NOT_AVAILABLE);
}

TEST_F(MemoryCalls, KnowNothingOfAnotherContextsMemory) {
  const Npu other;
  const Memory memory = other.host_memory(kPageBytes);
  auto properties = blank_properties();
  ze_device_handle_t device = nullptr;
  EXPECT_EQ(zeMemGetAllocProperties(npu().context, memory.as<>(), &properties, &device),
            ZE_RESULT_ERROR_NOT_AVAILABLE);
  EXPECT_EQ(zeMemGetAllocProperties(other.context, memory.as<>(), &properties, &device),
            ZE_RESULT_SUCCESS);
}

TEST_F(MemoryCalls, FreeOnlyABasePointer) {
  const Memory memory = host_memory(2 * kPageBytes);
  int local = 0;
  EXPECT_EQ(zeMemFree(npu().context, memory.as<uint8_t>() + kPageBytes),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeMemFree(npu().context, &local), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeMemFree(npu().context, nullptr), parameter_validation()
                                                   ? ZE_RESULT_ERROR_INVALID_NULL_POINTER
                                                   : ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(MemoryCalls, HaveNoUncachedMemory) {
  void* data = nullptr;
  EXPECT_EQ(allocate_host(kPageBytes, &data, nullptr, ZE_HOST_MEM_ALLOC_FLAG_BIAS_UNCACHED),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_F(MemoryCalls, HaveWriteCombinedMemory) {
  void* data = nullptr;
  ASSERT_EQ(allocate_host(kPageBytes, &data, nullptr, ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(Memory(npu().context, data).free(), ZE_RESULT_SUCCESS);
}

TEST_F(MemoryCalls, HaveNoIpcHandles) {
  const Memory memory = host_memory(kPageBytes);
  ze_ipc_mem_handle_t handle{};
  EXPECT_EQ(zeMemGetIpcHandle(npu().context, memory.as<>(), &handle),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(MemoryCalls, CountWhatAContextHolds) {
  ze_graph_memory_query_t before{};
  ze_graph_memory_query_t after{};
  ASSERT_EQ(npu().graph->pfnQueryContextMemory(npu().context, ZE_GRAPH_QUERY_MEMORY_DDR, &before),
            ZE_RESULT_SUCCESS);
  const Memory memory = host_memory(16 * kPageBytes);
  ASSERT_EQ(npu().graph->pfnQueryContextMemory(npu().context, ZE_GRAPH_QUERY_MEMORY_DDR, &after),
            ZE_RESULT_SUCCESS);
  EXPECT_GE(after.allocated, before.allocated + 16 * kPageBytes);
  EXPECT_GT(after.total, after.allocated);
}

TEST_F(MemoryCalls, RefuseAnUnknownMemoryQuery) {
  ze_graph_memory_query_t query{};
  EXPECT_EQ(npu().graph->pfnQueryContextMemory(
                npu().context, static_cast<ze_graph_memory_query_type_t>(99), &query),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

// --- DMA-BUF import. A real driver takes only a DMA-BUF; the software NPU takes a memfd in its
// place when SOFTNPU_ALLOW_MEMFD=1, which the suite is run with.

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close_now(); }
  void close_now() {
    if (fd_ >= 0) {
      close(fd_);
    }
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// A DMA-heap buffer where the process may have one, else a memfd.
int shareable_buffer(size_t bytes) {
  const int fd = memfd_create("conformance", MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0) return fd;
  return -1;
}

class Mapping {
 public:
  Mapping(int fd, size_t bytes)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != MAP_FAILED) {
      munmap(data_, bytes_);
    }
  }
  uint8_t* data() const { return data_ == MAP_FAILED ? nullptr : static_cast<uint8_t*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

ze_external_memory_import_fd_t import_desc(
    int fd, ze_external_memory_type_flags_t flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) {
  return {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr, flags, fd};
}

class Import : public NpuTest, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    NpuTest::SetUp();
    if (!npu().is_software()) {
      GTEST_SKIP() << "needs a real DMA-BUF";
    }
  }
};

TEST_P(Import, SharesBytesBothWays) {
  const Fd fd(shareable_buffer(3 * kPageBytes));
  const Mapping mapping(fd.get(), 3 * kPageBytes);
  const auto desc = import_desc(fd.get());
  void* data = nullptr;
  ASSERT_EQ(GetParam().allocate(3 * kPageBytes, &data, &desc, kPageBytes), ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  mapping.data()[5000] = 17;
  EXPECT_EQ(memory.as<uint8_t>()[5000], 17);
  memory.as<uint8_t>()[9000] = 23;
  EXPECT_EQ(mapping.data()[9000], 23);
}

TEST_P(Import, LeavesTheDescriptorToTheCaller) {
  Fd fd(shareable_buffer(kPageBytes));
  const Mapping mapping(fd.get(), kPageBytes);
  const auto desc = import_desc(fd.get());
  void* data = nullptr;
  ASSERT_EQ(GetParam().allocate(kPageBytes, &data, &desc, kPageBytes), ZE_RESULT_SUCCESS);
  Memory memory(npu().context, data);
  EXPECT_NE(fcntl(fd.get(), F_GETFD), -1);
  fd.close_now();
  mapping.data()[1] = 9;
  EXPECT_EQ(memory.as<uint8_t>()[1], 9) << "the import died with the caller's descriptor";
}

TEST_P(Import, HasTheBuffersOwnSizeWhateverTheCallerSays) {
  const Fd fd(shareable_buffer(3 * kPageBytes));
  const auto desc = import_desc(fd.get());
  void* data = nullptr;
  ASSERT_EQ(GetParam().allocate(100, &data, &desc, kPageBytes), ZE_RESULT_SUCCESS);
  const Memory memory(npu().context, data);
  size_t size = 0;
  ASSERT_EQ(zeMemGetAddressRange(npu().context, data, nullptr, &size), ZE_RESULT_SUCCESS);
  EXPECT_EQ(size, 3 * kPageBytes);
}

TEST_P(Import, RefusesAnotherKindOfHandle) {
  const Fd fd(shareable_buffer(kPageBytes));
  const auto desc = import_desc(fd.get(), ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD);
  void* data = nullptr;
  EXPECT_EQ(GetParam().allocate(kPageBytes, &data, &desc, kPageBytes),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_P(Import, RefusesADescriptorThatIsNotOpen) {
  Fd fd(shareable_buffer(kPageBytes));
  const auto desc = import_desc(fd.get());
  fd.close_now();
  void* data = nullptr;
  EXPECT_EQ(GetParam().allocate(kPageBytes, &data, &desc, kPageBytes),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_P(Import, RefusesADescriptorThatCannotBeABuffer) {
  const Fd fd(open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto desc = import_desc(fd.get());
  void* data = nullptr;
  EXPECT_EQ(GetParam().allocate(kPageBytes, &data, &desc, kPageBytes),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

// The kernel has one handle for both. Whoever uses the driver prevents this (npucore does).
TEST_P(Import, ASecondTimeLosesBothForTheDeviceOnceOneIsFreed) {
  const Fd fd(shareable_buffer(kPageBytes));
  const auto desc = import_desc(fd.get());
  void* data[2] = {};
  ASSERT_EQ(GetParam().allocate(kPageBytes, &data[0], &desc, kPageBytes), ZE_RESULT_SUCCESS);
  const Memory first(npu().context, data[0]);
  ASSERT_EQ(GetParam().allocate(kPageBytes, &data[1], &desc, kPageBytes), ZE_RESULT_SUCCESS);
  Memory second(npu().context, data[1]);
  const Memory target = host_memory(kPageBytes);
  const List list = make_list();
  ASSERT_EQ(zeCommandListAppendMemoryCopy(list.get(), target.as<>(), first.as<>(), 16, nullptr, 0,
                                          nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(make_queue(), list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(second.free(), ZE_RESULT_SUCCESS);
  EXPECT_EQ(run(make_queue(), list), ZE_RESULT_ERROR_UNKNOWN);
}

INSTANTIATE_TEST_SUITE_P(Memory, Import, testing::ValuesIn(kKinds),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ImportInAFreshProcess, RefusesAMemfdUnlessTestsAskForIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        unsetenv("SOFTNPU_ALLOW_MEMFD");
        const Fd fd(shareable_buffer(kPageBytes));
        const auto desc = import_desc(fd.get());
        void* data = nullptr;
        std::_Exit(allocate_device(kPageBytes, &data, &desc) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY
                       ? 0
                       : 1);
      },
      testing::ExitedWithCode(0), "");
}

// --- Export

class Export : public NpuTest {
 protected:
  Memory exportable(size_t bytes) {
    ze_external_memory_export_desc_t desc{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                          ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    void* data = nullptr;
    EXPECT_EQ(allocate_host(bytes, &data, &desc), ZE_RESULT_SUCCESS);
    return Memory(npu().context, data);
  }
  // The result of asking for a descriptor.
  ze_result_t export_fd(const Memory& memory, int* fd) {
    ze_external_memory_export_fd_t request{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr,
                                           ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF, -1};
    auto properties = blank_properties(&request);
    ze_device_handle_t device = nullptr;
    const ze_result_t result =
        zeMemGetAllocProperties(npu().context, memory.as<>(), &properties, &device);
    *fd = request.fd;
    return result;
  }
};

TEST_F(Export, GivesADescriptorOfWholePages) {
  const Memory memory = exportable(5000);
  int raw = -1;
  ASSERT_EQ(export_fd(memory, &raw), ZE_RESULT_SUCCESS);
  const Fd fd(raw);
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_END), static_cast<off_t>(2 * kPageBytes));
}

TEST_F(Export, SharesBytesBothWays) {
  const Memory memory = exportable(kPageBytes);
  int raw = -1;
  ASSERT_EQ(export_fd(memory, &raw), ZE_RESULT_SUCCESS);
  const Fd fd(raw);
  const Mapping mapping(fd.get(), kPageBytes);
  ASSERT_NE(mapping.data(), nullptr);
  memory.as<uint8_t>()[7] = 41;
  EXPECT_EQ(mapping.data()[7], 41);
  mapping.data()[8] = 42;
  EXPECT_EQ(memory.as<uint8_t>()[8], 42);
}

TEST_F(Export, GivesANewDescriptorEachTime) {
  const Memory memory = exportable(kPageBytes);
  int first = -1;
  int second = -1;
  ASSERT_EQ(export_fd(memory, &first), ZE_RESULT_SUCCESS);
  const Fd first_fd(first);
  ASSERT_EQ(export_fd(memory, &second), ZE_RESULT_SUCCESS);
  const Fd second_fd(second);
  EXPECT_NE(first, second);
}

TEST_F(Export, NeedsMemoryThatWasMadeForIt) {
  const Memory memory = host_memory(kPageBytes);
  int fd = -1;
  EXPECT_EQ(export_fd(memory, &fd), ZE_RESULT_ERROR_NOT_AVAILABLE);
}

}  // namespace
}  // namespace conformance
