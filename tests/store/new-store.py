"""Makes a store with the ref "trunk", one field "label" and one record:  new-store.py BACKEND"""
import sys

import dreamdb

schema = dreamdb.Schema().add_scalar_categorical("label")
dreamdb.Dataset.create("trunk", schema, backend=sys.argv[1]).append_many([{"label": "first", "_anchor": 1}])
