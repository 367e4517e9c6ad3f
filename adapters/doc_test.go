package adapters_test

import (
	"bytes"
	"os"
	"testing"

	"toolnorm/adapters"
	"toolnorm/internal/family"
)

func TestTheTableOfFamiliesIsFresh(t *testing.T) {
	doc, err := os.ReadFile("../docs/families.md")
	if err != nil {
		t.Fatal(err)
	}
	table, err := family.Table(adapters.All())
	if err != nil {
		t.Fatal(err)
	}
	if fresh, ok := family.Fill(doc, table); !ok || !bytes.Equal(fresh, doc) {
		t.Error("docs/families.md does not list the families as they are; run: go generate ./adapters")
	}
}
