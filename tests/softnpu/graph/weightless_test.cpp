// The in-memory IR whose weights come by address: every length and every address in it may lie.
#include "graph/weightless.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "graph/ir_buffer.hpp"
#include "support/expect.hpp"

namespace softnpu::weightless_test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr float kValues[4] = {1, 2, 3, 4};

std::string pointer_to(const void* address, size_t size) {
  return "<attribute name=\"WeightsPointerAttribute\" version=\"0\" mp=\"" +
         std::to_string(reinterpret_cast<uintptr_t>(address)) + "\" ms=\"" + std::to_string(size) +
         "\" />";
}

std::string constant(const std::string& data, const std::string& attribute) {
  return "<layer id=\"1\" name=\"c\" type=\"Const\" version=\"opset1\"><data " + data + "/>" +
         (attribute.empty() ? "" : "<rt_info>" + attribute + "</rt_info>") + "</layer>";
}

std::string by_address(const std::string& attribute) {
  return constant("element_type=\"f32\" shape=\"1, 4\" offset=\"0\" size=\"0\"", attribute);
}

std::string model_of(const std::string& layers) {
  return "<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\"><layers>" + layers +
         "</layers></net>\n";
}

struct Header {
  uint64_t custom_offset = 48, custom_size = 4;
  uint64_t constants_offset = 52, constants_size;
  uint64_t model_offset, model_size;
};

Header header_for(const std::string& constants, const std::string& xml) {
  return {48, 4, 52, constants.size(), 52 + constants.size(), xml.size()};
}

