package browsertest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// drop drags files of this machine over the page and lets them go, as a file manager does.
func (p *tab) drop(files ...string) {
	p.t.Helper()
	send := func(kind input.DispatchDragEventType) {
		p.do(call(input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: 200, Y: 300, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1},
		}))
	}
	p.see(".top .button", "")
	send(input.DispatchDragEventTypeDragEnter)
	// A hand that holds still goes on sending events, also to a page that has only begun to listen.
	for range 100 {
		send(input.DispatchDragEventTypeDragOver)
		if p.count(".import-over") > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.see(".import-over", "")
	send(input.DispatchDragEventTypeDrop)
	p.gone(".import-over", "")
}

// importDropped: a recording is dropped on a page, and the window says what was understood of it.
func (w *world) importDropped(t *testing.T) {
	drive := filepath.Join(w.root, "ui/browsertest/testdata/drive.mcap")
	folder := t.TempDir()
	db := filepath.Join(folder, "memory.db")
	n := w.serve(t, db)
	p := w.open(t, n, wide)
	p.goTo("/map")
	p.drop(drive)
	p.see("dialog h2", "Import recordings")
	p.see(".imports-one", "drive.mcap")
	p.click("input[name=robot]", "")
	p.key("amr3")
	p.click("input[name=map_id]", "")
	p.key("hall")
	p.click(".imports .button.main", "Import")

	p.see(".imports-one .mark.good", "imported")
	p.see(".imports-result .facts", "mcap")
	p.see(".imports-result .facts", "14 May 2026")
	p.see(".imports-result section h3", "What happened (3)")
	p.see(".imports-lines a", "battery: low")
	p.see(".imports-topics td", "/amcl_pose")
	p.see(".imports-topics td", "geometry_msgs/msg/PoseWithCovarianceStamped")
	w.audit(p, "wide-import")

	// Again: it is known, and leads to its episode.
	p.drop(drive)
	p.click(".imports .button.main", "Import")
	p.see(".imports-one .mark.good", "imported before")
	p.see(".imports-result", "Nothing new was stored")
	p.click(".imports-one:first-child .button.main", "Open the episode")
	p.see("h1", "amr3: drive.mcap")
	p.gone("dialog", "Import recordings")

	// What is wrong is said, each with what to do; a folder is looked through.
	data, err := os.ReadFile(drive)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "day")
	if err := errors.Join(
		os.Mkdir(bad, 0o700),
		os.WriteFile(filepath.Join(bad, "cut.mcap"), data[:len(data)*3/4], 0o600),
		os.WriteFile(filepath.Join(bad, "notes.mcap"), []byte(strings.Repeat("no recording", 100)), 0o600),
		os.WriteFile(filepath.Join(bad, "readme.txt"), []byte("x"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	p.drop(bad)
	p.gone(".imports-name", "readme.txt")
	p.click(".imports .button.main", "Import 2 recordings")
	p.see(".imports-one", "cut.mcap")
	p.see(".imports-result .imports-lines", "Damaged: the recording breaks")
	p.see(".imports-one .error", "is not a recording in a known format")
	p.see(".imports-one .button", "Try again")
	w.audit(p, "wide-import-wrong")

	if _, err := os.Stat(db + ".imports"); err == nil {
		if left, err := filepath.Glob(db + ".imports/*/*"); err != nil || len(left) != 0 {
			t.Errorf("received files are left: %q, %v", left, err)
		}
	}

	for _, l := range []look{narrow, {name: "narrow-zh", width: 390, height: 844, lang: "zh"}, {name: "wide-dark", width: 1440, height: 900, dark: true}} {
		db := filepath.Join(t.TempDir(), "memory.db")
		p := w.open(t, w.serve(t, db), l)
		p.goTo("/map")
		p.click(".top .button", map[bool]string{true: "导入录制", false: "Import recordings"}[l.lang == "zh"])
		p.see("dialog .imports", "rosbag2")
		p.do(fileChooser(drive))
		p.see(".imports-one", "drive.mcap")
		p.click(".imports form .button.main", "")
		p.see(".imports-topics td", "/amcl_pose")
		w.audit(p, l.name+"-import")
	}
}

// importCancelled: what is cancelled while it is sent leaves nothing. A node that is told to take little says how much.
func (w *world) importCancelled(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.mcap")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 2<<30); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("import_limit: 3GB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(home, "memory.db")
	p := w.open(t, w.start(t, home, "web", "--db", db, "--addr", "127.0.0.1:0"), wide)
	p.goTo("/")
	p.drop(large)
	p.click(".imports .button.main", "Import")
	p.see(".imports-one", "sending,")
	p.until(`document.querySelector(".imports-one progress").value > 0`)
	w.audit(p, "wide-import-sending")
	p.click(".imports-one header .button", "Cancel")
	p.see(".imports-one", "Nothing was stored")
	p.until(`fetch("/api/imports").then((r) => r.json()).then((a) => a.imports.length === 0 && a.held_bytes === 0)`)

	if err := os.Truncate(large, 4<<30); err != nil {
		t.Fatal(err)
	}
	p.drop(large)
	p.click(".imports .button.main", "Import")
	p.see(".imports-one .error", "raise import_limit")
}

// importForReaders: a token for reading is told so before anything is sent.
func (w *world) importForReaders(t *testing.T) {
	home := t.TempDir()
	secret, err := w.command(t.Context(), home, "token", "create", "eve", "--read-only").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := w.start(t, home, "web", "--db", filepath.Join(home, "memory.db"), "--addr", "127.0.0.1:0")
	p := w.open(t, n, wide)
	p.expect("401 (Unauthorized)")
	p.goTo("/")
	p.click("input[name=token]", "")
	p.key(strings.TrimSpace(string(secret)) + "\r")
	p.see(".empty", english["empty"])
	p.drop(filepath.Join(w.root, "ui/browsertest/testdata/drive.mcap"))
	p.see("dialog .error", "for reading only")
	p.gone(".imports .button.main", "Import")
}

// fileChooser gives files to the field that opens the chooser of files.
func fileChooser(files ...string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		found, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: `document.querySelector(".imports input[type=file]")`})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, ObjectID: found.Result.ObjectID})
		return err
	})
}
