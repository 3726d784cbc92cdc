"""Ratios, not numbers: the same requests against mcpdecl and its neighbours, in turns, on this machine."""
