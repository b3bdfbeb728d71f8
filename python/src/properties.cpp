#include "properties.hpp"

namespace pynpu {

std::string property_text(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value) ? "YES" : "NO";
  if (value.is_none() || nb::isinstance<nb::bytes>(value)) {
    refuse("a property is text, a number, a bool or a path, not " +
           nb::cast<std::string>(value.type().attr("__name__")));
  }
  return nb::cast<std::string>(nb::str(value));
}

npu::Properties properties_from(nb::handle properties) {
  npu::Properties set;
  if (properties.is_none()) return set;
  if (nb::isinstance<nb::str>(properties)) {
    return npu::Properties::parse(nb::cast<std::string>(properties));
  }
  if (!nb::hasattr(properties, "items")) {
    refuse("properties are a mapping of names to values");
  }
  for (nb::handle item : nb::iter(properties.attr("items")())) {
    set.set(nb::cast<std::string>(nb::str(item[0])), property_text(item[1]));
  }
  return set;
}

std::vector<std::string> PropertyMap::names() const {
  std::vector<std::string> found;
  const bool is_device = std::holds_alternative<npu::Device>(owner_);
  for (const npu::PropertyInfo& info : npu::known_properties()) {
    if (is_device ? info.of_device : info.of_model) {
      found.push_back(info.name);
    }
  }
  return found;
}

bool PropertyMap::has(const std::string& name) const {
  const npu::PropertyInfo* info = npu::find_property(name);
  if (info == nullptr) return false;
  return std::holds_alternative<npu::Device>(owner_) ? info->of_device : info->of_model;
}

std::string PropertyMap::get(const std::string& name) const {
  return without_gil([&] {
    return std::visit([&](const auto& owner) { return owner.get_property(name); }, owner_);
  });
}

void PropertyMap::set(const std::string& name, nb::handle value) {
  const std::string text = property_text(value);
  without_gil([&] { std::visit([&](auto& owner) { owner.set_property(name, text); }, owner_); });
}

void bind_properties(nb::module_& module) {
  nb::class_<PropertyMap>(module, "Properties",
                          "A mapping of property names to values, which are texts. True, False and "
                          "numbers can be set. help: docs/properties.md")
      .def("__getitem__", &PropertyMap::get)
      .def("__setitem__", &PropertyMap::set)
      .def("__contains__",
           [](const PropertyMap& map, nb::handle name) {
             return nb::isinstance<nb::str>(name) && map.has(nb::cast<std::string>(name));
           })
      .def("__iter__", [](const PropertyMap& map) { return nb::iter(nb::cast(map.names())); })
      .def("__len__", [](const PropertyMap& map) { return map.names().size(); })
      .def("keys", &PropertyMap::names)
      .def("items",
           [](const PropertyMap& map) {
             nb::list items;
             for (const auto& name : map.names()) items.append(nb::make_tuple(name, map.get(name)));
             return items;
           })
      .def(
          "get",
          [](const PropertyMap& map, const std::string& name, nb::object otherwise) -> nb::object {
            return map.has(name) ? nb::cast(map.get(name)) : otherwise;
          },
          nb::arg("name"), nb::arg("default") = nb::none())
      .def("update", [](PropertyMap& map, nb::handle values) {
        for (nb::handle item : nb::iter(values.attr("items")())) {
          map.set(nb::cast<std::string>(item[0]), item[1]);
        }
      });
}

}  // namespace pynpu
