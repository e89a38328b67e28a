"""The environment in .venv, which spark-submit.sh asks for: packages, jars, compiled rules. Only the standard library: it comes first."""
