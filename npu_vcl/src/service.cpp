#include <algorithm>
#include <chrono>
#include <locale>
#include <new>
#include <sstream>
#include <utility>

#include <npu_vcl/service.hpp>

namespace npu_vcl {
namespace {

constexpr std::size_t kAddressDigits = 20;

std::span<const std::byte> content(const Message& request, const Service::Contents& contents,
                                   const std::string& name) {
  const auto found = contents.find(name);
  if (found != contents.end()) return found->second;
  return std::as_bytes(std::span(request.text(name)));
}

/// The model as the compiler reads it, with addresses of this process.
class Ir {
 public:
  Ir(const Message& request, const Service::Contents& contents)
      : bytes_(content(request, contents, "ir")) {
    if (request.text("addresses").empty()) return;
    copy_.assign(bytes_.begin(), bytes_.end());
    std::istringstream lines(request.text("addresses"));
    lines.imbue(std::locale::classic());
    std::uint64_t place = 0, offset = 0;
    for (std::string where; lines >> place >> where >> offset;) {
      write_address(place, content(request, contents, where), offset);
    }
    bytes_ = copy_;
  }

  std::span<const std::uint8_t> bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size()};
  }

 private:
  void write_address(std::uint64_t place, std::span<const std::byte> target, std::uint64_t offset) {
    if (place > copy_.size() || copy_.size() - place < kAddressDigits || offset > target.size()) {
      throw Failure("i/o error", "an address of a constant is outside the model");
    }
    std::string digits = std::to_string(reinterpret_cast<std::uintptr_t>(target.data() + offset));
    digits.insert(0, kAddressDigits - digits.size(), '0');
    const auto bytes = std::as_bytes(std::span(digits));
    std::ranges::copy(bytes, copy_.begin() + static_cast<std::ptrdiff_t>(place));
  }

  std::span<const std::byte> bytes_;
  std::vector<std::byte> copy_;
};

}  // namespace

Message error_message(const Failure& failure) {
  return {"error",
          {{"code", failure.code()},
           {"what", failure.what()},
           {"driver_log", failure.log()},
           {"result", std::to_string(failure.result())}}};
}

Message Service::ready() const {
  return {"ready",
          {{"library", library_.path()},
           {"api_major", std::to_string(library_.version().major)},
           {"api_minor", std::to_string(library_.version().minor)}}};
}

Message Service::answer(const Message& request, const Contents& contents) noexcept try {
  if (request.kind == "compiler") return make_compiler(request);
  if (request.kind == "takes") return tell_whether_taken(request);
  if (request.kind == "compile") return compile(request, contents);
  if (request.kind == "query") return query(request, contents);
  throw Failure("internal error", "the helper process does not know '" + request.kind + '\'');
} catch (const Failure& failure) {
  return error_message(failure);
} catch (const std::bad_alloc&) {
  return error_message({"out of memory", "the helper process that compiles ran out of memory"});
} catch (const std::exception& error) {
  return error_message({"internal error", error.what()});
}

Message Service::make_compiler(const Message& request) {
  const Device device{static_cast<std::uint32_t>(request.number("device")),
                      static_cast<std::uint16_t>(request.number("revision")),
                      static_cast<std::uint32_t>(request.number("tiles"))};
  compiler_ =
      std::make_unique<Compiler>(library_, device, static_cast<int>(request.number("log_level")));
  return {"compiler",
          {{"id", compiler_->id()},
           {"major", std::to_string(compiler_->version().major)},
           {"minor", std::to_string(compiler_->version().minor)},
           {"opset", std::to_string(compiler_->newest_opset())},
           {"options", compiler_->supported_options().value_or("")}}};
}

Message Service::tell_whether_taken(const Message& request) const {
  const auto value = request.texts.find("value");
  const auto yes = compiler().takes(request.text("option"),
                                    value == request.texts.end() ? nullptr : value->second.c_str());
  Message told{"takes"};
  if (yes) {
    told.texts["yes"] = std::to_string(*yes);
  }
  return told;
}

Message Service::compile(const Message& request, const Contents& contents) {
  const Ir ir(request, contents);
  const auto start = std::chrono::steady_clock::now();
  const auto blob = compiler().compile(ir.bytes(), request.text("build_flags"));
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  return {"done",
          {{"blob", std::string(blob.begin(), blob.end())},
           {"compile_ns", std::to_string(took.count())},
           {"driver_log", compiler().log()}}};
}

Message Service::query(const Message& request, const Contents& contents) {
  const Ir ir(request, contents);
  const std::string names = compiler().query(ir.bytes(), request.text("build_flags"));
  return {"layers", {{"names", names}, {"driver_log", compiler().log()}}};
}

Compiler& Service::compiler() const {
  if (!compiler_) throw Failure("internal error", "no compiler was asked for");
  return *compiler_;
}

}  // namespace npu_vcl
