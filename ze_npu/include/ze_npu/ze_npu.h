// The NPU extensions of Level Zero as the driver implements them: the one description of that
// binary interface, shared by the application side (npucore/src/ze) and the software NPU. Types,
// fields, enumerators and table members carry the extensions' own names, so that code reads like
// any other Level Zero code.
//
// Two groups live here:
//  - the NPU extensions (graph 1.0 to 1.18, profiling, command queue, context, driver);
//  - `ze_npu_core_*` / `kZeNpuCore*`: parts of core Level Zero that are newer than the oldest
//    headers this builds with (1.8.12, specification 1.4). They have their own names, so that newer
//    ze_api.h do not clash; the functions are found at run time.
//
// Every structure begins with `stype` and `pNext` unless its comment says otherwise. The stype
// numbers of the extensions overlap each other and those of core Level Zero: only the place where a
// structure hangs tells them apart. `since` in a comment is the first version of the extension that
// knows the item; test the version that the driver advertises before touching it, because the
// tables of older drivers are physically shorter.
#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>

#include "platforms.h"

// ------------------------------------------------------------------------------------------------
// Versions and names

// A version word as extensions and compilers report it: (major << 16) | minor.
constexpr uint32_t ze_npu_version(uint32_t major, uint32_t minor) {
  return (major << 16) | minor;
}
constexpr uint32_t ze_npu_version_major(uint32_t word) {
  return word >> 16;
}
constexpr uint32_t ze_npu_version_minor(uint32_t word) {
  return word & 0xffffu;
}
// True if an interface of version `word` has the additions of major.minor. Another major is another
// interface.
constexpr bool ze_npu_version_has(uint32_t word, uint32_t major, uint32_t minor) {
  return ze_npu_version_major(word) == major && ze_npu_version_minor(word) >= minor;
}

// For zeDriverGetExtensionProperties and zeDriverGetExtensionFunctionAddress.
#define ZE_GRAPH_EXT_NAME "ZE_extension_graph"
#define ZE_GRAPH_EXT_NAME_1_2 "ZE_extension_graph_1_2"
#define ZE_GRAPH_EXT_NAME_1_3 "ZE_extension_graph_1_3"
#define ZE_GRAPH_EXT_NAME_1_4 "ZE_extension_graph_1_4"
#define ZE_GRAPH_EXT_NAME_1_5 "ZE_extension_graph_1_5"
#define ZE_GRAPH_EXT_NAME_1_6 "ZE_extension_graph_1_6"
#define ZE_GRAPH_EXT_NAME_1_7 "ZE_extension_graph_1_7"
#define ZE_GRAPH_EXT_NAME_1_8 "ZE_extension_graph_1_8"
#define ZE_PROFILING_DATA_EXT_NAME "ZE_extension_profiling_data"
#define ZE_COMMAND_QUEUE_NPU_EXT_NAME "ZE_extension_command_queue_npu"
#define ZE_CONTEXT_NPU_EXT_NAME "ZE_extension_context_npu"
#define ZE_DRIVER_NPU_EXT_NAME "ZE_extension_driver_npu"
// Core extensions; old headers lack their names.
#define ZE_NPU_CORE_MUTABLE_COMMAND_LIST_EXP_NAME "ZE_experimental_mutable_command_list"
#define ZE_NPU_CORE_EXTERNAL_MEMMAP_SYSMEM_EXT_NAME "ZE_extension_external_memmap_sysmem"
// The software NPU's own extension: it imports a memfd as if it were a DMA-BUF. It has no table,
// and no hardware has it.
#define ZE_SOFTNPU_MEMFD_IMPORT_EXT_NAME "ZE_extension_softnpu_memfd_import"

enum ze_graph_ext_version_t : uint32_t {
  ZE_GRAPH_EXT_VERSION_1_0 = ze_npu_version(1, 0),
  ZE_GRAPH_EXT_VERSION_1_1 = ze_npu_version(1, 1),
  ZE_GRAPH_EXT_VERSION_1_2 = ze_npu_version(1, 2),
  ZE_GRAPH_EXT_VERSION_1_3 = ze_npu_version(1, 3),
  ZE_GRAPH_EXT_VERSION_1_4 = ze_npu_version(1, 4),
  ZE_GRAPH_EXT_VERSION_1_5 = ze_npu_version(1, 5),
  ZE_GRAPH_EXT_VERSION_1_6 = ze_npu_version(1, 6),
  ZE_GRAPH_EXT_VERSION_1_7 = ze_npu_version(1, 7),
  ZE_GRAPH_EXT_VERSION_1_8 = ze_npu_version(1, 8),
  ZE_GRAPH_EXT_VERSION_1_9 = ze_npu_version(1, 9),
  ZE_GRAPH_EXT_VERSION_1_10 = ze_npu_version(1, 10),
  ZE_GRAPH_EXT_VERSION_1_11 = ze_npu_version(1, 11),
  ZE_GRAPH_EXT_VERSION_1_12 = ze_npu_version(1, 12),
  ZE_GRAPH_EXT_VERSION_1_13 = ze_npu_version(1, 13),
  ZE_GRAPH_EXT_VERSION_1_14 = ze_npu_version(1, 14),
  ZE_GRAPH_EXT_VERSION_1_15 = ze_npu_version(1, 15),
  ZE_GRAPH_EXT_VERSION_1_16 = ze_npu_version(1, 16),
  ZE_GRAPH_EXT_VERSION_1_17 = ze_npu_version(1, 17),
  ZE_GRAPH_EXT_VERSION_1_18 = ze_npu_version(1, 18),
  ZE_GRAPH_EXT_VERSION_CURRENT = ZE_GRAPH_EXT_VERSION_1_18,
};

enum ze_profiling_data_ext_version_t : uint32_t {
  ZE_PROFILING_DATA_EXT_VERSION_1_0 = ze_npu_version(1, 0),
  ZE_PROFILING_DATA_EXT_VERSION_CURRENT = ZE_PROFILING_DATA_EXT_VERSION_1_0,
};

enum ze_command_queue_npu_ext_version_t : uint32_t {
  ZE_COMMAND_QUEUE_NPU_EXT_VERSION_1_0 = ze_npu_version(1, 0),
  ZE_COMMAND_QUEUE_NPU_EXT_VERSION_1_1 = ze_npu_version(1, 1),
  ZE_COMMAND_QUEUE_NPU_EXT_VERSION_CURRENT = ZE_COMMAND_QUEUE_NPU_EXT_VERSION_1_1,
};

enum ze_context_npu_ext_version_t : uint32_t {
  ZE_CONTEXT_NPU_EXT_VERSION_1_0 = ze_npu_version(1, 0),
  ZE_CONTEXT_NPU_EXT_VERSION_CURRENT = ZE_CONTEXT_NPU_EXT_VERSION_1_0,
};

