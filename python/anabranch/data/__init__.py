"""Training data: positions with policy and value targets, made by a teacher engine or read from games.

A job makes shards in a folder and continues there. `jobs` says what is to be done, `generate`, `label`,
`pgn`, `sample` and `expand` do it, `shards` stores it, `stats` and `check` look at it. Nothing here trains.
"""
