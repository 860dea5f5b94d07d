package main

// parts are the rows of the table.
var parts = []part{
	{"flips", "bits flipped in the files", amount{times: 10_000}, amount{times: 300}, runFlips},
}