enum ze_driver_npu_ext_version_t : uint32_t {
  ZE_DRIVER_NPU_EXT_VERSION_1_0 = ze_npu_version(1, 0),
  ZE_DRIVER_NPU_EXT_VERSION_CURRENT = ZE_DRIVER_NPU_EXT_VERSION_1_0,
};

// ------------------------------------------------------------------------------------------------
// Which driver, which device

// zeDriverGetProperties.uuid of Intel's NPU driver. 017de931-6b4d-4fd4-aa9b-5bed77fc8e89
inline constexpr ze_driver_uuid_t ze_intel_npu_driver_uuid = {{0x01, 0x7d, 0xe9, 0x31, 0x6b, 0x4d,
                                                               0x4f, 0xd4, 0xaa, 0x9b, 0x5b, 0xed,
                                                               0x77, 0xfc, 0x8e, 0x89}};
// zeDeviceGetProperties.uuid of every NPU: it names the kind, not the one device.
// 80d1d11e-b738-11ea-b3de-0242ac130004
inline constexpr ze_device_uuid_t ze_intel_npu_device_uuid = {{0x80, 0xd1, 0xd1, 0x1e, 0xb7, 0x38,
                                                               0x11, 0xea, 0xb3, 0xde, 0x02, 0x42,
                                                               0xac, 0x13, 0x00, 0x04}};

inline constexpr uint32_t kZeNpuPciVendorId = 0x8086;  // platforms.h has the device ids

// ------------------------------------------------------------------------------------------------
// Graph extension: constants

// Driver objects. The loader never wraps them, unlike context, device, list, queue and event
// handles.
typedef struct _ze_graph_handle_t* ze_graph_handle_t;
typedef struct _ze_graph_query_network_handle_t* ze_graph_query_network_handle_t;
typedef struct _ze_graph_build_log_handle_t* ze_graph_build_log_handle_t;
typedef struct _ze_graph_profiling_pool_handle_t* ze_graph_profiling_pool_handle_t;
typedef struct _ze_graph_profiling_query_handle_t* ze_graph_profiling_query_handle_t;

inline constexpr uint32_t ZE_MAX_GRAPH_ARGUMENT_NAME = 256;
inline constexpr uint32_t ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE = 5;
inline constexpr uint32_t ZE_MAX_GRAPH_TENSOR_REF_DIMS = 8;
inline constexpr uint32_t ZE_MAX_GRAPH_TENSOR_NAMES_SIZE = 32;
// ze_graph_argument_metadata_t::shape of a dimension that is unknown before the inference.
inline constexpr uint64_t kZeGraphDynamicDimension = UINT64_MAX;

enum ze_structure_type_graph_ext_t : uint32_t {
  ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES = 0x1,
  ZE_STRUCTURE_TYPE_GRAPH_DESC_PROPERTIES = 0x2,
  ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES = 0x3,
  ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES = 0x4,
  ZE_STRUCTURE_TYPE_GRAPH_ACTIVATION_KERNEL = 0x5,
  ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_METADATA = 0x6,
  ZE_STRUCTURE_TYPE_MUTABLE_GRAPH_ARGUMENT_EXP_DESC_DEPRECATED = 0x7,
  ZE_STRUCTURE_TYPE_GRAPH_INPUT_HASH = 0x8,
  ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTY_STRIDES = 0x9,
  ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_TENSOR = 0xa,
  ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES = 0xb,
  ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_2 = 0xc,
  ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3 = 0xd,
  ZE_STRUCTURE_TYPE_GRAPH_DESC_2 = 0xe,
  ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES_2 = 0xf,
  ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_2 = 0x10,
  ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3 = 0x11,
};

enum ze_graph_format_t : uint32_t {
  ZE_GRAPH_FORMAT_NATIVE = 0x1,       // the driver's own binary
  ZE_GRAPH_FORMAT_NGRAPH_LITE = 0x2,  // OpenVINO IR, which the driver compiles
};

enum ze_graph_argument_type_t : uint32_t {
  ZE_GRAPH_ARGUMENT_TYPE_INPUT = 0x0,
  ZE_GRAPH_ARGUMENT_TYPE_OUTPUT = 0x1,
};

enum ze_graph_argument_precision_t : uint32_t {
  ZE_GRAPH_ARGUMENT_PRECISION_UNKNOWN = 0x0,
  ZE_GRAPH_ARGUMENT_PRECISION_FP32 = 0x1,
  ZE_GRAPH_ARGUMENT_PRECISION_FP16 = 0x2,
  ZE_GRAPH_ARGUMENT_PRECISION_UINT16 = 0x3,
  ZE_GRAPH_ARGUMENT_PRECISION_UINT8 = 0x4,
  ZE_GRAPH_ARGUMENT_PRECISION_INT32 = 0x5,
  ZE_GRAPH_ARGUMENT_PRECISION_INT16 = 0x6,
  ZE_GRAPH_ARGUMENT_PRECISION_INT8 = 0x7,
  ZE_GRAPH_ARGUMENT_PRECISION_BIN = 0x8,
  ZE_GRAPH_ARGUMENT_PRECISION_BF16 = 0x9,
  ZE_GRAPH_ARGUMENT_PRECISION_UINT32 = 0xa,
  ZE_GRAPH_ARGUMENT_PRECISION_UINT4 = 0xb,
  ZE_GRAPH_ARGUMENT_PRECISION_INT4 = 0xc,
  ZE_GRAPH_ARGUMENT_PRECISION_DYNAMIC = 0xd,
  ZE_GRAPH_ARGUMENT_PRECISION_BOOLEAN = 0xe,
  ZE_GRAPH_ARGUMENT_PRECISION_FP64 = 0xf,
  ZE_GRAPH_ARGUMENT_PRECISION_UINT64 = 0x10,
  ZE_GRAPH_ARGUMENT_PRECISION_INT64 = 0x11,
  ZE_GRAPH_ARGUMENT_PRECISION_NF4 = 0x12,
  ZE_GRAPH_ARGUMENT_PRECISION_FP8_E4M3 = 0x13,
  ZE_GRAPH_ARGUMENT_PRECISION_FP8_E5M2 = 0x14,
  ZE_GRAPH_ARGUMENT_PRECISION_FP8_E8M0 = 0x15,
  ZE_GRAPH_ARGUMENT_PRECISION_UINT2 = 0x16,
  ZE_GRAPH_ARGUMENT_PRECISION_INT2 = 0x17,
};

