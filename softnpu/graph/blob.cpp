#include "blob.hpp"

#include <elf.h>

#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr std::string_view kNoteOwner("SoftNPU\0", 8);
constexpr uint32_t kNoteType = 1;
constexpr uint32_t kSections = 6;  // with the empty first one
constexpr char kNamesText[] =
    "\0.note.softnpu\0.softnpu.flags\0.shstrtab\0.softnpu.ir\0.softnpu.weights";
constexpr std::string_view kNames(kNamesText, sizeof kNamesText);
constexpr std::string_view kNoteSection = ".note.softnpu";
constexpr std::string_view kFlagsSection = ".softnpu.flags";
constexpr std::string_view kNamesSection = ".shstrtab";
constexpr std::string_view kIrSection = ".softnpu.ir";
constexpr std::string_view kWeightsSection = ".softnpu.weights";

struct Note {
  Elf64_Nhdr header;
  char owner[8];
  BlobNote content;
};

static_assert(sizeof(Note) == sizeof(Elf64_Nhdr) + 8 + sizeof(BlobNote));

uint32_t checksum(std::string_view flags, std::string_view ir) {
  uint32_t hash = 0x811c9dc5;
  for (const std::string_view text : {flags, ir}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  }
  return hash;
}

size_t aligned(size_t value, size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

Elf64_Word name_offset(std::string_view name) {
  return static_cast<Elf64_Word>(kNames.find(name));
}

Elf64_Shdr section(std::string_view name, Elf64_Word type, size_t offset, size_t size,
                   size_t alignment) {
  Elf64_Shdr header{};
  header.sh_name = name_offset(name);
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = size;
  header.sh_addralign = alignment;
  return header;
}

Elf64_Ehdr file_header() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_NONE;
  header.e_machine = EM_NONE;
  header.e_version = EV_CURRENT;
  header.e_shoff = sizeof(Elf64_Ehdr);
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = 3;
  return header;
}

struct Layout {
  std::array<Elf64_Shdr, kSections> sections;
  size_t size_bytes;
};

Layout layout_of(const BlobSource& source) {
  const size_t note = sizeof(Elf64_Ehdr) + kSections * sizeof(Elf64_Shdr);
  const size_t flags = note + sizeof(Note);
  const size_t names = flags + source.flags.size();
  const size_t ir = aligned(names + kNames.size(), 16);
  const size_t weights = aligned(ir + source.ir.size(), kWeightsAlignment);
  return {{Elf64_Shdr{}, section(kNoteSection, SHT_NOTE, note, sizeof(Note), 4),
           section(kFlagsSection, SHT_PROGBITS, flags, source.flags.size(), 1),
           section(kNamesSection, SHT_STRTAB, names, kNames.size(), 1),
           section(kIrSection, SHT_PROGBITS, ir, source.ir.size(), 16),
           section(kWeightsSection, SHT_PROGBITS, weights, source.weights.size_bytes(),
                   kWeightsAlignment)},
          weights + source.weights.size_bytes()};
}

Note make_note(const BlobSource& source, const BlobTarget& target) {
  Note note{{static_cast<Elf64_Word>(kNoteOwner.size()), sizeof(BlobNote), kNoteType},
            {},
            {kBlobFormatVersion, target.platform, kDriverVersion, checksum(source.flags, source.ir),
             target.runtime}};
  kNoteOwner.copy(note.owner, sizeof note.owner);
  return note;
}

[[noreturn]] void damaged(const std::string& what) {
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT, "native binary: " + what);
}

[[noreturn]] void foreign(const std::string& what) {
  throw Failure(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "native binary: " + what);
}

/// Reads a file without trusting any of its numbers.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file) {
    if (file.size() < SELFMAG || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
      foreign("it is not an ELF file");
    }
    header_ = at<Elf64_Ehdr>(0, "the ELF header");
    check_header();
    names_ = content(section_header(header_.e_shstrndx), "the section names");
  }

  // The content of the first section of that name; nothing if there is none.
  std::optional<std::span<const std::byte>> find(std::string_view name) {
    for (uint32_t i = 1; i < header_.e_shnum; ++i) {
      const Elf64_Shdr header = section_header(i);
      if (name_of(header) == name) return content(header, std::string(name));
    }
    return std::nullopt;
  }
  std::span<const std::byte> require_section(std::string_view name) {
    const auto found = find(name);
    if (!found) {
      damaged("section " + std::string(name) + " is missing");
    }
    return *found;
  }
  // The end of the last byte that any header or section occupies.
  size_t end() const { return end_; }

 private:
  template <class T>
  T at(uint64_t offset, const std::string& what) {
    T value;
    const auto bytes = range(offset, sizeof value, what);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  std::span<const std::byte> range(uint64_t offset, uint64_t size, const std::string& what) {
    if (offset > file_.size() || size > file_.size() - offset) {
      damaged(what + " (" + std::to_string(size) + " bytes at " + std::to_string(offset) +
              ") reaches past the end of the file, which has " + std::to_string(file_.size()) +
              " bytes");
    }
    end_ = std::max<size_t>(end_, offset + size);
    return file_.subspan(offset, size);
  }

  void check_header() {
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB) {
      damaged("it is not a little-endian 64-bit ELF file");
    }
    if (header_.e_shentsize != sizeof(Elf64_Shdr)) {
      damaged("a section header has " + std::to_string(header_.e_shentsize) + " bytes instead of " +
              std::to_string(sizeof(Elf64_Shdr)));
    }
    if (header_.e_shnum == 0 || header_.e_shstrndx >= header_.e_shnum) {
      damaged("it has no section names");
    }
  }

  Elf64_Shdr section_header(uint32_t index) {
    const uint64_t table = header_.e_shoff;
    const uint64_t offset = index * sizeof(Elf64_Shdr);
    if (table > UINT64_MAX - offset) {
      damaged("the section headers are out of reach");
    }
    return at<Elf64_Shdr>(table + offset, "section header " + std::to_string(index));
  }

  std::span<const std::byte> content(const Elf64_Shdr& header, const std::string& what) {
    if (header.sh_type == SHT_NOBITS) {
      damaged("section " + what + " has no content");
    }
    return range(header.sh_offset, header.sh_size, "section " + what);
  }

  std::string_view name_of(const Elf64_Shdr& header) const {
    if (header.sh_name >= names_.size()) return {};
    const auto* const text = reinterpret_cast<const char*>(names_.data()) + header.sh_name;
    return {text, ::strnlen(text, names_.size() - header.sh_name)};
  }

  std::span<const std::byte> file_;
  Elf64_Ehdr header_{};
  std::span<const std::byte> names_;
  size_t end_ = 0;
};

