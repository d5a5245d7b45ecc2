"""Work for tests of clusters, where workers can find it."""

import time


def square(n):
    time.sleep(0.5)
    return n * n
