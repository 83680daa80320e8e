"""A writer that appends one record for each line of its stdin:  interop-writer.py BACKEND REF FIRST

Record i has the anchor FIRST + i and the label "writer". A handle that lost a race is dropped and the
append is done again on a new one. Prints the number of lost races after each record.
"""
import sys

import dreamdb


def main(backend, ref, first):
    dataset = dreamdb.Dataset.open(ref, backend=backend)
    for record, _line in enumerate(sys.stdin):
        races = 0
        while True:
            try:
                dataset.append_many([{"label": "writer", "_anchor": int(first) + record}])
                break
            except RuntimeError as error:
                if "publish conflict" not in str(error):
                    raise
                races += 1
                dataset = dreamdb.Dataset.open(ref, backend=backend)
        print(races, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