enum ze_graph_argument_layout_t : uint32_t {
  ZE_GRAPH_ARGUMENT_LAYOUT_ANY = 0x0,
  ZE_GRAPH_ARGUMENT_LAYOUT_NCHW = 0x1,
  ZE_GRAPH_ARGUMENT_LAYOUT_NHWC = 0x2,
  ZE_GRAPH_ARGUMENT_LAYOUT_NCDHW = 0x3,
  ZE_GRAPH_ARGUMENT_LAYOUT_NDHWC = 0x4,
  ZE_GRAPH_ARGUMENT_LAYOUT_OIHW = 0x40,
  ZE_GRAPH_ARGUMENT_LAYOUT_C = 0x60,
  ZE_GRAPH_ARGUMENT_LAYOUT_CHW = 0x80,
  ZE_GRAPH_ARGUMENT_LAYOUT_HW = 0xc0,
  ZE_GRAPH_ARGUMENT_LAYOUT_NC = 0xc1,
  ZE_GRAPH_ARGUMENT_LAYOUT_CN = 0xc2,
  ZE_GRAPH_ARGUMENT_LAYOUT_BLOCKED = 0xc8,
};

// Element types of ze_graph_argument_metadata_t: not the numbers of ze_graph_argument_precision_t.
enum ze_graph_metadata_type : uint32_t {
  ZE_GRAPH_METADATA_TYPE_UNDEFINED = 0,
  ZE_GRAPH_METADATA_TYPE_DYNAMIC = 1,
  ZE_GRAPH_METADATA_TYPE_BOOLEAN = 2,
  ZE_GRAPH_METADATA_TYPE_BF16 = 3,
  ZE_GRAPH_METADATA_TYPE_F16 = 4,
  ZE_GRAPH_METADATA_TYPE_F32 = 5,
  ZE_GRAPH_METADATA_TYPE_F64 = 6,
  ZE_GRAPH_METADATA_TYPE_I4 = 7,
  ZE_GRAPH_METADATA_TYPE_I8 = 8,
  ZE_GRAPH_METADATA_TYPE_I16 = 9,
  ZE_GRAPH_METADATA_TYPE_I32 = 10,
  ZE_GRAPH_METADATA_TYPE_I64 = 11,
  ZE_GRAPH_METADATA_TYPE_U1 = 12,
  ZE_GRAPH_METADATA_TYPE_U4 = 13,
  ZE_GRAPH_METADATA_TYPE_U8 = 14,
  ZE_GRAPH_METADATA_TYPE_U16 = 15,
  ZE_GRAPH_METADATA_TYPE_U32 = 16,
  ZE_GRAPH_METADATA_TYPE_U64 = 17,
};

using ze_graph_flags_t = uint32_t;
enum ze_graph_flag_t : uint32_t {
  ZE_GRAPH_FLAG_NONE = 0,
  ZE_GRAPH_FLAG_DISABLE_CACHING = 1u << 0,   // leave the driver's disk cache out
  ZE_GRAPH_FLAG_ENABLE_PROFILING = 1u << 1,  // executing needs a profiling query
  ZE_GRAPH_FLAG_INPUT_GRAPH_PERSISTENT =
      1u << 2,                             // since 1.13: pInput, page aligned, outlives the graph
  ZE_GRAPH_FLAG_SECURE_COMPILE = 1u << 3,  // since 1.17
  ZE_GRAPH_FLAG_OPTIMIZE_FOR_DYNAMIC_SHAPES = 1u
                                              << 4,  // since 1.18: strides stay with the argument
};

using ze_graph_properties_flags_t = uint32_t;
enum ze_graph_properties_flag_t : uint32_t {
  ZE_GRAPH_PROPERTIES_FLAG_LOADED_FROM_CACHE = 1u << 0,
  ZE_GRAPH_PROPERTIES_FLAG_COMPILED = 1u << 1,
  ZE_GRAPH_PROPERTIES_FLAG_PRE_COMPILED = 1u << 2,
  ZE_GRAPH_PROPERTIES_FLAG_NO_STANDARD_ALLOCATION = 1u
                                                    << 3,  // since 1.14: the caller may free pInput
  ZE_GRAPH_PROPERTIES_FLAG_PROFILING_ENABLED = 1u << 4,    // since 1.16
};

// Bits: the steps left to do before the first execute.
enum ze_graph_init_stage_t : uint32_t {
  ZE_GRAPH_STAGE_COMMAND_LIST_INITIALIZE =
      0x1,                          // pfnAppendGraphInitialize in a list that runs first
  ZE_GRAPH_STAGE_INITIALIZE = 0x2,  // pfnGraphInitialize
};

enum ze_graph_memory_query_type_t : uint32_t {
  ZE_GRAPH_QUERY_MEMORY_DDR = 0x1,
  ZE_GRAPH_QUERY_DRIVER_CACHE = 0x2,   // since 1.10
  ZE_GRAPH_QUERY_PROGRAM_CACHE = 0x3,  // since 1.10
};

enum ze_npu_options_type_t : uint32_t {
  ZE_NPU_COMPILER_OPTIONS = 0x1,
  ZE_NPU_DRIVER_OPTIONS = 0x2,
};

// ------------------------------------------------------------------------------------------------
// Graph extension: structures

// No stype.
struct ze_graph_compiler_version_info_t {
  uint16_t major;
  uint16_t minor;
};

// No stype.
struct ze_graph_version_info_t {
  uint32_t major;
  uint32_t minor;
  uint32_t patch;
};

struct ze_device_graph_properties_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  ze_graph_ext_version_t graphExtensionVersion;
  ze_graph_compiler_version_info_t compilerVersion;
  uint32_t graphFormatsSupported;  // a ze_graph_format_t; NATIVE works even if unlisted
  uint32_t maxOVOpsetVersionSupported;
};

// since 1.6
struct ze_device_graph_properties_2_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  ze_graph_ext_version_t graphExtensionVersion;
  ze_graph_compiler_version_info_t compilerVersion;
  uint32_t graphFormatsSupported;
  uint32_t maxOVOpsetVersionSupported;
  ze_graph_version_info_t elfVersion;      // of the blobs that the driver loads
  ze_graph_version_info_t runtimeVersion;  // of the firmware's inference description
};

struct ze_graph_desc_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  ze_graph_format_t format;
  size_t inputSize;  // bytes
  const uint8_t* pInput;
  const char* pBuildFlags;  // NGRAPH_LITE only
};

// since 1.5
struct ze_graph_desc_2_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  ze_graph_format_t format;
  size_t inputSize;  // bytes
  const uint8_t* pInput;
  const char* pBuildFlags;
  ze_graph_flags_t flags;
};

struct ze_activation_kernel_desc_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  size_t kernelDataSize;  // bytes
  const uint8_t* pKernelData;
};

// since 1.14; first in the pNext of a graph description: replaces the hash of pInput in the driver
// cache's key.
struct ze_graph_input_hash_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  uint64_t hash;
};

