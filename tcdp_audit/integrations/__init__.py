"""Expectations and policies inside other people's libraries. Each is imported only where it is used.

host                 demands and their answers, and one audit for all demands that fit together
great_expectations   every check as an expectation; suites
dbt                  models with a policy, and the addresses of their tables
pandera              checks for pandera's schemas
pytest_plugin        policies as tests
"""
