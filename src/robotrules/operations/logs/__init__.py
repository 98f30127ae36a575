"""
Access logs by crawler: requests, days, status, and what robots.txt asks not to fetch.
"""
