package adapters_test

import (
	"bytes"
	"testing"

	"toolnorm/adapters"
	"toolnorm/internal/family"
	"toolnorm/internal/test/must"
)

func TestTheTableOfFamiliesIsFresh(t *testing.T) {
	doc := must.Read(t, "../docs/families.md")
	table, err := family.Table(adapters.All())
	must.OK(t, err)
	if fresh, ok := family.Fill(doc, table); !ok || !bytes.Equal(fresh, doc) {
		t.Error("docs/families.md does not list the families as they are; run: go generate ./adapters")
	}
}
