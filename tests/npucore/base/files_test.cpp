// Files as a hostile or unlucky neighbour leaves them: read, mapped, written and locked.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include <npucore/model.hpp>

#include "base/atomic_file.hpp"
#include "base/file_lock.hpp"
#include "base/folder.hpp"
#include "base/forked.hpp"
#include "base/mapped_file.hpp"
#include "base/open_input.hpp"

#include "support.hpp"

namespace npu::test::files_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

fs::path make_fifo(const TempDir& folder) {
  const auto path = folder.path() / "fifo";
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  return path;
}

// ---- Reading

TEST(OpenInput, DoesNotWaitForAFifosWriter) {
  const TempDir folder;
  expect_error(ErrorCode::kIo, "it is a FIFO, not a regular file",
               [&] { base::open_input(make_fifo(folder)); });
}

TEST(OpenInput, RefusesADevice) {
  expect_error(ErrorCode::kIo, "it is a device, not a regular file",
               [] { read_input("/dev/zero", 100); });
}

TEST(OpenInput, HasALimit) {
  const TempDir folder;
  const auto path = folder.write("f", "12345");
  EXPECT_EQ(read_input(path, 5), "12345");
  expect_error(ErrorCode::kInvalidArgument, "it has 5 bytes, more than the 4",
               [&] { read_input(path, 4); });
}

TEST(OpenInput, BelowAFolderStaysThere) {
  const TempDir folder;
  const auto inside = folder.path() / "inside";
  fs::create_directory(inside);
  folder.write("secret", "s");
  folder.write("inside/f", "text");
  fs::create_symlink("../secret", inside / "out");
  fs::create_symlink("f", inside / "in");
  EXPECT_EQ(read_input("f", 10, inside), "text");
  EXPECT_EQ(read_input("in", 10, inside), "text");
  for (const char* name : {"../secret", "out", "/etc/passwd"}) {
    expect_error(ErrorCode::kInvalidArgument, "leads out of the folder",
                 [&] { read_input(name, 10, inside); });
  }
}

TEST(OpenInput, BelowAFolderNamesALinkThatLoops) {
  const TempDir folder;
  fs::create_symlink("b", folder.path() / "a");
  fs::create_symlink("a", folder.path() / "b");
  expect_error(ErrorCode::kInvalidArgument, "it is a symbolic link that leads back to itself",
               [&] { read_input("a", 10, folder.path()); });
}

// ---- Mapping

TEST(MappedFile, OfASmallFileSurvivesThatItIsTruncatedInPlace) {
  const TempDir folder;
  const std::string text(10000, 'x');
  const auto path = folder.write("f", text);
  const auto file = base::MappedFile::open(path);
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  EXPECT_EQ(std::memcmp(file.bytes().data(), text.data(), text.size()), 0);
  EXPECT_NO_THROW(file.check_unchanged());
}

class LargeMappedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::resize_file(path_, base::MappedFile::kMostCopiedBytes + 1);
    file_ = base::MappedFile::open(path_);
  }
  const TempDir folder_;
  const fs::path path_ = folder_.write("f", "large");
  base::MappedFile file_;
};

TEST_F(LargeMappedFile, TellsThatItWasTruncated) {
  EXPECT_NO_THROW(file_.check_unchanged());
  ASSERT_EQ(::truncate(path_.c_str(), 5), 0);
  expect_error(ErrorCode::kIo, "was changed while it was in use (it had 16777217 bytes, now 5)",
               [&] { file_.check_unchanged(); });
}

TEST_F(LargeMappedFile, TellsThatItWasWrittenTo) {
  const base::UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::pwrite(fd.get(), "other", 5, 0), 5);
  const struct timespec later[2] = {{0, UTIME_OMIT}, {1, 0}};  // clocks of files are coarse
  ASSERT_EQ(::futimens(fd.get(), later), 0);
  expect_error(ErrorCode::kIo, "replace files by renaming a new one",
               [&] { file_.check_unchanged(); });
}

