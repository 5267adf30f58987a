"""Peterson's algorithm: two processes, no lock, one in the critical section, none forever out."""

from collections.abc import Callable

from structsync.checking import Spec, action, invariant, leads_to, start

BOTH = (0, 1)


def at(place: str) -> Callable[["Peterson"], list[int]]:
    return lambda spec: [me for me in BOTH if spec.place[me] == place]


def moved(places: tuple[str, str], me: int, place: str) -> tuple[str, str]:
    return (place, places[1]) if me == 0 else (places[0], place)


class Peterson(Spec):
    """Each process: idle, wants, waits, inside."""

    place: tuple[str, str] = start(lambda: ("idle", "idle"))
    turn: int = start(int)

    @action(me=at("idle"))
    def want(self, me: int) -> None:
        self.place = moved(self.place, me, "wants")

    @action(me=at("wants"), fair=True)
    def yield_turn(self, me: int) -> None:
        self.turn = 1 - me
        self.place = moved(self.place, me, "waits")

    @action(
        me=at("waits"),
        when=lambda spec, me: spec.place[1 - me] == "idle" or spec.turn == me,
        fair=True,
    )
    def enter(self, me: int) -> None:
        self.place = moved(self.place, me, "inside")

    @action(me=at("inside"), fair=True)
    def leave(self, me: int) -> None:
        self.place = moved(self.place, me, "idle")

    @invariant
    def one_at_a_time(self) -> bool:
        return self.place != ("inside", "inside")

    @leads_to(me=BOTH)
    def who_wants_gets_in(self, me: int) -> tuple[bool, bool]:
        return self.place[me] == "wants", self.place[me] == "inside"
