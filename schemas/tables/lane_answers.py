"""What lanes answered to a backfill that reached now."""

from schemas.field import Field, Table

ANSWERS = ("held", "seeded", "released", "lapsed", "refused")

LANE_ANSWERS = Table(
    "lane_answers",
    "What a lane answered to a backfill that asked it to hold its rows and to go on from a state that was computed anew.",
    grain=("broker", "epoch", "request", "answer"),
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "open epoch that the answer is of; 0: there is none", "ms since 1970"),
        Field("request", "long", "number of the request: when the backfill asked", "µs since 1970"),
        Field("answer", "string", "held: rows wait from next_seq on; seeded: the epoch goes on from the new state; released: it goes on from its own, as the "
              "backfill ordered; lapsed: it goes on from its own, too much waited; refused: the state is not for where the epoch stands, or of "
              "another version",
              check="answer IN (" + ", ".join(f"'{answer}'" for answer in ANSWERS) + ")"),
        Field("next_seq", "long", "seq of the first event that was not applied"),
    ),
)  # fmt: skip
