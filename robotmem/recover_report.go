package robotmem

// RecoverReport says what was read of a damaged file, and what was not.
type RecoverReport struct {
	Whole         bool             `json:"whole" doc:"Nothing is lost, as far as can be known."`
	File          string           `json:"file" doc:"The new file."`
	Damaged       string           `json:"damaged,omitempty" doc:"What the damaged file is called now; empty when it was left in its place."`
	Pages         int64            `json:"pages" doc:"Of the damaged file."`
	DamagedPages  int64            `json:"damaged_pages" doc:"Pages with something wrong: zeros, a wrong checksum, an entry that is none."`
	MissingPages  int64            `json:"missing_pages" doc:"Pages that the file should have after its end."`
	LogFrames     int64            `json:"log_frames" doc:"Pages that the log held and that were read from it."`
	DamagedFrames int64            `json:"damaged_frames" doc:"Pages of the log that could not be read."`
	Memories      int64            `json:"memories" doc:"In the new file."`
	Missing       int64            `json:"missing" doc:"Ids that were given to a memory, are not there, and were not purged."`
	MissingIDs    []int64          `json:"missing_ids" doc:"The first 100 of them."`
	Doubtful      []int64          `json:"doubtful" doc:"The first 100 memories whose text does not match its checksum. They are kept as invalidated; restore makes one active again."`
	DoubtfulCount int64            `json:"doubtful_count"`
	Reactivated   int64            `json:"reactivated" doc:"Memories that are active again, because what superseded them is lost."`
	LostPayloads  int64            `json:"lost_payloads" doc:"Payloads whose bytes are lost; their memories stay."`
	Tables        []RecoveredTable `json:"tables" doc:"What is not an index."`
	Notes         []string         `json:"notes" doc:"What else is to be known."`
	Doctor        DoctorResponse   `json:"doctor" doc:"The deep check-up of the new file."`
}

// RecoveredTable is what was found of a table.
type RecoveredTable struct {
	Name       string `json:"name"`
	Found      int64  `json:"found" doc:"Rows that could be read."`
	Kept       int64  `json:"kept" doc:"Of these; the others came twice, or are no possible rows."`
	Doubtful   int64  `json:"doubtful" doc:"Kept rows of a page that does not check as a whole, or with text that is not UTF-8."`
	Unreadable int64  `json:"unreadable" doc:"Entries that are there and could not be read."`
	Missing    int64  `json:"missing" doc:"At most so many rows lay where the file could not be followed."`
	Torn       bool   `json:"torn" doc:"Rows may be missing, and how many cannot be known."`
}

// maxNamedIDs bounds the ids that a report names; all are counted.
const maxNamedIDs = 100

func (t *RecoveredTable) whole() bool {
	return t.Unreadable == 0 && t.Missing == 0 && t.Doubtful == 0 && !t.Torn
}

// conclude works out whether anything is lost. Of memories the ids tell: they
// are given one after the other.
func (r *RecoverReport) conclude() {
	r.Whole = r.Doctor.Healthy && r.Missing == 0 && r.DoubtfulCount == 0 && r.LostPayloads == 0 && r.DamagedFrames == 0
	for i := range r.Tables {
		r.Whole = r.Whole && r.Tables[i].whole()
	}
}
