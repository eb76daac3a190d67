package trainplot

import "strings"

// What a character takes at most, in the drawing's units: of a drawing that is seen as it is, and of one on a page that makes the letters of a narrow
// window larger (18 instead of 12). A title is 15 and bold.
const (
	cell      = 7.2
	largeCell = 10.8
	titleCell = 9.3
	maxTitle  = 67 // characters
)

// cells is the room that a text takes, in characters: letters of East Asia, pictures and the sign of what is left out take two.
func cells(s string) (n int) {
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

func cellsOf(r rune) int {
	if r >= 0x1100 {
		return 2
	}
	return 1
}

// shorten leaves out the middle of a text that is too long: train and val begin names that are alike, others differ at the end.
func shorten(s string, room int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if cells(s) <= room {
		return s
	}
	name := []rune(s)
	head, tail := 0, len(name)
	for left, front := room-cellsOf('…'), true; ; front = !front {
		next := head
		if !front {
			next = tail - 1
		}
		if left -= cellsOf(name[next]); left < 0 {
			return string(name[:head]) + "…" + string(name[tail:])
		}
		if front {
			head++
		} else {
			tail--
		}
	}
}

// widest is the room that the labels of some ticks take at most, in characters.
func widest(ticks []float64) (n int) {
	for _, v := range ticks {
		n = max(n, len(number(v)))
	}
	return n
}

// apart gives as many ticks of the axis as have room side by side, also with large letters.
func apart(a, b, room float64) (list []float64) {
	for _, n := range []int{8, 6, 4, 3, 2, 1} {
		list = ticks(a, b, n)
		if len(list) < 2 || float64(float64(widest(list)+1)*largeCell) <= room*float64(list[1]-list[0])/(b-a) {
			break
		}
	}
	return list
}
