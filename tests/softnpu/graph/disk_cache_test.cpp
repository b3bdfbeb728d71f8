// The driver's cache on disk.
#include "graph/disk_cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/expect.hpp"

namespace softnpu {
namespace {

namespace fs = std::filesystem;

const std::string kFirst(32, '1');
const std::string kSecond(32, '2');
const std::string kThird(32, '3');
constexpr size_t kDigestBytes = 32;

class DiskCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "softnpu-cache-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = fs::path(name) / "made" / "later";
  }
  void TearDown() override { fs::remove_all(folder_.parent_path().parent_path()); }

  static std::vector<std::byte> binary(char fill, size_t size = 100) {
    return std::vector<std::byte>(size, std::byte(fill));
  }
  void set_used(const std::string& key, time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / key).c_str(), times, 0), 0);
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(DiskCacheTest, KeepsWhatItWasGiven) {
  DiskCache cache(folder_, 1'000'000);
  EXPECT_FALSE(cache.load(kFirst).has_value());
  ASSERT_TRUE(cache.store(kFirst, binary('a')));
  const auto file = cache.load(kFirst);
  ASSERT_TRUE(file.has_value());
  ASSERT_EQ(file->size_bytes, 100u);
  EXPECT_EQ(file->mapping.base()[99], std::byte('a'));
  EXPECT_FALSE(cache.load(kSecond).has_value());
  EXPECT_EQ(cache.used_bytes(), 100 + kDigestBytes);
  EXPECT_EQ(files(), 1u) << "no temporary file is left";
}

TEST_F(DiskCacheTest, IsForItsOwnerOnly) {
  DiskCache cache(folder_, 1'000'000);
  ASSERT_TRUE(cache.store(kFirst, binary('a')));
  struct stat status {};
  ASSERT_EQ(::stat((folder_ / kFirst).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(DiskCacheTest, ReplacesAFile) {
  DiskCache cache(folder_, 1'000'000);
  ASSERT_TRUE(cache.store(kFirst, binary('a')));
  ASSERT_TRUE(cache.store(kFirst, binary('b', 50)));
  EXPECT_EQ(cache.load(kFirst)->size_bytes, 50u);
}

struct Damage {
  const char* name;
  void (*apply)(const fs::path& file);
};

class DamagedCache : public DiskCacheTest, public testing::WithParamInterface<Damage> {};

TEST_P(DamagedCache, IsAMissAndGone) {
  DiskCache cache(folder_, 1'000'000);
  ASSERT_TRUE(cache.store(kFirst, binary('a')));
  GetParam().apply(folder_ / kFirst);
  EXPECT_FALSE(cache.load(kFirst).has_value());
  EXPECT_FALSE(fs::exists(folder_ / kFirst));
}

void put(const fs::path& file, std::streamoff at, char value) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(at);
  stream.put(value);
}

INSTANTIATE_TEST_SUITE_P(
    DiskCache, DamagedCache,
    testing::Values(Damage{"a_byte", [](const fs::path& file) { put(file, 50, 'x'); }},
                    Damage{"the_digest", [](const fs::path& file) { put(file, 110, 'x'); }},
                    Damage{"cut", [](const fs::path& file) { fs::resize_file(file, 90); }},
                    Damage{"only_a_digest",
                           [](const fs::path& file) { fs::resize_file(file, 32); }},
                    Damage{"empty", [](const fs::path& file) { fs::resize_file(file, 0); }}),
    by_name);

TEST_F(DiskCacheTest, TakesAwayWhatWasNotUsedForLongest) {
  DiskCache cache(folder_, 2 * (100 + kDigestBytes));
  ASSERT_TRUE(cache.store(kFirst, binary('a')));
  ASSERT_TRUE(cache.store(kSecond, binary('b')));
  set_used(kFirst, 1000);
  set_used(kSecond, 2000);
  ASSERT_TRUE(cache.load(kFirst).has_value());  // used now
  ASSERT_TRUE(cache.store(kThird, binary('c')));
  EXPECT_TRUE(cache.load(kFirst).has_value());
  EXPECT_FALSE(cache.load(kSecond).has_value());
  EXPECT_TRUE(cache.load(kThird).has_value());
  EXPECT_LE(cache.used_bytes(), cache.limit_bytes());
}

TEST_F(DiskCacheTest, TakesNothingThatIsLargerThanItself) {
  DiskCache cache(folder_, 150);
  ASSERT_TRUE(cache.store(kFirst, binary('a')));
  EXPECT_FALSE(cache.store(kSecond, binary('b', 151)));
  EXPECT_TRUE(cache.load(kFirst).has_value()) << "and leaves the others";
}

TEST_F(DiskCacheTest, OfSizeZeroIsEmpty) {
  DiskCache cache(folder_, 0);
  EXPECT_FALSE(cache.store(kFirst, binary('a')));
  EXPECT_EQ(cache.used_bytes(), 0u);
}

TEST_F(DiskCacheTest, LeavesOtherFilesAlone) {
  DiskCache cache(folder_, 100 + kDigestBytes);
  fs::create_directories(folder_);
  std::ofstream(folder_ / "notes.txt") << std::string(5000, 'n');
  ASSERT_TRUE(cache.store(kFirst, binary('a')));
  EXPECT_TRUE(fs::exists(folder_ / "notes.txt"));
  EXPECT_EQ(cache.used_bytes(), 100 + kDigestBytes);
}

TEST_F(DiskCacheTest, StaysReadableWhereItIsTakenAway) {
  DiskCache cache(folder_, 1'000'000);
  ASSERT_TRUE(cache.store(kFirst, binary('a', 10'000)));
  const auto file = cache.load(kFirst);
  cache.remove(kFirst);
  EXPECT_EQ(file->mapping.base()[9'999], std::byte('a'));
}

TEST_F(DiskCacheTest, MayNotBeWritten) {
  fs::create_directories(folder_.parent_path());
  std::ofstream(folder_) << "a file where the folder should be";
  DiskCache cache(folder_, 1'000'000);
  EXPECT_FALSE(cache.store(kFirst, binary('a')));
  EXPECT_FALSE(cache.load(kFirst).has_value());
  EXPECT_EQ(cache.used_bytes(), 0u);
}

// As many processes would: each store is whole, whoever comes last.
TEST_F(DiskCacheTest, MayBeWrittenAndReadByManyAtOnce) {
  std::vector<std::thread> threads;
  for (char name = 'a'; name < 'e'; ++name) {
    threads.emplace_back([this, name] {
      DiskCache cache(folder_, 200'000);
      for (int i = 0; i < 50; ++i) {
        cache.store(i % 2 == 0 ? kFirst : kSecond, binary(name, 20'000));
        const auto file = cache.load(kFirst);
        if (!file) continue;
        EXPECT_EQ(file->mapping.base()[0], file->mapping.base()[19'999]);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  DiskCache cache(folder_, 200'000);
  EXPECT_TRUE(cache.load(kFirst).has_value());
  EXPECT_TRUE(cache.load(kSecond).has_value());
}

TEST(CacheKey, DependsOnWhereOnePartEnds) {
  EXPECT_EQ(CacheKey().add("ab").add("c").text(), CacheKey().add("ab").add("c").text());
  EXPECT_NE(CacheKey().add("ab").add("c").text(), CacheKey().add("a").add("bc").text());
  EXPECT_NE(CacheKey().add(uint64_t{1}).text(), CacheKey().add(uint64_t{2}).text());
  EXPECT_EQ(CacheKey().text().size(), 32u);
}

}  // namespace
}  // namespace softnpu
