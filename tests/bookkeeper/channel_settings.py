"""What a broker's settings say about channels: the shipped keys and those of PIP-434 (semantics 3.1)."""

from dataclasses import dataclass

HIGH = "pulsarChannelWriteBufferHighWaterMark"
LOW = "pulsarChannelWriteBufferLowWaterMark"
PAUSE = "pulsarChannelPauseReceivingRequestsIfUnwritable"
COOLDOWN_MS = "pulsarChannelPauseReceivingCooldownMs"
PERMITS = "pulsarChannelPauseReceivingCooldownRateLimitPermits"
PERIOD_MS = "pulsarChannelPauseReceivingCooldownRateLimitPeriodMs"
#: Named by the PIP, never shipped: a rate per second, for some seconds.
PIP_SECONDS = "pulsarChannelRateLimitingSecondsAfterResumeFromUnreadable"
PIP_RATE = "pulsarChannelRateLimitingRateAfterResumeFromUnreadable"
SHIPPED_ONLY = (COOLDOWN_MS, PERMITS, PERIOD_MS)
PIP_ONLY = (PIP_SECONDS, PIP_RATE)
#: Netty's own low mark: the high one is set first, against it.
NETTY_LOW = 32_768


@dataclass(frozen=True)
class ChannelSettings:
    """Marks in bytes. Without a `broker_start` (`known` is false) all are the shipped defaults."""

    vocabulary: str = "default"
    known: bool = False
    high: int = 65_536
    low: int = 32_768
    pause: bool = False
    cooldown_ms: int = 5_000
    permits: int = 5
    period_ms: int = 10

    @property
    def water_marks_usable(self) -> bool:
        """Whether a broker with these marks can open a channel at all (C2)."""
        return self.high >= max(NETTY_LOW, self.low) and self.low >= 0


def channel_settings(settings: dict[str, str]) -> ChannelSettings:
    """Of a `broker_start`. A number that is none counts as absent."""

    def number(key: str, default: int) -> int:
        try:
            return int(settings[key])
        except (KeyError, ValueError):
            return default

    if any(key in settings for key in SHIPPED_ONLY):
        vocabulary = "shipped"
    else:
        vocabulary = "pip" if any(key in settings for key in PIP_ONLY) else "default"
    cooldown_ms, permits, period_ms = number(COOLDOWN_MS, 5_000), number(PERMITS, 5), number(PERIOD_MS, 10)
    if vocabulary == "pip":
        cooldown_ms, permits, period_ms = number(PIP_SECONDS, 5) * 1_000, number(PIP_RATE, 1_000), 1_000
    pause = settings.get(PAUSE, "").lower() == "true"
    return ChannelSettings(vocabulary, True, number(HIGH, 65_536), number(LOW, 32_768), pause, cooldown_ms, permits, period_ms)
