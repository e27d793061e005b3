"""Figures of the live path for other systems: Prometheus, OTLP, Grafana."""
