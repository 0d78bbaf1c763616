from collections.abc import Iterator
REPEATS=5
def figures(folder, *, repeats=REPEATS): yield from ()
