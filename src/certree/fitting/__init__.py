"""The way from what is asked to a fitted tree: a request is read, stated, proven and certified.

`plan` comes first: one table says which search and proof answer what is asked, or which law forbids
it. Every step takes frozen records and returns one. Only `Request.of` sees an estimator.
"""
