"""Dispatch throttling (PIP-406): what limiters did to each subscription, and what each limiter allowed."""

from schemas.events import LIMITER_KINDS, LIMITER_LEVELS, SUB_TYPES
from schemas.packages.declaration import Declaration
from schemas.packages.throttle.limiter_windows import LIMITER_WINDOWS
from schemas.packages.throttle.subscription_throttle import SUBSCRIPTION_THROTTLE

#: What each limiter answers to a read.
ANSWERS = ("broker_msgs", "broker_bytes", "topic_msgs", "topic_bytes", "sub_msgs", "sub_bytes")
#: Of a limiter that answered 0, what is in its books (0, or its debt, negative) less this: an answer is never below −1.
DEBT_OFFSET = 2
LEAST_DEBT = DEBT_OFFSET - 2**63
_LIFE = ("topic_load", "topic_unload", "dispatcher_open", "dispatcher_close", "dispatch_rate", "read", "dispatch")
#: What waits: whether a limit bound anybody follows from it.
_WAITING = (
    "publish", "ledger_open", "ledger_close", "ledger_trim", "cursor_open", "cursor_close", "mark_delete", "consumer_open", "consumer_close",
)  # fmt: skip

PACKAGE = Declaration(
    "throttle",
    "Which limiter throttles which subscription, and how long?",
    tables=(SUBSCRIPTION_THROTTLE, LIMITER_WINDOWS),
    slots={
        "read": (
            "want_left_msgs",  # want_msgs · 2^32 + (left_msgs + 2), both 32-bit; no left_msgs: + 0
            "want_bytes",
            "left_bytes",
            *(f"{answer}_or_debt" for answer in ANSWERS),
            "asked_ns",
        ),
        "dispatch": ("charged",),
    },
    computed={
        "want_left_msgs": ("want_msgs", "left_msgs"),
        # An answer above 0 is what is in the books: they need a place of their own only where the answer is 0.
        **{f"{answer}_or_debt": (answer, f"{answer}_tokens") for answer in ANSWERS},
    },
    questions={
        "read": {
            "one_permit": ("permits",),  # consumers had no more than one permit
            "tokens_logged": tuple(f"{answer}_tokens" for answer in ANSWERS),
        }
    },
    enumerations={
        "sub_type": SUB_TYPES,
        "source": ("observed", "modelled", "mixed", "none"),
        "level": LIMITER_LEVELS,
        "limiter": LIMITER_KINDS,
        "dimension": ("msg", "bytes"),
    },
    needs={SUBSCRIPTION_THROTTLE.name: (*_LIFE, *_WAITING, "writability"), LIMITER_WINDOWS.name: (*_LIFE, *_WAITING)},
    invariants=("windows_sum_to_counters", "reads_add_up"),
    views=(
        "subscription_totals",
        "subscription_throttle_now",
        "partitioned_subscription_throttle",
        "namespace_throttle",
        "throttled_now",
        "limiter_use",
        "throttle_by_limiter",
        "noisy_neighbours",
    ),
)
