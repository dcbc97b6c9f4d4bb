"""Real sites: each keeps its file, and the others read its noised messages alone.

A release to which several sites contribute is a function of public facts and of noised messages.
`plan` fixes the facts, `protocol` says whose message is next and what it must look like, `signing`
and `messages` carry one from a site to all others, `site` draws those of one site from its own file
and ledger, and `centre` makes the release when all are there. `folder` and `pipes` are two ways for
messages to travel.
"""
