package sqlsafe

import (
	"fmt"
	"strings"
	"testing"
)

// shown lists relations in a line.
func shown(all []Relation) string {
	var words []string
	for _, r := range all {
		words = append(words, fmt.Sprint(r.Name, " ", r.Columns[0]))
	}
	return strings.Join(words, ", ")
}

func TestOnlyWhatMayBeReadIsShown(t *testing.T) {
	path := newFile(t)
	db := openFile(t, path, nil)
	if _, err := db.Query(t.Context(), "SELECT 1"); err != nil { // leaves its authorizer on the connection
		t.Fatal(err)
	}
	all, err := db.Relations(t.Context())
	if want := "order_items {order_id INTEGER}, orders {order_id INTEGER}, products {product_id INTEGER}, users {user_id INTEGER}"; err != nil || shown(all) != want {
		t.Errorf("%s, %v", shown(all), err)
	}
	all, err = openFile(t, path, func(c *SQLiteConfig) { c.Tables = nil }).Relations(t.Context())
	if want := "notes {title }, order_items {order_id INTEGER}, orders {order_id INTEGER}, products {product_id INTEGER}, secret {word TEXT}, users {user_id INTEGER}, words {word }"; err != nil || shown(all) != want {
		t.Errorf("%s, %v", shown(all), err)
	}
	if _, err := db.Query(t.Context(), "SELECT * FROM secret"); err == nil {
		t.Error("the listing opened the connection")
	}
}

func TestPostgresShowsWhatTheRoleMayRead(t *testing.T) {
	all, err := newServer(t).open(t, nil).Relations(t.Context())
	if want := "events {event_id bigint}, order_items {order_id bigint}, orders {order_id bigint}, products {product_id integer}, users {user_id integer}"; err != nil || shown(all) != want {
		t.Errorf("%s, %v", shown(all), err)
	}
}