Bytes buffer_of(const Header& header, const std::string& constants, const std::string& xml,
                CompilerVersion version = kDefaultCompiler) {
  std::string text(reinterpret_cast<const char*>(&header), sizeof header);
  text.append(reinterpret_cast<const char*>(&version.major), 2);
  text.append(reinterpret_cast<const char*>(&version.minor), 2);
  text += constants + xml;
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

Bytes buffer_of(const std::string& constants, const std::string& xml) {
  return buffer_of(header_for(constants, xml), constants, xml);
}

Bytes all_of(const Weights& weights) {
  Bytes bytes(weights.size_bytes());
  weights.copy_to(bytes.data());
  return bytes;
}

// The reader's result; its message in `told`.
ze_result_t result_of(const Bytes& buffer, std::string* told = nullptr) {
  try {
    const WeightlessIr ir = read_weightless(buffer, kDefaultCompiler);
    all_of(ir.weights);
    return ZE_RESULT_SUCCESS;
  } catch (const Failure& failure) {
    if (told != nullptr) {
      *told = failure.what();
    }
    return failure.result();
  }
}

struct Spelling {
  const char* name;
  std::string (*attribute)(const std::string& address);
};

class Spellings : public testing::TestWithParam<Spelling> {};

TEST_P(Spellings, AreAllRead) {
  const std::string address = std::to_string(reinterpret_cast<uintptr_t>(kValues));
  const Bytes buffer = buffer_of("", model_of(by_address(GetParam().attribute(address))));
  const WeightlessIr ir = read_weightless(buffer, kDefaultCompiler);
  EXPECT_TRUE(has(ir.xml, "offset=\"0\" size=\"16\""));
  EXPECT_FALSE(has(ir.xml, "WeightsPointerAttribute"));
  const Bytes weights = all_of(ir.weights);
  ASSERT_EQ(weights.size(), sizeof kValues);
  EXPECT_EQ(std::memcmp(weights.data(), kValues, sizeof kValues), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Weightless, Spellings,
    testing::Values(
        Spelling{"from_a_file",
                 [](const std::string& a) {
                   return "<attribute name=\"WeightsPointerAttribute\" version=\"0\" mp=\"" + a +
                          "\" ms=\"16\" />";
                 }},
        Spelling{"from_memory",
                 [](const std::string& a) {
                   return "<attribute name=\"WeightsPointerAttribute\" mp=\"" + a +
                          "\" ms=\"16\" />";
                 }},
        Spelling{"other_order",
                 [](const std::string& a) {
                   return "<attribute ms=\"16\" mp=\"" + a +
                          "\" version=\"0\" name=\"WeightsPointerAttribute\"/>";
                 }},
        Spelling{
            "beside_others",
            [](const std::string& a) {
              return "<attribute name=\"fused_names\" value=\"c\"/><attribute ms=\"16\" mp=\"" + a +
                     "\" name=\"WeightsPointerAttribute\"/>";
            }}),
    by_name);

TEST(Weightless, MayBeMixed) {
  const std::string copied =
      constant("element_type=\"i8\" shape=\"3\" offset=\"2\" size=\"3\"", "");
  const Bytes buffer = buffer_of("..abc", model_of(copied + by_address(pointer_to(kValues, 16))));
  const WeightlessIr ir = read_weightless(buffer, kDefaultCompiler);
  const Bytes weights = all_of(ir.weights);
  EXPECT_EQ(std::memcmp(weights.data(), "..abc", 5), 0);
  EXPECT_TRUE(has(ir.xml, "offset=\"2\" size=\"3\""));
  EXPECT_TRUE(has(ir.xml, "offset=\"64\" size=\"16\""));
  ASSERT_EQ(weights.size(), 80u);
  EXPECT_EQ(std::memcmp(weights.data() + 64, kValues, 16), 0);
}

TEST(Weightless, ReachesTheBodiesOfSubGraphs) {
  const std::string nested =
      "<layer id=\"2\" name=\"if\" type=\"If\" version=\"opset8\"><then_body>"
      "<layers>" +
      by_address(pointer_to(kValues, 16)) + "</layers></then_body></layer>";
  const Bytes buffer = buffer_of("", model_of(nested));
  const WeightlessIr ir = read_weightless(buffer, kDefaultCompiler);
  EXPECT_EQ(ir.weights.size_bytes(), 16u);
  EXPECT_FALSE(has(ir.xml, "WeightsPointerAttribute"));
}

TEST(Weightless, TakesSharedConstantsOnce) {
  const std::string twice = by_address(pointer_to(kValues, 16));
  const Bytes buffer = buffer_of("", model_of(twice + twice));
  const WeightlessIr ir = read_weightless(buffer, kDefaultCompiler);
  EXPECT_EQ(ir.weights.size_bytes(), 16u);
}

// OpenVINO gives a constant without elements one byte.
TEST(Weightless, MayHaveAnEmptyConstant) {
  for (const size_t bytes : {0, 1}) {
    const std::string empty = constant("element_type=\"i64\" shape=\"0\" offset=\"0\" size=\"0\"",
                                       pointer_to(bytes != 0 ? kValues : nullptr, bytes));
    std::string told;
    ASSERT_EQ(result_of(buffer_of("", model_of(empty)), &told), ZE_RESULT_SUCCESS) << told;
    const WeightlessIr ir = read_weightless(buffer_of("", model_of(empty)), kDefaultCompiler);
    EXPECT_EQ(ir.weights.size_bytes(), 0u);
    EXPECT_TRUE(has(ir.xml, "offset=\"0\" size=\"0\""));
  }
}

TEST(Weightless, IsTakenForVersion48WhereTheOptionIsMissing) {
  try {
    read_ir_buffer(buffer_of("", model_of("")), kDefaultCompiler);
    FAIL() << "accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.result(), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_TRUE(has(failure.what(), "48.0"));
    EXPECT_TRUE(has(failure.what(), "NO_WEIGHTS_COPY"));
  }
}

TEST(Weightless, IsForOneCompilerVersion) {
  const std::string xml = model_of("");
  const Bytes buffer = buffer_of(header_for("", xml), "", xml, {7, 6});
  std::string told;
  EXPECT_EQ(result_of(buffer, &told), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_TRUE(has(told, "7.6"));
}

// A header whose numbers lie.
struct HeaderLie {
  const char* name;
  void (*apply)(Header& header);
  ze_result_t result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
};

constexpr auto kTaken = ZE_RESULT_SUCCESS;
constexpr auto kNoXml = ZE_RESULT_ERROR_INVALID_ARGUMENT;

class LyingHeader : public testing::TestWithParam<HeaderLie> {};

/// As Intel's compiler 8.4 was asked: sections may lie anywhere, if they are in the buffer.
TEST_P(LyingHeader, IsTakenOrRefusedAsByIntels) {
  const std::string xml = model_of(by_address(pointer_to(kValues, 16)));
  Header header = header_for("abcd", xml);
  GetParam().apply(header);
  std::string told;
  EXPECT_EQ(result_of(buffer_of(header, "abcd", xml), &told), GetParam().result);
  EXPECT_EQ(told.empty(), GetParam().result == kTaken) << told;
}

INSTANTIATE_TEST_SUITE_P(
    Weightless, LyingHeader,
    testing::Values(
        HeaderLie{"custom_data_in_the_header", [](Header& h) { h.custom_offset = 40; }},
        HeaderLie{"custom_data_too_short", [](Header& h) { h.custom_size = 2; }, kTaken},
        HeaderLie{"custom_data_too_long", [](Header& h) { h.custom_size = 400'000; }, kTaken},
        HeaderLie{"constants_over_custom_data", [](Header& h) { h.constants_offset = 50; }, kTaken},
        HeaderLie{"constants_wrap_around", [](Header& h) { h.constants_size = UINT64_MAX - 8; }},
        HeaderLie{"constants_over_the_model", [](Header& h) { h.constants_size += 1; }, kTaken},
        HeaderLie{"model_past_the_end", [](Header& h) { h.model_size += 1; }},
        HeaderLie{"model_far_away", [](Header& h) { h.model_offset = UINT64_MAX; }},
        HeaderLie{"model_ends_early", [](Header& h) { h.model_size -= 10; }, kNoXml},
        HeaderLie{"no_model", [](Header& h) { h.model_size = 0; }, kNoXml}),
    by_name);

TEST(Weightless, MayNotBeShorterThanItsHeader) {
  EXPECT_EQ(result_of(Bytes(47)), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

// A constant that cannot be.
struct ConstantLie : Named {
  std::string layer;
  const char* told;
};

class LyingConstant : public testing::TestWithParam<ConstantLie> {};

TEST_P(LyingConstant, IsRefusedByName) {
  std::string told;
  EXPECT_EQ(result_of(buffer_of("abcd", model_of(GetParam().layer)), &told),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(has(told, GetParam().told));
}

std::string with_pointer(const std::string& mp, const std::string& ms) {
  return by_address("<attribute name=\"WeightsPointerAttribute\" mp=\"" + mp + "\" ms=\"" + ms +
                    "\"/>");
}

INSTANTIATE_TEST_SUITE_P(
    Weightless, LyingConstant,
    testing::Values(
        ConstantLie{"null", with_pointer("0", "16"), "16 bytes at 0"},
        ConstantLie{"first_page", with_pointer("8", "16"), "only 0 can be read"},
        ConstantLie{"end_of_all", with_pointer("18446744073709551608", "16"), "bytes at 1844"},
        ConstantLie{"other_size", with_pointer("4096", "20"), "cannot have 20 bytes"},
        ConstantLie{"elements_of_none",
                    constant("element_type=\"i64\" shape=\"4, 0\" offset=\"0\" size=\"0\"",
                             pointer_to(kValues, 16)),
                    "cannot have 16 bytes"},
        ConstantLie{"no_size", by_address("<attribute name=\"WeightsPointerAttribute\" mp=\"1\"/>"),
                    "ms=\"\""},
        ConstantLie{"no_address",
                    by_address("<attribute name=\"WeightsPointerAttribute\" ms=\"16\"/>"),
                    "mp=\"\""},
        ConstantLie{"hexadecimal", with_pointer("0x1000", "16"), "0x1000"},
        ConstantLie{"negative", with_pointer("-4096", "16"), "-4096"},
        ConstantLie{"two_addresses", by_address(pointer_to(kValues, 16) + pointer_to(kValues, 16)),
                    "more than one address"},
        ConstantLie{"offset_beside",
                    constant("element_type=\"f32\" shape=\"1, 4\" offset=\"4\" size=\"0\"",
                             pointer_to(kValues, 16)),
                    "as well as"},
        ConstantLie{"strings",
                    constant("element_type=\"string\" shape=\"4\" offset=\"0\" size=\"0\"",
                             pointer_to(kValues, 16)),
                    "strings"},
        ConstantLie{"unheard_of_type",
                    constant("element_type=\"f99\" shape=\"4\" offset=\"0\" size=\"0\"",
                             pointer_to(kValues, 16)),
                    "f99"},
        ConstantLie{"shape_overflows",
                    constant("element_type=\"f32\" shape=\"4294967296, 4294967296, 4\" "
                             "offset=\"0\" size=\"0\"",
                             pointer_to(kValues, 16)),
                    "4294967296"},
        ConstantLie{"copied_past_the_constants",
                    constant("element_type=\"i8\" shape=\"4\" offset=\"2\" size=\"3\"", ""),
                    "reaches past"},
        ConstantLie{"copied_wraps_around",
                    constant("element_type=\"i8\" shape=\"4\" offset=\"18446744073709551615\" "
                             "size=\"4\"",
                             ""),
                    "reaches past"}),
    by_name);

// Pages whose second one cannot be read.
TEST(Weightless, StopsWhereTheClientsMemoryEnds) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  auto* const pages = static_cast<std::byte*>(
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
  ::mprotect(pages + page, page, PROT_NONE);
  std::string told;
  EXPECT_EQ(result_of(buffer_of("", model_of(by_address(pointer_to(pages + page - 8, 16)))), &told),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(has(told, "can be read"));
  EXPECT_EQ(result_of(buffer_of("", model_of(by_address(pointer_to(pages + page - 16, 16))))),
            ZE_RESULT_SUCCESS);
  ::munmap(pages, 2 * page);
}

// A mapped .bin that somebody has cut meanwhile: SIGBUS for whoever reads it directly.
TEST(Weightless, StopsWhereAMappedFileEnds) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const int fd = ::memfd_create("weights", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(page)), 0);
  void* const file = ::mmap(nullptr, page, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(file, MAP_FAILED);
  ASSERT_EQ(::ftruncate(fd, 0), 0);
  EXPECT_EQ(result_of(buffer_of("", model_of(by_address(pointer_to(file, 16))))),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ::munmap(file, page);
  ::close(fd);
}

// Damage anywhere: an answer, never a crash.
TEST(Weightless, SurvivesDamage) {
  const std::string copied =
      constant("element_type=\"i8\" shape=\"4\" offset=\"0\" size=\"4\"", "");
  const Bytes whole = buffer_of("abcd", model_of(copied + by_address(pointer_to(kValues, 16)) +
                                                 by_address(pointer_to(kValues, 16))));
  std::mt19937 random(3);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes buffer = whole;
    for (uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
      buffer[random() % buffer.size()] ^= std::byte(1u << (random() % 8));
    }
    if (random() % 8 == 0) {
      buffer.resize(random() % buffer.size());
    }
    buffer.shrink_to_fit();
    try {
      if (result_of(buffer) != ZE_RESULT_SUCCESS) {
        ++refused;
      }
    } catch (const std::bad_alloc&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10'000);
}

}  // namespace
}  // namespace softnpu::weightless_test
