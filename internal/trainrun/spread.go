package trainrun

// Thinning leaves out rows by their level, which says how rare a row is among its neighbours: half of them are of level 0, a quarter of level 1.

// maxLevel is that of the rarest rows.
const maxLevel = 63

// level is what thinning goes by. It is of the row's place alone: the batch in its epoch, the epoch, or the line where there is neither.
func (r *row) level() int {
	switch r.axis {
	case AxisEpoch:
		return spread(uint64(r.epoch), 0)
	case AxisStep, axisPhase:
		return spread(uint64(r.step), uint64(r.epoch))
	default:
		return spread(uint64(r.crc), uint64(r.pos))
	}
}

// spread gives the level of a number in a series of them. Of 2^k numbers in a row, from a multiple of 2^k on, exactly one is of level k or more,
// and which of them is random: so numbers that leave most out, as multiples or all odd ones, have about that share of each level, too.
// Bit by bit, from the lowest on, a number goes on to the next level if the bit is what the bits above it say.
func spread(x, series uint64) int {
	base := mix(series)
	for k := range uint64(maxLevel) {
		above := x >> (k + 1)
		if x>>k&1 != mix(base+above*0x9e3779b97f4a7c15+k*0xd1b54a32d192ed03)>>63 {
			return int(k)
		}
	}
	return maxLevel
}

// mix spreads numbers evenly.
func mix(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}
