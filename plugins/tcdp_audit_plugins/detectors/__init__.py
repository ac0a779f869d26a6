"""The built-in detectors of identifiers, one module a family. What several families share is in `_shared`."""
