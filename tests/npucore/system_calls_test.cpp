// System calls of the library: in which order it makes files last, whom it waits for, and what a
// child process inherits. Seen from in front of libc, through the public API.
#include "support/system_calls.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/dma-buf.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Names = std::vector<std::string>;

class SystemCalls : public OnSoftwareNpu {
 protected:
  CompiledModel compile(const fs::path& cache = {},
                        const std::function<void(const CompileProgress&)>& progress = {}) {
    CompileOptions options;
    if (!cache.empty()) {
      options.properties.set(property::cache_dir, cache.string());
    }
    options.progress = progress;
    return CompiledModel::compile(device_, Model::read(model_), options);
  }
  /// The only file in a folder.
  static fs::path only_file_in(const fs::path& folder) {
    const fs::directory_iterator all(folder);
    EXPECT_EQ(std::distance(begin(all), end(all)), 1);
    return fs::directory_iterator(folder)->path();
  }

  const TempDir folder_;
  const fs::path model_ = write_affine_model(folder_.path());
};

// ---- Files that last

/// The calls for `name`, with the temporary file's name put as "temporary".
Names with_plain_names(const Names& calls) {
  Names plain;
  for (const auto& call : calls) {
    const auto blank = call.find(' ');
    const bool temporary = call.compare(blank + 1, 1, ".") == 0 && call.ends_with(".tmp");
    plain.push_back(temporary ? call.substr(0, blank) + " temporary" : call);
  }
  return plain;
}

TEST_F(SystemCalls, ABlobIsOnTheDiskBeforeItHasItsNameAndTheNameBeforeTheCallReturns) {
  const CompiledModel model = compile();
  const fs::path place = folder_.path() / "blobs";
  fs::create_directory(place);
  const CallLog log(place.string());
  model.export_blob(place / "m.blob");
  EXPECT_EQ(with_plain_names(log.calls()),
            (Names{"write temporary", "fsync temporary", "rename m.blob", "fsync ."}));
}

TEST_F(SystemCalls, ACacheEntryToo) {
  const fs::path cache = folder_.path() / "cache";
  fs::create_directory(cache);
  Names calls;
  {
    const CallLog log(cache.string());
    compile(cache);
    calls = with_plain_names(log.calls());
  }
  std::erase_if(calls, [](const std::string& call) { return call.rfind("flock", 0) == 0; });
  const std::string entry = only_file_in(cache).filename().string();
  EXPECT_EQ(calls, (Names{"write temporary", "fsync temporary", "rename " + entry, "fsync ."}));
}

// ---- Locks

/// A folder for a cache whose entry's lock somebody else has, and a compilation that waits for it.
class LockedCache : public SystemCalls {
 protected:
  void SetUp() override {
    SystemCalls::SetUp();
    compile(other_);
    entry_ = only_file_in(other_);
    fs::create_directory(cache_);
    lock_ = cache_ / (entry_.stem().string() + ".lock");
    owner_ = ::open(lock_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::flock(owner_, LOCK_EX), 0);
  }
  /// Starts compiling and comes back when that waits for the lock.
  std::future<CompiledModel> start(const std::function<void(const CompileProgress&)>& progress) {
    hooks_.emplace([this](const std::string& call, const std::string&) {
      if (call == "flock") {
        ++locks_;
      }
    });
    auto compiling =
        std::async(std::launch::async, [this, progress] { return compile(cache_, progress); });
    while (locks_ == 0) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(20ms);
    return compiling;
  }
  /// Does the owner's last step: the file goes while it is locked.
  void release() {
    fs::remove(lock_);
    ::close(owner_);
  }

  const fs::path other_ = folder_.path() / "other", cache_ = folder_.path() / "cache";
  fs::path entry_, lock_;
  int owner_ = -1;
  std::atomic<int> locks_ = 0;
  std::optional<CallHooks> hooks_;
};

