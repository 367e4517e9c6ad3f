package dynamic

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// groupNames are the sets of a store, each with how many of its tools are offered.
func groupNames(t *testing.T, s *Set) (all []string) {
	t.Helper()
	groups := must.Have(s.Groups.List(t.Context()))(t)
	for _, g := range groups {
		all = append(all, fmt.Sprint(g.Name, " ", g.Offered, " ", g.Missing))
	}
	return all
}

func TestSetsFollowTheStore(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := newSet(t, where, nil)
		other := newSet(t, where, nil) // another program on the same store
		changed, stop := other.config.Registry.Watch()
		defer stop()
		must.OK(t, other.Follow(t.Context()))
		save(t, s, multiply)
		g, err := s.Groups.Save(t.Context(), "tester", GroupDraft{Name: "maths", Description: " To calculate. ", Tools: []string{"multiply_numbers", "gone", "multiply_numbers"}})
		if err != nil || g.Version != 1 || !slices.Equal(g.Tools, []string{"gone", "multiply_numbers"}) || g.Offered != 1 || !slices.Equal(g.Missing, []string{"gone"}) || !g.OnlyReads || g.Destructive {
			t.Fatalf("%+v, %v", g, err)
		}
		for range 3 { // one change is the tool, another the set; a notice may stand for both
			<-changed
			if _, ok := other.config.Registry.Snapshot().Set("maths"); ok {
				break
			}
		}
		if here := other.config.Registry.Snapshot().Within("maths"); len(here.Tools) != 1 {
			t.Errorf("the other program has %d tools of the set", len(here.Tools))
		}
		var f *fault.Error
		for _, wrong := range []GroupDraft{{Name: "maths"}, {Name: "maths", Version: 7}, {Name: "none", Version: 1}, {Name: "Bad Name"}, {Name: "x", Tools: []string{"a b"}}, {Name: "x", Description: "a\x00b"}} {
			if _, err := s.Groups.Save(t.Context(), "tester", wrong); !errors.As(err, &f) {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
		must.Have(s.Toggle(t.Context(), "tester", 1, 0, false))(t)
		if got := groupNames(t, s); !slices.Equal(got, []string{"maths 0 [gone multiply_numbers]"}) {
			t.Errorf("%q", got)
		}
		if err := s.Groups.Delete(t.Context(), "tester", "maths", 3); err == nil {
			t.Error("a set of another version is deleted")
		}
		if err := s.Groups.Delete(t.Context(), "tester", "maths", 1); err != nil || len(groupNames(t, s)) != 0 {
			t.Errorf("%v, %v", err, groupNames(t, s))
		}
		lines, err := s.Audit(t.Context(), 0)
		if err != nil || len(lines) != 4 || lines[0].Name != "set maths" || lines[0].Action != deleted {
			t.Errorf("%+v, %v", lines, err)
		}
	})
}

