"""Topic names as Pulsar 4.x reads them: the view `topics` on names that brokers have, and on names that nobody should have."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from lane_views import spark_rows
from pyspark.sql import SparkSession

from pipeline.query.views.catalog import sql_of
from schemas.render.spark import struct
from schemas.tables import TABLES_BY_NAME

pytestmark = pytest.mark.spark

#: topic → domain, tenant, namespace, local name, partitioned topic (None: the topic itself), partition
READ: dict[str, tuple[str | None, str | None, str | None, str | None, str | None, int]] = {
    "persistent://shop/eu/orders": ("persistent", "shop", "shop/eu", "orders", None, -1),
    "persistent://shop/eu/orders-partition-0": ("persistent", "shop", "shop/eu", "orders-partition-0", "persistent://shop/eu/orders", 0),
    "persistent://shop/eu/orders-partition-12": ("persistent", "shop", "shop/eu", "orders-partition-12", "persistent://shop/eu/orders", 12),
    "non-persistent://shop/eu/o-partition-3": ("non-persistent", "shop", "shop/eu", "o-partition-3", "non-persistent://shop/eu/o", 3),
    # -partition- that is no partition
    "persistent://t/n/a-partition-01": ("persistent", "t", "t/n", "a-partition-01", None, -1),
    "persistent://t/n/a-partition-00": ("persistent", "t", "t/n", "a-partition-00", None, -1),
    "persistent://t/n/a-partition-x": ("persistent", "t", "t/n", "a-partition-x", None, -1),
    "persistent://t/n/a-partition-": ("persistent", "t", "t/n", "a-partition-", None, -1),
    "persistent://t/n/a-partition--1": ("persistent", "t", "t/n", "a-partition--1", None, -1),
    "persistent://t/n/a-partition-+1": ("persistent", "t", "t/n", "a-partition-+1", None, -1),
    "persistent://t/n/a-partition-1\n": ("persistent", "t", "t/n", "a-partition-1\n", None, -1),
    "persistent://t/n/a-partition-1 ": ("persistent", "t", "t/n", "a-partition-1 ", None, -1),
    "persistent://t/n/a-partition-2147483648": ("persistent", "t", "t/n", "a-partition-2147483648", None, -1),
    "persistent://t/n/a-partition-99999999999999999999": ("persistent", "t", "t/n", "a-partition-99999999999999999999", None, -1),
    "persistent://t/n/a-partition-1-DLQ": ("persistent", "t", "t/n", "a-partition-1-DLQ", None, -1),
    "persistent://t-partition-1/n/a": ("persistent", "t-partition-1", "t-partition-1/n", "a", None, -1),
    # only the last one counts
    "persistent://t/n/a-partition-2147483647": ("persistent", "t", "t/n", "a-partition-2147483647", "persistent://t/n/a", 2147483647),
    "persistent://t/n/a-partition-1-partition-2": (
        "persistent", "t", "t/n", "a-partition-1-partition-2", "persistent://t/n/a-partition-1", 2,
    ),
    "persistent://t/n/a-partition-x-partition-2": (
        "persistent", "t", "t/n", "a-partition-x-partition-2", "persistent://t/n/a-partition-x", 2,
    ),
    "persistent://t/n/a-partition-partition-2": ("persistent", "t", "t/n", "a-partition-partition-2", "persistent://t/n/a-partition", 2),
    "persistent://t/n/-partition-2": ("persistent", "t", "t/n", "-partition-2", "persistent://t/n/", 2),
    "persistent://t/n/a\nb-partition-2": ("persistent", "t", "t/n", "a\nb-partition-2", "persistent://t/n/a\nb", 2),
    "persistent://t/n/é ü%2F-partition-2": ("persistent", "t", "t/n", "é ü%2F-partition-2", "persistent://t/n/é ü%2F", 2),
    # names of version 1, and slashes
    "persistent://t/west/n/a": ("persistent", "t", "t/west/n", "a", None, -1),
    "persistent://t/west/n/a-partition-4": ("persistent", "t", "t/west/n", "a-partition-4", "persistent://t/west/n/a", 4),
    "persistent://t/west/n/a/b//c": ("persistent", "t", "t/west/n", "a/b//c", None, -1),
    "persistent://t/n/a-partition-1/b": ("persistent", "t", "t/n/a-partition-1", "b", None, -1),
    "persistent://t/n/a:/b-partition-1": ("persistent", "t", "t/n/a:", "b-partition-1", "persistent://t/n/a:/b", 1),
    "PERSISTENT://t/n/a-partition-1": ("persistent", "t", "t/n", "a-partition-1", "persistent://t/n/a", 1),
    # refused by every broker
    **dict.fromkeys(
        (
            "", "orders", "orders-partition-1", "t/n/a", "persistent://", "persistent://t", "persistent://t/n", "persistent://t/n/",
            "persistent://t/n/a/", "persistent:///n/a-partition-1", "persistent://t//a-partition-1", "persistent://t/n ns/a",
            "persistent://t\n/n/a", "kafka://t/n/a-partition-1", "://t/n/a", "persistent:/t/n/a", "t/persistent://t/n/a",
            "persistent://t/n/a b/c-partition-1",
        ),
        (None, None, None, None, None, -1),
    ),
}  # fmt: skip


def topics(spark: SparkSession, names: list[str]) -> dict[str, tuple[Any, ...]]:
    """The view's row of each name."""
    session = spark.newSession()
    rows = spark_rows("names", [{"id": place, "level": "topic", "topic": name} for place, name in enumerate(names)])
    session.createDataFrame(rows, struct(TABLES_BY_NAME["names"].fields)).createOrReplaceTempView("names")
    found = session.sql(sql_of("topics")).collect()
    return {row.topic: (row.domain, row.tenant, row.namespace, row.local_name, row.partitioned_topic, row.partition) for row in found}


def test_every_name_is_read_as_a_broker_reads_it(spark: SparkSession) -> None:
    expected = {topic: (*parts[:4], parts[4] or topic, parts[5]) for topic, parts in READ.items()}
    assert topics(spark, list(READ)) == expected


def read_in_python(topic: str) -> tuple[Any, ...]:
    """The same rules once more, character by character."""
    nobody = (None, None, None, None, topic, -1)
    domain, separator, rest = topic.partition("://")
    parts = rest.split("/", 3)
    if not separator or domain.lower() not in ("persistent", "non-persistent") or len(parts) < 3 or not parts[-1]:
        return nobody
    allowed = set("-=:._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    if any(not part or set(part) - allowed for part in parts[:-1]):
        return nobody
    whole = f"{domain.lower()}://{rest}"
    before, found, number = whole.rpartition("-partition-")
    is_partition = bool(found) and number.isascii() and number.isdigit() and str(int(number)) == number and int(number) < 2**31
    return (
        domain.lower(), parts[0], "/".join(parts[:-1]), parts[-1], before if is_partition else topic, int(number) if is_partition else -1,
    )  # fmt: skip


def hostile_names() -> Iterator[str]:
    pieces = ("a", "-partition-", "1", "01", "/", "://", "\n", "")
    for domain in ("persistent://t/n/", "non-persistent://t/", ""):
        for chosen in product(pieces, repeat=3):
            yield domain + "".join(chosen)


def test_names_made_of_all_that_confuses_are_read_by_the_same_rules(spark: SparkSession) -> None:
    names = sorted(set(hostile_names()))
    assert len(names) > 900
    found = topics(spark, names)
    assert {name: parts for name, parts in found.items() if parts != read_in_python(name)} == {}
    assert len(found) == len(names)
