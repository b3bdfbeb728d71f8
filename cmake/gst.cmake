# The GStreamer plugin and the metadata library that other elements link to read its tensors.
pkg_check_modules(GST REQUIRED IMPORTED_TARGET gstreamer-1.0>=1.20 gstreamer-base-1.0 gstreamer-video-1.0
  gstreamer-allocators-1.0)
pkg_check_modules(GST_ANALYTICS QUIET IMPORTED_TARGET gstreamer-analytics-1.0>=1.24)
find_package(nlohmann_json REQUIRED)

add_library(gstnpumeta SHARED ${GSTNPUMETA_SOURCES})
add_library(npucore::gstnpumeta ALIAS gstnpumeta)
target_include_directories(gstnpumeta
  PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE gst)
target_link_libraries(gstnpumeta PRIVATE PkgConfig::GST)
set_target_properties(gstnpumeta PROPERTIES
  OUTPUT_NAME gstnpumeta-1.0 VERSION ${PROJECT_VERSION} SOVERSION 0)
install(TARGETS gstnpumeta EXPORT npucore LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES gst/meta/npumeta.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gst/npu)

add_library(gstnpu MODULE ${GSTNPU_SOURCES})
target_compile_definitions(gstnpu PRIVATE NPU_VERSION="${PROJECT_VERSION}")
target_include_directories(gstnpu PRIVATE gst)
target_link_libraries(gstnpu PRIVATE npucore npuvision gstnpumeta PkgConfig::GST nlohmann_json::nlohmann_json)
set_target_properties(gstnpu PROPERTIES INSTALL_RPATH ${CMAKE_INSTALL_FULL_LIBDIR})
install(TARGETS gstnpu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gstreamer-1.0)

pkg_check_modules(PANGOCAIRO QUIET IMPORTED_TARGET pangocairo)
if(PANGOCAIRO_FOUND)
  target_sources(gstnpu PRIVATE ${GSTNPU_OVERLAY_SOURCES})
  target_compile_definitions(gstnpu PRIVATE GST_NPU_HAVE_OVERLAY)
  target_link_libraries(gstnpu PRIVATE PkgConfig::PANGOCAIRO)
endif()

# MQTT and Kafka for npupublish. The libraries are opened on demand. One source has the list of those that exist.
include(CheckIncludeFileCXX)
check_include_file_cxx(MQTTClient.h NPUCORE_HAVE_MQTT)
if(NPUCORE_HAVE_MQTT AND NPUCORE_MQTT)
  target_sources(gstnpu PRIVATE ${GSTNPU_MQTT_SOURCES})
  set_property(SOURCE gst/publish/sinks/sink.cpp APPEND PROPERTY COMPILE_DEFINITIONS GST_NPU_HAVE_MQTT)
endif()
check_include_file_cxx(librdkafka/rdkafka.h NPUCORE_HAVE_KAFKA)
if(NPUCORE_HAVE_KAFKA AND NPUCORE_KAFKA)
  target_sources(gstnpu PRIVATE ${GSTNPU_KAFKA_SOURCES})
  set_property(SOURCE gst/publish/sinks/sink.cpp APPEND PROPERTY COMPILE_DEFINITIONS GST_NPU_HAVE_KAFKA)
endif()
target_link_libraries(gstnpu PRIVATE ${CMAKE_DL_LIBS})

if(GST_ANALYTICS_FOUND)
  if(NOT GST_ANALYTICS_VERSION VERSION_LESS 1.26)
    target_compile_definitions(gstnpumeta PRIVATE GST_NPU_HAVE_TENSOR_META)
  endif()
  target_compile_definitions(gstnpu PRIVATE GST_NPU_HAVE_ANALYTICS)
  target_link_libraries(gstnpumeta PRIVATE PkgConfig::GST_ANALYTICS)
  target_link_libraries(gstnpu PRIVATE PkgConfig::GST_ANALYTICS)
endif()
