package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// linuxFiles are the service, its settings, and what runs when the package is installed and removed.
//
//go:embed linux
var linuxFiles embed.FS

// share is a folder whose files the packages put below /usr/share: manual pages, completions. It need
// not be there.
const share = "../../artifacts/share"

// linuxPackage writes the .deb or .rpm of a program.
func linuxPackage(dir, format string, p *program) error {
	work, err := os.MkdirTemp("", "robotmem-"+format+"-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()

	source := func(name string, data []byte) (string, error) {
		path := filepath.Join(work, filepath.Base(name))
		return path, os.WriteFile(path, data, 0o644)
	}

	var bad []error

	own := func(name string) string {
		data, err := linuxFiles.ReadFile("linux/" + name)
		path, writing := source(name, data)
		bad = append(bad, err, writing)
		return path
	}
	packed := func(name string) string {
		path, err := source(name, p.files[name])
		bad = append(bad, err)
		return path
	}
	file := func(from, to, kind string, mode os.FileMode) *files.Content {
		return &files.Content{
			Source: from, Destination: to, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: p.when},
		}
	}

	const docs = "/usr/share/doc/robotmem/"
	contents := files.Contents{
		file(packed("robotmem"), "/usr/bin/robotmem", files.TypeFile, 0o755),
		file(own("robotmem.service"), "/usr/lib/systemd/system/robotmem.service", files.TypeFile, 0o644),
		file(own("sysusers.conf"), "/usr/lib/sysusers.d/robotmem.conf", files.TypeFile, 0o644),
		file(own("robotmem.env"), "/etc/robotmem/robotmem.env", files.TypeConfigNoReplace, 0o600),
		file(packed("README.md"), docs+"README.md", files.TypeFile, 0o644),
		file(packed("LICENSE"), docs+"LICENSE", files.TypeRPMLicense, 0o644),
		file(packed("THIRD_PARTY_NOTICES"), docs+"THIRD_PARTY_NOTICES", files.TypeRPMLicense, 0o644),
	}
	if format == "deb" {
		for _, c := range contents {
			if c.Type == files.TypeRPMLicense {
				c.Type = files.TypeFile
			}
		}
		contents = append(contents, file(own("copyright"), docs+"copyright", files.TypeFile, 0o644))
	}

	shared, err := sharedFiles(file)
	if err != nil {
		return err
	}

	info := &nfpm.Info{
		Name: "robotmem", Arch: p.arch, Platform: "linux", Version: p.version, Release: "1",
		Section: "science", Priority: "optional", Maintainer: maintainer, Vendor: "robotmem",
		Description: description, Homepage: homepage, License: license, MTime: p.when, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: append(contents, shared...),
			Scripts:  nfpm.Scripts{PostInstall: own("postinst"), PreRemove: own("prerm"), PostRemove: own("postrm")},
			// What makes the user where systemd does not.
			Depends: map[string][]string{"deb": {"passwd"}, "rpm": {"/usr/sbin/useradd"}}[format],
			RPM:     nfpm.RPM{BuildHost: "localhost", Summary: summary, Group: "Applications/Engineering"},
		},
	}
	if p.arch == "armv7" {
		info.Arch = "arm7"
	}
	if err := errors.Join(bad...); err != nil {
		return err
	}

	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}

	var b bytes.Buffer
	if err := packager.Package(info, &b); err != nil {
		return err
	}

	return write(dir, fmt.Sprintf("robotmem_%s_linux_%s.%s", p.version, p.arch, format), b.Bytes())
}

// sharedFiles are those of the folder share.
func sharedFiles(file func(from, to, kind string, mode os.FileMode) *files.Content) (files.Contents, error) {
	var out files.Contents

	err := filepath.WalkDir(share, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(share, path)
		if err != nil {
			return err
		}
		out = append(out, file(path, "/usr/share/"+filepath.ToSlash(name), files.TypeFile, 0o644))

		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}

	return out, err
}
