#include "runtime.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include <npucore/error.hpp>

#include "base/forked.hpp"
#include "base/log.hpp"
#include "base/scoped_variable.hpp"
#include "base/text.hpp"
#include "unwinding/unwinding.hpp"
#include "ze/sysman.hpp"

#include "choose_device.hpp"

namespace npu::internal {
namespace {

namespace fs = std::filesystem;
using base::text;

fs::path own_folder() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&software_npu_library), &info) == 0 ||
      !info.dli_fname) {
    return {};
  }
  std::error_code error;
  return fs::weakly_canonical(info.dli_fname, error).parent_path();
}

/// A device that does not answer hides no other.
DeviceInfo info_or_name(const ze::NpuDevice& npu) {
  try {
    return info_of(npu);
  } catch (const Error& error) {
    base::log(LogLevel::kWarning, text(npu.name(), " tells little of itself: ", error.what()));
  }
  DeviceInfo info;
  info.name = npu.name();
  info.is_software = npu.is_software();
  info.pci_address = ze::pci_address(npu);
  info.uuid = ze::uuid(npu);
  return info;
}

}  // namespace

std::string software_npu_library() {
  if (const char* wanted = ::secure_getenv("NPUCORE_SOFTNPU"); wanted && *wanted) return wanted;
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
  static auto* const runtime = new Runtime(SystemPaths{});
  return *runtime;
}

/// The loader's driver list for this process; empty: its own.
std::string Runtime::drivers_for(DeviceKind kind) const {
  const bool real = diagnosis_.real_npu_possible();
  std::string software = software_npu_library();
  if (!real) return software;
  if (kind == DeviceKind::kSoftware && !software.empty()) {
    return diagnosis_.driver_library + ',' + software;
  }
  // Older loaders do not look for the newer name.
  const bool unknown_name =
      !loader_->knows_npu_drivers() && diagnosis_.driver_library != "libze_intel_vpu.so.1";
  return unknown_name ? diagnosis_.driver_library : std::string();
}

/// Opens drivers before the loader does, bound to their own libraries first, where the process's
/// unwinder would end it at the first exception inside of them.
void Runtime::bind_drivers() const {
  if (!unwinding::is_mixed()) return;
  for (const std::string& driver : expected_drivers()) {
    ::dlopen(driver.c_str(), RTLD_NOW | RTLD_DEEPBIND);  // stays open; the loader tells of failures
  }
}

/// The loader reads its driver list when it is first asked for drivers, and not again.
void Runtime::look_for_devices() {
  bind_drivers();
  const base::ScopedVariable drivers(ze::kDriversVariable, drivers_);
  const base::ScopedVariable sysman(ze::kSysmanVariable, ze::sysman_setting(*loader_));
  try {
    start_error_.clear();
    std::string problem;
    npus_ = ze::find_npus(*loader_, ze::init_drivers(*loader_), problem);
    std::stable_partition(npus_.begin(), npus_.end(),
                          [](const ze::NpuDevice& npu) { return !npu.is_software(); });
    contexts_.assign(npus_.size(), {});
    if (npus_.empty()) {
      start_error_ = problem;
    }
  } catch (const Error& error) {
    start_error_ = error.what();
  }
}

void Runtime::start(DeviceKind kind) {
  if (loader_) {
    if (npus_.empty()) {
      look_again();
    }
    return;
  }
  diagnosis_ = diagnose_parts(paths_);
  users_choice_ = ::secure_getenv(ze::kDriversVariable) != nullptr;
  // A loader that was started for nothing could not take the software NPU any more.
  if (kind == DeviceKind::kNpu && !users_choice_ && !diagnosis_.real_npu_possible()) {
    throw Error(ErrorCode::kNotFound, no_npu());
  }
  loader_ = ze::Loader::open(loader_library());
  drivers_ = users_choice_ ? std::string() : drivers_for(kind);
  look_for_devices();
  if (kind == DeviceKind::kAuto && npus_.empty() && !users_choice_) {
    start_again_with_software();
  }
}

/// The drivers that the user or this class told the loader to open; empty: its own list.
std::string Runtime::named_drivers() const {
  const char* users = ::secure_getenv(ze::kDriversVariable);
  return users_choice_ && users ? users : drivers_;
}

/// The drivers that the loader is to open.
std::vector<std::string> Runtime::expected_drivers() const {
  const std::string named = named_drivers();
  std::istringstream list(named.empty() ? diagnosis_.driver_library : named);
  std::vector<std::string> drivers;
  for (std::string driver; std::getline(list, driver, ',');) drivers.push_back(driver);
  return drivers;
}

/// Whether the loader has opened any of the drivers it was told to.
bool Runtime::some_driver_is_loaded() const {
  const std::vector<std::string> drivers = expected_drivers();
  return std::any_of(drivers.begin(), drivers.end(), ze::is_loaded);
}

/// Looks for devices again: the reason of a failure may be gone. A loader keeps its drivers'
/// answers for good unless it can be unloaded; one that found no driver (1.20) crashes when asked
/// again.
void Runtime::look_again() {
  if (ze::Loader::unload(loader_)) {
    loader_ = ze::Loader::open(loader_library());
  } else if (!some_driver_is_loaded()) {
    return;
  }
  look_for_devices();
}

/// Falls back to the software NPU when all parts of a real NPU seemed to be there, but the driver
/// found no device. A loader that nobody else holds forgets its driver list when it is unloaded;
/// some releases (1.20) stay loaded.
void Runtime::start_again_with_software() {
  const std::string software = software_npu_library();
  if (software.empty()) return;
  if (!ze::Loader::unload(loader_)) {
    start_error_ = text(start_error_.empty() ? "the driver offers no NPU" : start_error_,
                        "; this loader takes its drivers only once: ask for the device "
                        "\"software\" to compute on the CPU");
    return;
  }
  drivers_ = software;
  loader_ = ze::Loader::open(loader_library());
  look_for_devices();
}

