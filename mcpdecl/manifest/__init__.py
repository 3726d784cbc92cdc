"""What an author wrote: YAML text to declarations with places.

Knows: the manifest language. Does not know: what a declaration compiles to, or how it runs.
"""
