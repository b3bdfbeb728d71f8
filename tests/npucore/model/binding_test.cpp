// Bindings of requests, and how they get to the device.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test::binding_test {
namespace {

constexpr std::size_t kBytes = kAffineElements * sizeof(float);
constexpr std::size_t kPage = 4096;

/// Pages of the process's own.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        address_(
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(address_, bytes_); }
  std::byte* data() const { return static_cast<std::byte*>(address_); }
  HostMemory part(std::size_t offset) const { return {data() + offset, kBytes}; }
  void make_read_only() const { ASSERT_EQ(::mprotect(address_, bytes_, PROT_READ), 0); }

 private:
  std::size_t bytes_;
  void* address_;
};

void fill(void* memory, float value) {
  auto* floats = static_cast<float*>(memory);
  std::fill(floats, floats + kAffineElements, value);
}

float first_of(const void* memory) {
  float value = 0;
  std::memcpy(&value, memory, sizeof(value));
  return value;
}

class Bindings : public OnSoftwareNpu {
 protected:
  CompiledModel model_ =
      CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
  TempDir& folder() { return folder_; }

 private:
  static inline TempDir folder_;
};

TEST_F(Bindings, MoveBetweenTensors) {
  Request request = model_.create_request();
  std::vector<Tensor> tensors;
  for (int index = 0; index < 20; ++index) {
    tensors.push_back(Tensor::allocate(device_, kBytes, MemoryUse::kInput));
    fill(tensors.back().data(), static_cast<float>(index));
  }
  for (int round = 0; round < 3; ++round) {
    for (int index = 0; index < 20; ++index) {
      request.set_input(0, tensors[static_cast<std::size_t>(index)]);
      request.infer();
      EXPECT_EQ(first_of(request.output(0).data()), affine(static_cast<float>(index)));
    }
  }
  EXPECT_EQ(request.copies(), 0u);
}

TEST_F(Bindings, MoveBetweenOutputsToo) {
  Request request = model_.create_request();
  Tensor outputs[] = {Tensor::allocate(device_, kBytes, MemoryUse::kOutput),
                      Tensor::allocate(device_, kBytes, MemoryUse::kOutput)};
  for (int step = 0; step < 6; ++step) {
    fill(request.input(0).data(), static_cast<float>(step));
    request.set_output(0, outputs[step % 2]);
    request.infer();
    EXPECT_EQ(first_of(outputs[step % 2].data()), affine(static_cast<float>(step)));
  }
}

TEST_F(Bindings, ToWholePagesOfTheApplicationCopyNothing) {
  const Pages input(kPage);
  const Pages output(kPage);
  Request request = model_.create_request();
  request.set_input(0, input.part(0));
  request.set_output(0, output.part(0));
  fill(input.data(), 4);
  request.infer();
  EXPECT_EQ(first_of(output.data()), affine(4));
  EXPECT_EQ(request.copies(), 0u);
  EXPECT_EQ(request.input(0).data(), input.data());
}

TEST_F(Bindings, ToReadOnlyPagesWork) {
  const Pages input(kPage);
  fill(input.data(), 5);
  input.make_read_only();
  Request request = model_.create_request();
  request.set_input(0, input.part(0));
  request.infer();
  EXPECT_EQ(first_of(request.output(0).data()), affine(5));
  EXPECT_EQ(request.copies(), 0u);
}

TEST_F(Bindings, ToMemoryInsideAPageAreCopiedAndCounted) {
  const Pages input(kPage);
  const Pages output(kPage);
  Request request = model_.create_request();
  request.set_input(0, input.part(64));
  request.set_output(0, output.part(64));
  for (float value : {1.f, 2.f}) {
    fill(input.data() + 64, value);
    request.infer();
    EXPECT_EQ(first_of(output.data() + 64), affine(value));
  }
  EXPECT_EQ(request.copies(), 4u);
}

TEST_F(Bindings, ThatOverlapImportedMemoryOtherwiseAreCopied) {
  const Pages pages(2 * kPage);
  Request reader = model_.create_request();
  Request writer = model_.create_request();
  reader.set_input(0, pages.part(0));
  writer.set_output(0, pages.part(0));  // imported for reading already
  fill(pages.data(), 3);
  reader.infer();
  EXPECT_EQ(first_of(reader.output(0).data()), affine(3));
  fill(writer.input(0).data(), 6);
  writer.infer();
  EXPECT_EQ(first_of(pages.data()), affine(6));
  EXPECT_EQ(reader.copies(), 0u);
  EXPECT_EQ(writer.copies(), 1u);
}

