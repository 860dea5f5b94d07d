package main

// parts are the rows of the table.
var parts = []part{}
