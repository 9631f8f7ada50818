"""What GPUs tell besides energy and power, from amdsmi and NVML, and which of them a plan's engines use."""
