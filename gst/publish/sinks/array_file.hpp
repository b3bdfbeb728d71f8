#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "sink.hpp"

namespace gstnpu {

/// Writes lines as the elements of one JSON array in a regular file. The file holds a whole array
/// after each line, whatever becomes of the process or of the disk. Failures as Sink has them; what
/// is out of a line that fails is taken back.
class ArrayFile final : public Sink {
 public:
  /// To append, the file must end with an array, or be empty or not be there.
  ArrayFile(const std::string& path, bool append);
  ~ArrayFile() override;

  bool write(std::string_view line) override;
  bool flush() override { return true; }
  void interrupt() override {}  // a regular file never waits
  void resume() override {}

 private:
  void begin();
  void find_end(const std::string& path);
  void write_at_end(const std::string& text);
  bool close_array() const;
  bool was_emptied() const;

  const int fd_;
  off_t end_ = 0;  // of the last element
  bool has_elements_ = false;
};

}  // namespace gstnpu
