package sqlsafe

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestKeysWithoutAColumnAreFound makes lists of keys, some with a column and some with a parameter
// alone, and holds that those without a column are found, and no others. The last seeds are held
// out.
func TestKeysWithoutAColumnAreFound(t *testing.T) {
	constant := []string{":p", "(:p)", "lower(:p)", ":p::text", "CAST(:p AS text)", "coalesce(:p, 'x')", "CASE WHEN :p = 'a' THEN 1 ELSE 2 END", ":p || 'x'", "upper(trim(:p)) COLLATE \"C\"", "-:p", ":p IS NULL"}
	varying := []string{"city", "\"Order\"", "lower(city)", "CASE :p WHEN 'city' THEN city ELSE weight END", "weight * :p", "2", "'x'", "s.city", "(SELECT max(x) FROM y WHERE y.a = :p)", "city COLLATE \"C\"", "substr(city, 1, :p)"}
	ends := []string{"", " LIMIT :n", " LIMIT 5 OFFSET :n", " UNION SELECT :n", ";", " -- :p", " FETCH FIRST 3 ROWS ONLY"}
	for seed := range uint64(400) {
		if seed >= 300 {
			seed += 1_000_003
		}
		r := rand.New(rand.NewPCG(seed, 0))
		var keys []string
		want := 0
		for range 1 + r.IntN(4) {
			key := varying[r.IntN(len(varying))]
			if r.IntN(3) == 0 {
				key = constant[r.IntN(len(constant))]
				want++
			}
			keys = append(keys, key+[]string{"", " ASC", " desc", " DESC NULLS LAST"}[r.IntN(4)])
		}
		sql := "SELECT city, :other FROM parcels s WHERE id > :n " + []string{"ORDER BY ", "order  by\n", "GROUP /* :p */ BY "}[r.IntN(3)] + strings.Join(keys, []string{",", ", "}[r.IntN(2)]) + ends[r.IntN(len(ends))]
		if r.IntN(3) == 0 {
			sql = "SELECT * FROM (" + strings.TrimSuffix(strings.TrimSuffix(sql, " -- :p"), ";") + ") q WHERE city = :n"
		}
		for _, kind := range []Kind{SQLite, PostgreSQL} {
			found := kind.ConstantKeys(sql)
			if len(found) != want {
				t.Errorf("seed %d: %d of %d found in %s", seed, len(found), want, sql)
			}
			for _, one := range found {
				if one.Name != "p" || !strings.HasPrefix(sql[one.At:], ":p") {
					t.Errorf("seed %d: %+v in %s", seed, one, sql)
				}
			}
		}
	}
}
