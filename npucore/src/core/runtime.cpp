#include "core/runtime.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "npucore/error.hpp"

namespace npu::internal {
namespace {

namespace fs = std::filesystem;
using base::text;

constexpr const char* kAltDrivers = "ZE_ENABLE_ALT_DRIVERS";

fs::path own_folder() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&software_npu_library), &info) == 0 || !info.dli_fname)
    return {};
  std::error_code error;
  return fs::weakly_canonical(info.dli_fname, error).parent_path();
}

}  // namespace

std::string software_npu_library() {
  if (const char* wanted = std::getenv("NPUCORE_SOFTNPU"); wanted && *wanted) return wanted;
  const fs::path folder = own_folder();
  for (const char* place :
       {"libze_softnpu.so", "../softnpu/libze_softnpu.so", "npucore/libze_softnpu.so"}) {
    std::error_code error;
    const fs::path candidate = folder / place;
    if (fs::is_regular_file(candidate, error)) return fs::weakly_canonical(candidate).string();
  }
  return {};
}

Runtime& Runtime::instance() {
  // Never destroyed: devices may be closed by exit handlers.
  static auto& runtime = *std::make_unique<Runtime>(SystemPaths{}).release();
  return runtime;
}

/// Runs before the loader looks for drivers, and leaves the user's own choice alone. setenv is not
/// safe against another thread's getenv, but no call of the loader takes the list otherwise.
void Runtime::choose_drivers(DeviceKind kind) {
  if (std::getenv(kAltDrivers)) return;
  const bool real = diagnosis_.real_npu_possible();
  const std::string software = software_npu_library();
  const bool old_loader = loader_->zeInitDrivers == nullptr;
  std::string drivers;
  if (real && kind == DeviceKind::kSoftware && !software.empty())
    drivers = diagnosis_.driver_library + ',' + software;
  else if (real && old_loader && diagnosis_.driver_library != "libze_intel_vpu.so.1")
    drivers = diagnosis_.driver_library;  // a name that such a loader does not look for by itself
  else if (!real)
    drivers = software;
  if (!drivers.empty()) ::setenv(kAltDrivers, drivers.c_str(), 0);
}

void Runtime::start(DeviceKind kind) {
  if (loader_) return;
  diagnosis_ = diagnose_parts(paths_);
  // Started for nothing, the loader could not take the software NPU any more.
  if (kind == DeviceKind::kNpu && !diagnosis_.real_npu_possible() && !std::getenv(kAltDrivers))
    fail_missing(false);
  loader_ =
      &ze::Loader::open(paths_.loader.empty() ? ze::Loader::default_library() : paths_.loader);
  choose_drivers(kind);
  try {
    npus_ = ze::find_npus(*loader_, ze::init_drivers(*loader_));
  } catch (const Error& error) {
    start_error_ = error.what();
  }
}

const ze::NpuDevice* Runtime::find(bool software) const {
  for (const auto& npu : npus_)
    if (npu.is_software() == software) return &npu;
  return nullptr;
}

void Runtime::fail_missing(bool software) {
  if (software) {
    const char* drivers = std::getenv(kAltDrivers);
    throw Error(
        ErrorCode::kNotFound,
        text("no software NPU: ", start_error_.empty() ? "the loader gave none" : start_error_,
             " (", kAltDrivers, "=", drivers ? drivers : "",
             "); set NPUCORE_SOFTNPU to libze_softnpu.so before the process first opens a "
             "device"));
  }
  auto findings = diagnosis_.findings;
  if (loader_) findings.push_back(find_device());
  throw Error(ErrorCode::kNotFound, "no NPU found, this is missing:" + describe_missing(findings));
}

std::shared_ptr<DeviceState> Runtime::open_context(bool software) {
  auto state = contexts_[software].lock();
  if (state && !state->lost) return state;
  const ze::NpuDevice* npu = find(software);
  if (!npu) fail_missing(software);
  state = std::make_shared<DeviceState>(*npu);
  contexts_[software] = state;
  return state;
}

std::shared_ptr<DeviceState> Runtime::open_software_instead() {
  auto state = open_context(true);
  if (!std::exchange(warned_, true))
    base::log(LogLevel::kWarning,
              text("no NPU found: using the software NPU, which computes on the CPU. Missing:",
                   describe_missing(diagnosis_.findings)));
  return state;
}

std::shared_ptr<DeviceState> Runtime::open(DeviceKind kind) {
  std::scoped_lock lock(mutex_);
  start(kind);
  switch (kind) {
    case DeviceKind::kNpu:
      return open_context(false);
    case DeviceKind::kSoftware:
      return open_context(true);
    case DeviceKind::kAuto:
      break;
  }
  return find(false) ? open_context(false) : open_software_instead();
}

Finding Runtime::find_device() const {
  if (const auto* npu = find(false)) return {true, "device", npu->name(), ""};
  return {
      false, "device",
      start_error_.empty() ? text("the loader ", loader_->library, " offers no NPU") : start_error_,
      "look into the kernel log (dmesg | grep vpu) and at the driver's own messages with "
      "ZE_INTEL_NPU_LOGLEVEL=INFO"};
}

std::vector<Finding> Runtime::diagnose() {
  std::scoped_lock lock(mutex_);
  auto findings = diagnose_parts(paths_).findings;
  const bool all_ok = Diagnosis{findings, {}}.real_npu_possible();
  try {
    if (all_ok) start(DeviceKind::kNpu);
    findings.push_back(loader_ ? find_device()
                               : Finding{false, "device", "not asked for: a part is missing", ""});
  } catch (const Error& error) {
    findings.push_back({false, "device", error.what(), ""});
  }
  return findings;
}

}  // namespace npu::internal
