"""The scenario that the first start shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.assets import asset_path
from gbviz.scenario.file import read

if TYPE_CHECKING:
    from gbviz.scenario.scenario import Scenario


def demo() -> Scenario:
    """An Azure-sized cluster at work, with nothing broken yet.

    Examples
    --------
    >>> [job.name for job in demo().jobs]
    ['llama-405b', 'shuffle', 'deepseek-v3', 'all-to-all', 'chat']
    """
    return read(asset_path("demo.yaml"))
