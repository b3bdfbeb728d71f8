#include "diagnosis.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <npucore/error.hpp>

#include "base/shared_library.hpp"
#include "base/text.hpp"
#include "ze/loader.hpp"

namespace npu::internal {
namespace {

namespace fs = std::filesystem;
using base::text;

bool is_npu_driver(const std::string& name) {
  return name == "intel_vpu" || name == "intel_npu";
}

/// The kernel driver behind /dev/accel/accelN; empty when sysfs does not tell.
std::string kernel_driver_of(const SystemPaths& paths, const fs::path& node) {
  std::error_code error;
  const auto link = paths.classes / node.filename() / "device" / "driver";
  const auto driver = fs::read_symlink(link, error);
  return error ? std::string() : driver.filename().string();
}

/// Nodes of Intel's kernel driver, or of an unknown one.
std::vector<fs::path> npu_nodes(const SystemPaths& paths) {
  std::vector<fs::path> nodes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(paths.nodes, error)) {
    const std::string driver = kernel_driver_of(paths, entry.path());
    const bool named_accel = entry.path().filename().string().rfind("accel", 0) == 0;
    if (named_accel && (driver.empty() || is_npu_driver(driver))) {
      nodes.push_back(entry.path());
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

Finding find_node(const SystemPaths& paths, const std::vector<fs::path>& nodes) {
  if (nodes.empty()) {
    return {
        false, "device node",
        text("there is no ", (paths.nodes / "accel*").string(), " of the kernel driver intel_vpu"),
        "check that the machine has an NPU, load the kernel module intel_vpu (Linux 6.3 or "
        "later), and pass /dev/accel into the container if this is one"};
  }
  const std::string driver = kernel_driver_of(paths, nodes.front());
  return {true, "device node",
          text(nodes.front().string(), driver.empty() ? "" : ", driver ", driver), ""};
}

std::string group_name(gid_t group) {
  struct group entry = {};
  struct group* found = nullptr;
  std::vector<char> buffer(16384);
  ::getgrgid_r(group, &entry, buffer.data(), buffer.size(), &found);
  return found ? entry.gr_name : std::to_string(group);
}

Finding find_permission(const std::vector<fs::path>& nodes) {
  if (nodes.empty()) return {false, "permission", "no device node to open", ""};
  const fs::path& node = nodes.front();
  if (::faccessat(AT_FDCWD, node.c_str(), R_OK | W_OK, AT_EACCESS) == 0) {
    return {true, "permission", text(node.string(), " can be read and written"), ""};
  }
  const int error = errno;
  struct stat status = {};
  if (::stat(node.c_str(), &status) != 0) {
    status.st_gid = 0;
  }
  const std::string group = group_name(status.st_gid);
  return {
      false, "permission",
      text(node.string(), " cannot be opened: ", base::errno_text(error), "; its group is ", group),
      group == "root" ? "add a udev rule that gives the node to the group render, and add the user "
                        "to that group"
                      : text("add the user to the group ", group, ": sudo usermod -aG ", group,
                             " $USER, then log in again")};
}

Finding find_driver_library(const SystemPaths& paths, std::string& found) {
  std::string why;
  for (const auto& library : paths.driver_libraries) {
    if (base::open_library(library, RTLD_LAZY | RTLD_LOCAL)) {
      found = library;
      return {true, "driver library", library, ""};
    }
    why += (why.empty() ? "" : "; ") + std::string(::dlerror());
  }
  return {false, "driver library", why,
          "install Intel's NPU user-mode driver (package intel-level-zero-npu)"};
}

Finding find_loader(const SystemPaths& paths) {
  const std::string library = paths.loader.empty() ? ze::Loader::default_library() : paths.loader;
  if (!base::open_library(library, RTLD_LAZY | RTLD_LOCAL)) {
    return {false, "loader", ::dlerror(), "install the Level Zero loader (package libze1)"};
  }
  return {true, "loader", library, ""};
}

}  // namespace

bool Diagnosis::real_npu_possible() const {
  return std::all_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.ok; });
}

Diagnosis diagnose_parts(const SystemPaths& paths) {
  Diagnosis diagnosis;
  const auto nodes = npu_nodes(paths);
  diagnosis.findings = {find_node(paths, nodes), find_permission(nodes),
                        find_driver_library(paths, diagnosis.driver_library), find_loader(paths)};
  return diagnosis;
}

std::string first_missing(const std::vector<Finding>& findings) {
  for (const auto& finding : findings) {
    if (!finding.ok) return text(finding.what, ": ", finding.detail);
  }
  return {};
}

std::string describe_missing(const std::vector<Finding>& findings) {
  std::string lines;
  for (const auto& finding : findings) {
    if (finding.ok) continue;
    lines += text("\n  ", finding.what, ": ", finding.detail);
    if (!finding.cure.empty()) {
      lines += text(" -> ", finding.cure);
    }
  }
  return lines;
}

}  // namespace npu::internal
