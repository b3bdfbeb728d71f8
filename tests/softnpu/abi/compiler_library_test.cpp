// The software NPU's compiler as a library, which COMPILER_LIBRARY names, called as Intel's is.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <npu_vcl/library.hpp>

#include "client.hpp"

namespace softnpu_test {
namespace {

namespace vcl = npu_vcl::abi;

class CompilerLibrary : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(library_, nullptr) << ::dlerror();
    vcl::CompilerDesc about_us{{vcl::kMajor, 0}, 0};
    vcl::DeviceDesc device{sizeof(vcl::DeviceDesc), 0x643e, vcl::kNoRevision, 6};
    vcl::Log log = nullptr;
    ASSERT_EQ(entry<vcl::CompilerCreate>("vclCompilerCreate")(&about_us, &device, &compiler_, &log),
              vcl::kSuccess);
  }
  void TearDown() override { entry<vcl::CompilerDestroy>("vclCompilerDestroy")(compiler_); }

  template <class Function>
  Function entry(const char* name) const {
    return reinterpret_cast<Function>(::dlsym(library_, name));
  }
  vcl::Result compile(const std::string& options) const {
    const std::string ir = sample_buffer();
    const vcl::ModelDesc model{reinterpret_cast<const std::uint8_t*>(ir.data()), ir.size(),
                               options.data(), options.size()};
    vcl::Executable executable = nullptr;
    const auto result =
        entry<vcl::ExecutableCreate>("vclExecutableCreate")(compiler_, model, &executable);
    if (executable != nullptr) {
      entry<vcl::ExecutableDestroy>("vclExecutableDestroy")(executable);
    }
    return result;
  }

  void* const library_ = ::dlopen(std::getenv("COMPILER_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  vcl::Compiler compiler_ = nullptr;
};

/// Whoever counts the terminating zero, as a C string's size.
TEST_F(CompilerLibrary, RefusesABlankBetweenTheLastOptionAndTheZero) {
  const std::string option = "--config PERF_COUNT=\"NO\"", zero(1, '\0');
  EXPECT_EQ(compile(option), vcl::kSuccess);
  EXPECT_EQ(compile(option + ' '), vcl::kSuccess);
  EXPECT_EQ(compile(option + zero), vcl::kSuccess);
  EXPECT_EQ(compile(' ' + zero), vcl::kSuccess);
  EXPECT_EQ(compile(option + ' ' + zero), vcl::kInvalidArgument);
}

/// The library keeps what it wrote about earlier models.
TEST(CompilerLog, IsOfTheLastModelAlone) {
  const npu_vcl::Library library(std::getenv("COMPILER_LIBRARY"));
  npu_vcl::Compiler compiler(library, {0x643e, vcl::kNoRevision, 6}, 1);
  const std::string buffer = sample_buffer();
  const std::span ir(reinterpret_cast<const std::uint8_t*>(buffer.data()), buffer.size());
  EXPECT_THROW(compiler.compile(ir, "--config NO_SUCH=\"1\""), npu_vcl::Failure);
  EXPECT_TRUE(has(compiler.log(), "NO_SUCH"));
  try {
    compiler.compile(ir, "--config ANOTHER=\"1\"");
    ADD_FAILURE() << "it was taken";
  } catch (const npu_vcl::Failure& failure) {
    EXPECT_TRUE(has(failure.log(), "ANOTHER"));
    EXPECT_FALSE(has(failure.log(), "NO_SUCH"));
  }
  compiler.query(ir, "");
  EXPECT_EQ(compiler.log(), "");
}

}  // namespace
}  // namespace softnpu_test
