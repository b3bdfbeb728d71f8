#include "compile/cache/cache_entry.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>

#include "base/file_lock.hpp"
#include "compile/cache/model_cache.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

using internal::Bytes;
using internal::ModelCache;

Bytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string entry_of(const std::string& first, const std::string& second, const std::string& key) {
  const std::array<Bytes, 2> parts = {bytes_of(first), bytes_of(second)};
  return first + second + text_of(internal::cache_entry_tail(parts, key));
}

TEST(CacheEntry, HasItsBytesWhereTheFormatSays) {
  const std::string entry = entry_of("ELF!", "tail", "key");
  ASSERT_EQ(entry.size(), 8u + 3 + 24 + 8);
  EXPECT_EQ(entry.substr(0, 11), "ELF!tailkey");
  EXPECT_EQ(entry.substr(11, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(entry.substr(19, 8), std::string("\10\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(entry.substr(27, 8), "\x94\xf5\xa0\x14\x92\xa6\xd6\x2e");
  EXPECT_EQ(entry.substr(35), "NPUCACH1");
}

TEST(CacheEntry, WithAnyByteChangedIsNone) {
  const std::string whole = entry_of("blob", "tail", "key");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(internal::read_cache_entry(bytes_of(damaged))) << "byte " << at;
  }
}

TEST(CacheEntry, CutAnywhereIsNone) {
  const std::string whole = entry_of("blob", "tail", "key");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(internal::read_cache_entry(bytes_of(whole.substr(0, size)))) << size << " bytes";
  }
}

class Cache : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([this](LogLevel, std::string_view message) { log_ += message; });
  }
  void TearDown() override { set_log_sink({}); }
  void store(const std::string& key, const std::string& blob, std::uint64_t limit = 1 << 20) {
    const std::array<Bytes, 1> parts = {bytes_of(blob)};
    ModelCache(place(), limit).store(key, parts);
  }
  std::string found(const std::string& key) {
    const auto hit = ModelCache(place(), 1 << 20).find(key);
    return hit ? text_of(hit->blob) : "";
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(place())) {
      all.push_back(entry.path());
    }
    return all;
  }
  std::filesystem::path place() const { return folder_.path() / "deep" / "cache"; }
  static unsigned mode(const std::filesystem::path& path) {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  }

  TempDir folder_;
  std::string log_;
};

TEST_F(Cache, IsForItsUserAlone) {
  store("a", "blob");
  EXPECT_EQ(mode(place()), 0700u);
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(mode(files()[0]), 0600u);
}

