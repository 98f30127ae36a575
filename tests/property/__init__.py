"""Properties that hold for every file, URL and profile; a class docstring states the MUST."""
