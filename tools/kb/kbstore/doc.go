// Package kbstore keeps knowledge bases: documents cut into passages, each with who may see it, in
// SQLite or PostgreSQL.
//
// A knowledge base has collections, a collection has documents, a document has chunks. The tables
// have the names from the tools' specification, so they are in a database (SQLite) or a schema
// (PostgreSQL) of their own: the sample company has a table called documents as well.
//
//	base.go     knowledge bases, collections, documents and chunks, and the ids that they have
//	filter.go   what a principal may see: one rule, written in Go and in SQL
//	tables.go   the tables
//	store.go    opens the store; makes, lists and deletes knowledge bases
//	put.go      puts documents in and takes them out
//	move.go     moves a document to another knowledge base
//	changes.go  what was added and removed since an index was made
//	segment.go  a part of the index of words of a SQLite file: what it has of documents
//	index.go    puts documents into that index
//	reader.go   reads it, and the texts of what was found
//	ranked.go   searching in PostgreSQL: candidates by their words, filtered in the same statement
//	dense.go    the same by vectors, where pgvector is installed
//	list.go     what is in a base, as a principal sees it
//	odd.go      reads rows one by one, and leaves out those that cannot be used
package kbstore
