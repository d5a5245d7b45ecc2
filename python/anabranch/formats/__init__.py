"""Formats of chess programs: scores, PGN, EPD, opening books and tablebases."""