std::string Runtime::loader_library() const {
  return paths_.loader.empty() ? ze::Loader::default_library() : paths_.loader;
}

std::optional<std::size_t> Runtime::find(bool software) const {
  for (std::size_t index = 0; index < npus_.size(); ++index) {
    if (npus_[index].is_software() == software) return index;
  }
  return std::nullopt;
}

std::string Runtime::no_npu() const {
  return "no NPU found; missing:" + describe_missing(all_findings());
}

std::string Runtime::no_software_npu() const {
  return text("no software NPU: ", start_error_.empty() ? "the loader offers none" : start_error_,
              " (", ze::kDriversVariable, "=", named_drivers(),
              "); put libze_softnpu.so beside libnpucore.so or name it in NPUCORE_SOFTNPU, before "
              "the process first opens a device");
}

std::shared_ptr<Device::Impl> Runtime::open_context(std::size_t index) {
  auto device = contexts_[index].lock();
  if (!device) {
    device = std::make_shared<Device::Impl>(npus_[index]);
    contexts_[index] = device;
  }
  return device;
}

std::shared_ptr<Device::Impl> Runtime::open_software_instead(std::size_t index,
                                                             const std::string& why) {
  auto device = open_context(index);
  if (!std::exchange(warned_, true)) {
    base::log(LogLevel::kWarning,
              text("software NPU: ", why, "; the CPU computes instead. Run npu-info for details"));
  }
  return device;
}

std::shared_ptr<Device::Impl> Runtime::open_kind(DeviceKind kind) {
  const auto npu = find(false), software = find(true);
  if (kind == DeviceKind::kSoftware) {
    if (!software) throw Error(ErrorCode::kNotFound, no_software_npu());
    return open_context(*software);
  }
  if (npu) return open_context(*npu);
  if (kind == DeviceKind::kNpu) throw Error(ErrorCode::kNotFound, no_npu());
  if (!software) throw Error(ErrorCode::kNotFound, no_npu() + "\n" + no_software_npu());
  return open_software_instead(*software,
                               text("no NPU found (", first_missing(all_findings()), ')'));
}

std::shared_ptr<Device::Impl> Runtime::open(DeviceKind kind) {
  base::refuse_after_fork();
  base::watch_for_forks();
  const base::LogsAfterwards logs;
  std::scoped_lock lock(mutex_);
  start(kind);
  return open_kind(kind);
}

std::shared_ptr<Device::Impl> Runtime::open(const std::string& address) {
  base::refuse_after_fork();
  base::watch_for_forks();
  const base::LogsAfterwards logs;
  std::scoped_lock lock(mutex_);
  start(DeviceKind::kAuto);
  const std::string missing = find(false) ? std::string() : first_missing(all_findings());
  const std::size_t index = choose_device(infos(), address, missing);
  if (!npus_[index].is_software()) return open_context(index);
  return open_software_instead(
      index, text("it alone has the PCI address or UUID ", base::quoted(address)));
}

/// The facts about each of npus_; an opened device has its own.
std::vector<DeviceInfo> Runtime::infos() const {
  std::vector<DeviceInfo> infos;
  for (std::size_t index = 0; index < npus_.size(); ++index) {
    const auto opened = contexts_[index].lock();
    infos.push_back(opened ? opened->info : info_or_name(npus_[index]));
  }
  return infos;
}

std::vector<DeviceInfo> Runtime::list() {
  base::refuse_after_fork();
  base::watch_for_forks();
  const base::LogsAfterwards logs;
  std::scoped_lock lock(mutex_);
  try {
    // A loader that was started for nothing could not take the software NPU any more.
    const bool is_any = loader_ || ::secure_getenv(ze::kDriversVariable) ||
                        !software_npu_library().empty() ||
                        diagnose_parts(paths_).real_npu_possible();
    if (is_any) {
      start(DeviceKind::kSoftware);  // with the drivers of all devices
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    start_error_ = error.what();  // no loader
  }
  return infos();
}

/// The parts, and what the loader found with them.
std::vector<Finding> Runtime::all_findings() const {
  auto findings = diagnosis_.findings;
  if (const auto npu = find(false)) {
    findings.push_back({true, "device", npus_[*npu].name(), ""});
  } else if (!diagnosis_.real_npu_possible()) {
    findings.push_back({false, "device", "not tried: a part is missing", ""});
  } else {
    findings.push_back(
        {false, "device", start_error_.empty() ? "the driver offers no NPU" : start_error_,
         text("check the kernel log (dmesg | grep vpu) and the driver's own messages with ",
              ze::kDriverLogVariable, "=INFO")});
  }
  return findings;
}

std::vector<std::string> Runtime::platforms() {
  base::refuse_after_fork();
  std::scoped_lock lock(mutex_);
  std::vector<std::string> platforms;
  for (const auto& npu : npus_) {
    const std::string platform = npu.platform();
    platforms.push_back(platform.empty() ? "unknown" : platform);
  }
  return platforms;
}

std::vector<Finding> Runtime::diagnose() {
  base::refuse_after_fork();
  std::scoped_lock lock(mutex_);
  try {
    if (!loader_ && diagnose_parts(paths_).real_npu_possible()) {
      start(DeviceKind::kAuto);
    }
  } catch (const Error& error) {
    start_error_ = error.what();
  }
  diagnosis_ = diagnose_parts(paths_);
  return all_findings();
}

}  // namespace npu::internal
