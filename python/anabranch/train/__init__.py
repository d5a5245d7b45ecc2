"""Training: from shards to a network file. The only part of the package that imports PyTorch."""