struct ze_graph_properties_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  uint32_t numGraphArgs;  // inputs and outputs
};

// since 1.8
struct ze_graph_properties_2_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  uint32_t numGraphArgs;
  ze_graph_init_stage_t initStageRequired;
};

// since 1.12
struct ze_graph_properties_3_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  uint32_t numGraphArgs;
  ze_graph_init_stage_t initStageRequired;
  ze_graph_properties_flags_t flags;
};

// The `device` precision and layout are those of the bound memory; the `network` ones are the
// model's.
struct ze_graph_argument_properties_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  char name[ZE_MAX_GRAPH_ARGUMENT_NAME];
  ze_graph_argument_type_t type;
  uint32_t dims[ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE];  // unused ones are 1
  ze_graph_argument_precision_t networkPrecision;
  ze_graph_argument_layout_t networkLayout;
  ze_graph_argument_precision_t devicePrecision;
  ze_graph_argument_layout_t deviceLayout;
};

// since 1.1
struct ze_graph_argument_properties_2_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  char name[ZE_MAX_GRAPH_ARGUMENT_NAME];
  ze_graph_argument_type_t type;
  uint32_t dims[ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE];
  ze_graph_argument_precision_t networkPrecision;
  ze_graph_argument_layout_t networkLayout;
  ze_graph_argument_precision_t devicePrecision;
  ze_graph_argument_layout_t deviceLayout;
  float quantReverseScale;
  uint8_t quantZeroPoint;
};

// since 1.2. Some old callers leave pNext uninitialised: follow it only when stype is
// ..._PROPERTIES_3.
struct ze_graph_argument_properties_3_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  char name[ZE_MAX_GRAPH_ARGUMENT_NAME];
  ze_graph_argument_type_t type;
  uint32_t dims[ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE];
  ze_graph_argument_precision_t networkPrecision;
  ze_graph_argument_layout_t networkLayout;
  ze_graph_argument_precision_t devicePrecision;
  ze_graph_argument_layout_t deviceLayout;
  float quantReverseScale;
  uint8_t quantZeroPoint;
  uint32_t dims_count;
  char debug_friendly_name[ZE_MAX_GRAPH_ARGUMENT_NAME];
  char associated_tensor_names[ZE_MAX_GRAPH_TENSOR_NAMES_SIZE][ZE_MAX_GRAPH_ARGUMENT_NAME];
  uint32_t associated_tensor_names_count;
};

// since 1.1
struct ze_graph_argument_metadata_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  ze_graph_argument_type_t type;
  char friendly_name[ZE_MAX_GRAPH_ARGUMENT_NAME];
  ze_graph_metadata_type data_type;
  uint64_t shape[ZE_MAX_GRAPH_TENSOR_REF_DIMS];  // kZeGraphDynamicDimension where unknown
  uint32_t shape_size;
  char tensor_names[ZE_MAX_GRAPH_TENSOR_NAMES_SIZE][ZE_MAX_GRAPH_ARGUMENT_NAME];
  uint32_t tensor_names_count;
  char input_name[ZE_MAX_GRAPH_ARGUMENT_NAME];
};

// No stype. Bytes.
struct ze_graph_memory_query_t {
  uint64_t total;
  uint64_t allocated;
};

// since 1.15; in the pNext of argument properties.
struct ze_graph_argument_property_strides_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  bool supportsDynamicStrides;
};

// since 1.15; a link of pfnSetArgumentValue2's chain.
struct ze_graph_argument_value_tensor_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  const void* pTensor;
};

// since 1.15; elements, innermost first.
struct ze_graph_argument_value_strides_t {
  ze_structure_type_graph_ext_t stype;
  void* pNext;
  uint32_t userStrides[ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE];
};

// ------------------------------------------------------------------------------------------------
// Graph extension: table