func TestSetsAsFiles(t *testing.T) {
	s, other := ownSet(t), ownSet(t)
	save(t, s, multiply)
	for _, g := range []GroupDraft{{Name: "maths", Description: "To calculate.\nAnd more.", ReadOnly: true, Tools: []string{"multiply_numbers", "loud.shout"}}, {Name: "empty"}} {
		must.Have(s.Groups.Save(t.Context(), "tester", g))(t)
	}
	dir := t.TempDir()
	files, err := s.Export(t.Context(), dir, false)
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v", files, err)
	}
	path := filepath.Join(dir, "sets", "maths.yaml")
	text, err := os.ReadFile(path)
	if want := "set: maths\ndescription: |-\n  To calculate.\n  And more.\nread_only: true\ntools:\n  - loud.shout\n  - multiply_numbers\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	const did = "multiply_numbers.yaml create, empty.yaml create, maths.yaml create"
	if got := actions(t, other, true, dir); got != did || len(groupNames(t, other)) != 0 {
		t.Errorf("a dry run: %s, %q", got, groupNames(t, other))
	}
	if got := actions(t, other, false, dir); got != did {
		t.Error(got)
	}
	if got := actions(t, other, false, dir); got != strings.ReplaceAll(did, "create", "unchanged") {
		t.Error(got)
	}
	must.Write(t, path, "set: maths\ntools: [x]\nhints: none\n")
	if got := actions(t, other, false, path); !strings.Contains(got, "refused") || !strings.Contains(got, "hints") {
		t.Error(got)
	}
	must.OK(t, os.Remove(path))
	all := must.Have(other.Import(t.Context(), "tester", false, dir))(t)
	if gone, err := other.Prune(t.Context(), "tester", false, all); err != nil || len(gone) != 1 || gone[0].Name != "maths" || !gone[0].Set {
		t.Errorf("%+v, %v", gone, err)
	}
	must.Have(other.Export(t.Context(), dir, true))(t)
	must.OK(t, s.Groups.Delete(t.Context(), "tester", "empty", 0))
	must.Have(s.Export(t.Context(), dir, true))(t)
	if _, err := os.Stat(filepath.Join(dir, "sets", "empty.yaml")); err == nil {
		t.Error("the file of a set that is gone is left")
	}
}

// TestARenamedToolStaysInItsSets renames a tool, also by restoring an older version.
func TestARenamedToolStaysInItsSets(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := newSet(t, where, nil)
		tool := save(t, s, multiply)
		for _, g := range []GroupDraft{{Name: "maths", Tools: []string{"multiply_numbers", "gone"}}, {Name: "other", Tools: []string{"gone"}}} {
			must.Have(s.Groups.Save(t.Context(), "tester", g))(t)
		}
		d := multiply
		d.Name, d.Version = "times", tool.Version
		tool = must.Have(s.Update(t.Context(), "tester", tool.ID, d))(t)
		if got := groupNames(t, s); !slices.Equal(got, []string{"maths 1 [gone]", "other 0 [gone]"}) {
			t.Errorf("renamed: %q", got)
		}
		var f *fault.Error
		if _, err := s.Groups.Save(t.Context(), "tester", GroupDraft{Name: "maths", Tools: []string{"multiply_numbers"}, Version: 1}); !errors.As(err, &f) || f.Code != "version_conflict" {
			t.Errorf("an editor of the set as it was: %v", err)
		}
		must.Have(s.Restore(t.Context(), "tester", tool.ID, 1, tool.Version))(t)
		if g, err := s.Groups.Get(t.Context(), "maths"); err != nil || !slices.Equal(g.Tools, []string{"gone", "multiply_numbers"}) || g.Offered != 1 || g.Version != 3 {
			t.Errorf("restored: %+v, %v", g, err)
		}
	})
}

// TestASetThatAsks holds that a set and a tool may want a person to be asked, and that it reaches
// the registry.
func TestASetThatAsks(t *testing.T) {
	s := newSet(t, filepath.Join(t.TempDir(), "new.db"), nil)
	save(t, s, multiply)
	asked := func() bool { return s.config.Registry.Snapshot().Tools[0].Confirm }
	g, err := s.Groups.Save(t.Context(), "tester", GroupDraft{Name: "maths", Tools: []string{"multiply_numbers"}, Confirm: true})
	if err != nil || !g.Confirm || !asked() || !s.config.Registry.Snapshot().Within("maths").Tools[0].Confirm {
		t.Fatalf("%+v, %v, asked %v", g, err, asked())
	}
	if text, err := g.file(); err != nil || !strings.Contains(string(text), "confirm: true\n") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := s.Groups.Save(t.Context(), "tester", GroupDraft{Name: "maths", Tools: g.Tools, Version: g.Version}); err != nil || asked() {
		t.Errorf("asked %v without a set that asks, %v", asked(), err)
	}
	d := multiply
	d.Options.Confirm, d.Version = true, 1
	if _, err := s.Update(t.Context(), "tester", 1, d); err != nil || !asked() {
		t.Errorf("asked %v for a tool that asks, %v", asked(), err)
	}
}
