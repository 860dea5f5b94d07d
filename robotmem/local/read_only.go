package local

import (
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// examineWriting says that the memory is served read-only, and why.
func (mt *maintainer) examineWriting(d *robotmem.DoctorResponse) {
	switch why := mt.store.ReadOnly(); why {
	case "":
	case sqlite.AskedReadOnly:
		addCheck(d, "writing", checkOK, "served read-only, as was asked", "")
	default:
		addCheck(d, "writing", checkWarn, "served read-only: "+why, "make the file and its folder writable for this user (a disk that was remounted read-only has failed: copy it first), then start the node again")
	}
}
