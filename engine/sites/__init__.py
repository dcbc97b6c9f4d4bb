"""Real sites: each keeps its file, and the others read its noised messages alone.

A release to which several sites contribute is a function of public facts and of noised messages.

Before a run: `study` is what people decide, `partners` whose keys a site knows, `statements` what
sites sign, `plan` the study with all offers, `agreement` what must be so before anything is drawn,
and `secret_store` what a site keeps for itself. In a run: `protocol` says whose message is next and
what it must look like, `messages` and `signing` carry one from a site to all others, `site` draws
those of one site from its own file, `charges` asks its ledger, and `centre` makes the release when
all are there. `folder`, `pipes` and `network` are ways for all of it to travel.
"""
