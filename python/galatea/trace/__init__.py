"""Tracing: a Python function is run once with nodes in place of data, and becomes text.

`expression` holds what a text is made of, `recorder` what a run recorded, `node` what the user's
code gets in place of data, `rewrite` changes syntax trees so that `if` and its like reach the
recorder, `control` is what the changed code calls, `merging` makes one value of those of arms,
`writer` makes text of a record. `definitions` are functions whose source stands in the text:
`source` finds it, `scopes` what it reads from outside, `known` what of that the language has,
`excerpt` changes names in it.
"""
