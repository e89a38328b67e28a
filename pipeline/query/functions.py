"""Spark's functions in the room: those that DuckDB has under another name, in another way, or not at all.

Each macro gives what Spark gives, with ANSI mode and times in UTC. DuckDB knows it as `spark_` and Spark's name.
"""

PREFIX = "spark_"
#: Spark's name → parameters and body, one for each number of arguments. Sources: the pages of Spark SQL's functions.
MACROS: dict[str, tuple[str, ...]] = {
    # ---- days and times: a text is taken for a day or time ------------------------------------------------------------------------
    "add_months": ("(d, n) AS CAST(CAST(d AS DATE) + to_months(CAST(n AS INTEGER)) AS DATE)",),
    "convert_timezone": (
        "(target, t) AS timezone(target, CAST(t AS TIMESTAMPTZ))",
        "(source, target, t) AS timezone(target, timezone(source, CAST(t AS TIMESTAMP)))",
    ),
    "current_timezone": ("() AS 'UTC'",),
    "date_add": ("(d, n) AS CAST(d AS DATE) + CAST(n AS INTEGER)",),
    "date_from_unix_date": ("(n) AS DATE '1970-01-01' + CAST(n AS INTEGER)",),
    "date_sub": ("(d, n) AS CAST(d AS DATE) - CAST(n AS INTEGER)",),
    # Patterns are DuckDB's by then (patterns.py).
    "date_format": ("(t, pattern) AS strftime(CAST(t AS TIMESTAMPTZ), pattern)",),
    "date_trunc": ("(unit, t) AS date_trunc(unit, CAST(t AS TIMESTAMPTZ))",),
    "dayname": ("(d) AS strftime(CAST(d AS DATE), '%a')",),
    # Sunday is 1.
    "dayofweek": ("(d) AS dayofweek(CAST(d AS DATE)) + 1",),
    "from_unixtime": (
        "(s) AS strftime(make_timestamptz(CAST(s AS BIGINT) * 1000000), '%Y-%m-%d %H:%M:%S')",
        "(s, pattern) AS strftime(make_timestamptz(CAST(s AS BIGINT) * 1000000), pattern)",
    ),
    "from_utc_timestamp": ("(t, zone) AS CAST(timezone(zone, CAST(t AS TIMESTAMPTZ)) AS TIMESTAMPTZ)",),
    "hour": ("(t) AS hour(CAST(t AS TIMESTAMPTZ))",),
    "last_day": ("(d) AS last_day(CAST(d AS DATE))",),
    "minute": ("(t) AS minute(CAST(t AS TIMESTAMPTZ))",),
    "monthname": ("(d) AS strftime(CAST(d AS DATE), '%b')",),
    "quarter": ("(d) AS quarter(CAST(d AS DATE))",),
    "second": ("(t) AS second(CAST(t AS TIMESTAMPTZ))",),
    "timestamp_micros": ("(us) AS make_timestamptz(us)",),
    "timestamp_millis": ("(ms) AS make_timestamptz(ms * 1000)",),
    "timestamp_seconds": ("(s) AS make_timestamptz(CAST(CAST(s AS DECIMAL(30, 6)) * 1000000 AS BIGINT))",),
    "to_date": ("(t) AS CAST(t AS DATE)", "(text, pattern) AS CAST(strptime(text, pattern) AS DATE)"),
    "to_timestamp": ("(t) AS CAST(t AS TIMESTAMPTZ)", "(text, pattern) AS CAST(strptime(text, pattern) AS TIMESTAMPTZ)"),
    "to_timestamp_ltz": ("(t) AS CAST(t AS TIMESTAMPTZ)", "(text, pattern) AS CAST(strptime(text, pattern) AS TIMESTAMPTZ)"),
    "to_timestamp_ntz": ("(t) AS CAST(t AS TIMESTAMP)", "(text, pattern) AS strptime(text, pattern)"),
    "to_unix_timestamp": (
        "(t) AS epoch_us(CAST(t AS TIMESTAMPTZ)) // 1000000",
        "(text, pattern) AS epoch_us(CAST(strptime(text, pattern) AS TIMESTAMPTZ)) // 1000000",
    ),
    "to_utc_timestamp": ("(t, zone) AS timezone(zone, CAST(t AS TIMESTAMP))",),
    "trunc": ("(d, unit) AS CAST(date_trunc(unit, CAST(d AS DATE)) AS DATE)",),
    "try_to_date": ("(t) AS TRY_CAST(t AS DATE)", "(text, pattern) AS CAST(try_strptime(text, pattern) AS DATE)"),
    "try_to_timestamp": ("(t) AS TRY_CAST(t AS TIMESTAMPTZ)", "(text, pattern) AS CAST(try_strptime(text, pattern) AS TIMESTAMPTZ)"),
    "unix_timestamp": (
        "() AS epoch_us(now()) // 1000000",
        "(t) AS epoch_us(CAST(t AS TIMESTAMPTZ)) // 1000000",
        "(text, pattern) AS epoch_us(CAST(strptime(text, pattern) AS TIMESTAMPTZ)) // 1000000",
    ),
    # Monday is 0.
    "weekday": ("(d) AS isodow(CAST(d AS DATE)) - 1",),
    "weekofyear": ("(d) AS weekofyear(CAST(d AS DATE))",),
    # ---- texts --------------------------------------------------------------------------------------------------------------------
    "isnotnull": ("(x) AS x IS NOT NULL",),
    "isnull": ("(x) AS x IS NULL",),
    "format_number": ("(x, places) AS format('{:,.' || places || 'f}', round_even(CAST(x AS DOUBLE), places))",),
    "regexp": ("(text, pattern) AS regexp_matches(text, pattern)",),
    "btrim": ("(text) AS trim(text, ' ')", "(text, marks) AS trim(text, marks)"),
    "octet_length": ("(text) AS strlen(text)",),
    # A time has no zone in Spark's text.
    "text": ("(x) AS CASE WHEN typeof(x) = 'TIMESTAMP WITH TIME ZONE' THEN left(CAST(x AS VARCHAR), -3) ELSE CAST(x AS VARCHAR) END",),
    "replace": ("(text, mark) AS replace(text, mark, '')", "(text, mark, other) AS replace(text, mark, other)"),
    "split": ("(text, pattern) AS regexp_split_to_array(text, pattern)",),
    "split_most": (
        "(text, mark, n) AS CASE WHEN len(string_split(text, mark)) <= n THEN string_split(text, mark)"
        " ELSE list_append(string_split(text, mark)[:n - 1], array_to_string(string_split(text, mark)[n:], mark)) END",
    ),
    "regexp_substr": ("(text, pattern) AS nullif(regexp_extract(text, pattern), '')",),
    "substring_index": (
        "(text, mark, n) AS array_to_string(CASE WHEN n > 0 THEN string_split(text, mark)[:n]"
        " WHEN n < 0 THEN string_split(text, mark)[n:] ELSE [] END, mark)",
    ),
    # ---- lists and maps -----------------------------------------------------------------------------------------------------------
    "array_distinct": ("(l) AS list_filter(l, lambda x, i: list_position(l, x) = i)",),
    "array_position": ("(l, v) AS CASE WHEN l IS NOT NULL AND v IS NOT NULL THEN coalesce(list_position(l, v), 0) END",),
    "array_remove": ("(l, v) AS CASE WHEN v IS NOT NULL THEN list_filter(l, lambda x: x IS DISTINCT FROM v) END",),
    "array_union": ("(a, b) AS spark_array_distinct(list_concat(a, b))",),
    "array_repeat": ("(v, n) AS list_transform(range(n), lambda i: v)",),
    "arrays_overlap": (
        "(a, b) AS CASE WHEN list_has_any(list_filter(a, lambda x: x IS NOT NULL), b) THEN true"
        " WHEN len(a) > 0 AND len(b) > 0 AND (len(a) > list_count(a) OR len(b) > list_count(b)) THEN NULL"
        " WHEN a IS NOT NULL AND b IS NOT NULL THEN false END",
    ),
    "get": ("(l, i) AS CASE WHEN i >= 0 THEN l[i + 1] END",),
    "map_contains_key": ("(m, k) AS list_contains(map_keys(m), k)",),
    "sequence": (
        "(a, b) AS list_transform(generate_series(a, b, CASE WHEN a <= b THEN 1 ELSE -1 END), lambda x: cast_to_type(x, a))",
        "(a, b, s) AS list_transform(generate_series(a, b, s), lambda x: cast_to_type(x, a))",
    ),
    # ---- JSON: null where the text is none ------------------------------------------------------------------------------------------
    "get_json_object": ("(text, path) AS CASE WHEN json_valid(text) THEN json_extract_string(text, path) END",),
    "json_array_length": ("(text) AS CASE WHEN json_valid(text) AND json_type(text) = 'ARRAY' THEN json_array_length(text) END",),
    # ---- numbers ------------------------------------------------------------------------------------------------------------------
    "uuid": ("() AS CAST(uuid() AS VARCHAR)",),
    # Casts. A time is its seconds since 1970. Toward zero, with all digits of a 64-bit number.
    "fraction": (
        "(x) AS CASE WHEN typeof(x) = 'TIMESTAMP WITH TIME ZONE' THEN epoch_us(TRY_CAST(CAST(x AS VARCHAR) AS TIMESTAMPTZ)) / 1000000"
        " ELSE TRY_CAST(x AS DOUBLE) END",
    ),
    "whole": (
        "(x) AS CASE WHEN typeof(x) = 'TIMESTAMP WITH TIME ZONE'"
        " THEN CAST(epoch_us(TRY_CAST(CAST(x AS VARCHAR) AS TIMESTAMPTZ)) // 1000000 AS HUGEINT)"
        " WHEN typeof(x) IN ('DOUBLE', 'FLOAT') THEN TRY_CAST(trunc(TRY_CAST(x AS DOUBLE)) AS HUGEINT)"
        " ELSE CAST(trunc(TRY_CAST(x AS DECIMAL(38, 18))) AS HUGEINT) END",
    ),
    "bit_get": ("(n, place) AS (n >> place) & 1",),
    "bround": ("(x) AS round_even(x, 0)",),
    "csc": ("(x) AS 1 / sin(x)",),
    "e": ("() AS exp(1::DOUBLE)",),
    "getbit": ("(n, place) AS (n >> place) & 1",),
    "hypot": ("(a, b) AS sqrt(a * a + b * b)",),
    "nanvl": ("(a, b) AS CASE WHEN isnan(CAST(a AS DOUBLE)) THEN b ELSE a END",),
    "negative": ("(x) AS -x",),
    "nullifzero": ("(x) AS nullif(x, 0)",),
    "pmod": ("(a, b) AS ((a % b) + b) % b",),
    "positive": ("(x) AS x",),
    "rint": ("(x) AS round_even(x, 0)",),
    "sec": ("(x) AS 1 / cos(x)",),
    "try_add": ("(a, b) AS TRY(a + b)",),
    "log1p": ("(x) AS ln(1 + x)",),
    "expm1": ("(x) AS exp(x) - 1",),
    "try_mod": ("(a, b) AS TRY(a % b)",),
    "try_subtract": ("(a, b) AS TRY(a - b)",),
    "zeroifnull": ("(x) AS coalesce(x, 0)",),
}
#: Aggregates by DuckDB's names: a macro takes no FILTER and no OVER.
RENAMED = {"any": "bool_or", "every": "bool_and", "some": "bool_or", "std": "stddev_samp", "try_avg": "avg"}
#: Other names of the same.
ALIASES = {"dateadd": "date_add"}
