"""Engines: where the table lives. `opening.open_engine` picks one for whatever the caller has.

source, faults, digest, bits   what every reader shares: names, sentences, SHA-256, marked bytes
shards                         work on shards of a table, wherever they are
sampling                       which records are in a sample, the same in every engine
base                           the contract: columns, distinct values, records as codes
parts                          tables in several files: folders, patterns, keys in folders' names
table_formats                  folders of Delta Lake, Iceberg, Hudi: refused, as they hold every version
csv_structure, csv_header, csv_reader, text, text_parts   CSV: counted, named, read, as an engine
json_tokens, json_faults, json_lines, json_writing   JSON lines by their grammar
arrow_arrays, arrow_types, parquet, frames, files, content_digest  typed tables, in files and in memory
plain       tables of texts and numbers on the way from remedy to remedy
cells, coded_column, coded_columns  columns that Arrow reads straight into codes
copies                         tables that are read from a private copy
connected                      tables of databases that a program is connected to
opening                        what makes an engine of a file, a URL or an object
duckdb                         the embedded engine over all of these
streams                        streams of records or of counted rows, held by the embedded engine
writing                        tables written to files
"""
