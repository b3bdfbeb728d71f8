#pragma once

namespace npu::test {

/// Runs this program's tests and returns its exit code. Arguments that GoogleTest leaves name the
/// files whose tests are wanted ("tensor_test.cpp"); none: all. A file or a filter that chooses no
/// test is a failure.
int run_tests(int argc, char** argv);

}  // namespace npu::test