TEST_F(LockedCache, IsLookedIntoAgainByWhoeverHasWaited) {
  auto compiling = start({});
  fs::copy_file(entry_, cache_ / entry_.filename());
  release();
  EXPECT_EQ(compiling.get().load_stats().from, LoadedFrom::kCache) << "somebody had compiled it";
}

TEST_F(LockedCache, IsLockedByAFileThatOthersFind) {
  bool others_find_it = false;
  auto compiling = start([&](const CompileProgress& progress) {
    if (progress.phase == CompilePhase::kCompiling) {
      others_find_it = fs::exists(lock_);
    }
  });
  release();
  EXPECT_EQ(compiling.get().load_stats().from, LoadedFrom::kCompiler);
  EXPECT_TRUE(others_find_it) << "the lock was of the file that its last owner removed";
  EXPECT_GE(locks_, 2);
}

// ---- Producers

/// A buffer whose producer is done when it is asked about for the second time.
class Producers : public SystemCalls {
 protected:
  static constexpr std::size_t kBytes = kAffineElements * sizeof(float);

  /// Answers for the buffer until its producer is done, which is when `done` is called.
  void produce(int fd, const std::function<void()>& done) {
    struct stat ours = {};
    ASSERT_EQ(::fstat(fd, &ours), 0);
    const auto answer = [this, inode = ours.st_ino, done](pollfd& entry) -> std::optional<int> {
      struct stat asked = {};
      if (::fstat(entry.fd, &asked) != 0 || asked.st_ino != inode) return std::nullopt;
      events_ |= entry.events;
      entry.revents = 0;
      if (++asked_ == 1 || never_done_) return 0;
      if (asked_ == 2) {
        done();
      }
      entry.revents = entry.events;
      return 1;
    };
    hooks_.emplace(nullptr, answer);
  }
  static void fill(int fd, float value) {
    const std::vector<float> values(kAffineElements, value);
    ASSERT_EQ(::pwrite(fd, values.data(), kBytes, 0), static_cast<ssize_t>(kBytes));
  }
  static float first(const Tensor& tensor) {
    return *reinterpret_cast<const float*>(tensor.data());
  }

  std::optional<CallHooks> hooks_;
  int asked_ = 0;
  int events_ = 0;
  bool never_done_ = false;
};

TEST_F(Producers, OfAnInputAreWaitedForBeforeItIsRead) {
  const int fd = make_memfd(4096);
  fill(fd, 1);
  Request request = compile().create_request();
  request.set_input(0, Tensor::import_dmabuf(device_, fd, 0, kBytes));
  produce(fd, [&] { fill(fd, 9); });
  request.infer();
  EXPECT_EQ(first(request.output(0)), affine(9)) << "the frame that the producer was writing";
  EXPECT_EQ(events_, POLLIN) << "who writes it";
  EXPECT_EQ(asked_, 2);
  request.infer();
  EXPECT_EQ(asked_, 3) << "each inference asks";
  ::close(fd);
}

TEST_F(Producers, OfAnOutputAreWaitedForBeforeItIsWritten) {
  const int fd = make_memfd(4096);
  Request request = compile().create_request();
  const Tensor output = Tensor::import_dmabuf(device_, fd, 0, kBytes);
  request.set_output(0, output);
  const Tensor input = request.input(0);
  std::fill_n(reinterpret_cast<float*>(input.data()), kAffineElements, 3.f);
  produce(fd, [&] { fill(fd, 100); });  // a reader of the last frame would see it change
  request.infer();
  EXPECT_EQ(first(output), affine(3)) << "somebody else's last word";
  EXPECT_EQ(events_, POLLOUT) << "who reads or writes it";
  ::close(fd);
}

TEST_F(Producers, OfExportedMemoryAreWaitedForHoweverLateItWasExported) {
  Request request = compile().create_request();
  const Tensor input = Tensor::allocate(device_, kBytes, MemoryUse::kInput, true);
  request.set_input(0, input);
  request.infer();
  const int fd = input.export_dmabuf();
  produce(fd, [&] { fill(fd, 9); });
  request.infer();
  EXPECT_EQ(first(request.output(0)), affine(9)) << "the frame that the producer was writing";
  EXPECT_EQ(asked_, 2);
  ::close(fd);
}

