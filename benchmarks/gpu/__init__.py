"""Speed and memory of training and decoding on one GPU: `python -m benchmarks.gpu`."""
