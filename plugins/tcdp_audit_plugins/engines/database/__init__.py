"""Databases: a table, a view or a query, wherever SQLAlchemy or the embedded library can reach it.

address, source      where the table is; its columns
session              a connection and its snapshot, for all tables of one database
statements           what is sent, the content hash of a table included
histories            whole histories, compared in the database
postgresql, mysql, sqlite, duckdb_file   the types of each database, and how its rows travel
faults               what drivers raise, as sentences
engine               the engine: one grouped query, held locally
"""
