// Files on a disk that is full, slow or gone, and processes that end while they write: what the
// library leaves behind. Injected in front of libc.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include <npucore/npucore.hpp>

#include "support/system_calls.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

namespace fs = std::filesystem;
using Fault = CallHooks::Fault;

constexpr std::string_view kNew = "what is new";

void write_new(const fs::path& path) {
  write_output(path, std::as_bytes(std::span(kNew)));
}

std::size_t files_in(const fs::path& folder) {
  const fs::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Spoils the calls of this name for files below `folder`, from the `first` to the `last`.
CallHooks::Spoil spoil(const fs::path& folder, std::string name, Fault fault, int first = 1,
                       int last = 1 << 30) {
  return [=, seen = 0](const std::string& call,
                       const std::string& file) mutable -> std::optional<Fault> {
    if (call != name || !file.starts_with(folder.string())) return std::nullopt;
    ++seen;
    return seen >= first && seen <= last ? std::optional(fault) : std::nullopt;
  };
}

class FileFaults : public ::testing::Test {
 protected:
  const TempDir folder_;
  const fs::path path_ = folder_.write("f", "what is old");
};

// ---- Calls that fail

struct FailRow {
  const char* name;
  const char* call;
  int error;
};

class FailedWrite : public FileFaults, public ::testing::WithParamInterface<FailRow> {};

TEST_P(FailedWrite, IsAnErrorThatKeepsTheOldFileAndLeavesNothing) {
  const CallHooks hooks(nullptr, {}, spoil(folder_.path(), GetParam().call, {GetParam().error}));
  const auto why = std::string(GetParam().call) + ": " + std::strerror(GetParam().error);
  expect_error(ErrorCode::kIo, why, [&] { write_new(path_); });
  EXPECT_EQ(read_file(path_), "what is old");
  EXPECT_EQ(files_in(folder_.path()), 1u);
}

INSTANTIATE_TEST_SUITE_P(Rows, FailedWrite,
                         ::testing::Values(FailRow{"FullDisk", "write", ENOSPC},
                                           FailRow{"Quota", "write", EDQUOT},
                                           FailRow{"BrokenDisk", "fsync", EIO},
                                           FailRow{"FullAtSync", "fsync", ENOSPC},
                                           FailRow{"FullAtRename", "rename", ENOSPC}),
                         by_name);

TEST_F(FileFaults, ADiskThatFillsUpHalfWayIsAnErrorToo) {
  int writes = 0;
  const CallHooks hooks(nullptr, {},
                        [&](const std::string& call, const std::string&) -> std::optional<Fault> {
                          if (call != "write") return std::nullopt;
                          return ++writes < 3 ? Fault{0, 2} : Fault{ENOSPC};
                        });
  expect_error(ErrorCode::kIo, "No space left on device", [&] { write_new(path_); });
  EXPECT_EQ(read_file(path_), "what is old");
  EXPECT_EQ(files_in(folder_.path()), 1u);
}

TEST_F(FileFaults, AReadThatFailsIsAnError) {
  const CallHooks hooks(nullptr, {}, spoil(folder_.path(), "pread", {EIO}));
  expect_error(ErrorCode::kIo, "pread: Input/output error", [&] { read_input(path_, 100); });
}

TEST_F(FileFaults, AFileThatShrinksWhileItIsReadIsAnError) {
  const CallHooks hooks(nullptr, {}, spoil(folder_.path(), "pread", {0, 0}, 2));
  EXPECT_EQ(read_input(path_, 100), "what is old");
  expect_error(ErrorCode::kIo, "was shortened to 0 meanwhile", [&] { read_input(path_, 100); });
}

// ---- Calls that are interrupted, or do a part

struct PartRow {
  const char* name;
  const char* call;
  Fault fault;
  int last;
};

class InterruptedCall : public FileFaults, public ::testing::WithParamInterface<PartRow> {};

TEST_P(InterruptedCall, IsGoneOnWith) {
  const auto& row = GetParam();
  {
    const CallHooks hooks(nullptr, {}, spoil(folder_.path(), row.call, row.fault, 1, row.last));
    write_new(path_);
    EXPECT_EQ(read_input(path_, 100), kNew);
  }
  EXPECT_EQ(read_file(path_), kNew);
  EXPECT_EQ(files_in(folder_.path()), 1u);
}

INSTANTIATE_TEST_SUITE_P(Rows, InterruptedCall,
                         ::testing::Values(PartRow{"Write", "write", {EINTR}, 3},
                                           PartRow{"Sync", "fsync", {EINTR}, 3},
                                           PartRow{"Read", "pread", {EINTR}, 3},
                                           PartRow{"ShortWrites", "write", {0, 2}, 1 << 30},
                                           PartRow{"ShortReads", "pread", {0, 2}, 1 << 30}),
                         by_name);

// ---- Processes that end

class KilledWriter : public FileFaults, public ::testing::WithParamInterface<const char*> {};

TEST_P(KilledWriter, LeavesTheOldFileWhole) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const CallHooks hooks([](const std::string& call, const std::string&) {
      if (call == GetParam()) {
        ::_exit(9);
      }
    });
    write_new(path_);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 9);
  EXPECT_EQ(read_file(path_), "what is old");
  write_new(path_);
  EXPECT_EQ(read_file(path_), kNew);
}

INSTANTIATE_TEST_SUITE_P(Rows, KilledWriter, ::testing::Values("write", "fsync", "rename"),
                         [](const auto& row) { return row.param; });

// ---- The cache

class CacheFaults : public OnSoftwareNpu, public ::testing::WithParamInterface<FailRow> {
 protected:
  LoadedFrom compile() {
    CompileOptions options;
    options.properties.set(property::cache_dir, cache_.string());
    return CompiledModel::compile(device_, Model::read(model_), options).load_stats().from;
  }
  const TempDir folder_;
  const fs::path model_ = write_affine_model(folder_.path());
  const fs::path cache_ = folder_.path() / "cache";
};

TEST_P(CacheFaults, CostTheEntryAndNothingElse) {
  std::string log;
  set_log_sink([&](LogLevel, std::string_view message) { log += message; });
  {
    const CallHooks hooks(nullptr, {}, spoil(cache_, GetParam().call, {GetParam().error}));
    EXPECT_EQ(compile(), LoadedFrom::kCompiler);
  }
  set_log_sink({});
  EXPECT_EQ(files_in(cache_), 0u);
  EXPECT_TRUE(has(log, "the model is not cached"));
  EXPECT_EQ(compile(), LoadedFrom::kCompiler);
  EXPECT_EQ(compile(), LoadedFrom::kCache);
}

INSTANTIATE_TEST_SUITE_P(Rows, CacheFaults,
                         ::testing::Values(FailRow{"FullDisk", "write", ENOSPC},
                                           FailRow{"BrokenDisk", "fsync", EIO},
                                           FailRow{"FullAtRename", "rename", ENOSPC}),
                         by_name);

}  // namespace
}  // namespace npu::test
