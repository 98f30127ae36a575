"""What a site owner runs every week: one file for each module."""
