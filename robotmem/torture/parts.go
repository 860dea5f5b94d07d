package main

// parts are the rows of the table.
var parts = []part{
	{"salvage", "files damaged and repaired", amount{times: 300}, amount{times: 15}, runSalvage},
}
