"""The web board: a page in the browser over the same `Engine` as everything else.

`gate` says who may come in, `messages` what may be said, `thinking` searches, `client` is one browser, and
`server` puts them together. The page itself is built from `web/` into `static`. Needs the extra `web`.
"""
