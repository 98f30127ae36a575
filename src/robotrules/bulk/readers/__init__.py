"""
Readers: files of robots.txt captures and tables of URLs, as record batches with rejects.

`warc` reads archives, `table_files` Parquet, CSV and JSON lines, `folders` one file per host, and
`inputs` decides by name and content which of them reads a file. All of them stream, and none
stops at a bad record: it becomes a `Reject` with its place.
"""
