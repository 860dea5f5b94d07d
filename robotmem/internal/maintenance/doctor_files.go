package maintenance

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// examineModes warns of files that others on this machine can read. They are
// made for their owner alone; a copy or a restored backup may be wider, and
// whether that is meant only the operator knows.
func examineModes(path, payloads string, d *admin.DoctorResponse) {
	if runtime.GOOS == "windows" { // where the folder's list of access decides
		return
	}
	var files, folders []string
	for _, name := range []string{path, path + "-wal", path + "-shm", payloads} {
		info, err := os.Stat(name)
		switch {
		case err != nil || info.Mode().Perm()&0o077 == 0:
		case info.IsDir():
			folders = append(folders, filepath.Base(name))
		default:
			files = append(files, filepath.Base(name))
		}
	}
	if len(files)+len(folders) == 0 {
		addCheck(d, "permissions", CheckOK, "only their owner can read the file and its payloads", "")
		return
	}
	var remedy []string
	if len(files) > 0 {
		remedy = append(remedy, "chmod 600 "+strings.Join(files, " "))
	}
	if len(folders) > 0 {
		remedy = append(remedy, "chmod 700 "+strings.Join(folders, " "))
	}
	addCheck(d, "permissions", CheckWarn, "other users of this machine can reach "+strings.Join(append(files, folders...), ", "),
		"in the folder of the file run: "+strings.Join(remedy, " && "))
}

// examineWriting says that the memory is served read-only, and why.
func (mt *Maintainer) examineWriting(d *admin.DoctorResponse) {
	switch why := mt.Store.ReadOnly(); why {
	case "":
	case sqlite.AskedReadOnly:
		addCheck(d, "writing", CheckOK, "served read-only, as was asked", "")
	default:
		addCheck(d, "writing", CheckWarn, "served read-only: "+why, "make the file and its folder writable for this user (a disk that was remounted read-only has failed: copy it first), then start the node again")
	}
}
