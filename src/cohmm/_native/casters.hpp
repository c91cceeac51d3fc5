// How arguments come from Python: arrays as they are, or not at all.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <cstring>
#include <tuple>

#include "arguments.hpp"

namespace nanobind::detail {

// A copy would swallow what a kernel writes: arrays of another type or order are refused.
template <class T, int D>
struct type_caster<cohmm::View<T, D>> {
  using Array = ndarray<T, ndim<D>, c_contig, device::cpu>;
  using Seen = cohmm::View<T, D>;
  NB_TYPE_CASTER(Seen, make_caster<Array>::Name)

  bool from_python(handle source, uint8_t, cleanup_list* cleanup) noexcept {
    if (source.is_none()) return true;
    make_caster<Array> array;
    if (!array.from_python(source, 0, cleanup)) return false;
    value.data = array.value.data();
    for (int d = 0; d < D; d++) value.shape[d] = cohmm::i64(array.value.shape(d));
    return true;
  }
};

// A struct with FIELDS is read from the attributes of any object that has them, such as a
// NamedTuple, which keeps its arrays alive.  Numbers may be NumPy's.
template <class S>
  requires requires(S s) { s.fields(); }
struct type_caster<S> {
  NB_TYPE_CASTER(S, const_name("object"))

  bool from_python(handle source, uint8_t, cleanup_list* cleanup) noexcept {
    const char* name = S::names;  // separated by ", "
    auto take = [&](auto& field) {
      const std::size_t length = std::strcspn(name, ",");
      const object held = steal(PyObject_GetAttr(source.ptr(), str(name, length).ptr()));
      name += length + std::strspn(name + length, ", ");
      if (!held) PyErr_Clear();
      make_caster<std::remove_reference_t<decltype(field)>> caster;
      if (!held || !caster.from_python(held, (uint8_t)cast_flags::convert, cleanup)) return false;
      field = caster.value;
      return true;
    };
    return std::apply([&](auto&... field) { return (take(field) && ...); }, value.fields());
  }
};

}  // namespace nanobind::detail
