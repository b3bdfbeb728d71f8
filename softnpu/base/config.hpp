// The software NPU's settings from the environment, read once, at the first call into the driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ze_npu/ze_npu.h>

#include "version.hpp"

namespace softnpu {

enum class Execution {
  kCpu,    ///< OpenVINO's CPU plugin computes
  kNull,   ///< outputs are zeroed once, nothing is computed
  kDelay,  ///< as kNull, but every inference takes `delay_us` without using the CPU
};

/// The material of an exportable allocation.
enum class Export {
  kAuto,   ///< a DMA-BUF of udmabuf or the system heap if one can be opened; else a memfd
  kMemfd,  ///< a memfd: tests how an application takes a descriptor that is no DMA-BUF
  kNone,   ///< nothing: the driver cannot export
};

struct Refusal {
  std::string layer;     ///< a name or an operator ("Relu"); empty: none is refused
  bool quietly = false;  ///< queries list it all the same
};

struct Config {
  const ze_npu_platform_t* platform;  ///< whose first product the device is
  Execution execution = Execution::kCpu;
  uint64_t delay_us = 0;
  bool strict = false;       ///< an early destroy ends the process, see early_destroy.hpp
  bool allow_memfd = false;  ///< import takes a memfd as if it were a DMA-BUF
  /// Limit for the DMA-BUFs imported into one context.
  uint64_t import_limit_bytes = UINT64_MAX;
  Export exports = Export::kAuto;
  uint32_t threads = 0;  ///< 0: the CPU plugin's choice
  /// Number of compiled models kept for the next graph of the same bytes.
  uint32_t keep_compiled = 0;
  uint32_t graph_minor = kNewestGraphMinor;
  CompilerVersion compiler = kDefaultCompiler;
  bool real_compiler = false;             ///< asks Intel's own first, see real_compiler.hpp
  std::string compiler_library;           ///< Intel's: a library, or a program that serves it
  std::optional<RuntimeVersion> runtime;  ///< nothing: OpenVINO's version
  std::string cache_folder;               ///< empty: the driver keeps no compiled graphs
  uint64_t cache_limit_bytes = uint64_t{4} << 30;
  Refusal refusal;         ///< layers that the compiler refuses on purpose
  std::string trace_path;  ///< empty: no trace
  std::string faults;      ///< calls that fail on purpose, see fault.hpp
};

const Config& config();

/// As config(), but through a look-up function, so that tests need no environment.
Config read_config(const char* (*get)(const char* name));

}  // namespace softnpu
