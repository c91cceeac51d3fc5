"""scikit-learn's protocol of estimators, without its base class.

That takes more than a second to import, longer than all the rest, and fitting a model needs none of
it.  So what scikit-learn asks of an estimator is here, and it is imported when it asks.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, Self

DATA = ("X", "y")  # of a method; all else that it takes is metadata, which can be routed
ROUTED = ("fit", "partial_fit", "predict", "predict_proba", "score")


def _set_request(method: str) -> Callable[..., Any]:
    """The method ``set_<method>_request`` of an estimator."""

    def set_request(self: Estimator, **metadata: bool | str | None) -> Estimator:
        import sklearn
        from sklearn.utils.metadata_routing import UNCHANGED

        if not sklearn.get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                f"set_{method}_request is only available when metadata routing is enabled: "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        taken = _metadata(type(self), method)
        for name in metadata:
            if name not in taken:
                raise TypeError(f"{method} takes no {name}; it takes {', '.join(taken)}")
        routing = self.get_metadata_routing()
        for name, request in metadata.items():
            if request != UNCHANGED:
                getattr(routing, method).add_request(param=name, alias=request)
        self._metadata_request = routing  # where scikit-learn's clone looks for it
        return self

    set_request.__name__ = f"set_{method}_request"
    set_request.__qualname__ = f"Estimator.{set_request.__name__}"
    set_request.__doc__ = f"""Say what of the metadata of ``{method}`` is to be routed to it.

        True: hand it on, False: do not, None: it is an error to give it, a string: hand it on
        where it is given by this name.  For scikit-learn's ``enable_metadata_routing``.
        """
    return set_request


class Estimator:
    """What scikit-learn knows an estimator by: parameters, metadata, and how it is shown."""

    _metadata_request: Any

    set_fit_request = _set_request("fit")
    set_partial_fit_request = _set_request("partial_fit")
    set_predict_request = _set_request("predict")
    set_predict_proba_request = _set_request("predict_proba")
    set_score_request = _set_request("score")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given; none is an estimator, so ``deep`` changes nothing."""
        return {name: getattr(self, name) for name in _parameters(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Set some of the parameters."""
        valid = _parameters(type(self))
        for name in params:
            if name not in valid:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {valid!r}."
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def get_metadata_routing(self) -> Any:
        """scikit-learn's `MetadataRequest`: what methods take, and what is handed on to them."""
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if hasattr(self, "_metadata_request"):
            return get_routing_for_object(self._metadata_request)  # a copy
        routing = MetadataRequest(owner=type(self).__name__)
        for method in ROUTED:
            for name in _metadata(type(self), method):
                getattr(routing, method).add_request(param=name, alias=None)
        return routing

    def __repr__(self) -> str:
        return repr(self._as_shown())

    @property
    def _repr_html_(self) -> Any:
        return self._as_shown()._repr_html_

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self._as_shown()._repr_mimebundle_(**options)

    def _as_shown(self) -> Any:
        """The same attributes under scikit-learn's base class, which knows how to show them."""
        from sklearn.base import BaseEstimator

        cls = type(self)
        ours = {"__doc__": cls.__doc__, "get_params": cls.get_params}
        shown: Any = object.__new__(type(cls.__name__, (BaseEstimator, cls), ours))
        shown.__dict__ = self.__dict__
        return shown


def _parameters(cls: type[Estimator]) -> list[str]:
    """Names of the parameters of a class, sorted, as scikit-learn has them."""
    return sorted(_named(cls.__init__))


def _metadata(cls: type[Estimator], method: str) -> list[str]:
    """Names of what a method takes besides the data."""
    return [name for name in _named(getattr(cls, method)) if name not in DATA]


def _named(function: Callable[..., Any]) -> list[str]:
    """Names of the arguments after ``self``, without those that are there for any."""
    _, *arguments = signature(function).parameters.values()
    any_name = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return [argument.name for argument in arguments if argument.kind not in any_name]
