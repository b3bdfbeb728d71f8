#include "compile/helper_message.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <npucore/error.hpp>

#include "support.hpp"

namespace npu::internal {
namespace {

std::span<const std::byte> bytes_of(std::string_view words) {
  return std::as_bytes(std::span(words));
}

std::string words_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class HelperMessages : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2] = {};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    here_.reset(ends[0]);
    there_.reset(ends[1]);
  }
  void send_bytes(std::string_view words) const {
    ASSERT_EQ(::write(here_.get(), words.data(), words.size()), static_cast<ssize_t>(words.size()));
  }
  Message receive() {
    for (;;) {
      if (auto message = reader_.next()) return std::move(*message);
      if (reader_.read(there_.get()) == MessageReader::Read::kEnd) {
        throw std::runtime_error("the socket has ended");
      }
    }
  }

  base::UniqueFd here_, there_;
  MessageReader reader_;
};

TEST_F(HelperMessages, ArriveAsTheyWereSent) {
  Message sent{"compile"};
  sent.texts["title"] = "a model\nwith two lines";
  sent.texts["number"] = "18446744073709551615";
  sent.contents["shared"] = shared_copy("test", bytes_of("in a file"));
  sent.contents["empty"] = shared_copy("test", {});
  send_message(here_.get(), sent);
  send_message(here_.get(), {"done"});
  Message got = receive();
  EXPECT_EQ(got.kind, "compile");
  EXPECT_EQ(got.text("title"), "a model\nwith two lines");
  EXPECT_EQ(got.number("number"), UINT64_MAX);
  EXPECT_EQ(got.text("absent"), "");
  EXPECT_EQ(words_of(ContentView(std::move(got.contents["shared"])).bytes()), "in a file");
  EXPECT_TRUE(ContentView(std::move(got.contents["empty"])).bytes().empty());
  EXPECT_EQ(receive().kind, "done");
}

TEST_F(HelperMessages, ArePutTogetherFromSingleBytes) {
  send_message(here_.get(), {"log", {{"words", "hello"}}});
  std::array<char, 256> bytes;
  const ssize_t size = ::read(there_.get(), bytes.data(), bytes.size());
  ASSERT_GT(size, 0);
  for (ssize_t i = 0; i < size; ++i) {
    EXPECT_FALSE(reader_.next());
    send_bytes({bytes.data() + i, 1});
    reader_.read(there_.get());
  }
  EXPECT_EQ(reader_.next()->text("words"), "hello");
}

TEST_F(HelperMessages, DoNotPassTheirDescriptorsToChildren) {
  Message sent{"x"};
  sent.contents["file"] = shared_copy("test", bytes_of("x"));
  send_message(here_.get(), sent);
  Message got = receive();
  EXPECT_EQ(::fcntl(got.contents["file"].fd.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(HelperMessages, ThatAreTooLongAreRefusedBeforeTheyAreRead) {
  send_bytes(
      std::string_view("NPUH\x02\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0", 24));
  expect_error(ErrorCode::kIo, "announces a message of", [&] { receive(); });
}

TEST_F(HelperMessages, WithARecordBeyondTheirEndAreRefused) {
  std::string words("NPUH\x02\0\0\0\x0d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
  words += std::string("t\x05\0\0\0\0\0\0\0\0\0\0\0", 13);
  send_bytes(words);
  expect_error(ErrorCode::kIo, "longer than its message", [&] { receive(); });
}

TEST_F(HelperMessages, WithoutTheirDescriptorsAreRefused) {
  std::string words("NPUH\x02\0\0\0\x15\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0", 24);
  words += std::string("f\0\0\0\0\x08\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0", 21);
  send_bytes(words);
  expect_error(ErrorCode::kIo, "a file descriptor is missing", [&] { receive(); });
}

TEST_F(HelperMessages, WithMoreDescriptorsThanAnyNeedsAreRefused) {
  Message sent{"x"};
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    sent.contents[name] = shared_copy("test", bytes_of("x"));
  }
  send_message(here_.get(), sent);
  send_message(here_.get(), sent);
  expect_error(ErrorCode::kIo, "more than 8 file descriptors", [&] {
    while (reader_.read(there_.get()) == MessageReader::Read::kSome) {
    }
  });
}

TEST(HelperContent, ThatDidNotComeIsRefused) {
  expect_error(ErrorCode::kIo, "sent no file", [] { ContentView::of_sealed({}); });
}

TEST(HelperContent, ThatItsSenderCouldStillShortenIsRefused) {
  Content content{base::UniqueFd(test::make_memfd(4096)), 4096};
  expect_error(ErrorCode::kIo, "could still change",
               [&] { ContentView::of_sealed(std::move(content)); });
  const test::TempDir folder;
  test::write_file(folder.path() / "f", std::string(4096, 'x'));  // a file that has no seals at all
  Content file{base::UniqueFd(::open((folder.path() / "f").c_str(), O_RDWR | O_CLOEXEC)), 4096};
  expect_error(ErrorCode::kIo, "could still change",
               [&] { ContentView::of_sealed(std::move(file)); });
}

TEST(HelperContent, ThatIsShorterThanToldIsRefused) {
  Content content = shared_copy("test", bytes_of("four"));
  content.size_bytes = 5;
  expect_error(ErrorCode::kIo, "instead of 5", [&] { ContentView view(std::move(content)); });
}

TEST(HelperContent, CannotBeWrittenOnceItIsShared) {
  const Content content = shared_copy("test", bytes_of("four"));
  EXPECT_NE(::ftruncate(content.fd.get(), 0), 0);
  EXPECT_EQ(::write(content.fd.get(), "x", 1), -1);
}

}  // namespace
}  // namespace npu::internal
