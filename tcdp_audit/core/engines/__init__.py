"""Engines: access to the table. `opening.open_engine` chooses one for the object that the caller passes.

base                           the contract: columns, distinct values, records as codes, samples
source, digest                 shared by all readers: names, cells, error messages, SHA-256 of bytes and of content
parts                          tables in several files: folders, patterns, keys in folders' names
text_form                      encodings of text, decimal commas, thousands separators
csv_structure, csv_reader, text   CSV: counted, read, as an engine
json_lines                     JSON lines by their grammar
arrow_types, parquet, files    typed tables, in files and in memory
plain                          tables of texts and numbers in memory, passed from remedy to remedy
coded_column, coded_columns    columns that Arrow reads straight into codes
copies                         tables that are read from a private copy, CSV in several files among them
mapped                         a table seen through levels of hierarchies, or through names and codes of its own
opening                        makes an engine from a file, a URL or an object
duckdb_instances               DuckDB's instances, used again, and its errors as sentences
duckdb                         the embedded engine over all of these
streams                        streams of records or of counted rows, held by the embedded engine; columns in a store
writing                        tables written to files
"""
