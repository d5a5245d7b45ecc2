"""The web board: a page in the browser over the same `Engine` as everything else.

`access` checks requests, `messages` reads what a browser sends, `searches` runs its searches, `client` is one
browser, and `server` puts them together. The page is built from `web/` into `static`. Needs the extra `web`.
"""
