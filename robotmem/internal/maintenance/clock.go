package maintenance

import (
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
)

const (
	// clockAhead is how far a time may lie ahead of the one that it is compared with.
	clockAhead = time.Hour
	clockRound = time.Minute
)

// clockStarts is a time before which no robot observed anything: a clock that starts at 0 did.
var clockStarts = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// examineClock compares the times of memories with each other and with the clock of this computer. Without a finding it
// adds no check.
func (mt *Maintainer) examineClock(d *admin.DoctorResponse) {
	now := mt.Store.Now().UnixNano()
	stored, early, ahead, most := now, 0, 0, int64(0)

	mt.Index.Columns.Each(func(row *index.Row, _ func(uint32) string) {
		stored = max(stored, row.Created)
		if row.Observed < clockStarts {
			early++
		}
		if by := row.Observed - row.Created; by > int64(clockAhead) {
			ahead++
			most = max(most, by)
		}
	})

	if by := stored - now; by > int64(clockAhead) {
		addFinding(d, "clock", CheckWarn, "clock_set_back", "set the clock of this computer, for example with NTP; new memories are older than known ones until then",
			"the newest memory was stored %s ahead of this computer's clock", time.Duration(by).Round(clockRound))
	}
	if ahead > 0 {
		addFinding(d, "clock", CheckWarn, "sources_ahead", "robotmem list shows them first: compare the clock of their source with this one",
			"%d memories were observed later than they were stored, by up to %s", ahead, time.Duration(most).Round(clockRound))
	}
	if early > 0 {
		addFinding(d, "clock", CheckWarn, "clock_not_set", "robotmem list --before 1980-01-01 shows them; a recording of that time is best imported again after its clock was corrected",
			"%d memories have times before 1980, of a clock that was not set", early)
	}
}