/// As if nobody had written or read it for so long, and longer than before.
void age(const std::filesystem::path& file, time_t seconds) {
  struct stat status = {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  struct timespec times[] = {status.st_atim, status.st_mtim};
  for (struct timespec& time : times) time.tv_sec -= seconds;
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

TEST_F(Cache, TellsOfAChangeOfAnEntryThatIsMapped) {
  constexpr std::uint64_t kLimit = 64 << 20;
  store("a", std::string(17 << 20, 'x'), kLimit);
  age(files().at(0), 10);  // times of files are coarse
  const auto hit = ModelCache(place(), kLimit).find("a");
  ASSERT_TRUE(hit);
  ASSERT_TRUE(ModelCache(place(), kLimit).find("a")) << "somebody else uses it";
  hit->file.check_unchanged();
  std::fstream(files().at(0), std::ios::in | std::ios::out | std::ios::binary).seekp(5000).put('y');
  expect_error(ErrorCode::kIo, "was changed while it was in use",
               [&] { hit->file.check_unchanged(); });
}

TEST_F(Cache, TakesAwayWhatWasUsedLongestAgo) {
  const std::string blob(1000, 'x');
  for (const char* key : {"a", "b", "c"}) {
    store(key, blob, 3500);
    // Times of files are coarse; the order of use is what counts.
    for (const auto& file : files()) age(file, 10);
  }
  EXPECT_EQ(found("a"), blob) << "and is now the one used last";
  store("d", blob, 3500);
  EXPECT_EQ(found("b"), "");
  EXPECT_EQ(found("a"), blob);
  EXPECT_EQ(found("d"), blob);
}

TEST_F(Cache, KeepsWhatItStoresThoughOtherEntriesLieInTheFuture) {
  const std::string blob(1000, 'x');
  for (const char* key : {"a", "b"}) store(key, blob, 2500);
  for (const auto& file : files()) age(file, -86400);
  store("c", blob, 2500);
  EXPECT_EQ(found("c"), blob);
}

// The kernel itself notes the first use only.
TEST_F(Cache, NotesEveryUse) {
  const std::string blob(1000, 'x');
  for (const char* key : {"a", "b"}) store(key, blob, 2500);
  for (const char* key : {"a", "b", "a"}) {
    ::usleep(20'000);  // times of files are coarse
    EXPECT_EQ(found(key), blob);
  }
  ::usleep(20'000);
  store("c", blob, 2500);
  EXPECT_EQ(found("b"), "");
  EXPECT_EQ(found("a"), blob);
}

TEST_F(Cache, TakesAnotherKeysEntryUnderItsNameForNone) {
  store("a", "blob a");
  const auto name = files()[0];
  store("b", "blob b");
  for (const auto& file : files()) {
    if (file != name) {
      std::filesystem::rename(file, name);
    }
  }
  EXPECT_EQ(found("a"), "");
  EXPECT_EQ(files().size(), 1u) << "it is whole: somebody else's";
}

TEST_F(Cache, LeavesNoLockBehind) {
  store("a", "blob");
  {
    const ModelCache cache(place(), 1 << 20);
    const auto lock = cache.lock("a", nullptr);
    EXPECT_TRUE(lock);
    EXPECT_EQ(files().size(), 2u);
  }
  EXPECT_EQ(files().size(), 1u);
}

// ---- What others may have written

/// A cache that holds "blob" for "a", after something was done to it.
struct TrustRow {
  const char* name;
  void (*change)(const std::filesystem::path& folder, const std::filesystem::path& entry);
  const char* complaint;
};

void own(const std::filesystem::path& path) {
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
}

class CacheOfOthers : public Cache, public ::testing::WithParamInterface<TrustRow> {};

TEST_P(CacheOfOthers, IsNotLoadedFrom) {
  if (std::string(GetParam().name).ends_with("Owner") && ::geteuid() != 0) {
    GTEST_SKIP() << "only root gives files away";
  }
  store("a", "blob");
  const auto entry = files().at(0);
  ASSERT_EQ(found("a"), "blob");
  GetParam().change(place(), entry);
  EXPECT_EQ(found("a"), "");
  EXPECT_TRUE(has(log_, GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, CacheOfOthers,
    ::testing::Values(
        TrustRow{"FolderOfAGroup",
                 [](const auto& folder, const auto&) { ::chmod(folder.c_str(), 0770); },
                 "may be written by others than its owner (mode 0770): name one that only you"},
        TrustRow{"FolderOfAll",
                 [](const auto& folder, const auto&) { ::chmod(folder.c_str(), 0777); },
                 "(mode 0777)"},
        TrustRow{"StickyFolder",
                 [](const auto& folder, const auto&) { ::chmod(folder.c_str(), 01777); },
                 "(mode 1777)"},
        TrustRow{"FoldersOwner", [](const auto& folder, const auto&) { own(folder); },
                 "belongs to user 12345, not to user 0 or root"},
        TrustRow{"FolderThroughALink",
                 [](const auto& folder, const auto&) {
                   std::filesystem::rename(folder, folder.string() + "2");
                   std::filesystem::create_symlink(folder.string() + "2", folder);
                 },
                 "is a symbolic link: name the folder that it leads to"},
        TrustRow{"EntryOfAll", [](const auto&, const auto& entry) { ::chmod(entry.c_str(), 0666); },
                 "it may be written by others than its owner (mode 0666)"},
        TrustRow{"EntrysOwner", [](const auto&, const auto& entry) { own(entry); },
                 "it belongs to user 12345"},
        TrustRow{"EntryThroughALink",
                 [](const auto&, const auto& entry) {
                   std::filesystem::rename(entry, entry.string() + "2");
                   std::filesystem::create_symlink(entry.string() + "2", entry);
                 },
                 "it is a symbolic link"},
        TrustRow{"EntryIsAFifo",
                 [](const auto&, const auto& entry) {
                   std::filesystem::remove(entry);
                   ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0);
                 },
                 "it is a FIFO, not a regular file"}),
    by_name);

TEST_F(Cache, WhereOthersMayWriteKeepsNothing) {
  store("a", "blob");
  ::chmod(place().c_str(), 0777);
  store("b", "blob b");
  EXPECT_EQ(files().size(), 1u);
  EXPECT_FALSE(ModelCache(place(), 1 << 20).lock("b", nullptr));
  ::chmod(place().c_str(), 0700);
  EXPECT_EQ(found("b"), "");
}

TEST_F(Cache, StaysTheFolderThatWasOpened) {
  store("a", "blob");
  const ModelCache cache(place(), 1 << 20);
  std::filesystem::rename(place(), place().string() + "2");
  std::filesystem::create_directory(place());
  EXPECT_TRUE(cache.find("a"));
}

// ---- Writers and waiters

TEST_F(Cache, CountsWhatIsBeingWritten) {
  const std::string blob(1000, 'x');
  store("a", blob, 4000);
  write_file(place() / ".0123456789abcdef.npucache.0.tmp", std::string(2500, 'y'));
  store("b", blob, 4000);
  EXPECT_EQ(found("a"), "") << "with the one in writing it is too much";
  EXPECT_EQ(found("b"), blob);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(Cache, ClearsAwayWhatWasAbandonedWhateverItsKey) {
  store("a", "blob");
  const auto left = place() / ".0123456789abcdef.npucache.0.tmp";
  write_file(left, "half a bl");
  age(left, 11 * 60);
  store("b", "blob b");
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(Cache, DoesNotWaitForAStoppedProcessForEver) {
  const ModelCache cache(place(), 1 << 20, std::chrono::milliseconds(50));
  const auto stopped = cache.lock("a", nullptr);
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(cache.lock("a", nullptr));
  EXPECT_TRUE(has(log_, "is not done after 0 s; the model is compiled without waiting for it"));
}

TEST_F(Cache, DoesNotWaitOnceItIsCancelled) {
  const ModelCache cache(place(), 1 << 20);
  const auto stopped = cache.lock("a", nullptr);
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(cache.lock("a", &cancelled));
  EXPECT_EQ(log_, "");
}

}  // namespace
}  // namespace npu::test
