#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "properties/compiler_options.hpp"

#include "compile_task.hpp"
#include "helper_link.hpp"

namespace npu::internal {

/// An NPU to compile for, as a compiler library is told of it.
struct LibraryTarget {
  std::uint32_t pci_device_id = 0;
  std::uint32_t tiles = 0;
};

/// What a compiler library tells about itself.
struct LibraryFacts {
  std::string path;
  Version interface;
  std::string id;
  ir::CompilerVersion version;
  std::vector<std::string> options;  ///< those that it lists; it takes some more
};

struct LibraryResult {
  ContentView blob;
  std::uint64_t serialized_bytes = 0;
  std::uint64_t compile_ns = 0;
};

/// Where the library is that NPU_COMPILER_TYPE=PLUGIN compiles with: the property
/// NPUCORE_COMPILER_LIBRARY, else the environment variable. Empty: where the system's loader finds
/// it.
std::string compiler_library(const Properties& properties);

/// Intel's compiler library in a process of its own, for one target.
class LibraryClient {
 public:
  struct Options {
    std::string library;  ///< a library, or a program that serves one; empty: the system's
    HelperLink::Deadline deadline;
    bool echoes = true;  ///< what the compiler prints is printed here too
  };

  /// Throws Error(kNotFound) where there is none, with where it comes from, and
  /// Error(kIncompatible) for what is none. `cancellation` may be null.
  LibraryClient(const Options& options, const LibraryTarget& target, Cancellation* cancellation);

  const LibraryFacts& facts() const { return facts_; }
  /// Whether it takes an option for this target, with this value or with any (null); nullopt where
  /// the library cannot tell.
  std::optional<bool> takes(const char* option, const char* value);
  /// Throws what the compiler said, Error(kCancelled), Error(kTimeout), or Error(kCompileFailed)
  /// where the process ended.
  LibraryResult compile(const CompileTask& task);
  /// The names of the layers that the target runs.
  std::vector<std::string> query(const CompileTask& task);
  /// What the compiler has printed, where that is not echoed.
  const std::string& printed() { return link_.printed(); }

 private:
  void open(const std::string& library);
  void make_compiler(const LibraryTarget& target);
  Message ask(Message request, const std::string& task);
  Message request_of(const char* kind, const CompileTask& task, std::uint64_t& serialized_bytes);

  HelperLink link_;
  bool takes_files_ = false;
  LibraryFacts facts_;
  std::map<std::pair<std::string, std::string>, std::optional<bool>> taken_;
};

/// The library's compiler; `library` must outlive it.
Compiler compiler_of(LibraryClient& library);

}  // namespace npu::internal
