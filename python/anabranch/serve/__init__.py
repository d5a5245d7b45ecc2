"""The analysis server: queries go in as JSON, answers come out as JSON, many at once.

`query` reads messages, `engines` keeps the engines for them, `waiting` holds what is still to be searched,
`workers` run the searches and `batches` those that share batches; `service` connects them with `signals`,
`answers` writes what they found; `stdio` and `http` carry lines in and out. Only `http` needs the extra
`web`. The messages are described in docs/serve.md and by `schema.json`.
"""

from anabranch.serve.service import Service, ServiceOptions

__all__ = ["Service", "ServiceOptions"]
