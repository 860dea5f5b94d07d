package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// damage FILE PAGE zero writes zeros over a page, from 1. For PAGE memories it is
// the first leaf page that holds facts, and not the schema.
func damageCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || args[2] != "zero" {
		ts.Fatalf("usage: damage FILE PAGE zero")
	}
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	size := int(binary.BigEndian.Uint16(data[16:])) // of a page, in the file's header
	at := 0
	if args[1] == "memories" {
		for at = size; at < len(data) && (data[at] != 13 || !bytes.Contains(data[at:at+size], []byte("fact")) || bytes.Contains(data[at:at+size], []byte("CREATE "))); at += size {
		}
	} else {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		at = (n - 1) * size
	}
	if at+size > len(data) {
		ts.Fatalf("%s has no such page", args[0])
	}
	clear(data[at : at+size])
	ts.Check(os.WriteFile(name, data, 0o600))
}