TEST_F(Bindings, OfOnePieceOfMemoryShareItsImport) {
  const Importer importer(device_);
  const ImportStats before = importer.stats();
  const Pages pages(kPage);
  Request first = model_.create_request();
  Request second = model_.create_request();
  first.set_input(0, pages.part(0));
  second.set_input(0, pages.part(512));
  EXPECT_EQ(importer.stats().imports, before.imports + 1);
  fill(pages.data() + 512, 7);
  second.infer();
  EXPECT_EQ(first_of(second.output(0).data()), affine(7));
}

TEST_F(Bindings, OfTooLittleMemoryAreRefused) {
  const Pages pages(kPage);
  Request request = model_.create_request();
  expect_error(ErrorCode::kInvalidArgument, "has 10 bytes", [&] {
    request.set_input(0, HostMemory{pages.data(), 10});
  });
  expect_error(ErrorCode::kInvalidArgument, "needs 192", [&] {
    request.set_output(0, HostMemory{nullptr, kBytes});
  });
}

TEST_F(Bindings, OfOutputsToReadOnlyTensorsAreRefused) {
  const Pages pages(kPage);
  const Tensor tensor = Tensor::import_host(device_, pages.part(0), MemoryUse::kInput);
  EXPECT_TRUE(tensor.is_read_only());
  Request request = model_.create_request();
  expect_error(ErrorCode::kInvalidArgument, "is in read-only memory",
               [&] { request.set_output(0, tensor); });
}

TEST_F(Bindings, ThatCannotBeImportedSayWhy) {
  const Pages pages(kPage);
  expect_error(ErrorCode::kUnsupported, "does not begin on a page",
               [&] { Tensor::import_host(device_, pages.part(8), MemoryUse::kInput); });
}

TEST_F(Bindings, WithStridesNeedAGraphThatTakesThem) {
  Request request = model_.create_request();
  const Tensor tensor = Tensor::allocate(device_, kPage, MemoryUse::kInput);
  const std::size_t padded[] = {1024, 256, 64, 4};
  expect_error(ErrorCode::kUnsupported, "NPU_ENABLE_STRIDES_FOR",
               [&] { request.set_input(0, tensor, padded); });
  const std::size_t dense[] = {192, 64, 16, 4};
  EXPECT_NO_THROW(request.set_input(0, tensor, dense));
  const std::size_t too_near[] = {192, 64, 8, 4};
  expect_error(ErrorCode::kInvalidArgument, "8 bytes for dimension 2",
               [&] { request.set_input(0, tensor, too_near); });
  const std::size_t too_few[] = {64, 16, 4};
  expect_error(ErrorCode::kInvalidArgument, "there are 3 of them",
               [&] { request.set_input(0, tensor, too_few); });
}

TEST_F(Bindings, OfABatchHaveItsItemsInARow) {
  constexpr std::size_t kItems = 5;
  Request request = model_.create_request(kItems);
  EXPECT_EQ(request.batch(), kItems);
  EXPECT_EQ(request.input(0).size_bytes(), kItems * kBytes);
  for (int round = 0; round < 2; ++round) {
    const Tensor input = Tensor::allocate(device_, kItems * kBytes, MemoryUse::kInput);
    for (std::size_t item = 0; item < kItems; ++item) {
      fill(input.data() + item * kBytes, static_cast<float>(item + 1));
    }
    request.set_input(0, input);
    request.infer();
    for (std::size_t item = 0; item < kItems; ++item) {
      EXPECT_EQ(first_of(request.output(0).data() + item * kBytes),
                affine(static_cast<float>(item + 1)));
    }
  }
}

TEST_F(Bindings, OfABatchNeedItsMemory) {
  Request request = model_.create_request(2);
  const Tensor one = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  expect_error(ErrorCode::kInvalidArgument, "needs 384", [&] { request.set_input(0, one); });
  expect_error(ErrorCode::kInvalidArgument, "use 1 to 60", [&] { model_.create_request(61); });
  expect_error(ErrorCode::kInvalidArgument, "use 1 to 60", [&] { model_.create_request(0); });
}

TEST_F(Bindings, AreMadeAndSubmittedInOneCall) {
  Request request = model_.create_request();
  const Tensor inputs = Tensor::allocate(device_, 3 * kPage, MemoryUse::kInput);
  const Tensor outputs = Tensor::allocate(device_, 3 * kPage, MemoryUse::kOutput);
  for (const std::size_t page : {1u, 2u}) {
    fill(inputs.data() + page * kPage, static_cast<float>(page));
    const PortBinding input{0, &inputs, page * kPage, kBytes};
    const PortBinding output{0, &outputs, page * kPage};  // up to its end
    EXPECT_EQ(request.submit({{&input, 1}, {&output, 1}}), 0u) << "nothing was copied";
    request.wait();
    EXPECT_EQ(first_of(outputs.data() + page * kPage), affine(static_cast<float>(page)));
  }
}

