package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// repository keeps snapshots of a working tree. A snapshot has the tracked files and the new ones that are not ignored.
// It is made with an index of its own, so that what the user has staged stays as it is.
type repository struct {
	dir string
}

// open fails if the folder is not the root of a working tree of git.
func open(ctx context.Context, dir string) (*repository, error) {
	r := &repository{dir: dir}
	root, err := r.git(ctx, nil, "rev-parse", "--show-prefix")
	if err == nil && root != "" {
		err = errors.New("is a folder within a working tree; give its root")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}

	return r, nil
}

// snapshot stores the working tree under a name and returns its tree.
func (r *repository) snapshot(ctx context.Context, name string) (tree string, err error) {
	env, remove, err := ownIndex()
	if err != nil {
		return "", err
	}
	defer remove()

	if _, err := r.git(ctx, env, "add", "--all", "."); err != nil {
		return "", err
	}
	if tree, err = r.git(ctx, env, "write-tree"); err != nil {
		return "", err
	}

	commit, err := r.git(ctx, author, "commit-tree", tree, "-m", name)
	if err == nil {
		// Without a reference git would collect the snapshot one day.
		_, err = r.git(ctx, nil, "update-ref", "refs/goal-loop/"+name, commit)
	}

	return tree, err
}

// restore makes the working tree what it was in a snapshot. now is the snapshot of the present state: files that it has
// and the earlier one has not are removed, and ignored files stay.
func (r *repository) restore(ctx context.Context, tree, now string) error {
	added, err := r.git(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", tree, now)
	if err != nil {
		return err
	}

	for name := range strings.SplitSeq(strings.TrimRight(added, "\x00"), "\x00") {
		if name == "" {
			continue
		}
		if err := os.Remove(filepath.Join(r.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	env, remove, err := ownIndex()
	if err != nil {
		return err
	}
	defer remove()

	if _, err := r.git(ctx, env, "read-tree", tree); err != nil {
		return err
	}
	_, err = r.git(ctx, env, "checkout-index", "--all", "--force")

	return err
}

// changes describes in one line what differs between two snapshots, "" if nothing does.
func (r *repository) changes(ctx context.Context, before, after string) (string, error) {
	if before == after {
		return "", nil
	}

	stat, err := r.git(ctx, nil, "diff-tree", "-r", "--numstat", "--no-renames", before, after)

	var parts []string

	for line := range strings.Lines(stat) {
		if f := strings.SplitN(strings.TrimSpace(line), "\t", 3); len(f) == 3 {
			parts = append(parts, fmt.Sprintf("%s +%s −%s", f[2], f[0], f[1]))
		}
	}

	return strings.Join(parts, ", "), err
}

// author signs the commits of snapshots, also where git knows no user.
var author = []string{
	"GIT_AUTHOR_NAME=goal-loop", "GIT_AUTHOR_EMAIL=goal-loop@localhost",
	"GIT_COMMITTER_NAME=goal-loop", "GIT_COMMITTER_EMAIL=goal-loop@localhost",
}

// ownIndex returns the environment of an empty index.
func ownIndex() (env []string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "goal-loop-")
	if err != nil {
		return nil, nil, err
	}
	return []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}, func() { _ = os.RemoveAll(dir) }, nil
}

func (r *repository) git(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), env...)

	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}

	return strings.TrimSpace(out.String()), nil
}
