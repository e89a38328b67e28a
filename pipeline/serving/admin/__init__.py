"""GETs of `/admin/v2` as Pulsar's brokers would answer them, from the tables, also of the past."""
