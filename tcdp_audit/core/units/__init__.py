"""People with several rows: their histories, each as one code, so that classes are formed of whole histories.

coding                multisets of rows as codes, exactly, and the units behind new pseudonyms
histories             the histories of a release, as one more column of it, and tables made of them
reading               histories read from one table, and the column that joins its rows
summed                histories that were compared where the table is
linked                several tables as one release, and the links between their rows, checked
trees                 the histories of a release of several tables
reading_tables        histories read from several tables, the deepest first
companions            the units of a population and other companions of several tables, in the release's codes
members               people of households, and how far they are alike
rows                  the rows of each unit, for checks that look into histories
table_rows            the same of one of several tables
evidence              histories in words, where evidence may show values
"""
