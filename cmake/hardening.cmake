# The same hardening as in meson.build; tests/consumer checks it on the built files.
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    add_compile_options(${flag})
  endif()
endforeach()
# glibc's checks need the optimiser.
add_compile_options("$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")

foreach(flag relro now noexecstack)
  check_linker_flag(CXX -Wl,-z,${flag} HAS_Z_${flag})
  if(HAS_Z_${flag})
    add_link_options(-Wl,-z,${flag})
  endif()
endforeach()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
