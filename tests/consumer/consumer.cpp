// A program of someone else's, built against an installed npucore: it sees the public headers and
// the library, no more.
#include <cstdio>

#include <npucore/adapters/remote.hpp>
#include <npucore/npucore.hpp>

namespace {

// An exception that crosses the library's border must keep its type, though all other symbols are
// hidden.
bool refuses_an_unknown_device() {
  try {
    npu::device_kind_from_string("toaster");
  } catch (const npu::Error& error) {
    return error.code() == npu::ErrorCode::kInvalidArgument;
  }
  return false;
}

}  // namespace

int main() {
  if (!refuses_an_unknown_device()) {
    std::fprintf(stderr, "npu::Error was not caught as such\n");
    return 1;
  }
  const auto findings = npu::diagnose();
  for (const npu::Finding& finding : findings) {
    std::printf("%s %s: %s\n", finding.ok ? "ok     " : "missing", finding.what.c_str(),
                finding.detail.c_str());
  }
  return findings.empty() ? 1 : 0;
}
