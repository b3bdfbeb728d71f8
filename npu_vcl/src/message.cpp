#include <algorithm>
#include <charconv>
#include <concepts>

#include <npu_vcl/message.hpp>

namespace npu_vcl {
namespace {

constexpr std::string_view kMagic = "NPUH";
constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kRecordHeaderBytes = 13;

template <std::unsigned_integral T>
void append_number(std::vector<std::byte>& bytes, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes.push_back(static_cast<std::byte>(number >> (8 * i) & 0xff));
  }
}

void append_bytes(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

std::span<const std::byte> bytes_of(std::string_view words) {
  return std::as_bytes(std::span(words));
}

void append_record(std::vector<std::byte>& records, char kind, std::string_view name,
                   std::span<const std::byte> value) {
  records.push_back(static_cast<std::byte>(kind));
  append_number(records, static_cast<std::uint32_t>(name.size()));
  append_number(records, std::uint64_t{value.size()});
  append_bytes(records, bytes_of(name));
  append_bytes(records, value);
}

template <std::unsigned_integral T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    number |= static_cast<T>(std::to_integer<std::uint64_t>(bytes[offset + i]) << (8 * i));
  }
  return number;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void take_record(Message& message, char kind, std::string name, std::span<const std::byte> value) {
  if (kind == 't') {
    (name.empty() ? message.kind : message.texts[std::move(name)]) = text_of(value);
  } else if (kind == 'f' && value.size() == sizeof(std::uint64_t)) {
    message.files.emplace_back(std::move(name), number_at<std::uint64_t>(value, 0));
  } else {
    throw BadMessage("a record is of no known kind");
  }
}

Message decode(std::span<const std::byte> records) {
  Message message;
  while (!records.empty()) {
    if (records.size() < kRecordHeaderBytes) throw BadMessage("a record is truncated");
    const char kind = static_cast<char>(records[0]);
    const auto name_size = number_at<std::uint32_t>(records, 1);
    const auto value_size = number_at<std::uint64_t>(records, 5);
    records = records.subspan(kRecordHeaderBytes);
    if (name_size > records.size() || value_size > records.size() - name_size) {
      throw BadMessage("a record is longer than its message");
    }
    take_record(message, kind, text_of(records.first(name_size)),
                records.subspan(name_size, value_size));
    records = records.subspan(name_size + value_size);
  }
  return message;
}

}  // namespace

const std::string& Message::text(const std::string& name) const {
  static const std::string none;
  const auto found = texts.find(name);
  return found == texts.end() ? none : found->second;
}

std::uint64_t Message::number(const std::string& name) const {
  const std::string& words = text(name);
  std::uint64_t value = 0;
  std::from_chars(words.data(), words.data() + words.size(), value);
  return value;
}

std::vector<std::byte> encode(const Message& message) {
  std::vector<std::byte> records;
  append_record(records, 't', "", bytes_of(message.kind));
  for (const auto& [name, value] : message.texts) {
    append_record(records, 't', name, bytes_of(value));
  }
  for (const auto& [name, size] : message.files) {
    std::vector<std::byte> value;
    append_number(value, size);
    append_record(records, 'f', name, value);
  }
  std::vector<std::byte> bytes;
  append_bytes(bytes, bytes_of(kMagic));
  append_number(bytes, kProtocol);
  append_number(bytes, std::uint64_t{records.size()});
  append_number(bytes, static_cast<std::uint32_t>(message.files.size()));
  append_number(bytes, std::uint32_t{0});
  append_bytes(bytes, records);
  return bytes;
}

void Decoder::append(std::span<const std::byte> bytes) {
  append_bytes(bytes_, bytes);
}

std::optional<Message> Decoder::next() {
  if (bytes_.size() < kHeaderBytes) return std::nullopt;
  const std::span<const std::byte> all = bytes_;
  if (!std::ranges::equal(bytes_of(kMagic), all.first(kMagic.size())) ||
      number_at<std::uint32_t>(all, 4) != kProtocol) {
    throw BadMessage("it is of another version of npucore");
  }
  const auto size = number_at<std::uint64_t>(all, 8);
  if (size > most_bytes_) {
    throw BadMessage("it announces a message of " + std::to_string(size) + " bytes");
  }
  if (all.size() - kHeaderBytes < size) return std::nullopt;
  Message message = decode(all.subspan(kHeaderBytes, size));
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + size));
  return message;
}

}  // namespace npu_vcl
