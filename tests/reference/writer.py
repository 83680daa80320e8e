"""A writer that keeps appending one record after the other to a ref, until its stdin is closed.

    writer.py BACKEND REF FIRST

Record i has the anchor FIRST + i and the label "writer". A handle that lost a race is dropped and the
append is done again on a new one. Prints "ready" after the first record and, at the end, the number
of records and of lost races as JSON.
"""
import json
import sys
import threading
import time

import dreamdb

PAUSE_SECONDS = 0.05


def main(backend, ref, first):
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    records, races = 0, 0
    dataset = dreamdb.Dataset.open(ref, backend=backend)
    while not stop.is_set():
        try:
            dataset.append_many([{"label": "writer", "_anchor": int(first) + records}])
        except RuntimeError as error:
            if "publish conflict" not in str(error):
                raise
            races += 1
            dataset = dreamdb.Dataset.open(ref, backend=backend)
            continue
        records += 1
        if records == 1:
            print("ready", flush=True)
        time.sleep(PAUSE_SECONDS)
    print(json.dumps({"records": records, "races": races}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
