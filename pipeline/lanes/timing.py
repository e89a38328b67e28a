"""What lanes need of the settings of the project."""

from pipeline.lanes.lane import LaneTiming
from pipeline.settings import Settings


def lane_timing(settings: Settings) -> LaneTiming:
    """The settings of every lane."""
    lanes = settings.lanes
    return LaneTiming(lanes.lateness_ms, lanes.window_ms, lanes.clock_step_ms)
