// SOFTNPU_TRACE: one JSON line for every call into the driver.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

namespace softnpu::trace {

bool enabled();

/// The fields of a JSON object.
class Fields {
 public:
  Fields& number(const char* name, uint64_t value);
  Fields& flag(const char* name, bool value);
  Fields& text(const char* name, const std::string& value);
  const std::string& json() const { return json_; }

 private:
  Fields& add(const char* name, const std::string& value);
  std::string json_;
};

/// One call's line, written by `finish`. Calls made inside it on the same thread may add fields by
/// `note`.
class Line {
 public:
  explicit Line(const char* call);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  /// Adds arguments in the order of the call: handles and pointers as "0x..." strings, numbers as
  /// numbers.
  template <class T>
  void argument(T value) {
    if constexpr (std::is_pointer_v<T>) {
      add_pointer(reinterpret_cast<uintptr_t>(value));
    } else {
      add_number(static_cast<uint64_t>(value));
    }
  }
  void finish(uint32_t result);

 private:
  friend void note(const char* name, uint64_t value);
  friend void note_text(const char* name, const std::string& value);
  friend void note_item(const char* name, const Fields& item);
  void add_pointer(uintptr_t value);
  void add_number(uint64_t value);

  const char* call_;
  uint64_t start_ns_;
  std::string arguments_;
  std::string notes_;
  std::map<std::string, std::string> items_;  // by name, separated by commas
  Line* outer_;
};

/// Writes the line of this thread's current call as it is now: for a call that ends the process.
void write_now(uint32_t result);
/// Adds a field to the line of this thread's current call; does nothing if there is no trace.
void note(const char* name, uint64_t value);
void note_text(const char* name, const std::string& value);
/// Adds an object to the field <name>, an array.
void note_item(const char* name, const Fields& item);
/// Adds "<name>": "st_dev:st_ino" of an open file.
void note_file(const char* name, int fd);
/// Adds the resident bytes of this process's anonymous memory.
void note_anonymous_bytes(const char* name);
/// Adds a handle or a pointer as "0x..." text.
void note_pointer(const char* name, const void* value);

}  // namespace softnpu::trace
