"""Engine /metrics, host and client health, sampled on the run's clock."""
