"""Engines: where the table lives. `opening.open_engine` picks one for whatever the caller has.

base                           the contract: columns, distinct values, records as codes, samples
source, faults, digest         what every reader shares: names, sentences, SHA-256 of bytes and of content
parts                          tables in several files: folders, patterns, keys in folders' names
csv_structure, csv_reader, text, text_parts   CSV: counted, read, as an engine
json_lines                     JSON lines by their grammar
arrow_types, parquet, frames, files   typed tables, in files and in memory
plain                          tables of texts and numbers on the way from remedy to remedy
cells, coded_column, coded_columns   columns that Arrow reads straight into codes
copies                         tables that are read from a private copy
opening                        what makes an engine of a file, a URL or an object
duckdb                         the embedded engine over all of these
streams                        streams of records or of counted rows, held by the embedded engine
writing                        tables written to files
"""
