"""Self-play: games of a network against itself become the data of the next one.

A run is a folder. Its parts, one idea a file: the plan, the schedule, searches, play, targets, records, the
window, symmetries, learning, judging, the folder, the loop, its status. Runs are compared in `compare`, and
`wrong_moves` holds networks of Connect Four against exact results. Only learning needs PyTorch.
"""
