"""One merge by the published reference, as a program of its own:  merge.py BACKEND BRANCHES

Merges the branches w0, w1, … into trunk and prints how many seconds merge_many took.
"""
import sys
import time

import dreamdb


def main(backend, branches):
    trunk = dreamdb.Dataset.open("trunk", backend=backend)
    began = time.perf_counter()
    trunk.merge_many([f"w{number}" for number in range(int(branches))])
    print(time.perf_counter() - began)


if __name__ == "__main__":
    main(*sys.argv[1:])
