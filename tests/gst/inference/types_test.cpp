// The GTypes of the plugin: GstNpu... where they are elements, Npu... where they are not.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "element_harness.hpp"
#include "needs_element.hpp"

namespace gstnpu::test {
namespace {

constexpr const char* kElements[] = {"npuimport", "npuinfer", "npupublish", "nputensordec",
                                     "nputrack",  "npucount", "npuoverlay"};

GType type_of(const char* factory_name) {
  GstElementFactory* factory = gst_element_factory_find(factory_name);
  GstPluginFeature* loaded = gst_plugin_feature_load(GST_PLUGIN_FEATURE(factory));
  const GType type = gst_element_factory_get_element_type(GST_ELEMENT_FACTORY(loaded));
  gst_object_unref(loaded);
  gst_object_unref(factory);
  return type;
}

class Types : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { NEEDS_ELEMENT(GetParam()); }
};

TEST_P(Types, OfElementsBeginWithGstNpu) {
  EXPECT_TRUE(std::string(g_type_name(type_of(GetParam()))).starts_with("GstNpu"))
      << g_type_name(type_of(GetParam()));
}

TEST_P(Types, OfPropertiesBeginWithNpu) {
  auto* klass = G_OBJECT_CLASS(g_type_class_ref(type_of(GetParam())));
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(klass, &count);
  for (guint i = 0; i < count; ++i) {
    if (!G_IS_PARAM_SPEC_ENUM(specs[i])) continue;
    EXPECT_TRUE(std::string(g_type_name(specs[i]->value_type)).starts_with("Npu"))
        << g_type_name(specs[i]->value_type);
  }
  g_free(specs);
  g_type_class_unref(klass);
}

// A getter and a setter for each: the rows of a table must not be mixed up.
TEST_P(Types, EveryPropertyGivesBackWhatWasSet) {
  GstElement* element = gst_element_factory_make(GetParam(), nullptr);
  gst_object_ref_sink(element);
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  std::set<std::string> set;
  for (guint i = 0; i < count; ++i) {
    GParamSpec* spec = specs[i];
    constexpr guint kBoth = G_PARAM_WRITABLE | G_PARAM_READABLE;  // passwords cannot be read
    if ((spec->flags & kBoth) != kBoth || spec->owner_type == GST_TYPE_OBJECT) continue;
    GValue value = G_VALUE_INIT, seen = G_VALUE_INIT;
    g_value_init(&value, spec->value_type);
    g_value_init(&seen, spec->value_type);
    if (G_IS_PARAM_SPEC_STRING(spec)) {
      g_value_set_string(&value, spec->name);
    }
    if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
      g_value_set_boolean(&value, TRUE);
    }
    if (G_IS_PARAM_SPEC_UINT(spec)) {
      g_value_set_uint(&value, 7 + i);
    }
    if (G_IS_PARAM_SPEC_FLOAT(spec)) {
      g_value_set_float(&value, 0.01f * static_cast<float>(i + 1));
    }
    if (G_IS_PARAM_SPEC_ENUM(spec)) {
      g_value_set_enum(&value, 1);
    }
    g_param_value_validate(spec, &value);
    g_object_set_property(G_OBJECT(element), spec->name, &value);
    g_object_get_property(G_OBJECT(element), spec->name, &seen);
    EXPECT_EQ(g_param_values_cmp(spec, &value, &seen), 0) << spec->name;
    set.insert(spec->name);
    g_value_unset(&value);
    g_value_unset(&seen);
  }
  EXPECT_GE(set.size(), 4u);
  g_free(specs);
  gst_object_unref(element);
}

INSTANTIATE_TEST_SUITE_P(All, Types, testing::ValuesIn(kElements),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace gstnpu::test
