"""Expectations and policies inside other people's libraries. Each is imported only where it is used.

great_expectations   every check as an expectation; suites
pandera              checks for pandera's schemas
pytest_plugin        policies as tests
"""