TEST_F(LargeMappedFile, MayBeReplacedByRenaming) {
  fs::rename(folder_.write("new", "new"), path_);
  EXPECT_NO_THROW(file_.check_unchanged());
  EXPECT_EQ(std::memcmp(file_.bytes().data(), "large", 5), 0);
}

// ---- Writing

/// One that is nobody's loss: a test that fails replaces it.
fs::path make_device(const TempDir& folder) {
  const auto path = folder.path() / "device";
  if (::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) return path;
  return ::geteuid() != 0 ? "/dev/null" : fs::path();
}

TEST(AtomicFile, ReplacesNothingButARegularFile) {
  const TempDir folder;
  const auto device = make_device(folder);
  const auto target = folder.write("target", "old");
  fs::create_symlink(target, folder.path() / "link");
  fs::create_directory(folder.path() / "folder");
  const struct {
    fs::path path;
    const char* complaint;
  } rows[] = {{folder.path() / "link", "it is a symbolic link"},
              {make_fifo(folder), "it is a FIFO"},
              {folder.path() / "folder", "it is a folder"},
              {device, "it is a device"}};
  for (const auto& row : rows) {
    if (row.path.empty()) continue;  // none can be made here, and root would replace the system's
    expect_error(ErrorCode::kIo, row.complaint, [&] { write_output(row.path, bytes_of("new")); });
  }
  EXPECT_EQ(read_file(target), "old");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_TRUE(device.empty() || fs::is_character_file(device));
}

TEST(AtomicFile, LargerThanTheProcessMayWriteIsAnError) {
  const test::TempDir folder;
  const auto path = folder.path() / "large";
  const std::vector<std::byte> bytes(65536);
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit small = {4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error(ErrorCode::kIo, "File too large", [&] { write_output(path, bytes); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AtomicFile, MayHaveALongName) {
  const TempDir folder;
  const auto path = folder.path() / std::string(255, 'n');
  write_output(path, bytes_of("x"));
  EXPECT_EQ(read_file(path), "x");
}

// ---- Locks

class Locks : public ::testing::Test {
 protected:
  std::optional<base::FileLock> acquire(std::chrono::nanoseconds limit,
                                        std::function<bool()> gives_up = {}) {
    return base::FileLock::acquire(folder_, "lock", {limit, std::move(gives_up)});
  }
  const TempDir place_;
  const base::Folder folder_ = base::Folder::open(place_.path());
};

TEST_F(Locks, AreWaitedForUpToTheLimit) {
  auto first = acquire(0ns);
  ASSERT_TRUE(first);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(acquire(60ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 60ms);
  first.reset();
  EXPECT_TRUE(acquire(0ns));
}

TEST_F(Locks, AreWaitedForUntilTheWaiterGivesUp) {
  const auto first = acquire(0ns);
  int asked = 0;
  EXPECT_FALSE(acquire(1h, [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
}

TEST_F(Locks, GoToTheNextAsSoonAsTheyAreFree) {
  std::optional<base::FileLock> first = acquire(0ns);
  std::thread owner([&] {
    std::this_thread::sleep_for(30ms);
    first.reset();
  });
  EXPECT_TRUE(acquire(1h));
  owner.join();
}

/// The child has the lock's descriptor too, and its own copy of the object.
TEST_F(Locks, AreFreeThoughAChildLivesThatWasForkedMeanwhile) {
  std::optional<base::FileLock> first = acquire(0ns);
  const pid_t child = ::fork();
  if (child == 0) {
    base::process_was_forked = true;
    first.reset();
    ::pause();
    ::_exit(0);
  }
  std::thread owner([&] {
    std::this_thread::sleep_for(100ms);
    EXPECT_TRUE(std::filesystem::exists(place_.path() / "lock")) << "the child has removed it";
    first.reset();
  });
  EXPECT_TRUE(acquire(5s));
  owner.join();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace npu::test::files_test
