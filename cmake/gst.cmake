# The GStreamer plugin and the metadata library that other elements link to read its tensors.
pkg_check_modules(GST REQUIRED IMPORTED_TARGET gstreamer-1.0>=1.20 gstreamer-base-1.0 gstreamer-video-1.0
  gstreamer-allocators-1.0)
pkg_check_modules(GST_ANALYTICS QUIET IMPORTED_TARGET gstreamer-analytics-1.0>=1.24)
find_package(nlohmann_json REQUIRED)

add_library(gstnpumeta SHARED ${GSTNPUMETA_SOURCES})
add_library(npucore::gstnpumeta ALIAS gstnpumeta)
target_include_directories(gstnpumeta
  PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE gst npucore/include npuvision/include)
target_sources(gstnpumeta PRIVATE $<TARGET_OBJECTS:npu-unwinding>)
target_link_libraries(gstnpumeta PRIVATE PkgConfig::GST)
set_target_properties(gstnpumeta PROPERTIES
  OUTPUT_NAME gstnpumeta-1.0 VERSION ${PROJECT_VERSION} SOVERSION 0)
install(TARGETS gstnpumeta EXPORT npucore LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES gst/meta/npumeta.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gst/npu)

# Shared by both plugins.
add_library(gstnpu-common OBJECT ${GSTNPU_COMMON_SOURCES})
set(gstnpu_targets gstnpu-common)

add_library(gstnpu MODULE ${GSTNPU_ELEMENT_SOURCES} ${GSTNPU_SOURCES})
list(APPEND gstnpu_targets gstnpu)
set(gstnpu_plugins gstnpu)

pkg_check_modules(PANGOCAIRO QUIET IMPORTED_TARGET pangocairo)
if(PANGOCAIRO_FOUND)
  target_sources(gstnpu PRIVATE ${GSTNPU_OVERLAY_SOURCES})
  target_compile_definitions(gstnpu PRIVATE GST_NPU_HAVE_OVERLAY)
  target_link_libraries(gstnpu PRIVATE PkgConfig::PANGOCAIRO)
endif()

target_link_libraries(gstnpu PRIVATE ${CMAKE_DL_LIBS})

# npupublish, a plugin of its own, with the brokers' libraries that are there.
pkg_check_modules(GIO QUIET IMPORTED_TARGET gio-unix-2.0)
if(NPUCORE_PUBLISH AND GIO_FOUND)
  add_library(gstnpupublish MODULE ${GSTNPU_PUBLISH_PLUGIN_SOURCES} ${GSTNPU_PUBLISH_SOURCES})
  list(APPEND gstnpu_targets gstnpupublish)
  list(APPEND gstnpu_plugins gstnpupublish)
  target_link_libraries(gstnpupublish PRIVATE PkgConfig::GIO)
  pkg_check_modules(MOSQUITTO QUIET IMPORTED_TARGET libmosquitto>=2.0)
  if(NPUCORE_MQTT AND MOSQUITTO_FOUND)
    target_sources(gstnpupublish PRIVATE ${GSTNPU_MQTT_SOURCES})
    target_link_libraries(gstnpupublish PRIVATE PkgConfig::MOSQUITTO)
  endif()
  target_compile_definitions(gstnpupublish PRIVATE
    GST_NPU_HAVE_MQTT=$<AND:$<BOOL:${NPUCORE_MQTT}>,$<BOOL:${MOSQUITTO_FOUND}>>)
  pkg_check_modules(RDKAFKA QUIET IMPORTED_TARGET rdkafka>=1.6)
  if(NPUCORE_KAFKA AND RDKAFKA_FOUND)
    target_sources(gstnpupublish PRIVATE ${GSTNPU_KAFKA_SOURCES})
    target_link_libraries(gstnpupublish PRIVATE PkgConfig::RDKAFKA)
  endif()
  target_compile_definitions(gstnpupublish PRIVATE
    GST_NPU_HAVE_KAFKA=$<AND:$<BOOL:${NPUCORE_KAFKA}>,$<BOOL:${RDKAFKA_FOUND}>>)
endif()

foreach(target IN LISTS gstnpu_targets)
  target_compile_definitions(${target} PRIVATE NPU_VERSION="${PROJECT_VERSION}")
  target_include_directories(${target} PRIVATE gst)
  target_link_libraries(${target} PRIVATE npucore npuvision gstnpumeta PkgConfig::GST nlohmann_json::nlohmann_json)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH ${CMAKE_INSTALL_FULL_LIBDIR} POSITION_INDEPENDENT_CODE ON)
endforeach()
foreach(plugin IN LISTS gstnpu_plugins)
  target_sources(${plugin} PRIVATE $<TARGET_OBJECTS:gstnpu-common> $<TARGET_OBJECTS:npu-unwinding>)
endforeach()
install(TARGETS ${gstnpu_plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gstreamer-1.0)

if(GST_ANALYTICS_FOUND)
  if(NOT GST_ANALYTICS_VERSION VERSION_LESS 1.26)
    target_compile_definitions(gstnpumeta PRIVATE GST_NPU_HAVE_TENSOR_META)
  endif()
  target_compile_definitions(gstnpumeta PRIVATE GST_NPU_HAVE_ANALYTICS)
  target_link_libraries(gstnpumeta PRIVATE PkgConfig::GST_ANALYTICS)
  foreach(target IN LISTS gstnpu_targets)
    target_compile_definitions(${target} PRIVATE GST_NPU_HAVE_ANALYTICS)
    target_link_libraries(${target} PRIVATE PkgConfig::GST_ANALYTICS)
  endforeach()
endif()
