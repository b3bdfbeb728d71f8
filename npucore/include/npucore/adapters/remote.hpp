#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include <npucore/compiled_model.hpp>

// OpenVINO's Remote Tensor API in npucore's words, for programs that come from there. New programs
// use Tensor, which does the same; npucore.hpp does not include this.
namespace npu {

/// Values of the property maps, for callers that pass everything by name: texts, numbers, and
/// pointers. A descriptor may be a number or a pointer.
using RemoteValue = std::variant<std::string, std::int64_t, void*>;
using RemoteProperties = std::map<std::string, RemoteValue>;

/// Names of the property maps, as OpenVINO's Remote Tensor API has them.
namespace remote {
inline constexpr const char* kMemType = "MEM_TYPE";        ///< one of those below
inline constexpr const char* kMemHandle = "MEM_HANDLE";    ///< fd (also as void*) or address
inline constexpr const char* kL0Context = "L0_CONTEXT";    ///< Level Zero's handle as void*
inline constexpr const char* kTensorType = "TENSOR_TYPE";  ///< "INPUT", "OUTPUT", "BINDED" (both)
inline constexpr const char* kFileDescriptor = "FILE_DESCRIPTOR";  ///< a file's path
/// The tensor's offset in the file or the DMA-BUF, in bytes; 0 if it is not given.
inline constexpr const char* kOffset = "OFFSET";

// Values of MEM_TYPE.
inline constexpr const char* kInternalBuffer = "L0_INTERNAL_BUF";  ///< driver memory
inline constexpr const char* kSharedBuffer = "SHARED_BUF";  ///< DMA-BUF, on Windows NT handle
inline constexpr const char* kCpuAddress = "CPU_VA";        ///< the application's memory
inline constexpr const char* kMappedFile = "MMAPED_FILE";
}  // namespace remote

enum class TensorType {
  kInput,   ///< the device reads it
  kOutput,  ///< the device writes it
  kBinded,  ///< both
};
NPU_API const char* to_string(TensorType type);  ///< "INPUT", "OUTPUT", "BINDED"

/// A tensor with type and shape, and the origin of its memory.
class NPU_API RemoteTensor {
 public:
  const Tensor& tensor() const { return tensor_; }
  operator const Tensor&() const { return tensor_; }
  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::byte* data() const { return tensor_.data(); }
  std::size_t size_bytes() const { return tensor_.size_bytes(); }
  /// MEM_TYPE, MEM_HANDLE (its address for Level Zero), L0_CONTEXT and TENSOR_TYPE.
  RemoteProperties get_params() const;

 private:
  friend class RemoteContext;
  RemoteTensor(Tensor tensor, ElementType type, Shape shape, std::string mem_type, TensorType use,
               Device device);
  Tensor tensor_;
  ElementType type_;
  Shape shape_;
  std::string mem_type_;
  TensorType use_;
  Device device_;
};

/// The context in which tensors are made: one for each device and process. The caller keeps what it
/// shares: memory must outlive the tensors made of it; each tensor duplicates its descriptor.
class NPU_API RemoteContext {
 public:
  explicit RemoteContext(const Device& device);
  explicit RemoteContext(const CompiledModel& model);
  /// Takes properties by name. L0_CONTEXT, if it is given, must be this device's context. Throws
  /// Error(kInvalidArgument) for another context and for unknown names.
  static RemoteContext create(const Device& device, const RemoteProperties& properties);

  const Device& device() const { return device_; }
  /// Level Zero's current context handle; another one after a lost device.
  void* handle() const;
  RemoteProperties get_params() const;  ///< L0_CONTEXT

  /// Driver memory that CPU and device share; data() is the raw pointer. With
  /// kInput the CPU reads it slowly.
  RemoteTensor create_l0_host_tensor(ElementType type, const Shape& shape,
                                     TensorType use = TensorType::kBinded) const;
  /// The same, for the CPU to read and write quickly.
  RemoteTensor create_host_tensor(ElementType type, const Shape& shape) const;
  /// Bytes at `offset` of a DMA-BUF. One of kInput cannot be bound to an output.
  RemoteTensor create_tensor(ElementType type, const Shape& shape, int dmabuf_fd,
                             std::size_t offset = 0, TensorType use = TensorType::kBinded) const;
  /// The application's memory, in place: see Tensor::import_host.
  RemoteTensor create_tensor(ElementType type, const Shape& shape, void* memory,
                             TensorType use = TensorType::kBinded) const;
  /// A file's bytes at `offset`: see Tensor::from_file. Throws Error(kInvalidArgument) for another
  /// use than kInput, as the device does not write files.
  RemoteTensor create_tensor(ElementType type, const Shape& shape,
                             const std::filesystem::path& file, std::size_t offset = 0,
                             TensorType use = TensorType::kInput) const;
  /// Throws Error(kUnsupported): only Windows has NT handles.
  RemoteTensor create_tensor_of_nt_handle(ElementType type, const Shape& shape,
                                          void* nt_handle) const;
  /// Takes MEM_TYPE with MEM_HANDLE, or FILE_DESCRIPTOR and OFFSET, and TENSOR_TYPE, which is INPUT
  /// for a file and else BINDED. Empty: driver memory.
  RemoteTensor create_tensor(ElementType type, const Shape& shape,
                             const RemoteProperties& properties) const;

 private:
  Device device_;
};

}  // namespace npu
