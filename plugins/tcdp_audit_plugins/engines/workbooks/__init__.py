"""Workbooks: .xlsx, .xlsm, .xlsb, .xls and .ods in, .xlsx out.

binary         what an .xls or .xlsb holds in addition to the values of its cells
contents       what an .xlsx holds in addition to the values of its cells
open_document  the same of an .ods
reading        a sheet as Parquet
writing        a table as a fresh workbook
"""
