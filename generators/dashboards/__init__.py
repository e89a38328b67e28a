"""Grafana's dashboards as code: `python -m generators.dashboards` writes dashboards/*.json. A set-up of its own: `set-up dashboards`."""
