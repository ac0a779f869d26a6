"""Cells as codes.

A column becomes a list of distinct values, its domain, and one code a record.

    keys          several columns of codes as one key a row; integers counted, numbered and put into order
    counted       rows of codes, each with how many records it stands for; packed, and in shards
    text_bytes    many texts at a time: sorted, compared
    numbers       numbers in text, read exactly
    generalised   cells that stand for several values: ranges, sets, wildcards
    hierarchy     trees of values, from the most specific to the root
    domain        the values of one attribute, in order
    reading       a column's raw values as a domain, under its declaration; domains of several tables as one
"""
