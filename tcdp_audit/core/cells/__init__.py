"""Released tables of figures: cells, what a reader knows of each, and what follows from all of them together.

table                      a published table: dimensions, cells, the interval of each figure, and sums
categories                 the categories of a dimension: hierarchies, orders, and bands by their bounds
figures                    the texts of figures as intervals: tokens, rounding, noise, decimals
reading                    tables of figures, long and wide, from engines
contributors               the records behind the tables: the people of each cell and what they contribute
joint                      tables about the same people as one system of variables and relations
view                       what checks see: the tables, their systems, their findings, and cells in words
derived                    what a reader derives from all tables about the same people
changes                    hidden cells, margins left out and rounded counts, tried in memory

Arithmetic over cells, without labels, files or policies:

system                     cells as unknown numbers under linear relations
narrowing, elimination     what follows from one relation at a time, and from several together, exactly
remainder                  the cells that are unknown after that, their relations and connected pieces
recovery                   cells that relations determine, and cells of which that is excluded
moves, programs            solutions in whole numbers by moves; linear and integer programs
demands, intervals         demands on cells; the values that are left of each: proved limits, values of solutions
computation                how a reader computes a hidden cell
solutions                  all tables that fit: their number, and the values of a cell in them
people                     all sets of people that fit, where means and medians of their values are published
contradictions             smallest sets of relations that contradict one another
"""
