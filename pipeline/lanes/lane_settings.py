"""What lanes need of the settings of the project."""

from pipeline.lanes.lane import LaneSettings
from pipeline.settings import Settings


def lane_settings(settings: Settings) -> LaneSettings:
    """The settings of every lane."""
    lanes = settings.lanes
    return LaneSettings(lanes.lateness_ms, lanes.window_ms, lanes.clock_step_ms)
