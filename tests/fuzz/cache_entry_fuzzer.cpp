// A file of the cache: what is taken for an entry is written again as the same bytes.

#include <cstdio>
#include <cstdlib>

#include <npucore/error.hpp>

#include "base/hash.hpp"
#include "compile/cache/cache_entry.hpp"
#include "ir/blob_container.hpp"

#include "container_parts.hpp"

namespace {

using namespace npu::fuzz;

constexpr std::string_view kMagic = "NPUCACH1";
constexpr std::size_t kNumber = sizeof(std::uint64_t), kTail = 3 * kNumber + kMagic.size();

/// Puts an entry together with sizes and a hash that fit.
std::string make_entry(std::string blob, const std::string& key) {
  const auto blob_size = blob.size();
  std::string file = std::move(blob) + key;
  append_number(file, std::uint64_t{key.size()});
  append_number(file, std::uint64_t{blob_size});
  append_number(file, npu::base::hash_of(std::as_bytes(std::span(file))));
  return file += kMagic;
}

std::string mutate_entry(std::string_view file, Random& random) {
  if (file.size() < kTail || random.one_in(4)) return mutate_bytes(std::string(file));
  const auto tail = file.size() - kTail;
  const auto key_size = std::min<std::uint64_t>(number_at<std::uint64_t>(file, tail), tail);
  std::string blob(file.substr(0, tail - key_size)), key(file.substr(tail - key_size, key_size));
  if (random.one_in(2)) {
    blob = mutate_container(blob, random);
  } else {
    key = mutate_bytes(key);
  }
  auto made = make_entry(std::move(blob), key);
  if (random.one_in(4)) {
    put_number(made, made.size() - kTail + kNumber * random.below(3), random.number());
  }
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto entry = npu::internal::read_cache_entry(bytes);
  if (!entry) return 0;
  const std::array parts{entry->blob};
  const auto again = npu::internal::cache_entry_tail(parts, entry->key);
  const auto tail = bytes.subspan(entry->blob.size());
  if (!std::equal(again.begin(), again.end(), tail.begin(), tail.end())) {
    std::fprintf(stderr, "an entry of the key '%s' would be written otherwise\n",
                 entry->key.c_str());
    std::abort();
  }
  try {
    npu::ir::open_blob(entry->blob, "fuzz.blob");
  } catch (const npu::Error&) {
    // An entry of the cache need not hold a blob any more.
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  Random random(seed);
  return give_back(mutate_entry(as_text(data, size), random), data, size, max_size);
}
