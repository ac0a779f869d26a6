"""Files of SPSS, Stata and SAS, read by pyreadstat: value labels, declared missing values, dates.

labels    value labels, and missing values that a file declares
reading   a file converted to Parquet, some records at a time
"""
