"""Shared by several remedies.

- `scope`: which demands a remedy can help, and how weak will do;
- `class_demands`: sizes of classes that are enough, and refusals;
- `masking`: what masking remedies act on;
- `recoding`: one label for each class;
- `buckets`: buckets of values, and optimal divisions of a sequence;
- `search`: the largest or the smallest number at which something holds;
- `segments`: groups as segments of arrays.
"""
