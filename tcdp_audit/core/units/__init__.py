"""People with several rows: their histories, each as one code, so that classes are formed of whole histories.

coding                multisets of rows as codes, exactly
engines               tables made of histories
linked                several linked tables as one, and their links
trees                 whole histories over linked tables
histories             the histories of a release, as one more column of it
members               people of households, and how far they are alike
behind                the units behind pseudonyms that were drawn anew
rows                  the rows of each unit, for checks that look into histories
"""
