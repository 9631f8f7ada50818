"""From a profile to a plan to processes to a fleet; weights; the streaming client; the fake engine."""
