package main

import (
	"bytes"
	"strings"
	"text/template"
)

// formulaText is a formula of Homebrew that installs the archives.
var formulaText = template.Must(template.New("").Parse(`class Robotmem < Formula
  desc "Memory for robots that recalls what worked, offline"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "{{.License}}"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Processors}}
    on_{{.Name}} do
      url "{{$.Homepage}}/releases/download/v{{$.Version}}/{{.Archive}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "robotmem"
    doc.install "README.md", "THIRD_PARTY_NOTICES"
  end

  service do
    run [opt_bin/"robotmem", "web"]
    keep_alive true
  end

  test do
    ENV["ROBOTMEM_HOME"] = testpath
    system bin/"robotmem", "learn", "no Wi-Fi coverage in the stairwell"
    assert_match "stairwell", shell_output("#{bin}/robotmem recall 'where is there no wifi'")
  end
end
`))

type formulaSystem struct {
	Name       string
	Processors []formulaProcessor
}

type formulaProcessor struct{ Name, Archive, Sum string }

// formula writes robotmem.rb for the systems of Homebrew. A release without them has none.
func formula(dir string, programs []program) error {
	var systems []formulaSystem

	for _, s := range []struct{ goos, name string }{{"darwin", "macos"}, {"linux", "linux"}} {
		system := formulaSystem{Name: s.name}
		for _, p := range programs {
			name := map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch]
			if p.goos == s.goos && name != "" {
				system.Processors = append(system.Processors, formulaProcessor{name, p.archive, p.sum})
			}
		}
		if system.Processors != nil {
			systems = append(systems, system)
		}
	}
	if systems == nil {
		return nil
	}

	var b bytes.Buffer
	err := formulaText.Execute(&b, map[string]any{
		"Homepage": homepage, "License": license, "Version": programs[0].version, "Systems": systems,
	})
	if err != nil {
		return err
	}

	return write(dir, "robotmem.rb", []byte(strings.TrimSpace(b.String())+"\n"))
}
