"""Shared by several remedies: recoding, buckets, optimal divisions of a sequence, searches, refusals."""