TEST_F(Bindings, OfASubmissionStayWhereItNamesNoOthers) {
  Request request = model_.create_request();
  const Tensor tensor = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  const PortBinding input{0, &tensor};
  request.submit({{&input, 1}, {}});
  request.wait();
  fill(tensor.data(), 5);
  request.submit({});
  request.wait();
  EXPECT_EQ(first_of(request.output(0).data()), affine(5));
}

TEST_F(Bindings, ThatCannotBeMadeSubmitNothing) {
  Request request = model_.create_request();
  const Tensor small = Tensor::allocate(device_, kBytes / 2, MemoryUse::kInput);
  const PortBinding input{0, &small};
  expect_error(ErrorCode::kInvalidArgument, "needs", [&] { request.submit({{&input, 1}, {}}); });
  const Tensor bound = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  request.set_input(0, bound);
  const PortBinding part{0, &bound, 0, kBytes / 2};
  expect_error(ErrorCode::kInvalidArgument, "needs", [&] { request.submit({{&part, 1}, {}}); });
  const PortBinding outside{0, &small, 0, kBytes};
  EXPECT_THROW(request.submit({{&outside, 1}, {}}), Error);
  const Tensor enough = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  fill(enough.data(), 3);
  request.set_input(0, enough);  // throws while in flight
  request.infer();
  EXPECT_EQ(first_of(request.output(0).data()), affine(3));
}

// A driver's graph has one set of arguments, which each list takes over when it is recorded: the
// driver lets other threads come between. More tensors than recordings are kept, so that each
// inference records.
TEST_F(Bindings, OfSeveralThreadsDoNotMix) {
  constexpr int kThreads = 4, kTensors = 20, kRounds = 60;
  set_fault("pfnAppendGraphExecute:PAUSE@1+");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Request request = model_.create_request();
      std::vector<Tensor> inputs, outputs;
      for (int i = 0; i < kTensors; ++i) {
        inputs.push_back(Tensor::allocate(device_, kBytes, MemoryUse::kInput));
        outputs.push_back(Tensor::allocate(device_, kBytes, MemoryUse::kOutput));
        fill(inputs.back().data(), static_cast<float>(thread * kTensors + i));
      }
      for (int round = 0; round < kRounds; ++round) {
        const auto i = static_cast<std::size_t>(round % kTensors);
        request.set_input(0, inputs[i]);
        request.set_output(0, outputs[i]);
        request.infer();
        wrong += first_of(outputs[i].data()) !=
                 affine(static_cast<float>(thread * kTensors + round % kTensors));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  set_fault("");
  EXPECT_EQ(wrong, 0);
}

// All or nothing: a good input beside a bad output is not bound either.
TEST_F(Bindings, ThatFailInPartBindNothing) {
  Request request = model_.create_request();
  const Tensor first = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  const Tensor second = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  const Tensor small = Tensor::allocate(device_, kBytes / 2, MemoryUse::kOutput);
  fill(first.data(), 1);
  fill(second.data(), 2);
  request.set_input(0, first);
  const PortBinding input{0, &second};
  const PortBinding too_small{0, &small}, no_tensor{0, nullptr}, no_port{7, &second};
  for (const PortBinding* output : {&too_small, &no_tensor, &no_port}) {
    EXPECT_THROW(request.submit({{&input, 1}, {output, 1}}), Error);
  }
  request.infer();
  EXPECT_EQ(first_of(request.output(0).data()), affine(1));
}

TEST_F(Bindings, ToAFileReadItInPlace) {
  const Importer importer(device_);
  const ImportStats before = importer.stats();
  std::vector<float> content(kAffineElements + 1030, 9);
  const auto path = folder().path() / "input.raw";
  write_file(path, {reinterpret_cast<const char*>(content.data()), content.size() * sizeof(float)});
  Request request = model_.create_request();
  const Tensor tensor = Tensor::from_file(device_, path, 4100, kBytes);
  EXPECT_TRUE(tensor.is_read_only());
  request.set_input(0, tensor);
  request.infer();
  EXPECT_EQ(first_of(request.output(0).data()), affine(9));
  EXPECT_EQ(importer.stats().copies, before.copies);
  EXPECT_EQ(importer.stats().imports, before.imports + 1);
}

TEST_F(Bindings, ToAFileThatIsCutShortAreAnError) {
  const auto path = folder().path() / "input.raw";
  write_file(path, std::string(kBytes, '\0'));
  Request request = model_.create_request();
  request.set_input(0, Tensor::from_file(device_, path, 0, kBytes));
  request.infer();
  std::filesystem::resize_file(path, 0);
  expect_error(ErrorCode::kIo, "was changed while it was in use", [&] { request.infer(); });
}

TEST_F(Bindings, ToAFileThatIsCutWhileItIsReadAreAnErrorOrRight) {
  constexpr std::size_t kLarge = std::size_t{32} << 20;
  const auto path = folder().path() / "input.raw";
  for (int round = 0; round < 20; ++round) {
    write_file(path, "");
    std::filesystem::resize_file(path, kLarge);
    std::jthread other([&, round] {
      std::this_thread::sleep_for(std::chrono::microseconds(200 * round));
      std::filesystem::resize_file(path, 100);
    });
    try {
      EXPECT_EQ(Tensor::from_file(device_, path, 0, kLarge).size_bytes(), kLarge);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kIo || error.code() == ErrorCode::kInvalidArgument)
          << error.what();
    }
  }
}

