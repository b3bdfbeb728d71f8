// The in-memory IR that clients hand over: every length in it may lie.
#include "graph/ir_buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/failure.hpp"
#include "support/expect.hpp"

namespace softnpu::ir_buffer_test {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes& bytes, T value) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

struct Header {
  uint16_t major = kDefaultCompiler.major;
  uint16_t minor = kDefaultCompiler.minor;
  uint32_t parts = 2;
  uint64_t xml_size = 5;
  uint64_t weights_size = 3;
};

Bytes buffer(const Header& header = {}) {
  Bytes bytes;
  put(bytes, header.major);
  put(bytes, header.minor);
  put(bytes, header.parts);
  put(bytes, header.xml_size);
  for (const char c : {'<', 'n', 'e', 't', '>'}) put(bytes, c);
  put(bytes, header.weights_size);
  for (const char c : {1, 2, 3}) put(bytes, c);
  return bytes;
}

ze_result_t result_of(const Bytes& bytes) {
  try {
    read_ir_buffer(bytes, kDefaultCompiler);
    return ZE_RESULT_SUCCESS;
  } catch (const Failure& failure) {
    return failure.result();
  }
}

TEST(IrBuffer, IsCutIntoXmlAndWeights) {
  const Bytes bytes = buffer();
  const IrBuffer ir = read_ir_buffer(bytes, kDefaultCompiler);
  EXPECT_EQ(ir.xml, "<net>");
  ASSERT_EQ(ir.weights.size(), 3u);
  EXPECT_EQ(ir.weights[2], std::byte{3});
}

TEST(IrBuffer, IsNotCopied) {
  const Bytes bytes = buffer();
  EXPECT_EQ(read_ir_buffer(bytes, kDefaultCompiler).weights.data() + 3,
            bytes.data() + bytes.size());
}

struct Row {
  const char* name;
  Header header;
  ze_result_t result;
};

class Headers : public testing::TestWithParam<Row> {};

/// As Intel's compiler 8.4 was asked.
TEST_P(Headers, AreTakenOrRefusedAsByIntels) {
  EXPECT_EQ(result_of(buffer(GetParam().header)), GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(
    IrBuffer, Headers,
    testing::Values(
        Row{"another_major", {.major = 6}, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        Row{"another_minor", {.minor = 99}, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        Row{"three_parts", {.parts = 3}, ZE_RESULT_SUCCESS},
        Row{"endless_xml", {.xml_size = UINT64_MAX}, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        Row{"xml_over_the_end", {.xml_size = 17}, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        Row{"endless_weights", {.weights_size = UINT64_MAX}, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        Row{"bytes_behind_the_weights", {.weights_size = 2}, ZE_RESULT_SUCCESS}),
    by_name);

}  // namespace
}  // namespace softnpu::ir_buffer_test
