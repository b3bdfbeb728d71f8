#include <array>
#include <utility>

#include <npucore/adapters/remote.hpp>
#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/enum_names.hpp"
#include "base/text.hpp"

#include "tensors.hpp"

namespace npu {
namespace {

using base::text;

constexpr std::array kTensorTypes = {
    base::EnumName<TensorType>{TensorType::kInput, "INPUT"},
    base::EnumName<TensorType>{TensorType::kOutput, "OUTPUT"},
    base::EnumName<TensorType>{TensorType::kBinded, "BINDED"},
};

std::size_t bytes_of(ElementType type, const Shape& shape) {
  const std::size_t bytes = Port{"remote tensor", {}, type, shape}.size_bytes();
  if (bytes == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                text("a remote tensor of ", to_string(type), to_string(shape), " has no bytes"));
  }
  return bytes;
}

void require_known(const RemoteProperties& properties, std::initializer_list<const char*> known) {
  for (const auto& [name, value] : properties) {
    std::string names;
    bool is_known = false;
    for (const char* each : known) {
      is_known = is_known || name == each;
      names += text(names.empty() ? "" : ", ", each);
    }
    if (!is_known) {
      throw Error(ErrorCode::kInvalidArgument,
                  text("there is no remote property ", base::quoted(name), "; there are ", names));
    }
  }
}

[[noreturn]] void refuse(const char* name, const char* wanted) {
  throw Error(ErrorCode::kInvalidArgument, text("the remote property ", name, " must be ", wanted));
}

std::string text_of(const RemoteProperties& properties, const char* name,
                    const std::string& otherwise) {
  const auto found = properties.find(name);
  if (found == properties.end()) return otherwise;
  if (const auto* value = std::get_if<std::string>(&found->second)) return *value;
  refuse(name, "a text");
}

/// A number or pointer; both travel in MEM_HANDLE.
std::intptr_t number_of(const RemoteProperties& properties, const char* name) {
  const auto found = properties.find(name);
  if (found == properties.end()) {
    refuse(name, "given");
  }
  if (const auto* number = std::get_if<std::int64_t>(&found->second)) return *number;
  if (void* const* pointer = std::get_if<void*>(&found->second)) {
    return reinterpret_cast<std::intptr_t>(*pointer);
  }
  refuse(name, "a number or a pointer");
}

void* address_of(const RemoteProperties& properties, const char* name) {
  // Callers may keep addresses as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(number_of(properties, name));
}

std::size_t offset_of(const RemoteProperties& properties) {
  if (properties.count(remote::kOffset) == 0) return 0;
  const std::intptr_t offset = number_of(properties, remote::kOffset);
  if (offset < 0) {
    refuse(remote::kOffset, "0 or more");
  }
  return static_cast<std::size_t>(offset);
}

}  // namespace

const char* to_string(TensorType type) {
  return base::name_of(kTensorTypes, type);
}

RemoteTensor::RemoteTensor(Tensor tensor, ElementType type, Shape shape, std::string mem_type,
                           TensorType use, Device device)
    : tensor_(std::move(tensor)),
      type_(type),
      shape_(std::move(shape)),
      mem_type_(std::move(mem_type)),
      use_(use),
      device_(std::move(device)) {}

RemoteProperties RemoteTensor::get_params() const try {
  return {{remote::kMemType, mem_type_},
          {remote::kMemHandle, static_cast<void*>(tensor_.data())},
          {remote::kL0Context,
           static_cast<void*>(base::live(internal::allocation_of(tensor_), "RemoteTensor")
                                  .place.context->context.get())},
          {remote::kTensorType, std::string(to_string(use_))}};
} catch (...) {
  base::rethrow_as_error();
}

RemoteContext::RemoteContext(const Device& device) : device_(device) {}
RemoteContext::RemoteContext(const CompiledModel& model) : device_(model.device()) {}

RemoteContext RemoteContext::create(const Device& device, const RemoteProperties& properties) try {
  require_known(properties, {remote::kL0Context});
  RemoteContext context(device);
  if (properties.count(remote::kL0Context) != 0 &&
      number_of(properties, remote::kL0Context) !=
          reinterpret_cast<std::intptr_t>(context.handle())) {
    throw Error(ErrorCode::kInvalidArgument,
                text("L0_CONTEXT is not the context of ", device.info().name,
                     ": a process has one for each device, use its memory in that one"));
  }
  return context;
} catch (...) {
  base::rethrow_as_error();
}

