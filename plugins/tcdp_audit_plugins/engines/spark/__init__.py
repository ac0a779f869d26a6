"""Spark: a DataFrame of the caller's, or `spark:` and a path of Parquet files or a table's name.

lookup       distinct cells, and what encodes cells by them
worker       what runs on the executors
partitions   the plan: one exchange, counted rows, work on each partition
engine       the table as an engine, its columns of single cells grouped
opening      a session, a path (keys of folders are text, no file is left out), a table of the catalogue
faults       what goes wrong, in sentences
"""
