"""What :meth:`Session.connect` returns: an object with the methods of an interface, which are carried out elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NoReturn, final

import msgspec

from structsync.distributed.errors import RemoteError

from .caller import Caller
from .failures import Errors, error_of
from .interface import Method, reason_of
from .messages import Raised, Returned


@final
class RemoteMethod:
    """A method of a proxy."""

    name: str

    def __init__(self, caller: Caller, method: Method, errors: Errors) -> None:
        self.name = f"{caller.name}.{method.name}"
        self._caller = caller
        self._method = method
        self._errors = errors

    def __repr__(self) -> str:
        return f"<remote method {self.name}{self._method.signature}>"

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return await self._call(self._method.encode_arguments(args, kwargs))

    def _prepare(self, args: Any, kwargs: Any) -> Callable[[], Awaitable[Any]]:
        """Return a call with the arguments as they are now.

        Raises:
          TypeError: if the method takes other arguments, or one is no data.
        """
        return partial(self._call, self._method.encode_arguments(args, kwargs))

    async def _call(self, arguments: dict[str, msgspec.Raw]) -> Any:
        answer = await self._caller.call(self._method.name, arguments)
        if isinstance(answer, Raised):
            raise error_of(answer, self._errors)
        assert isinstance(answer, Returned)
        try:
            return self._method.decode_result(answer.value)
        except Exception as error:  # noqa: BLE001 - a class of the user's may refuse it by any
            declared = (
                f"{self.name} has returned something else than it declares: {reason_of(error)}"
            )
            raise RemoteError("result", declared, "") from None


@final
class Proxy:
    """An object in another process; its attributes are the methods."""

    def __init__(
        self, caller: Caller, interface: str, methods: Mapping[str, Method], errors: Errors
    ) -> None:
        self._described = f"<remote {interface} {caller.name!r}>"
        for name, method in methods.items():
            setattr(self, name, RemoteMethod(caller, method, errors))

    def __repr__(self) -> str:
        return self._described

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{self._described} cannot be copied or pickled; connect() to it again")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._described} has no method {name!r}")
