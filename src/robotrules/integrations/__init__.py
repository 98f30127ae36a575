"""
Integrations: one file for each host, which translates its questions into ours and back.

A host is imported by its own file alone. None has a policy of its own, and none knows another.
"""
