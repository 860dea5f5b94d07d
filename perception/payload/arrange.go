package payload

// move moves the numbers of an array from their order in the payload, row after row, to
// that of the codec, or back. Byte b of the number in row r and column c
// goes to r*row + c*column + b*byte after the lead:
//
//	                  row      column   byte
//	unchanged         C*E      E        1
//	planar            E        R*E      1
//	shuffle           C        1        R*C
//	planar, shuffle   1        R        R*C
//
// for R rows, C columns and E bytes. The lead and a part of a row at the end stay unchanged.
type strides struct{ row, column, byte int }

func (l layout) strides(rows int) strides {
	switch {
	case l.planar && l.shuffle:
		return strides{1, rows, rows * l.Columns}
	case l.planar:
		return strides{l.Element, rows * l.Element, 1}
	case l.shuffle:
		return strides{l.Columns, 1, rows * l.Columns}
	}
	return strides{l.row(), l.Element, 1}
}

// table copies the bytes that stay unchanged, and returns the whole rows.
func (l layout) table(dst, src []byte) (rows int, d, s []byte) {
	if l.Element > 0 && len(src) > l.Offset {
		rows = (len(src) - l.Offset) / l.row()
	}
	if rows == 0 {
		copy(dst, src)
		return 0, nil, nil
	}
	end := l.Offset + rows*l.row()
	copy(dst[:l.Offset], src)
	copy(dst[end:], src[end:])
	return rows, dst[l.Offset:end], src[l.Offset:end]
}

// move fills dst, which is as long as src, for the compressor, or back from it.
func (l layout) move(dst, src []byte, back bool) {
	rows, dst, src := l.table(dst, src)
	from, to := strides{l.row(), l.Element, 1}, l.strides(rows)
	if back {
		from, to = to, from
	}
	for c := range l.Columns {
		above := uint64(0)
		at, put := c*from.column, c*to.column
		for range rows {
			v := l.gather(src[at:], from.byte)
			switch {
			case !l.delta:
			case back:
				v = (v>>1 ^ -(v & 1)) + above
				above = v
			default:
				v, above = l.zigzag(v-above), v
			}
			l.scatter(dst[put:], to.byte, v)
			at += from.row
			put += to.row
		}
	}
}

// zigzag encodes 0, -1, 1, -2 … as 0, 1, 2, 3 …, so that the upper bytes of small differences
// are 0 whatever their sign.
func (h Hint) zigzag(d uint64) uint64 {
	up := 64 - 8*h.Element
	signed := int64(d<<up) >> up
	return uint64(signed<<1 ^ signed>>63)
}

// scatter writes the bytes of v, in the order of the payload, a stride apart.
func (h Hint) scatter(b []byte, stride int, v uint64) {
	for i := range h.Element {
		b[i*stride] = byte(v >> h.shift(i))
	}
}

// gather reads what scatter writes.
func (h Hint) gather(b []byte, stride int) uint64 {
	v := uint64(0)
	for i := range h.Element {
		v |= uint64(b[i*stride]) << h.shift(i)
	}
	return v
}

// shift returns the bits of a number below those of byte i.
func (h Hint) shift(i int) int {
	if h.BigEndian {
		return 8 * (h.Element - 1 - i)
	}
	return 8 * i
}