// Arguments are numbered inputs first, then outputs. An append captures the values set at that
// moment.
struct ze_graph_dditable_ext_t {
  // 1.0
  ze_result_t(ZE_APICALL* pfnCreate)(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                     const ze_graph_desc_t* desc, ze_graph_handle_t* phGraph);
  ze_result_t(ZE_APICALL* pfnDestroy)(ze_graph_handle_t hGraph);
  ze_result_t(ZE_APICALL* pfnGetProperties)(ze_graph_handle_t hGraph,
                                            ze_graph_properties_t* pGraphProperties);
  ze_result_t(ZE_APICALL* pfnGetArgumentProperties)(
      ze_graph_handle_t hGraph, uint32_t argIndex,
      ze_graph_argument_properties_t* pGraphArgumentProperties);
  ze_result_t(ZE_APICALL* pfnSetArgumentValue)(ze_graph_handle_t hGraph, uint32_t argIndex,
                                               const void* pArgValue);
  ze_result_t(ZE_APICALL* pfnAppendGraphInitialize)(ze_command_list_handle_t hCommandList,
                                                    ze_graph_handle_t hGraph,
                                                    ze_event_handle_t hSignalEvent,
                                                    uint32_t numWaitEvents,
                                                    ze_event_handle_t* phWaitEvents);
  ze_result_t(ZE_APICALL* pfnAppendGraphExecute)(ze_command_list_handle_t hCommandList,
                                                 ze_graph_handle_t hGraph,
                                                 ze_graph_profiling_query_handle_t hProfilingQuery,
                                                 ze_event_handle_t hSignalEvent,
                                                 uint32_t numWaitEvents,
                                                 ze_event_handle_t* phWaitEvents);
  // Copies the binary out; with a null buffer *pSize becomes the size.
  ze_result_t(ZE_APICALL* pfnGetNativeBinary)(ze_graph_handle_t hGraph, size_t* pSize,
                                              uint8_t* pGraphNativeBinary);
  ze_result_t(ZE_APICALL* pfnDeviceGetGraphProperties)(
      ze_device_handle_t hDevice, ze_device_graph_properties_t* pDeviceGraphProperties);
  // 1.1
  ze_result_t(ZE_APICALL* pfnGraphGetArgumentMetadata)(
      ze_graph_handle_t hGraph, uint32_t argIndex,
      ze_graph_argument_metadata_t* pGraphArgumentMetadata);
  ze_result_t(ZE_APICALL* pfnGetArgumentProperties2)(
      ze_graph_handle_t hGraph, uint32_t argIndex,
      ze_graph_argument_properties_2_t* pGraphArgumentProperties);
  // 1.2
  ze_result_t(ZE_APICALL* pfnGetArgumentProperties3)(
      ze_graph_handle_t hGraph, uint32_t argIndex,
      ze_graph_argument_properties_3_t* pGraphArgumentProperties);
  // 1.3
  ze_result_t(ZE_APICALL* pfnQueryNetworkCreate)(
      ze_context_handle_t hContext, ze_device_handle_t hDevice, const ze_graph_desc_t* desc,
      ze_graph_query_network_handle_t* phGraphQueryNetwork);
  ze_result_t(ZE_APICALL* pfnQueryNetworkDestroy)(
      ze_graph_query_network_handle_t hGraphQueryNetwork);
  // `<layer name>` once for every layer that the compiler takes.
  ze_result_t(ZE_APICALL* pfnQueryNetworkGetSupportedLayers)(
      ze_graph_query_network_handle_t hGraphQueryNetwork, size_t* pSize, char* pSupportedLayers);
  // 1.4. A null graph means the last failure of the calling thread; the size counts the NUL.
  ze_result_t(ZE_APICALL* pfnBuildLogGetString)(ze_graph_handle_t hGraph, uint32_t* pSize,
                                                char* pBuildLog);
  // 1.5
  ze_result_t(ZE_APICALL* pfnCreate2)(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                      const ze_graph_desc_2_t* desc, ze_graph_handle_t* phGraph);
  ze_result_t(ZE_APICALL* pfnQueryNetworkCreate2)(
      ze_context_handle_t hContext, ze_device_handle_t hDevice, const ze_graph_desc_2_t* desc,
      ze_graph_query_network_handle_t* phGraphQueryNetwork);
  ze_result_t(ZE_APICALL* pfnQueryContextMemory)(ze_context_handle_t hContext,
                                                 ze_graph_memory_query_type_t type,
                                                 ze_graph_memory_query_t* query);
  // 1.6
  ze_result_t(ZE_APICALL* pfnDeviceGetGraphProperties2)(
      ze_device_handle_t hDevice, ze_device_graph_properties_2_t* pDeviceGraphProperties);
  // 1.7. A view that the driver owns, valid until the graph is destroyed.
  ze_result_t(ZE_APICALL* pfnGetNativeBinary2)(ze_graph_handle_t hGraph, size_t* pSize,
                                               const uint8_t** pGraphNativeBinary);
  // 1.8
  ze_result_t(ZE_APICALL* pfnGetProperties2)(ze_graph_handle_t hGraph,
                                             ze_graph_properties_2_t* pGraphProperties);
  ze_result_t(ZE_APICALL* pfnGraphInitialize)(ze_graph_handle_t hGraph);
  // 1.11
  ze_result_t(ZE_APICALL* pfnCompilerGetSupportedOptions)(ze_device_handle_t hDevice,
                                                          ze_npu_options_type_t type, size_t* pSize,
                                                          char* pSupportedOptions);
  ze_result_t(ZE_APICALL* pfnCompilerIsOptionSupported)(ze_device_handle_t hDevice,
                                                        ze_npu_options_type_t type,
                                                        const char* pOption, const char* pValue);
  // 1.12. phGraphBuildLog may be null; otherwise the log must be destroyed even after a failure.
  ze_result_t(ZE_APICALL* pfnCreate3)(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                      const ze_graph_desc_2_t* desc, ze_graph_handle_t* phGraph,
                                      ze_graph_build_log_handle_t* phGraphBuildLog);
  ze_result_t(ZE_APICALL* pfnGetProperties3)(ze_graph_handle_t hGraph,
                                             ze_graph_properties_3_t* pGraphProperties);
  ze_result_t(ZE_APICALL* pfnBuildLogGetString2)(ze_graph_build_log_handle_t hGraphBuildLog,
                                                 uint32_t* pSize, char* pBuildLog);
  ze_result_t(ZE_APICALL* pfnBuildLogDestroy)(ze_graph_build_log_handle_t hGraphBuildLog);
  // 1.15. A chain of tensor and strides links, in any order.
  ze_result_t(ZE_APICALL* pfnSetArgumentValue2)(ze_graph_handle_t hGraph, uint32_t argIndex,
                                                const void* pNext);
  // 1.16
  ze_result_t(ZE_APICALL* pfnEvict)(ze_graph_handle_t hGraph);
};

// ------------------------------------------------------------------------------------------------
// Profiling extension

enum ze_structure_type_graph_profiling_ext_t : uint32_t {
  ZE_STRUCTURE_TYPE_DEVICE_PROFILING_DATA_PROPERTIES = 0x1,
};

enum ze_graph_profiling_type_t : uint32_t {
  ZE_GRAPH_PROFILING_LAYER_LEVEL = 0x1,
  ZE_GRAPH_PROFILING_TASK_LEVEL = 0x2,
  ZE_GRAPH_PROFILING_RAW = 0x4,
};

enum ze_layer_status_t : uint32_t {
  ZE_LAYER_STATUS_NOT_RUN = 1,
  ZE_LAYER_STATUS_OPTIMIZED_OUT = 2,
  ZE_LAYER_STATUS_EXECUTED = 3,
};

enum ze_task_execute_type_t : uint32_t {
  ZE_TASK_EXECUTE_NONE = 0,
  ZE_TASK_EXECUTE_DPU = 1,
  ZE_TASK_EXECUTE_SW = 2,
  ZE_TASK_EXECUTE_DMA = 3,
};

inline constexpr uint32_t ZE_MAX_GRAPH_PROFILING_LAYER_NAME = 256;
inline constexpr uint32_t ZE_MAX_GRAPH_PROFILING_LAYER_TYPE = 50;

struct ze_device_profiling_data_properties_t {
  ze_structure_type_graph_profiling_ext_t stype;
  void* pNext;
  ze_profiling_data_ext_version_t extensionVersion;
};

// No stype. Times in nanoseconds.
struct ze_profiling_layer_info {
  char name[ZE_MAX_GRAPH_PROFILING_LAYER_NAME];
  char layer_type[ZE_MAX_GRAPH_PROFILING_LAYER_TYPE];
  ze_layer_status_t status;
  uint64_t start_time_ns;
  uint64_t duration_ns;
  uint32_t layer_id;
  uint64_t fused_layer_id;
  uint64_t dpu_ns;
  uint64_t sw_ns;
  uint64_t dma_ns;
};

// No stype.
struct ze_profiling_task_info {
  char name[ZE_MAX_GRAPH_PROFILING_LAYER_NAME];
  char layer_type[ZE_MAX_GRAPH_PROFILING_LAYER_TYPE];
  ze_task_execute_type_t exec_type;
  uint64_t start_time_ns;
  uint64_t duration_ns;
  uint32_t active_cycles;
  uint32_t stall_cycles;
  uint32_t task_id;
  uint32_t parent_layer_id;
};

