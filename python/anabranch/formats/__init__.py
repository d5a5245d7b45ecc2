"""Formats of chess programs: scores, PGN, EPD, opening books, tablebases and certificates of proofs."""
