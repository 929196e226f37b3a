"""Which racks are down for lack of cooling or power, from moment to moment of a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.engine.state import consequences_of

if TYPE_CHECKING:
    from gbviz.cooling import Thermal
    from gbviz.engine.heat import Heat
    from gbviz.engine.stage import Stage
    from gbviz.faults import Fault
    from gbviz.topology.fabric import Floats


class Downs:
    """Shuts down the racks that lack cooling or power, and switches on those that do no more.

    Racks come back where a settled state with every job at work keeps them: one that only idleness
    keeps alive stays down. Heat takes its time; a lack of power does not.

    Parameters
    ----------
    stage
        Of the timeline.
    all_at_work
        (G,) how busy GPUs are with every job at work, None for all busy.
    """

    def __init__(self, stage: Stage, all_at_work: Floats | None) -> None:
        self.consequences: tuple[Fault, ...] = ()
        self._stage, self._all_at_work = stage, all_at_work
        self._felt = b""
        # What all that could be was switched on under last, and what was down then, by what.
        self._under: tuple[object, ...] | None = None
        self._found: Thermal | None = None

    def next_moment(self) -> None:
        """Time goes on: what heat shut down may be switched on at the next change."""
        self._felt = b""

    def find(
        self,
        causes: tuple[Fault, ...],
        heat: Heat | None,
        activity: Floats | None,
        *,
        switch_on: bool,
    ) -> None:
        """Find the consequences of some faults, at this moment of heat.

        Parameters
        ----------
        causes, heat, activity
            What holds now; no heat where the fabric does not say how it is cooled.
        switch_on
            False where heat has just shut something down, which stays down at this moment.
        """
        bare = self._stage.health(causes)
        felt = self._stage.felt(bare)
        if switch_on and felt[0] == self._felt:
            return
        self._felt = felt[0]
        found = self._found
        if found is None or not switch_on or self._under != _under(felt, activity, heat):
            found = self._stage.steady(bare, self._all_at_work)
            if heat is not None:
                if switch_on:
                    heat.switch_on(found)
                found = heat.thermal(causes, activity)
            self._found = found
            self._under = _under(felt, activity, heat) if switch_on else None
        self.consequences = consequences_of(self._stage.fabric, causes, found)


def _under(
    felt: tuple[bytes, bytes], activity: Floats | None, heat: Heat | None
) -> tuple[object, ...]:
    """All that decides which racks are down."""
    busy = None if activity is None else activity.tobytes()
    return felt, busy, None if heat is None else heat.state.off
