// Package atomicdir writes sets of files so that a reader, a kill and a full disk never see a torn one: every file is
// written aside, synced and renamed into place; the last of a set, the marker, lists the others and commits them. Files
// whose bytes are on disk already are not touched. Folders are
// opened through one os.Root, so no name leaves the directory; while a set is written its folders stay open, and files are made and renamed in them.
package atomicdir
