"""Shared by several remedies.

- `scope`: which demands a remedy can help, how weak will do, and how many records may be dropped;
- `histories`: the rows of a unit, when they were, and which demands judge them together;
- `masking`: what masking remedies act on;
- `recoding`: one label for each class;
- `buckets`: buckets of values, and optimal divisions of a sequence;
- `search`: the largest or the smallest number at which something holds;
- `segments`: groups as segments of arrays.
"""
