package main

// parts are the rows of the table.
var parts = []part{
	{"backup", "backups and restores under load", amount{times: 50}, amount{times: 2}, runBackup},
}