struct ze_graph_profiling_dditable_ext_t {
  ze_result_t(ZE_APICALL* pfnProfilingPoolCreate)(
      ze_graph_handle_t hGraph, uint32_t count, ze_graph_profiling_pool_handle_t* phProfilingPool);
  ze_result_t(ZE_APICALL* pfnProfilingPoolDestroy)(ze_graph_profiling_pool_handle_t hProfilingPool);
  ze_result_t(ZE_APICALL* pfnProfilingQueryCreate)(
      ze_graph_profiling_pool_handle_t hProfilingPool, uint32_t index,
      ze_graph_profiling_query_handle_t* phProfilingQuery);
  ze_result_t(ZE_APICALL* pfnProfilingQueryDestroy)(
      ze_graph_profiling_query_handle_t hProfilingQuery);
  ze_result_t(ZE_APICALL* pfnProfilingQueryGetData)(
      ze_graph_profiling_query_handle_t hProfilingQuery, ze_graph_profiling_type_t profilingType,
      uint32_t* pSize, uint8_t* pData);
  ze_result_t(ZE_APICALL* pfnDeviceGetProfilingDataProperties)(
      ze_device_handle_t hDevice,
      ze_device_profiling_data_properties_t* pDeviceProfilingDataProperties);
  ze_result_t(ZE_APICALL* pfnProfilingLogGetString)(
      ze_graph_profiling_query_handle_t hProfilingQuery, uint32_t* pSize, char* pProfilingLog);
};

// ------------------------------------------------------------------------------------------------
// Command queue extension

enum ze_structure_type_command_queue_npu_ext_t : uint32_t {
  ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT = 0x1,
  ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT_2 = 0x2,
};

using ze_npu_command_queue_options_t = uint32_t;
enum ze_npu_command_queue_option_t : uint32_t {
  ZE_NPU_COMMAND_QUEUE_OPTION_TURBO = 1u << 0,
  ZE_NPU_COMMAND_QUEUE_OPTION_DEVICE_SYNC = 1u << 1,  // the queue's lists run one after the other
};

enum ze_command_queue_workload_type_t : uint32_t {
  ZE_WORKLOAD_TYPE_DEFAULT = 0,
  ZE_WORKLOAD_TYPE_BACKGROUND = 1,
};

// In the pNext of a queue description.
struct ze_command_queue_desc_npu_ext_t {
  ze_structure_type_command_queue_npu_ext_t stype;
  const void* pNext;
  bool turbo;
};

// since 1.1
struct ze_command_queue_desc_npu_ext_2_t {
  ze_structure_type_command_queue_npu_ext_t stype;
  const void* pNext;
  ze_npu_command_queue_options_t options;
};

struct ze_command_queue_npu_dditable_ext_t {
  ze_result_t(ZE_APICALL* pfnSetWorkloadType)(ze_command_queue_handle_t hCommandQueue,
                                              ze_command_queue_workload_type_t workloadType);
};

// ------------------------------------------------------------------------------------------------
// Context extension

enum ze_structure_type_context_npu_ext_t : uint32_t {
  ZE_STRUCTURE_TYPE_CONTEXT_PROPERTIES_NPU_EXT = 0x1,
};

using ze_npu_context_options_t = uint32_t;
enum ze_npu_context_option_t : uint32_t {
  // Gives scratch memory back after a while without work, which makes the next inference slower. On
  // by default from platform 4000 on.
  ZE_NPU_CONTEXT_OPTION_IDLE_OPTIMIZATIONS = 1u << 0,
};

// A deprecated addition to core's external memory flags; validation layers may refuse it.
inline constexpr uint32_t ZE_EXTERNAL_MEMORY_TYPE_FLAG_STANDARD_ALLOCATION = 0x100;

struct ze_context_properties_npu_ext_t {
  ze_structure_type_context_npu_ext_t stype;
  const void* pNext;
  ze_npu_context_options_t options;
};

struct ze_context_npu_dditable_ext_t {
  ze_result_t(ZE_APICALL* pfnSetProperties)(ze_context_handle_t hContext,
                                            ze_context_properties_npu_ext_t* pContextProperties);
  ze_result_t(ZE_APICALL* pfnReleaseMemory)(ze_context_handle_t hContext);
};

// ------------------------------------------------------------------------------------------------
// Driver extension: finds the other tables. Intel's Linux driver does not have it.

enum ze_structure_type_driver_npu_ext_t : uint32_t {
  ZE_STRUCTURE_TYPE_DRIVER_EXTENSION_NPU_EXT = 0x1,
};

struct ze_driver_extension_npu_ext_t {
  ze_structure_type_driver_npu_ext_t stype;
  const void* pNext;
  const char* name;
  uint32_t version;
  void** ppFunctionAddress;
};

struct ze_driver_npu_dditable_ext_t {
  ze_result_t(ZE_APICALL* pfnGetExtension)(ze_driver_handle_t hDriver,
                                           ze_driver_extension_npu_ext_t* pExtension);
};

// ------------------------------------------------------------------------------------------------
// Core Level Zero newer than specification 1.4. The functions are found by name at run time.

inline constexpr uint32_t kZeNpuCoreStypeDeviceIpVersionExt = 0x1000f;
inline constexpr uint32_t kZeNpuCoreStypeDeviceProperties12 =
    0x20006;  // timer resolution in cycles a second
inline constexpr uint32_t kZeNpuCoreStypeMutableCommandListExpProperties = 0x20015;
inline constexpr uint32_t kZeNpuCoreStypeMutableCommandListExpDesc = 0x20016;
inline constexpr uint32_t kZeNpuCoreStypeMutableCommandIdExpDesc = 0x20017;
inline constexpr uint32_t kZeNpuCoreStypeMutableCommandsExpDesc = 0x20018;
inline constexpr uint32_t kZeNpuCoreStypeMutableGraphArgumentExpDesc = 0x20020;
inline constexpr uint32_t kZeNpuCoreStypeInitDriverTypeDesc = 0x20021;
inline constexpr uint32_t kZeNpuCoreStypeExternalMemmapSysmemExtDesc = 0x20037;

inline constexpr uint32_t kZeNpuCoreInitDriverTypeFlagGpu = 1u << 0;
inline constexpr uint32_t kZeNpuCoreInitDriverTypeFlagNpu = 1u << 1;
inline constexpr uint32_t kZeNpuCoreMutableCommandFlagGraphArguments = 1u << 7;
// NPU drivers took this bit before core defined the flag above; in today's core it means something
// else.
inline constexpr uint32_t kZeNpuCoreMutableCommandFlagGraphArgumentsDeprecated = 1u << 6;
inline constexpr uint32_t kZeNpuCoreHostMemAllocFlagMemReadOnly = 1u << 4;
inline constexpr uint32_t kZeNpuCoreMutableCommandListExpVersion_1_1 = ze_npu_version(1, 1);
inline constexpr uint32_t kZeNpuCoreExternalMemmapSysmemExtVersion_1_0 = ze_npu_version(1, 0);

