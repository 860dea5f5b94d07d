package main

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/bin"
	"github.com/google/uuid"
	"github.com/rs/zerolog"
)

// sbom writes the modules that a program says it is built of, in CycloneDX.
func sbom(dir string, p *program) error {
	work, err := os.MkdirTemp("", "robotmem-sbom-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()

	file := filepath.Join(work, "robotmem")
	if err := os.WriteFile(file, p.binary(), 0o755); err != nil {
		return err
	}

	generator, err := bin.NewGenerator(file, bin.WithIncludeStdlib(true), bin.WithVersionOverride("v"+p.version), bin.WithLogger(zerolog.Nop()))
	if err != nil {
		return err
	}

	bom, err := generator.Generate()
	if err != nil {
		return err
	}

	// The number follows from the program, where others take a random one.
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(homepage+"/"+sumOf(p.binary()))).URN()
	bom.Metadata.Timestamp = p.when.Format(time.RFC3339)
	bom.Metadata.Component.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: license}}}

	var b bytes.Buffer
	enc := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON)
	enc.SetPretty(true)
	if err := enc.EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
		return err
	}

	return write(dir, "robotmem_"+p.version+"_"+p.goos+"_"+p.arch+".cdx.json", b.Bytes())
}
