// Package wait bounds every wait for a model server and keeps the client's connection alive
// meanwhile: the [Pulse] of a reply, the limits of its waits, and the queue for a busy server.
//
// No limit covers a whole reply: a call of 17,000 characters may take minutes, while each of its
// records comes in time. What is limited is silence, about which users complain most: clients give
// up after some 255 s to 330 s of it, and hops in between after 60 s.
package wait
