// Packs values for an isolate: a record as its difference from the previous one, a repeated text as its number. A fleet of a thousand
// vehicles repeats most values; as JSON it would be ten times as long and take as long as rating (docs/plugins.md).

export type Packed = {
  /** All texts, one after the other. */
  readonly text: string
  readonly constants: readonly Constant[]
  /** Property names of each shape of object, in order. */
  readonly shapes: readonly (readonly string[])[]
  /** The shape of each kind. Records of one shape in one place are of one kind. */
  readonly kinds: readonly number[]
  readonly changes: readonly Change[]
  /** The values in order, each eight times a number plus one of CODES. */
  readonly data: Int32Array
}

type Constant = number | boolean | null

/** The difference from the last record of the kind. `names` have new values; `empty` have empty objects, a new one in each record. */
type Change = { readonly kind: number; readonly names: readonly string[]; readonly empty: readonly string[] }

const CODES = {
  /** The number is its length. */
  newText: 0,
  earlierText: 1,
  constant: 2,
  /** Its length; its entries follow. */
  list: 3,
  /** Its change; the values of those names follow. */
  record: 4,
} as const

/** Runs inside the isolate: it refers to nothing outside, and CODES are written out. `copies` are the functions of the text COPIES. */
export function unpack(
  { text, constants, shapes, kinds, changes, data }: Packed,
  copies: readonly ((record: object) => object)[],
): unknown {
  // An object with all properties from the start is filled several times faster than one that grows. An own property named __proto__
  // is assigned as it is.
  const empty = shapes.map(
    names => JSON.parse(`{${names.map(name => `${JSON.stringify(name)}:null`).join(',')}}`) as object,
  )
  const lasts = kinds.map(shape => empty[shape]!)
  const texts: string[] = []
  let at = 0
  let from = 0
  const read = (): unknown => {
    const code = data[at]!
    at += 1
    const number = code >>> 3
    switch (code & 7) {
      case 0: {
        const one = text.slice(from, from + number)
        from += number
        texts.push(one)
        return one
      }
      case 1:
        return texts[number]
      case 2:
        return constants[number]
      case 3: {
        const list: unknown[] = []
        for (let index = 0; index < number; index += 1) list[index] = read()
        return list
      }
      default: {
        const { kind, names, empty: own } = changes[number]!
        const record = copies[kinds[kind]! % copies.length]!(lasts[kind]!) as Record<string, unknown>
        lasts[kind] = record
        for (let index = 0; index < own.length; index += 1) record[own[index]!] = {}
        for (let index = 0; index < names.length; index += 1) record[names[index]!] = read()
        return record
      }
    }
  }
  return read()
}

/** One function for each use: an engine copies fastest where it meets objects of one shape only. */
export const COPIES = `[${Array.from({ length: 64 }, () => 'record => ({ ...record })').join()}]`

/** Consecutive texts in one place. The number of the next usually differs from the last one's by the same step. */
type Track = {
  at: number
  step: number
  /** The step before that: lists of four perils alternate between two. */
  otherStep: number
  /** How many recent texts were new. */
  fresh: number
}

/** After this many new texts in a row, further texts are neither looked up among earlier ones nor remembered. */
const MOST_FRESH = 32

/** Records of one shape in one place. */
type Kind = {
  readonly number: number
  readonly names: readonly string[]
  readonly last: unknown[]
  readonly tracks: readonly Track[]
  readonly inner: (Place | undefined)[]
  /** Changes by their sent columns, one bit each, and by their empty columns. */
  readonly changes: Map<number, number>
  /** The sent and empty columns of the last record, and its change. */
  sent: number
  empty: number
  change: number
  /** The kind that followed it last time. */
  next: Kind | undefined
}

/** The value of a property, or the entries of a list. */
type Place = {
  readonly kinds: Map<string, Kind>
  recent: Pick<Kind, 'next'>
  readonly track: Track
  entries: Place | undefined
}

/** The values of a record to send, with their columns; and a bit for each column that stays empty. */
type Difference = { readonly columns: number[]; readonly values: unknown[]; count: number; empty: number }

/** Columns beyond this have no bit and are always sent. */
const LAST_BIT = 29

/** Empty objects in columns beyond this are sent like other values: both sets of bits fit one exact number. */
const LAST_EMPTY_BIT = 21

const NONE = -1

const newTrack = (): Track => ({ at: NONE, step: 1, otherStep: 1, fresh: 0 })

const newPlace = (): Place => ({
  kinds: new Map(),
  recent: { next: undefined },
  track: newTrack(),
  entries: undefined,
})

/** JSON has no -0, NaN or Infinity. */
const asJson = (one: number): number | null => (Number.isFinite(one) ? one + 0 : null)

/** Packs the JSON form of the value: undefined properties are left out, undefined entries of lists become null. */
export function pack(value: unknown): Packed {
  const packing = new Packing()
  packing.put(value, newPlace(), 0)
  return packing.packed()
}

class Packing {
  readonly #texts: string[] = []
  readonly #numberOfText = new Map<string, number>()
  readonly #constants = new Map<Constant, number>()
  /** By the JSON of its names. */
  readonly #shapes = new Map<string, number>()
  readonly #kinds: number[] = []
  readonly #changes: Change[] = []
  /** By depth: while a record is packed, so are those within it. */
  readonly #differences: Difference[] = []
  readonly #data: number[] = []

