// The part of the binary interface of Intel's NPU compiler library (VCL), major version 7, that
// npucore calls. The names are the library's own, in snake_case. All calls are cdecl.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu_vcl::abi {

using Compiler = struct VclCompiler*;
using Executable = struct VclExecutable*;
using Query = struct VclQuery*;
using Log = struct VclLog*;

using Result = std::uint32_t;
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 0x70000002;
inline constexpr Result kUnsupportedFeature = 0x78000003;
inline constexpr Result kInvalidArgument = 0x78000004;
inline constexpr Result kInvalidNullHandle = 0x78000005;
inline constexpr Result kIo = 0x78000006;
inline constexpr Result kInvalidIr = 0x78000007;
inline constexpr Result kUnknown = 0x7ffffffe;

struct Version {
  std::uint16_t major, minor;
};
inline constexpr std::uint16_t kMajor = 7;  ///< of the first version that vclGetVersion gives

struct CompilerDesc {
  Version version;         ///< of the caller
  std::int32_t log_level;  ///< 0: none, 1: errors, ... 5: trace
};
struct DeviceDesc {
  std::uint64_t size_bytes;  ///< size of this struct
  std::uint32_t device_id;   ///< PCI
  std::uint16_t revision;    ///< kNoRevision without a device
  std::uint32_t tiles;       ///< most tiles to use
};
inline constexpr std::uint16_t kNoRevision = 0xffff;

struct CompilerProperties {
  const char* id;
  Version version;  ///< a driver's compiler version; a buffer's header must not exceed it
  std::uint32_t newest_opset;
};
/// The model of an executable or of a query, passed by value.
struct ModelDesc {
  const std::uint8_t* ir;  ///< as a driver gets it with the format NGRAPH_LITE
  std::uint64_t ir_bytes;
  const char* options;  ///< build flags
  std::uint64_t options_bytes;
};

static_assert(sizeof(CompilerDesc) == 8);
static_assert(sizeof(DeviceDesc) == 24 && offsetof(DeviceDesc, tiles) == 16);
static_assert(sizeof(CompilerProperties) == 16);
static_assert(sizeof(ModelDesc) == 32);

using GetVersion = Result (*)(Version* compiler, Version* profiling);
using CompilerCreate = Result (*)(CompilerDesc*, DeviceDesc*, Compiler*, Log*);
using CompilerDestroy = Result (*)(Compiler);
using CompilerGetProperties = Result (*)(Compiler, CompilerProperties*);
using GetSupportedOptions = Result (*)(Compiler, char* text, std::uint64_t* size_bytes);
using IsOptionSupported = Result (*)(Compiler, const char* option, const char* value);
using ExecutableCreate = Result (*)(Compiler, ModelDesc, Executable*);
using ExecutableDestroy = Result (*)(Executable);
/// Without a buffer it only gives the size.
using GetSerializableBlob = Result (*)(Executable, std::uint8_t* blob, std::uint64_t* size_bytes);
using QueryCreate = Result (*)(Compiler, ModelDesc, Query*);
using QueryNetwork = Result (*)(Query, std::uint8_t* text, std::uint64_t* size_bytes);
using QueryDestroy = Result (*)(Query);
using LogGetString = Result (*)(Log, std::size_t* size_bytes, char* text);

}  // namespace npu_vcl::abi
