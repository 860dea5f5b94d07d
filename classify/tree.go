package classify

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// tags reads the tag list into rules.tags: the roots first, then level by
// level, each level in the order of the file.
func (p *parser) tags(n ast.Node) error {
	items, err := list(n, "tags")
	if err != nil {
		return err
	}
	all := make([]Tag, 0, len(items))
	owners := make([]stated, 0, len(items))
	index := map[string]int{}
	for _, item := range items {
		tag, owner, err := tagOf(item)
		if err != nil {
			return err
		}
		if _, ok := index[tag.Name]; ok {
			return fail(item, "%s is a duplicate", owner.what)
		}
		index[tag.Name] = len(all)
		all, owners = append(all, tag), append(owners, owner)
	}
	for i, t := range all {
		if _, ok := index[t.Parent]; !ok && t.Parent != "" {
			return fail(items[i], "%s: unknown parent %q", owners[i].what, t.Parent)
		}
	}
	depths := make([]int, len(all))
	deepest := 0
	for i, t := range all {
		for up := t.Parent; up != ""; up = all[index[up]].Parent {
			if depths[i]++; depths[i] > len(all) {
				return fail(items[i], "%s: its parents form a cycle", owners[i].what)
			}
		}
		deepest = max(deepest, depths[i])
	}
	for level := 0; level <= deepest; level++ {
		for i, t := range all {
			if depths[i] == level {
				p.rules.tags = append(p.rules.tags, t)
				p.tagged = append(p.tagged, owners[i])
			}
		}
	}
	return nil
}

func tagOf(item ast.Node) (Tag, stated, error) {
	var t Tag
	f, err := mapping(item, "a tag", "tag", "parent", "display_name", "match")
	if err != nil {
		return t, stated{}, err
	}
	if t.Name, err = identifier(item, f, "tag"); err != nil {
		return t, stated{}, err
	}
	owner := stated{what: fmt.Sprintf("tag %q", t.Name)}
	if f["parent"] != nil {
		if t.Parent, err = identifier(item, f, "parent"); err != nil {
			return t, owner, err
		}
	}
	var ok bool
	if t.DisplayName, ok = text(f["display_name"]); !ok || t.DisplayName == "" {
		return t, owner, fail(item, "%s: no display_name", owner.what)
	}
	if f["match"] != nil { // a tag without patterns groups others, or is for users to give
		owner.patterns, err = list(f["match"], owner.what+": match")
	}
	return t, owner, err
}