  packed(): Packed {
    return {
      text: this.#texts.join(''),
      constants: [...this.#constants.keys()],
      shapes: [...this.#shapes.keys()].map(names => JSON.parse(names) as string[]),
      kinds: this.#kinds,
      changes: this.#changes,
      data: new Int32Array(this.#data),
    }
  }

  put(one: unknown, place: Place, depth: number): void {
    if (typeof one === 'string') this.#putText(one, place.track)
    else if (typeof one === 'number') this.#putConstant(asJson(one))
    else if (typeof one === 'boolean') this.#putConstant(one)
    else if (Array.isArray(one)) {
      this.#write(CODES.list, one.length)
      place.entries ??= newPlace()
      for (let at = 0; at < one.length; at += 1) this.put(one[at], place.entries, depth)
    } else if (typeof one === 'object' && one !== null)
      this.#putRecord(one as Record<string, unknown>, place, depth)
    else this.#putConstant(null)
  }

  #putRecord(record: Record<string, unknown>, place: Place, depth: number): void {
    if (depth === this.#differences.length)
      this.#differences.push({ columns: [], values: [], count: 0, empty: 0 })
    const difference = this.#differences[depth]!
    // Kinds repeat in the same order: liability, own damage, theft, glass.
    let kind = place.recent.next
    if (kind === undefined || !differs(record, kind, difference)) {
      kind = this.#kindOf(record, place)
      if (kind.change === NONE || !differs(record, kind, difference)) differsInAll(record, kind, difference)
    }
    place.recent.next = kind
    place.recent = kind
    const { columns, values, count } = difference
    this.#write(CODES.record, this.#changeOf(kind, difference))
    for (let at = 0; at < count; at += 1) {
      const column = columns[at]!
      const one = values[at]
      kind.last[column] = one
      if (typeof one === 'string') this.#putText(one, kind.tracks[column]!)
      else {
        kind.inner[column] ??= newPlace()
        this.put(one, kind.inner[column], depth + 1)
      }
    }
  }

  #kindOf(record: Record<string, unknown>, place: Place): Kind {
    const names = Object.keys(record).filter(name => record[name] !== undefined)
    const key = JSON.stringify(names)
    const known = place.kinds.get(key)
    if (known) return known
    const kind: Kind = {
      number: this.#kinds.push(numberIn(this.#shapes, key)) - 1,
      names,
      last: names.map(() => undefined),
      tracks: names.map(newTrack),
      inner: names.map(() => undefined),
      changes: new Map(),
      sent: 0,
      empty: 0,
      change: NONE,
      next: undefined,
    }
    place.kinds.set(key, kind)
    return kind
  }

  #changeOf(kind: Kind, { columns, count, empty }: Difference): number {
    let sent = 0
    for (let at = 0; at < count; at += 1) if (columns[at]! <= LAST_BIT) sent |= 1 << columns[at]!
    if (sent === kind.sent && empty === kind.empty && kind.change !== NONE) return kind.change
    const both = empty * 2 ** (LAST_BIT + 1) + sent
    let change = kind.changes.get(both)
    if (change === undefined) {
      const names = columns.slice(0, count).map(column => kind.names[column]!)
      const ofEmpty = kind.names.filter((_, column) => column <= LAST_EMPTY_BIT && empty & (1 << column))
      change = this.#changes.push({ kind: kind.number, names, empty: ofEmpty }) - 1
      kind.changes.set(both, change)
    }
    kind.sent = sent
    kind.empty = empty
    kind.change = change
    return change
  }

  #putText(text: string, track: Track): void {
    const usual = track.at + track.step
    let at: number | undefined = usual
    if (this.#texts[at] !== text) at = track.at + track.otherStep
    if (this.#texts[at] !== text) at = track.fresh < MOST_FRESH ? this.#numberOfText.get(text) : undefined
    if (at !== undefined && at !== usual) {
      track.otherStep = track.step
      track.step = at - track.at
    }
    track.at = at ?? this.#texts.push(text) - 1
    if (at !== undefined) {
      track.fresh = 0
      this.#write(CODES.earlierText, at)
      return
    }
    if (track.fresh < MOST_FRESH) {
      this.#numberOfText.set(text, track.at)
      track.fresh += 1
    }
    this.#write(CODES.newText, text.length)
  }

  #putConstant(one: Constant): void {
    this.#write(CODES.constant, numberIn(this.#constants, one))
  }

  #write(code: number, number: number): void {
    this.#data.push(number * 8 + code)
  }
}

/** Numbers keys in the order of their first use. */
function numberIn<K>(numbers: Map<K, number>, key: K): number {
  const earlier = numbers.get(key)
  if (earlier === undefined) numbers.set(key, numbers.size)
  return earlier ?? numbers.size - 1
}

/** Whether the record is of the kind; if so, fills `difference`. */
function differs(record: Record<string, unknown>, { names, last }: Kind, difference: Difference): boolean {
  const { columns, values } = difference
  let column = 0
  let count = 0
  let empty = 0
  // The fastest loop over objects of many shapes.
  for (const name in record) {
    const one = record[name]
    if (one === undefined) continue
    if (names[column] !== name) return false
    if (typeof one === 'string' && one === last[column] && column <= LAST_BIT) {
      column += 1
      continue
    }
    if (column <= LAST_EMPTY_BIT && isEmpty(one)) {
      empty |= 1 << column
      // The next record copies an empty object here, so the old value no longer applies.
      last[column] = undefined
    } else {
      columns[count] = column
      values[count] = one
      count += 1
    }
    column += 1
  }
  difference.count = count
  difference.empty = empty
  return column === names.length
}

function differsInAll(record: Record<string, unknown>, { names }: Kind, difference: Difference): void {
  const { columns, values } = difference
  for (let column = 0; column < names.length; column += 1) {
    columns[column] = column
    values[column] = record[names[column]!]
  }
  difference.count = names.length
  difference.empty = 0
}

/** Most records have several empty objects: no fields, groups or media. */
function isEmpty(one: unknown): boolean {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return false
  for (const _ in one) return false
  return true
}
