"""The six screens: what each shows, as plain data for its template.

table, risk, demands       what each column is, who could be found, what must hold
remedies, release, report  what safety costs, before and after, what is signed
"""
