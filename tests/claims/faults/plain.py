"""Faults of what is written into a log and read from it, each for one claim."""

from __future__ import annotations

import json
from typing import Any

from structsync._core.shared import plain
from structsync._core.shared.operations import Operation, Verb

from ._planting import fault


@fault(plain, "decode", refuted_by="plain.what_is_encoded_comes_back_as_it_was")
def tags_are_kept(data: bytes) -> Any:
    found = json.loads(data)
    return tuple(found) if isinstance(found, list) else found


@fault(plain, "encode_text", refuted_by="plain.equal_sets_have_equal_bytes")
def sets_are_in_the_order_of_their_members(value: Any) -> str:
    return json.dumps({"set": sorted(value, reverse=True)}, separators=(",", ":"))


@fault(plain, "encode_text", refuted_by="plain.what_is_no_plain_value_is_refused")
def what_json_has_is_plain(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, set) else value)


@fault(plain, "_untagged", refuted_by="plain.what_means_nothing_is_refused")
def a_tag_that_is_unknown_is_a_set(value: Any) -> Any:
    return frozenset(*value.values()) if isinstance(value, dict) else value


@fault(Operation, "encode", refuted_by="plain.an_operation_comes_back_as_it_was")
def details_are_left_out(operation: Operation) -> bytes:
    return plain.encode((operation.verb.value, operation.session, operation.number, ()))


def as_four_parts(cls: type[Operation], data: bytes) -> Operation:
    verb, session, number, details = plain.decode(data)
    return cls(Verb(verb), session, number, details)


whatever_has_four_parts_is_an_operation = fault(
    Operation, "decode", refuted_by="plain.what_is_no_operation_is_refused"
)(classmethod(as_four_parts))


@fault(plain, "encode", refuted_by="plain.what_is_written_is_what_other_versions_read")
def letters_are_written_in_ascii(value: Any) -> bytes:
    return intact_encode(value).decode().encode("ascii", "backslashreplace")


intact_encode = plain.encode
