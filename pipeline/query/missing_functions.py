"""Functions of Spark 4.2 that the room does not have, or would answer otherwise, and those that it has.

tests/query/test_functions.py holds each of them against Spark.
"""

from collections.abc import Iterator

from sqlglot.dialects.spark import Spark
from sqlglot.tokens import TokenType

from pipeline.faults import BadConfig

ONLY_SPARK = {
    "aes_decrypt", "aes_encrypt", "approx_top_k", "approx_top_k_accumulate", "approx_top_k_combine", "approx_top_k_estimate",
    "arrays_zip", "bitmap_and_agg", "bitmap_bit_position", "bitmap_bucket_number", "bitmap_construct_agg", "bitmap_count",
    "bitmap_or_agg", "collate", "collation", "collations", "conv", "count_min_sketch", "crc32", "current_catalog",
    "current_database", "current_path", "current_schema", "current_time", "current_user", "elt", "explode_outer", "find_in_set",
    "from_avro", "from_csv", "from_json", "from_protobuf", "from_xml", "hash", "histogram_numeric", "hll_sketch_agg",
    "hll_sketch_estimate", "hll_union", "hll_union_agg", "inline_outer", "input_file_block_length", "input_file_block_start",
    "input_file_name", "is_valid_utf8", "is_valid_variant", "is_variant_null", "java_method", "json_tuple", "kll_merge_agg_bigint",
    "kll_merge_agg_double", "kll_merge_agg_float", "kll_sketch_agg_bigint", "kll_sketch_agg_double", "kll_sketch_agg_float",
    "kll_sketch_get_n_bigint", "kll_sketch_get_n_double", "kll_sketch_get_n_float", "kll_sketch_get_quantile_bigint",
    "kll_sketch_get_quantile_double", "kll_sketch_get_quantile_float", "kll_sketch_get_rank_bigint", "kll_sketch_get_rank_double",
    "kll_sketch_get_rank_float", "kll_sketch_merge_bigint", "kll_sketch_merge_double", "kll_sketch_merge_float",
    "kll_sketch_to_string_bigint", "kll_sketch_to_string_double", "kll_sketch_to_string_float", "luhn_check", "make_dt_interval",
    "make_interval", "make_time", "make_timestamp_ltz", "make_timestamp_ntz", "make_valid_utf8", "make_ym_interval", "map_filter",
    "map_zip_with", "mask", "measure", "monotonically_increasing_id", "months_between", "next_day", "parse_json", "parse_url",
    "posexplode_outer", "python_worker_logs", "quote", "raise_error", "randn", "randstr", "reflect", "schema_of_avro",
    "schema_of_csv", "schema_of_json", "schema_of_variant", "schema_of_variant_agg", "schema_of_xml", "sentences", "session_user",
    "session_window", "shiftrightunsigned", "shuffle", "skewness", "soundex", "spark_partition_id", "sql_keywords", "st_asbinary",
    "st_geogfromwkb", "st_geomfromwkb", "st_setsrid", "st_srid", "str_to_map", "theta_difference", "theta_intersection",
    "theta_intersection_agg", "theta_sketch_agg", "theta_sketch_estimate", "theta_union", "theta_union_agg", "time", "time_bucket",
    "time_diff", "time_from_micros", "time_from_millis", "time_from_seconds", "time_to_micros", "time_to_millis", "time_to_seconds",
    "time_trunc", "to_avro", "to_char", "to_csv", "to_json", "to_number", "to_protobuf", "to_time", "to_varchar",
    "to_variant_object", "to_xml", "transform_keys", "transform_values", "try_aes_decrypt", "try_make_interval",
    "try_make_timestamp", "try_make_timestamp_ltz", "try_make_timestamp_ntz", "try_parse_json", "try_parse_url", "try_reflect",
    "try_sum", "try_to_binary", "try_to_number", "try_to_time", "try_url_decode", "try_validate_utf8", "try_variant_get",
    "tuple_difference_double", "tuple_difference_integer", "tuple_difference_theta_double", "tuple_difference_theta_integer",
    "tuple_intersection_agg_double", "tuple_intersection_agg_integer", "tuple_intersection_double", "tuple_intersection_integer",
    "tuple_intersection_theta_double", "tuple_intersection_theta_integer", "tuple_sketch_agg_double", "tuple_sketch_agg_integer",
    "tuple_sketch_estimate_double", "tuple_sketch_estimate_integer", "tuple_sketch_summary_double", "tuple_sketch_summary_integer",
    "tuple_sketch_theta_double", "tuple_sketch_theta_integer", "tuple_union_agg_double", "tuple_union_agg_integer",
    "tuple_union_double", "tuple_union_integer", "tuple_union_theta_double", "tuple_union_theta_integer", "typeof", "url_decode",
    "url_encode", "user", "validate_utf8", "variant_explode", "variant_explode_outer", "variant_get", "vector_avg",
    "vector_cosine_similarity", "vector_inner_product", "vector_l2_distance", "vector_norm", "vector_normalize", "vector_sum",
    "version", "width_bucket", "window", "window_time", "xpath", "xpath_boolean", "xpath_double", "xpath_float", "xpath_int",
    "xpath_long", "xpath_number", "xpath_short", "xpath_string", "xxhash64", "zip_with",
}  # fmt: skip
#: What the room gives is what Spark gives.
ANSWERED = {
    "abs", "acos", "acosh", "add_months", "aggregate", "and", "any", "any_value", "approx_count_distinct", "approx_percentile",
    "array", "array_agg", "array_append", "array_compact", "array_contains", "array_distinct", "array_except", "array_insert",
    "array_intersect", "array_join", "array_max", "array_min", "array_position", "array_prepend", "array_remove", "array_repeat",
    "array_size", "array_sort", "array_union", "arrays_overlap", "ascii", "asin", "asinh", "assert_true", "atan", "atan2", "atanh",
    "avg", "base64", "between", "bigint", "bin", "binary", "bit_and", "bit_count", "bit_get", "bit_length", "bit_or", "bit_xor",
    "bool_and", "bool_or", "boolean", "bround", "btrim", "cardinality", "case", "cast", "cbrt", "ceil", "ceiling", "char",
    "char_length", "character_length", "chr", "coalesce", "collect_list", "collect_set", "concat", "concat_ws", "contains",
    "convert_timezone", "corr", "cos", "cosh", "cot", "count", "count_if", "covar_pop", "covar_samp", "csc", "cume_dist", "curdate",
    "current_date", "current_timestamp", "current_timezone", "date", "date_add", "date_diff", "date_format", "date_from_unix_date",
    "date_part", "date_sub", "date_trunc", "dateadd", "datediff", "datepart", "day", "dayname", "dayofmonth", "dayofweek",
    "dayofyear", "decimal", "decode", "degrees", "dense_rank", "div", "double", "e", "element_at", "encode", "endswith",
    "equal_null", "every", "exists", "exp", "explode", "expm1", "extract", "factorial", "filter", "first", "first_value", "flatten",
    "float", "floor", "forall", "format_number", "format_string", "from_unixtime", "from_utc_timestamp", "get", "get_json_object",
    "getbit", "greatest", "grouping", "grouping_id", "hex", "hour", "hypot", "if", "ifnull", "ilike", "in", "initcap", "inline",
    "instr", "int", "isnan", "isnotnull", "isnull", "json_array_length", "json_object_keys", "kurtosis", "lag", "last", "last_day",
    "last_value", "lcase", "lead", "least", "left", "len", "length", "levenshtein", "like", "listagg", "ln", "localtimestamp",
    "locate", "log", "log10", "log1p", "log2", "lower", "lpad", "ltrim", "make_date", "make_timestamp", "map", "map_concat",
    "map_contains_key", "map_entries", "map_from_arrays", "map_from_entries", "map_keys", "map_values", "max", "max_by", "md5",
    "mean", "median", "min", "min_by", "minute", "mod", "mode", "month", "monthname", "named_struct", "nanvl", "negative", "not",
    "now", "nth_value", "ntile", "nullif", "nullifzero", "nvl", "nvl2", "octet_length", "or", "overlay", "percent_rank",
    "percentile", "percentile_approx", "percentile_cont", "percentile_disc", "pi", "pmod", "posexplode", "position", "positive",
    "pow", "power", "printf", "quarter", "radians", "rand", "random", "range", "rank", "reduce", "regexp", "regexp_count",
    "regexp_extract", "regexp_extract_all", "regexp_instr", "regexp_like", "regexp_replace", "regexp_substr", "regr_avgx",
    "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy", "repeat", "replace",
    "reverse", "right", "rint", "rlike", "round", "row_number", "rpad", "rtrim", "sec", "second", "sequence", "sha", "sha1", "sha2",
    "shiftleft", "shiftright", "sign", "signum", "sin", "sinh", "size", "slice", "smallint", "some", "sort_array", "space", "split",
    "split_part", "sqrt", "stack", "startswith", "std", "stddev", "stddev_pop", "stddev_samp", "string", "string_agg", "struct",
    "substr", "substring", "substring_index", "sum", "tan", "tanh", "timestamp", "timestamp_micros", "timestamp_millis",
    "timestamp_seconds", "tinyint", "to_binary", "to_date", "to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz",
    "to_unix_timestamp", "to_utc_timestamp", "transform", "translate", "trim", "trunc", "try_add", "try_avg", "try_divide",
    "try_element_at", "try_mod", "try_multiply", "try_subtract", "try_to_date", "try_to_timestamp", "ucase", "unbase64", "unhex",
    "uniform", "unix_date", "unix_micros", "unix_millis", "unix_seconds", "unix_timestamp", "upper", "uuid", "var_pop", "var_samp",
    "variance", "weekday", "weekofyear", "when", "year", "zeroifnull",
}  # fmt: skip


#: Where else one can ask.
ASK_SPARK = "Spark has it (docs/guide/cookbook.md)"


def only_spark(words: str) -> BadConfig:
    """What to raise for what the room does not have."""
    return BadConfig(f"SQL: {words} is not answered here; {ASK_SPARK}")


def refuse_only_sparks(sql: str) -> None:
    """Raise BadConfig with its name for a function that only Spark has. Raises sqlglot's TokenError."""
    for name in _called(sql):
        if name in ONLY_SPARK:
            raise only_spark(f"the function {name}")


def _called(sql: str) -> Iterator[str]:
    """Names before a parenthesis; those of WITH and AS are names of relations."""
    tokens = Spark().tokenize(sql)
    for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False):
        if after.token_type == TokenType.L_PAREN and (before is None or before.token_type not in (TokenType.ALIAS, TokenType.WITH)):
            yield token.text.lower()
