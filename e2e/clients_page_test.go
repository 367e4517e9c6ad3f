package e2e

import (
	"os"
	"strings"
	"sync"
	"testing"

	"toolnorm/internal/test/must"
)

// pageMu is held while a row is written: clients run beside each other.
var pageMu sync.Mutex

// clientsPage is the page of clients. Its rows are written by the tests that ran the clients.
const clientsPage = "../docs/clients.md"

// clientRow compares a client's row of docs/clients.md with what was seen, or writes it when
// TOOLNORM_E2E_CLIENTS is "write". Rows stand in the table of their kind, between <!-- KIND --> and
// <!-- end -->, sorted by their first cell, which names the client.
func clientRow(t *testing.T, kind string, cells ...string) {
	t.Helper()
	pageMu.Lock()
	defer pageMu.Unlock()
	head, rest, ok := strings.Cut(string(must.Read(t, clientsPage)), "<!-- "+kind+" -->\n")
	table, tail, ended := strings.Cut(rest, "<!-- end -->")
	if !ok || !ended {
		t.Fatalf("%s has no table of %s", clientsPage, kind)
	}
	rows := strings.SplitAfter(strings.TrimSuffix(table, "\n"), "\n")
	row := "| " + strings.Join(cells, " | ") + " |"
	at := 2 // behind the head and its line
	for at < len(rows) && first(rows[at]) < cells[0] {
		at++
	}
	there := at < len(rows) && first(rows[at]) == cells[0]
	if there && strings.TrimSpace(rows[at]) == row {
		return
	}
	if os.Getenv("TOOLNORM_E2E_CLIENTS") != "write" {
		t.Errorf("%s lacks this row; run make clients:\n%s", clientsPage, row)
		return
	}
	var lines []string
	for i, r := range rows {
		if i == at {
			lines = append(lines, row)
		}
		if i != at || !there {
			lines = append(lines, strings.TrimSpace(r))
		}
	}
	if at == len(rows) {
		lines = append(lines, row)
	}
	page := head + "<!-- " + kind + " -->\n" + strings.Join(lines, "\n") + "\n<!-- end -->" + tail
	must.Write(t, clientsPage, page)
}

// first is the first cell of a row.
func first(row string) string {
	cells := strings.Split(row, "|")
	if len(cells) < 2 {
		return ""
	}
	return strings.TrimSpace(cells[1])
}
