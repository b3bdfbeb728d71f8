#include "support/run_tests.hpp"

int main(int argc, char** argv) {
  return npu::test::run_tests(argc, argv);
}
