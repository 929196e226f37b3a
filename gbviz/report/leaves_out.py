"""What the model does not say, in the words that every result carries."""

from __future__ import annotations

LEAVES_OUT = (
    "latency: rates and times are of long transfers; a hop's delay is not counted",
    "congestion control and packets: rates are max-min fair, phases as long as their worst link",
    "what packets do while routes change: rates go from one steady state to the next",
    "protocol overhead on fabric figures: they are line rates, with no efficiency factor",
    "jobs: stages of unequal work, stragglers, stalls shorter than a step; what of communication is"
    " hidden is a share, not a schedule",
    "absolute step times of mixture-of-experts models are the least certain: published ones were"
    " missed by up to 60 % (python -m tests.validation): compare before and after",
    "traffic: flows need no GPU's clock, so they go on while GPUs that are too hot stand still; a"
    " GPU without its NIC may send faster over those around it than it did over its own",
    "a failed CPU alone takes nothing down, though its two GPUs would stop in practice",
    "cooling on the way, in answers for one moment: racks are shown as they settle; timelines"
    " follow water and dies as they warm, with flows and fans that change at once",
)
