package main

// parts are the rows of the table.
var parts = []part{
	{"kill", "SIGKILL while writing, opening, closing, importing", amount{times: 500}, amount{times: 15}, runKill},
}
