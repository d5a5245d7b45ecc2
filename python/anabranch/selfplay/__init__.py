"""Self-play: games of a network against itself become the data of the next one.

A run is a folder. Its parts, one idea a file: the plan, the schedule, play, targets, records, the window,
symmetries, learning, judging, the loop, its status. Only learning needs PyTorch.
"""