TEST_F(Producers, OfAStateAreWaitedForBeforeItIsReadAndWritten) {
  const int fd = make_memfd(4096);
  fill(fd, 1);
  Request request = CompiledModel::compile(device_, Model::read(write_sum_model(folder_.path())))
                        .create_request();
  const Tensor state = Tensor::import_dmabuf(device_, fd);
  request.states()[0].set(state);
  std::fill_n(reinterpret_cast<float*>(request.input(0).data()), 4, 1.f);
  produce(fd, [&] { fill(fd, 9); });
  request.infer();
  EXPECT_EQ(first(state), 10) << "the value that the producer was writing";
  EXPECT_EQ(events_, POLLOUT) << "who reads or writes it";
  request.infer();
  EXPECT_EQ(asked_, 3) << "each inference asks";
  ::close(fd);
}

TEST_F(Producers, ThatNeverEndAreAnError) {
  const int fd = make_memfd(4096);
  Request request = compile().create_request();
  request.set_input(0, Tensor::import_dmabuf(device_, fd, 0, kBytes));
  produce(fd, [] {});
  never_done_ = true;
  expect_error(ErrorCode::kTimeout, "did not finish with it", [&] { request.infer(); });
  never_done_ = false;
  request.infer();
  ::close(fd);
}

// ---- The CPU's access to DMA-BUFs

TEST_F(SystemCalls, StatesAreWrittenBetweenTheBufferSyncs) {
  const int fd = make_memfd(4096);
  std::vector<std::uint64_t> flags;
  const auto note = [&](int, std::uint64_t asked) -> std::optional<int> {
    if (asked > (DMA_BUF_SYNC_RW | DMA_BUF_SYNC_END)) return EINVAL;
    flags.push_back(asked);
    return 0;
  };
  Request request = CompiledModel::compile(device_, Model::read(write_sum_model(folder_.path())))
                        .create_request();
  State state = request.states()[0];
  state.set(Tensor::import_dmabuf(device_, fd));
  const std::array<std::byte, 16> value = {};
  const CallHooks hooks(nullptr, nullptr, nullptr, note);
  using Flags = std::vector<std::uint64_t>;
  const Flags bracket = {DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE,
                         DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE};
  state.set(value);
  EXPECT_EQ(std::exchange(flags, {}), bracket);
  state.reset();
  EXPECT_EQ(flags, bracket);
  ::close(fd);
}

// ---- Children

TEST_F(SystemCalls, NothingThatTheLibraryOpensIsInherited) {
  const InheritedDescriptors inherited({"libnpucore"});
  const fs::path cache = folder_.path() / "cache", blob = folder_.path() / "m.blob";
  compile(cache);
  const CompiledModel model = compile(cache);
  model.export_blob(blob);
  CompiledModel::import(device_, blob);
  read_blob_info(blob);
  const int fd = make_memfd(4096);
  Importer importer(device_);
  const Tensor imported = importer.import(fd);
  const KeptImport kept = importer.keep(fd);
  const Tensor shareable = Tensor::allocate_shareable(device_, 4096, MemoryUse::kInput);
  const Tensor exportable = Tensor::allocate(device_, 4096, MemoryUse::kInput, true);
  const int exported = exportable.export_dmabuf();
  write_file(folder_.path() / "values", std::string(4096, 'x'));
  const Tensor of_a_file = Tensor::from_file(device_, folder_.path() / "values", 0, 4096);
  device_.dmabuf_sources();
  diagnose();
  Request request = model.create_request();
  request.set_input(0, imported.slice(0, kAffineElements * sizeof(float)));
  request.infer();
  EXPECT_EQ(inherited.of_a_child(), Names());
  EXPECT_EQ(inherited.closed(), Names());
  EXPECT_GE(inherited.looked_at(), 8u) << "entry, lock, model, weights, blob, folders, ...";
  ::close(exported);
  ::close(fd);
}

}  // namespace
}  // namespace npu::test
