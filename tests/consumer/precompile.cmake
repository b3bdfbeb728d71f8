# Given to CMake as CMAKE_PROJECT_npucore_INCLUDE: compiles the heavy headers once for each library, when all libraries are known.
function(precompile)
  foreach(library npucore npuvision gstnpumeta gstnpu)
    target_precompile_headers(${library} PRIVATE ${PROJECT_SOURCE_DIR}/pch/standard.hpp)
  endforeach()
endfunction()
cmake_language(DEFER CALL precompile)
