"""Cells as codes.

A column becomes a list of distinct values, its domain, and one code a record.

    keys          several columns of codes as one key a row; integers counted, put into order, cut into stretches
    counted       rows of codes, each with the number of its records; packed, and in shards
    text_bytes    many texts at a time: sorted, compared
    generalised   numbers in text; cells that represent several values: ranges, sets, wildcards
    periods       periods of the calendar: days, weeks, months, quarters, half years, years
    hierarchy     trees of values, from the most specific to the root
    domain        the values of one attribute, in order
    reading       a column's raw values as a domain, under its declaration; domains of several tables as one
"""
