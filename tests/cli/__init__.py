"""The command line: `<verb>.md` are transcripts; the rest are branches, streams, terminals."""
