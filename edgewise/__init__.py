"""Graph analytics on every core of a CPU and on NVIDIA GPUs."""
