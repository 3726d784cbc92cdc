"""Bytes in and out: Streamable HTTP and stdio.

Knows: nothing yet that both need. Does not know: what a message says.
"""