void* RemoteContext::handle() const {
  return device_.native_context();
}

RemoteProperties RemoteContext::get_params() const try {
  return {{remote::kL0Context, handle()}};
} catch (...) {
  base::rethrow_as_error();
}

RemoteTensor RemoteContext::create_l0_host_tensor(ElementType type, const Shape& shape,
                                                  TensorType use) const try {
  const MemoryUse memory_use = use == TensorType::kInput ? MemoryUse::kInput : MemoryUse::kOutput;
  return {Tensor::allocate(device_, bytes_of(type, shape), memory_use),
          type,
          shape,
          remote::kInternalBuffer,
          use,
          device_};
} catch (...) {
  base::rethrow_as_error();
}

RemoteTensor RemoteContext::create_host_tensor(ElementType type, const Shape& shape) const {
  return create_l0_host_tensor(type, shape, TensorType::kBinded);
}

RemoteTensor RemoteContext::create_tensor(ElementType type, const Shape& shape, int dmabuf_fd,
                                          std::size_t offset, TensorType use) const try {
  const auto tensor = Tensor::import_dmabuf(device_, dmabuf_fd, offset, bytes_of(type, shape));
  return {use == TensorType::kInput ? internal::as_input_only(tensor) : tensor,
          type,
          shape,
          remote::kSharedBuffer,
          use,
          device_};
} catch (...) {
  base::rethrow_as_error();
}

RemoteTensor RemoteContext::create_tensor(ElementType type, const Shape& shape, void* memory,
                                          TensorType use) const try {
  const MemoryUse memory_use = use == TensorType::kInput ? MemoryUse::kInput : MemoryUse::kOutput;
  return {Tensor::import_host(device_, {memory, bytes_of(type, shape)}, memory_use),
          type,
          shape,
          remote::kCpuAddress,
          use,
          device_};
} catch (...) {
  base::rethrow_as_error();
}

RemoteTensor RemoteContext::create_tensor(ElementType type, const Shape& shape,
                                          const std::filesystem::path& file, std::size_t offset,
                                          TensorType use) const try {
  if (use != TensorType::kInput) {
    throw Error(ErrorCode::kInvalidArgument,
                text("a remote tensor of the file ", file.string(), " cannot be ", to_string(use),
                     ": a file is only read; use INPUT, or driver memory for what is written"));
  }
  return {Tensor::from_file(device_, file, offset, bytes_of(type, shape)),
          type,
          shape,
          remote::kMappedFile,
          TensorType::kInput,
          device_};
} catch (...) {
  base::rethrow_as_error();
}

RemoteTensor RemoteContext::create_tensor_of_nt_handle(ElementType type, const Shape& shape,
                                                       void*) const {
  throw Error(ErrorCode::kUnsupported,
              text("a remote tensor of ", to_string(type), to_string(shape),
                   " from an NT handle: those exist only on Windows; on Linux, share a DMA-BUF's "
                   "descriptor"));
}

RemoteTensor RemoteContext::create_tensor(ElementType type, const Shape& shape,
                                          const RemoteProperties& properties) const try {
  require_known(properties, {remote::kMemType, remote::kMemHandle, remote::kTensorType,
                             remote::kFileDescriptor, remote::kOffset});
  const std::string mem_type = text_of(properties, remote::kMemType, remote::kInternalBuffer);
  const char* otherwise = mem_type == remote::kMappedFile ? "INPUT" : "BINDED";
  const TensorType use = base::value_of(
      kTensorTypes, text_of(properties, remote::kTensorType, otherwise), "tensor type");
  if (mem_type == remote::kInternalBuffer) return create_l0_host_tensor(type, shape, use);
  if (mem_type == remote::kSharedBuffer) {
    return create_tensor(type, shape, static_cast<int>(number_of(properties, remote::kMemHandle)),
                         offset_of(properties), use);
  }
  if (mem_type == remote::kCpuAddress) {
    return create_tensor(type, shape, address_of(properties, remote::kMemHandle), use);
  }
  if (mem_type == remote::kMappedFile) {
    const std::string file = text_of(properties, remote::kFileDescriptor, "");
    if (file.empty()) {
      refuse(remote::kFileDescriptor, "the path of a file");
    }
    return create_tensor(type, shape, std::filesystem::path(file), offset_of(properties), use);
  }
  refuse(remote::kMemType, "L0_INTERNAL_BUF, SHARED_BUF, CPU_VA or MMAPED_FILE");
} catch (...) {
  base::rethrow_as_error();
}

}  // namespace npu
