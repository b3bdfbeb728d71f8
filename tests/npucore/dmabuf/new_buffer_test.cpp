// DMA-BUFs of the kernel's devices: what is told where there are none. tests/vm has real devices.
#include "dmabuf/new_buffer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.hpp"

namespace npu::test {
namespace {

using dmabuf::NewBuffer;
using Maker = NewBuffer (*)(std::size_t, const char*);

struct Row {
  const char* name;
  Maker make;
  const char* module;  ///< in the cure for a kernel without it
  const char* call;
};

class NewBuffers : public testing::TestWithParam<Row> {
 protected:
  NewBuffer make(const std::string& device) { return GetParam().make(5000, device.c_str()); }
};

TEST_P(NewBuffers, TellWhatTheKernelLacks) {
  const NewBuffer made = make("/nowhere/device");
  EXPECT_FALSE(made.fd);
  EXPECT_EQ(made.why_not, "there is no /nowhere/device");
  EXPECT_TRUE(has(made.cure, GetParam().module));
}

/// Gives up the rights of root, which opens everything.
class AsNobody {
 public:
  AsNobody() : user_(::geteuid()) {
    if (user_ == 0) {
      is_done_ = ::seteuid(65534) == 0;
    }
  }
  ~AsNobody() {
    if (is_done_) {
      static_cast<void>(!::seteuid(user_));
    }
  }

 private:
  uid_t user_;
  bool is_done_ = false;
};

TEST_P(NewBuffers, TellWhoMayNotOpenADevice) {
  const TempDir dir;
  const std::string device = dir.write("device", "").string();
  ASSERT_EQ(::chmod(device.c_str(), 0), 0);
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  const AsNobody nobody;
  const NewBuffer made = make(device);
  EXPECT_FALSE(made.fd);
  EXPECT_TRUE(has(made.why_not, "cannot be opened: Permission denied"));
  EXPECT_TRUE(has(made.cure, "group"));
}

TEST_P(NewBuffers, TellTheCallThatFailedAndItsBytes) {
  const NewBuffer made = make("/dev/null");
  EXPECT_FALSE(made.fd);
  EXPECT_TRUE(has(made.why_not, std::string(GetParam().call) + " of 8192 bytes on /dev/null"));
}

TEST_P(NewBuffers, ThatFailLeaveNothingOpen) {
  const std::size_t before = count_open_fds();
  make("/dev/null");
  make("/nowhere/device");
  EXPECT_EQ(count_open_fds(), before);
}

INSTANTIATE_TEST_SUITE_P(All, NewBuffers,
                         testing::Values(Row{"udmabuf", dmabuf::new_udmabuf, "CONFIG_UDMABUF",
                                             "UDMABUF_CREATE"},
                                         Row{"heap", dmabuf::new_heap_buffer,
                                             "CONFIG_DMABUF_HEAPS_SYSTEM", "DMA_HEAP_IOCTL_ALLOC"}),
                         by_name);

}  // namespace
}  // namespace npu::test
