package payload

// strides are the distances in bytes from one row, column or byte of an array to the next. The
// payload has the numbers row after row; the codec stores them in another order. Byte b of the
// number in row r and column c is at r*row + c*column + b*byte after the lead:
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
		return strides{1, rows, rows * l.columns}
	case l.planar:
		return strides{l.element, rows * l.element, 1}
	case l.shuffle:
		return strides{l.columns, 1, rows * l.columns}
	}

	return strides{l.row(), l.element, 1}
}

// table copies the bytes that stay unchanged from src to dst. It returns the number of whole rows, and the parts of
// dst and src that hold them.
func (l layout) table(dst, src []byte) (rows int, d, s []byte) {
	if l.element > 0 && len(src) > l.offset {
		rows = (len(src) - l.offset) / l.row()
	}
	if rows == 0 {
		copy(dst, src)
		return 0, nil, nil
	}
	end := l.offset + rows*l.row()
	copy(dst[:l.offset], src)
	copy(dst[end:], src[end:])

	return rows, dst[l.offset:end], src[l.offset:end]
}

// move copies src to dst, which is as long, in the order of the codec. With back it copies from the order of the codec
// to that of the payload.
func (l layout) move(dst, src []byte, back bool) {
	rows, dst, src := l.table(dst, src)
	from, to := strides{l.row(), l.element, 1}, l.strides(rows)
	if back {
		from, to = to, from
	}

	for c := range l.columns {
		// Column by column, because the number above is of the same channel, and neighbours in time differ least.
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
func (a array) zigzag(d uint64) uint64 {
	up := 64 - 8*a.element
	signed := int64(d<<up) >> up
	return uint64(signed<<1 ^ signed>>63)
}

// scatter writes the bytes of v, in the order of the payload, a stride apart.
func (a array) scatter(b []byte, stride int, v uint64) {
	for i := range a.element {
		b[i*stride] = byte(v >> a.shift(i))
	}
}

// gather reads what scatter writes.
func (a array) gather(b []byte, stride int) uint64 {
	v := uint64(0)
	for i := range a.element {
		v |= uint64(b[i*stride]) << a.shift(i)
	}
	return v
}

// shift returns the bits of a number below those of byte i.
func (a array) shift(i int) int {
	if a.bigEndian {
		return 8 * (a.element - 1 - i)
	}
	return 8 * i
}
