"""What a class declares that can be called from another process: methods, and the types of their data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, get_type_hints

import msgspec
import msgspec.inspect

from structsync import Monitor
from structsync._primitives.entry_methods import EntryMethod

from .messages import UNREADABLE, encode

#: As what data come that are declared as anything.
PLAIN = (type(None), bool, int, float, str, bytes, list, dict)

Decode = Callable[[bytes | msgspec.Raw], Any]


class Method:
    """One method, as both sides see it."""

    name: str
    is_awaited: bool
    signature: inspect.Signature  # without self
    in_order: list[str] | None  # of its parameters; None, if one has to be named
    decoders: dict[str, Decode]  # of its arguments
    decode_result: Decode

    def __init__(self, name: str, function: Callable[..., Any], is_awaited: bool) -> None:
        self.name = name
        self.is_awaited = is_awaited
        signature = inspect.signature(function)
        parameters = [*signature.parameters.values()]
        if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
            raise TypeError(
                f"{name} takes no object to be called on; declare it as {name}(self, ...)"
            )
        del parameters[0]
        self.signature = signature.replace(parameters=parameters)
        in_order = [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY]
        self.in_order = in_order if len(in_order) == len(parameters) else None
        for one in parameters:
            if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
                raise TypeError(
                    f"{name} takes {one}, and a method for other processes names each of its parameters"
                )
        try:
            hints = get_type_hints(function, include_extras=True)
            self.decoders = {one.name: decoder_of(hints.get(one.name, Any)) for one in parameters}
            self.decode_result = decoder_of(hints.get("return", Any))
        except (TypeError, NameError) as error:
            raise TypeError(
                f"{name} has a parameter or result that is no data of a known type: {error}"
            ) from error

    def encode_arguments(self, args: Any, kwargs: Any) -> dict[str, msgspec.Raw]:
        """Return what is sent.

        Raises:
          TypeError: if the method takes other arguments, or one is no data.
        """
        if kwargs or self.in_order is None or len(args) != len(self.in_order):
            given = self.signature.bind(*args, **kwargs).arguments
        else:  # which is most of them, and need not be looked for
            given = dict(zip(self.in_order, args, strict=True))
        return {
            name: encode_value(value, f"the argument {name!r} of {self.name}")
            for name, value in given.items()
        }

    def bind(self, arguments: Mapping[str, msgspec.Raw]) -> inspect.BoundArguments:
        """Return what to call the method with.

        Raises:
          TypeError: if it takes other arguments, or others of these names.
        """
        values = {}
        for name, parameter in self.signature.parameters.items():
            if name in arguments:
                try:
                    values[name] = self.decoders[name](arguments[name])
                except Exception as error:  # noqa: BLE001 - a class of the user's may refuse it by any
                    raise TypeError(
                        f"the argument {name!r} of {self.name}: {reason_of(error)}"
                    ) from None
            elif parameter.default is parameter.empty:
                raise TypeError(f"{self.name} needs an argument {name!r}")
        if unknown := sorted(arguments.keys() - values.keys()):
            raise TypeError(f"{self.name} takes no argument {unknown[0]!r}")
        return inspect.BoundArguments(self.signature, values)


def reason_of(error: Exception) -> str:
    """Return why data could not be read: in msgspec's words, or by what a class of the user's has raised."""
    return str(error) if isinstance(error, UNREADABLE) else repr(error)


def decoder_of(kind: Any) -> Decode:
    """Return what makes data of a type of bytes.

    Raises:
      TypeError: if no data are of that type, or of one that is in it.
    """
    whole = msgspec.inspect.type_info(kind)
    parts, seen = [whole], {id(whole)}  # a type may have itself in it
    while parts:
        part: Any = parts.pop()
        # What msgspec does not know it takes as it comes, if that is an instance.
        is_unknown = isinstance(part, msgspec.inspect.CustomType)
        if is_unknown and not any(issubclass(one, part.cls) for one in PLAIN):
            raise TypeError(
                f"there are no data of the type {part.cls!r}; make it a dataclass, or send what it is made of"
            )
        fresh = [one for one in _parts_of(part) if id(one) not in seen]
        seen.update(map(id, fresh))
        parts += fresh
    return msgspec.msgpack.Decoder(kind).decode


def _parts_of(part: Any) -> Iterable[Any]:
    if isinstance(part, tuple):
        return part
    if isinstance(part, msgspec.inspect.Type | msgspec.inspect.Field):
        return [getattr(part, name) for name in part.__struct_fields__]
    return ()


def encode_value(value: object, what: str) -> msgspec.Raw:
    """Return the bytes of a value.

    Raises:
      TypeError: if it is no data.
    """
    try:
        return msgspec.Raw(encode(value))
    except Exception as error:
        raise TypeError(f"{what} is no data that can be sent: {error}") from error


def methods_of(interface: object) -> dict[str, Method]:
    """Return the public methods that a class declares, and its bases other than those of structsync.

    Of a monitor these are its entries: other methods, such as guards, are not for those outside.

    Raises:
      TypeError: if it is no class, declares none, or one that cannot be called from another process.
    """
    if not isinstance(interface, type):
        raise TypeError(f"an interface must be a class, not {interface!r}")
    found: dict[str, Any] = {}
    for base in reversed(interface.__mro__):
        if base not in (object, Protocol) and base.__module__.partition(".")[0] != "structsync":
            found |= {name: one for name, one in vars(base).items() if not name.startswith("_")}
    methods = {}
    is_monitor = issubclass(interface, Monitor)
    for name, one in found.items():
        function = one.__wrapped__ if isinstance(one, EntryMethod) else one
        if not inspect.isfunction(function) or (is_monitor and function is one):
            continue
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{name} is a generator, and a call has one result; give an interface without it"
            )
        is_awaited = function is not one or inspect.iscoroutinefunction(function)
        methods[name] = Method(name, function, is_awaited)
    if not methods:
        raise TypeError(f"{interface.__qualname__} declares no public method that could be called")
    return methods
