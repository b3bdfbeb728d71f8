# The inputs that vision models want, and the meaning of their outputs.
pkg_check_modules(YAML_CPP REQUIRED IMPORTED_TARGET yaml-cpp)
pkg_check_modules(GLIB REQUIRED IMPORTED_TARGET glib-2.0)
find_package(nlohmann_json REQUIRED)

add_library(npuvision SHARED ${NPUVISION_CARD_SOURCES} ${NPUVISION_SOURCES})
add_library(npucore::npuvision ALIAS npuvision)
target_include_directories(npuvision
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/npuvision/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE npuvision npuvision/decode)
target_sources(npuvision PRIVATE $<TARGET_OBJECTS:npu-unwinding>)
target_link_libraries(npuvision
  PUBLIC npucore
  PRIVATE PkgConfig::YAML_CPP PkgConfig::GLIB nlohmann_json::nlohmann_json)
set_target_properties(npuvision PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  INSTALL_RPATH ${CMAKE_INSTALL_FULL_LIBDIR})
install(TARGETS npuvision EXPORT npucore LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY npuvision/include/npuvision DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
