"""
What is shown of an audit of many pages: sentences, a page for the browser, and a journal.

The audit itself is `robotrules.client.auditing.site_audit`. Nothing is imported here, so that a
command loads only what it uses.
"""
