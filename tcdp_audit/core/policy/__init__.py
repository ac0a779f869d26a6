"""The policy: what a release must satisfy, read from YAML with every fault at its line.

scalars, source       numbers and texts as they were typed, and where each stands in the file or the mapping
model                 attributes, conventions, the document
profile               named thresholds with their sources, and a policy that names some
registered            what a policy may name, and the sections that name it
faults                faults as sentences
mending               what an unsound value may have been meant to be
document_faults       parts of a document that contradict each other
reading, loading      a document, a text or a mapping becomes a policy, or all of its faults
policy                a policy that is sound
discovery, schema     the policy when none is named; the JSON Schema of policies
"""