struct ze_npu_core_init_driver_type_desc_t {
  uint32_t stype;
  const void* pNext;
  uint32_t flags;
};

struct ze_npu_core_device_ip_version_ext_t {
  uint32_t stype;
  const void* pNext;
  uint32_t ipVersion;
};

struct ze_npu_core_mutable_command_list_exp_properties_t {
  uint32_t stype;
  void* pNext;
  uint32_t mutableCommandListFlags;
  uint32_t mutableCommandFlags;
};

// In the pNext of a command list description.
struct ze_npu_core_mutable_command_list_exp_desc_t {
  uint32_t stype;
  const void* pNext;
  uint32_t flags;
};

struct ze_npu_core_mutable_command_id_exp_desc_t {
  uint32_t stype;
  const void* pNext;
  uint32_t flags;
};

struct ze_npu_core_mutable_commands_exp_desc_t {
  uint32_t stype;
  const void* pNext;  // a chain of ze_npu_core_mutable_graph_argument_exp_desc_t
  uint32_t flags;
};

struct ze_npu_core_mutable_graph_argument_exp_desc_t {
  uint32_t stype;
  const void* pNext;
  uint64_t commandId;
  uint32_t argIndex;
  const void* pArgValue;
};

// In the pNext of a host allocation's description.
struct ze_npu_core_external_memmap_sysmem_ext_desc_t {
  uint32_t stype;
  const void* pNext;
  void* pSystemMemory;  // page aligned
  uint64_t size;        // bytes, whole pages
};

using ze_npu_core_pfnInitDrivers_t = ze_result_t(ZE_APICALL*)(
    uint32_t* pCount, ze_driver_handle_t* phDrivers, ze_npu_core_init_driver_type_desc_t* desc);
using ze_npu_core_pfnCommandListHostSynchronize_t =
    ze_result_t(ZE_APICALL*)(ze_command_list_handle_t hCommandList, uint64_t timeout);
using ze_npu_core_pfnCommandListGetNextCommandIdExp_t = ze_result_t(ZE_APICALL*)(
    ze_command_list_handle_t hCommandList, const ze_npu_core_mutable_command_id_exp_desc_t* desc,
    uint64_t* pCommandId);
using ze_npu_core_pfnCommandListUpdateMutableCommandsExp_t = ze_result_t(ZE_APICALL*)(
    ze_command_list_handle_t hCommandList, const ze_npu_core_mutable_commands_exp_desc_t* desc);

// ------------------------------------------------------------------------------------------------
// The layout of drivers as they are built (x86-64, LP64)

#define ZE_NPU_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#define ZE_NPU_AT(type, member, bytes) \
  static_assert(offsetof(type, member) == (bytes), #type "." #member)

ZE_NPU_SIZE(ze_graph_compiler_version_info_t, 4);
static_assert(alignof(ze_graph_compiler_version_info_t) == 2);
ZE_NPU_SIZE(ze_graph_version_info_t, 12);
ZE_NPU_SIZE(ze_device_graph_properties_t, 32);
ZE_NPU_AT(ze_device_graph_properties_t, graphExtensionVersion, 16);
ZE_NPU_AT(ze_device_graph_properties_t, compilerVersion, 20);
ZE_NPU_AT(ze_device_graph_properties_t, graphFormatsSupported, 24);
ZE_NPU_AT(ze_device_graph_properties_t, maxOVOpsetVersionSupported, 28);
ZE_NPU_SIZE(ze_device_graph_properties_2_t, 56);
ZE_NPU_AT(ze_device_graph_properties_2_t, elfVersion, 32);
ZE_NPU_AT(ze_device_graph_properties_2_t, runtimeVersion, 44);
ZE_NPU_SIZE(ze_graph_desc_t, 48);
ZE_NPU_AT(ze_graph_desc_t, format, 16);
ZE_NPU_AT(ze_graph_desc_t, inputSize, 24);
ZE_NPU_AT(ze_graph_desc_t, pInput, 32);
ZE_NPU_AT(ze_graph_desc_t, pBuildFlags, 40);
ZE_NPU_SIZE(ze_graph_desc_2_t, 56);
ZE_NPU_AT(ze_graph_desc_2_t, flags, 48);
ZE_NPU_SIZE(ze_activation_kernel_desc_t, 32);
ZE_NPU_AT(ze_activation_kernel_desc_t, pKernelData, 24);
ZE_NPU_SIZE(ze_graph_properties_t, 24);
ZE_NPU_AT(ze_graph_properties_t, numGraphArgs, 16);
ZE_NPU_SIZE(ze_graph_properties_2_t, 24);
ZE_NPU_AT(ze_graph_properties_2_t, initStageRequired, 20);
ZE_NPU_SIZE(ze_graph_properties_3_t, 32);
ZE_NPU_AT(ze_graph_properties_3_t, flags, 24);
ZE_NPU_SIZE(ze_graph_argument_properties_t, 312);
ZE_NPU_AT(ze_graph_argument_properties_t, name, 16);
ZE_NPU_AT(ze_graph_argument_properties_t, type, 272);
ZE_NPU_AT(ze_graph_argument_properties_t, dims, 276);
ZE_NPU_AT(ze_graph_argument_properties_t, networkPrecision, 296);
ZE_NPU_AT(ze_graph_argument_properties_t, networkLayout, 300);
ZE_NPU_AT(ze_graph_argument_properties_t, devicePrecision, 304);
ZE_NPU_AT(ze_graph_argument_properties_t, deviceLayout, 308);
ZE_NPU_SIZE(ze_graph_argument_properties_2_t, 320);
ZE_NPU_AT(ze_graph_argument_properties_2_t, quantReverseScale, 312);
ZE_NPU_AT(ze_graph_argument_properties_2_t, quantZeroPoint, 316);
ZE_NPU_SIZE(ze_graph_argument_properties_3_t, 8776);
ZE_NPU_AT(ze_graph_argument_properties_3_t, dims_count, 320);
ZE_NPU_AT(ze_graph_argument_properties_3_t, debug_friendly_name, 324);
ZE_NPU_AT(ze_graph_argument_properties_3_t, associated_tensor_names, 580);
ZE_NPU_AT(ze_graph_argument_properties_3_t, associated_tensor_names_count, 8772);
ZE_NPU_SIZE(ze_graph_argument_metadata_t, 8800);
ZE_NPU_AT(ze_graph_argument_metadata_t, type, 16);
ZE_NPU_AT(ze_graph_argument_metadata_t, friendly_name, 20);
ZE_NPU_AT(ze_graph_argument_metadata_t, data_type, 276);
ZE_NPU_AT(ze_graph_argument_metadata_t, shape, 280);
ZE_NPU_AT(ze_graph_argument_metadata_t, shape_size, 344);
ZE_NPU_AT(ze_graph_argument_metadata_t, tensor_names, 348);
ZE_NPU_AT(ze_graph_argument_metadata_t, tensor_names_count, 8540);
ZE_NPU_AT(ze_graph_argument_metadata_t, input_name, 8544);
ZE_NPU_SIZE(ze_graph_memory_query_t, 16);
ZE_NPU_SIZE(ze_graph_input_hash_t, 24);
ZE_NPU_AT(ze_graph_input_hash_t, hash, 16);
ZE_NPU_SIZE(ze_graph_argument_property_strides_t, 24);
ZE_NPU_AT(ze_graph_argument_property_strides_t, supportsDynamicStrides, 16);
static_assert(sizeof(ze_graph_argument_property_strides_t::supportsDynamicStrides) == 1);
ZE_NPU_SIZE(ze_graph_argument_value_tensor_t, 24);
ZE_NPU_AT(ze_graph_argument_value_tensor_t, pTensor, 16);
ZE_NPU_SIZE(ze_graph_argument_value_strides_t, 40);
ZE_NPU_AT(ze_graph_argument_value_strides_t, userStrides, 16);

ZE_NPU_SIZE(ze_graph_dditable_ext_t, 248);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnCreate, 0);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnDestroy, 8);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGetProperties, 16);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGetArgumentProperties, 24);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnSetArgumentValue, 32);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnAppendGraphInitialize, 40);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnAppendGraphExecute, 48);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGetNativeBinary, 56);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnDeviceGetGraphProperties, 64);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGraphGetArgumentMetadata, 72);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGetArgumentProperties2, 80);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGetArgumentProperties3, 88);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnQueryNetworkCreate, 96);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnQueryNetworkDestroy, 104);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnQueryNetworkGetSupportedLayers, 112);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnBuildLogGetString, 120);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnCreate2, 128);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnQueryNetworkCreate2, 136);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnQueryContextMemory, 144);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnDeviceGetGraphProperties2, 152);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGetNativeBinary2, 160);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGetProperties2, 168);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGraphInitialize, 176);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnCompilerGetSupportedOptions, 184);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnCompilerIsOptionSupported, 192);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnCreate3, 200);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnGetProperties3, 208);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnBuildLogGetString2, 216);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnBuildLogDestroy, 224);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnSetArgumentValue2, 232);
ZE_NPU_AT(ze_graph_dditable_ext_t, pfnEvict, 240);

