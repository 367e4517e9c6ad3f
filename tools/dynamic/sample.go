package dynamic

import (
	"context"
	"errors"
	"fmt"
	"os"

	"toolnorm/internal/store"
)

// sampleTables creates the tables of the specification's two examples, which are limits of users
// and departments, as a company's own tool server would have them.
const sampleTables = `
CREATE TABLE h_user (uid INTEGER PRIMARY KEY, user_nm TEXT NOT NULL, dept TEXT NOT NULL, active TEXT NOT NULL);
CREATE TABLE h_mcp_tool_limit (id INTEGER PRIMARY KEY, target_type TEXT NOT NULL, target_id INTEGER NOT NULL, max_count INTEGER NOT NULL);
INSERT INTO h_user VALUES (1, 'hong', 'HR', 'Y'), (2, 'kim', 'IT', 'Y'), (3, 'lee', 'IT', 'N'), (4, 'park', 'Sales', 'Y'), (5, 'choi', 'Sales', 'Y');
INSERT INTO h_mcp_tool_limit VALUES (1, 'USER', 1, 50), (2, 'USER', 2, 100), (3, 'USER', 3, 10), (4, 'DEPT', 1, 500), (5, 'USER', 4, 75);`

// sampleNames lists the sample's tables that may be read.
var sampleNames = []string{"h_user", "h_mcp_tool_limit"}

// makeSample creates the file of the sample connection if it does not exist, so that a first SQL
// tool has something to query before a connection is set up. It is a separate file, so that
// experiments never touch the store. The file appears complete or not at all. If two programs start
// at once, the second replaces it by an equal one. makeSample returns an error if the file cannot
// be written.
func makeSample(ctx context.Context, path string) error {
	if exists(path) {
		return nil
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	db, err := store.Open(ctx, fresh)
	if err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	defer os.Remove(fresh)
	_, err = db.ExecContext(ctx, sampleTables)
	// without the second file of a journal, which would stay behind under the old name
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	return os.Rename(fresh, path)
}
