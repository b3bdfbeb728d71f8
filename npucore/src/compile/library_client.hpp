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

/// An NPU to compile for, as a compiler library sees it.
struct LibraryTarget {
  std::uint32_t pci_device_id = 0;
  std::uint32_t tiles = 0;
};

/// A compiler library's own account.
struct LibraryFacts {
  std::string path;
  Version interface;
  std::string id;
  ir::CompilerVersion version;
  std::vector<std::string> options;  ///< those it lists; it takes some more
};

struct LibraryResult {
  ContentView blob;
  std::uint64_t serialized_bytes = 0;
  std::uint64_t compile_ns = 0;
};

/// The library for NPU_COMPILER_TYPE=PLUGIN: the property NPUCORE_COMPILER_LIBRARY, else the
/// environment variable. Empty: the one that the system's loader finds.
std::string compiler_library(const Properties& properties);

/// Intel's compiler library in a process of its own, for one target.
class LibraryClient {
 public:
  struct Options {
    std::string library;  ///< a library, or a program that serves one; empty: the system's
    HelperLink::Deadline deadline;
    bool echoes = true;  ///< print the compiler's output here too
  };

  /// Throws Error(kNotFound), which says where to get it, if there is none, and
  /// Error(kIncompatible) if the file is none. `cancellation` may be null.
  LibraryClient(const Options& options, const LibraryTarget& target, Cancellation* cancellation);

  const LibraryFacts& facts() const { return facts_; }
  /// Whether it takes an option for this target, with this value or with any (null); nullopt if the
  /// library cannot tell.
  std::optional<bool> takes(const char* option, const char* value);
  /// Throws the compiler's error, Error(kCancelled), Error(kTimeout), or Error(kCompileFailed) if
  /// the process ended.
  LibraryResult compile(const CompileTask& task);
  /// The layers that the target runs, as "<name><name>".
  std::string query(const CompileTask& task);
  /// The compiler's output, if that is not echoed.
  const std::string& printed() { return link_.printed(); }

 private:
  void open(const std::string& library);
  void make_compiler(const LibraryTarget& target);
  /// May be an error, which ask() throws.
  Message answer_to(Message request, const std::string& task);
  Message ask(Message request, const std::string& task);
  Error refusal(const Message& answer, const CompileTask& task);
  Message request_of(const char* kind, const CompileTask& task, std::uint64_t& serialized_bytes);

  HelperLink link_;
  bool takes_files_ = false;
  LibraryFacts facts_;
  std::map<std::pair<std::string, std::string>, std::optional<bool>> taken_;
};

/// The library's compiler; `library` must outlive it.
Compiler compiler_of(LibraryClient& library);

}  // namespace npu::internal