ZE_NPU_SIZE(ze_device_profiling_data_properties_t, 24);
ZE_NPU_AT(ze_device_profiling_data_properties_t, extensionVersion, 16);
ZE_NPU_SIZE(ze_profiling_layer_info, 368);
ZE_NPU_AT(ze_profiling_layer_info, status, 308);
ZE_NPU_AT(ze_profiling_layer_info, start_time_ns, 312);
ZE_NPU_AT(ze_profiling_layer_info, layer_id, 328);
ZE_NPU_AT(ze_profiling_layer_info, fused_layer_id, 336);
ZE_NPU_AT(ze_profiling_layer_info, dpu_ns, 344);
ZE_NPU_AT(ze_profiling_layer_info, dma_ns, 360);
ZE_NPU_SIZE(ze_profiling_task_info, 344);
ZE_NPU_AT(ze_profiling_task_info, exec_type, 308);
ZE_NPU_AT(ze_profiling_task_info, start_time_ns, 312);
ZE_NPU_AT(ze_profiling_task_info, active_cycles, 328);
ZE_NPU_AT(ze_profiling_task_info, parent_layer_id, 340);
ZE_NPU_SIZE(ze_graph_profiling_dditable_ext_t, 56);
ZE_NPU_AT(ze_graph_profiling_dditable_ext_t, pfnProfilingQueryGetData, 32);
ZE_NPU_AT(ze_graph_profiling_dditable_ext_t, pfnProfilingLogGetString, 48);

ZE_NPU_SIZE(ze_command_queue_desc_npu_ext_t, 24);
ZE_NPU_AT(ze_command_queue_desc_npu_ext_t, turbo, 16);
ZE_NPU_SIZE(ze_command_queue_desc_npu_ext_2_t, 24);
ZE_NPU_AT(ze_command_queue_desc_npu_ext_2_t, options, 16);
ZE_NPU_SIZE(ze_command_queue_npu_dditable_ext_t, 8);
ZE_NPU_SIZE(ze_context_properties_npu_ext_t, 24);
ZE_NPU_AT(ze_context_properties_npu_ext_t, options, 16);
ZE_NPU_SIZE(ze_context_npu_dditable_ext_t, 16);
ZE_NPU_SIZE(ze_driver_extension_npu_ext_t, 40);
ZE_NPU_AT(ze_driver_extension_npu_ext_t, name, 16);
ZE_NPU_AT(ze_driver_extension_npu_ext_t, version, 24);
ZE_NPU_AT(ze_driver_extension_npu_ext_t, ppFunctionAddress, 32);

ZE_NPU_SIZE(ze_npu_core_init_driver_type_desc_t, 24);
ZE_NPU_AT(ze_npu_core_init_driver_type_desc_t, flags, 16);
ZE_NPU_SIZE(ze_npu_core_device_ip_version_ext_t, 24);
ZE_NPU_SIZE(ze_npu_core_mutable_command_list_exp_properties_t, 24);
ZE_NPU_SIZE(ze_npu_core_mutable_command_list_exp_desc_t, 24);
ZE_NPU_SIZE(ze_npu_core_mutable_command_id_exp_desc_t, 24);
ZE_NPU_SIZE(ze_npu_core_mutable_commands_exp_desc_t, 24);
ZE_NPU_SIZE(ze_npu_core_mutable_graph_argument_exp_desc_t, 40);
ZE_NPU_AT(ze_npu_core_mutable_graph_argument_exp_desc_t, commandId, 16);
ZE_NPU_AT(ze_npu_core_mutable_graph_argument_exp_desc_t, argIndex, 24);
ZE_NPU_AT(ze_npu_core_mutable_graph_argument_exp_desc_t, pArgValue, 32);
ZE_NPU_SIZE(ze_npu_core_external_memmap_sysmem_ext_desc_t, 32);
ZE_NPU_AT(ze_npu_core_external_memmap_sysmem_ext_desc_t, pSystemMemory, 16);
ZE_NPU_AT(ze_npu_core_external_memmap_sysmem_ext_desc_t, size, 24);

#undef ZE_NPU_SIZE
#undef ZE_NPU_AT