TEST_F(Bindings, ToAFileNeedItsBytes) {
  const auto path = folder().path() / "short.raw";
  write_file(path, "short");
  expect_error(ErrorCode::kInvalidArgument, "has 5 bytes, not 10 at 0",
               [&] { Tensor::from_file(device_, path, 0, 10); });
  expect_error(ErrorCode::kNotFound, "nowhere",
               [&] { Tensor::from_file(device_, folder().path() / "nowhere", 0, 10); });
}

// Recordings, of which a request keeps several, hold no memory.
TEST_F(Bindings, ThatWereReplacedHoldNoMemory) {
  Request request = model_.create_request();
  request.infer();
  const std::uint64_t before = device_.memory().allocated_bytes;
  for (int index = 0; index < 200; ++index) {
    const Tensor temporary = Tensor::allocate(device_, 1 << 20, MemoryUse::kInput);
    fill(temporary.data(), static_cast<float>(index));
    request.set_input(0, temporary);
    request.infer();
    EXPECT_EQ(first_of(request.output(0).data()), affine(static_cast<float>(index)));
  }
  request.set_input(0, Tensor::allocate(device_, kBytes, MemoryUse::kInput));
  EXPECT_LE(device_.memory().allocated_bytes, before + kPage);
}

// Ordinary double buffering: what was bound before the last one may be freed.
TEST_F(Bindings, ToNewMemoryAtAnOldAddressReadTheNew) {
  const Pages other(kPage);
  // Without an inference in between, what was recorded last still names the old memory.
  for (const bool infer_between : {true, false}) {
    Request request = model_.create_request();
    auto first = std::make_unique<Pages>(kPage);
    std::byte* const address = first->data();
    fill(address, 1);
    request.set_input(0, first->part(0));
    request.infer();
    request.set_input(0, other.part(0));
    if (infer_between) {
      request.infer();
    }
    first.reset();
    ASSERT_EQ(::mmap(address, kPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
              address);
    fill(address, 7);
    request.set_input(0, HostMemory{address, kBytes});
    request.infer();
    EXPECT_EQ(first_of(request.output(0).data()), affine(7)) << infer_between;
    EXPECT_EQ(request.copies(), 0u);
    request.set_input(0, other.part(0));
    ::munmap(address, kPage);
  }
}

TEST_F(Bindings, ThatFailedAreNotThereAndCanBeTriedAgain) {
  Request request = model_.create_request();
  const Tensor bound = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  fill(bound.data(), 1);
  request.set_input(0, bound);
  const Pages pages(2 * kPage);
  const HostMemory unaligned = pages.part(sizeof(float));
  fill(unaligned.data, 2);
  set_fault("zeMemAllocHost:OUT_OF_DEVICE_MEMORY@1");
  expect_error(ErrorCode::kOutOfMemory, "zeMemAllocHost", [&] { request.set_input(0, unaligned); });
  set_fault("");
  request.infer();
  EXPECT_EQ(first_of(request.output(0).data()), affine(1)) << "bound as before";
  request.set_input(0, unaligned);
  request.infer();
  EXPECT_EQ(first_of(request.output(0).data()), affine(2));
}

}  // namespace
}  // namespace npu::test::binding_test
