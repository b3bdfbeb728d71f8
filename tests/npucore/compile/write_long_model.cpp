// Writes a model that takes a while to compile, long.xml and long.bin.
//
// usage: write_long_model FOLDER STEPS
#include <string>

#include "support.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  npu::test::write_long_model(argv[1], std::stoi(argv[2]));
}
