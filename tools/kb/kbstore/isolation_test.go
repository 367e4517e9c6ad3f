package kbstore_test

import (
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/kbstoretest"
	"toolnorm/tools/kb/kbstore"
)

// TestNoForeignDocument holds 10,000 random pairs of principal and corpus on each kind of database.
func TestNoForeignDocument(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) { kbstoretest.Isolation(t, open(t, where), 10_000) })
}

// TestWithoutRightsNobodySees holds the two zero values, which are what a forgotten assignment
// leaves.
func TestWithoutRightsNobodySees(t *testing.T) {
	var a kbstore.Access
	if kbstore.FilterOf(&auth.Principal{Clearance: 9, Departments: []string{"", "a"}}).Allows(&a) {
		t.Error("the zero value of Access is seen")
	}
	if (kbstore.Filter{}).Allows(&kbstore.Access{Public: true}) {
		t.Error("the zero value of Filter shows something")
	}
}
