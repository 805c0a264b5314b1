"""bus.volcano.sh/v1alpha1: Command, how Volcano's command line asks for something to be done to a queue or a job.

Source     Volcano: bus API.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.defaulting.structural import by_schema
from kumi.api.meta import Object, OwnerReference
from kumi.api.schema import say
from kumi.api.scheme import AGE, SCHEME, Kind
from kumi.api.validation.metadata import with_metadata

OPEN_QUEUE, CLOSE_QUEUE = "OpenQueue", "CloseQueue"


class Command(Object):
    """Once it is carried out it is deleted."""

    action: Annotated[str, say("what is to be done")] = ""
    target: Annotated[OwnerReference | None, say("to whom")] = field(default=None, name="target")
    reason: str = ""
    message: str = ""


SCHEME.register(
    Kind(
        "bus.volcano.sh",
        "v1alpha1",
        "Command",
        "commands",
        Command,
        columns=(AGE,),
        default=by_schema(Command, "bus.volcano.sh", "v1alpha1"),
        validate=with_metadata(),
        custom=True,
        strategic=False,
    )
)
