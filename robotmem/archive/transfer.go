package archive

// ExportOptions limit an export. The zero value exports everything.
type ExportOptions struct {
	Collection string // exports only this collection if set
	Session    string // exports only this session if set
	Generator  string // the program's name, for the manifest
}

// ExportReport counts the records of an export.
type ExportReport struct {
	Counts
	// Lost counts the payloads that the node does not hold: evicted, missing or damaged.
	// Their memories are exported with this state.
	Lost int64 `json:"lost"`
	// Evicted counts the payloads of Lost that the retention removed.
	Evicted int64 `json:"evicted"`
	// Damaged lists the ids of the memories that do not match their checksum. They are
	// not exported.
	Damaged []int64 `json:"damaged,omitempty"`
}

// ImportOptions configure an import. The zero value works.
type ImportOptions struct {
	// Collection is the collection to import into; if empty, each record keeps its own.
	// Memories that the node has already keep their collection.
	Collection string
	DryRun     bool // check and count, store nothing
	// Missing is told each payload that the source names and does not have, and that this node lacks too; nil
	// if nobody asks. The report counts them.
	Missing func(uid, sha256 string)
	// Refused is called for each record that cannot be stored, and the import continues.
	// If it is nil, the first such record ends the import.
	Refused func(where string, err error)
}

// ImportReport counts the records of an import by their result.
type ImportReport struct {
	Memories ImportCount  `json:"memories"`
	Sessions ImportCount  `json:"sessions"`
	Payloads PayloadCount `json:"payloads"`
	Links    LinkCount    `json:"links"`
}

// ImportCount counts the records of one kind by their result.
type ImportCount struct {
	Created int64 `json:"created"`
	Updated int64 `json:"updated"`          // the archive's state was newer; the stored one became a past state
	Same    int64 `json:"same"`             // equal to the stored record
	Kept    int64 `json:"kept"`             // the stored record is newer or has other differences and was not changed
	Purged  int64 `json:"purged,omitempty"` // purged on this node, and not stored again
	Refused int64 `json:"refused"`
}

// PayloadCount counts the payloads by their result.
type PayloadCount struct {
	Stored  int64 `json:"stored"`
	Bytes   int64 `json:"bytes"` // of those
	Known   int64 `json:"known"`
	Missing int64 `json:"missing"` // neither on this node nor in the source
}

// LinkCount counts the links by their result.
type LinkCount struct {
	Set      int64 `json:"set"`
	Dangling int64 `json:"dangling"` // refer to a record that this node does not have
}
