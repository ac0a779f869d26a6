"""Plugins, and a release with its policy and its companions, opened together and kept.

hookspecs, inputs, registry, tables
figures              tables of figures, opened with the records behind them and with those of earlier releases
people, thresholds   questions that a session answers: who is alone by which columns, who fails at which threshold
"""
