"""What an editor shows: unit tests of the modules that the language server and the page share."""