// The format's version comes first, because it says how long the rest is.
void check_format(std::span<const std::byte> content) {
  uint32_t version = 0;
  if (content.size() < sizeof version) {
    damaged("section .note.softnpu is too short");
  }
  std::memcpy(&version, content.data(), sizeof version);
  if (version != kBlobFormatVersion) {
    foreign("its format is version " + std::to_string(version) + ", this driver reads version " +
            std::to_string(kBlobFormatVersion));
  }
}

BlobNote read_note(std::span<const std::byte> bytes) {
  constexpr size_t kBefore = sizeof(Note) - sizeof(BlobNote);
  Note note{};
  if (bytes.size() < kBefore) {
    damaged("section .note.softnpu is too short");
  }
  std::memcpy(&note, bytes.data(), kBefore);
  if (note.header.n_namesz != kNoteOwner.size() || note.header.n_type != kNoteType ||
      kNoteOwner.compare(0, 8, note.owner, 8) != 0) {
    damaged("section .note.softnpu holds another note");
  }
  const auto content = bytes.subspan(kBefore);
  check_format(content);
  if (note.header.n_descsz != sizeof(BlobNote) || content.size() < sizeof(BlobNote)) {
    damaged("section .note.softnpu has a wrong size");
  }
  std::memcpy(&note.content, content.data(), sizeof(BlobNote));
  return note.content;
}

void check_note(const BlobNote& note, const BlobTarget& device) {
  if (note.platform != device.platform) {
    foreign("it was compiled for platform " + std::to_string(note.platform) +
            ", this device is platform " + std::to_string(device.platform));
  }
  if ((note.driver_version >> 16) > kDriverMajor) {
    foreign("it was compiled by version " + std::to_string(note.driver_version >> 16) +
            " of the driver, this is version " + std::to_string(kDriverMajor));
  }
  if (!device.runtime.runs(note.runtime)) {
    foreign("it needs runtime " + note.runtime.text() + ", this device has " +
            device.runtime.text());
  }
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Mapping write_blob(const BlobSource& source, const BlobTarget& target, size_t* size_bytes) {
  const Layout layout = layout_of(source);
  Mapping file = Mapping::map(layout.size_bytes, -1);
  if (!file) throw std::bad_alloc();
  const auto put = [&file](size_t offset, const void* bytes, size_t size) {
    if (size != 0) {
      std::memcpy(file.base() + offset, bytes, size);
    }
  };
  const Elf64_Ehdr header = file_header();
  const Note note = make_note(source, target);
  put(0, &header, sizeof header);
  put(header.e_shoff, layout.sections.data(), sizeof layout.sections);
  put(layout.sections[1].sh_offset, &note, sizeof note);
  put(layout.sections[2].sh_offset, source.flags.data(), source.flags.size());
  put(layout.sections[3].sh_offset, kNames.data(), kNames.size());
  put(layout.sections[4].sh_offset, source.ir.data(), source.ir.size());
  source.weights.copy_to(file.base() + layout.sections[5].sh_offset);
  *size_bytes = layout.size_bytes;
  return file;
}

Blob read_blob(std::span<const std::byte> file, const BlobTarget& device) {
  Reader reader(file);
  const auto note_bytes = reader.find(kNoteSection);
  if (!note_bytes) {
    foreign("it is for another device: it has no section .note.softnpu");
  }
  const BlobNote note = read_note(*note_bytes);
  check_note(note, device);
  const BlobParts parts{text_of(reader.require_section(kFlagsSection)),
                        text_of(reader.require_section(kIrSection)),
                        reader.require_section(kWeightsSection)};
  if (checksum(parts.flags, parts.ir) != note.checksum) {
    damaged("the checksum of its IR is wrong: the file is damaged");
  }
  return {parts, reader.end()};
}

}  // namespace softnpu
