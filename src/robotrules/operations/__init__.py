"""
What a site owner runs every week: presets, access logs by crawler, monitoring, history, reports.

Built on the client, the analysis and the readers of lists. Nothing is imported here, so that a
command loads only what it uses.
"""
