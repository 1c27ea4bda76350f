// Packs values for an isolate: a record as its difference from the previous one, a repeated text as a number. A fleet of a thousand
// vehicles repeats most values. As JSON it would be ten times as long, and transferring it would take as long as rating
// (docs/plugins.md).

export type Packed = {
  /** All texts, concatenated. */
  readonly text: string
  readonly constants: readonly Constant[]
  /** The property names of each shape of object, in order. */
  readonly shapes: readonly (readonly string[])[]
  /** The shape of each kind. A kind is the records of one shape in one place. */
  readonly kinds: readonly number[]
  readonly changes: readonly Change[]
  /** The values in order. Each is a number times eight plus one of CODES. */
  readonly data: Int32Array
}

type Constant = number | boolean | null

/** A difference from the last record of the kind: `names` have new values, and `empty` get a new empty object in each record. */
type Change = { readonly kind: number; readonly names: readonly string[]; readonly empty: readonly string[] }

const CODES = {
  /** The number is the length of the text. */
  newText: 0,
  earlierText: 1,
  constant: 2,
  /** The number is the length of the list; its entries follow. */
  list: 3,
  /** The number is that of the change; the values of its `names` follow. */
  record: 4,
} as const

/**
 * Runs inside the isolate, so it refers to nothing outside itself and contains the CODES as literals. `copies` are the functions in
 * COPIES.
 */
export function unpack(
  { text, constants, shapes, kinds, changes, data }: Packed,
  copies: readonly ((record: object) => object)[],
): unknown {
  // An object that has all its properties from the start is filled several times faster than one that grows. JSON.parse creates
  // `__proto__` as an own property, so assigning to it later does not change the prototype.
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

/**
 * Copying functions, a different one for each kind (up to 64): an engine copies fastest where it sees objects of a single shape.
 */
export const COPIES = `[${Array.from({ length: 64 }, () => 'record => ({ ...record })').join()}]`

/** Predicts the texts in one place: the number of the next text usually differs from that of the last one by the same step. */
type Track = {
  at: number
  step: number
  /** The previous step: lists of four perils alternate between two steps. */
  otherStep: number
  /** How many texts in a row were new. */
  fresh: number
}

/** After this many new texts in a row, further texts are neither looked up nor remembered. */
const MOST_FRESH = 32

/** Records of one shape in one place. */
type Kind = {
  readonly number: number
  readonly names: readonly string[]
  readonly last: unknown[]
  readonly tracks: readonly Track[]
  readonly inner: (Place | undefined)[]
  /** Numbers of changes by their sent and empty columns, each a set of bits. */
  readonly changes: Map<number, number>
  /** The sent and empty columns of the last record, and its change. */
  sent: number
  empty: number
  change: number
  /** The kind of the record that came after one of this kind the last time. */
  next: Kind | undefined
}

/** The value of a property, or the entries of a list. */
type Place = {
  readonly kinds: Map<string, Kind>
  recent: Pick<Kind, 'next'>
  readonly track: Track
  entries: Place | undefined
}

/** The values of a record that must be sent, with their columns, and one bit for each column that stays empty. */
type Difference = { readonly columns: number[]; readonly values: unknown[]; count: number; empty: number }

/** Columns after this one have no bit and are always sent. */
const LAST_BIT = 29

/** Empty objects in columns after this one are sent like other values, so that both sets of bits fit in one exact number. */
const LAST_EMPTY_BIT = 21

const NONE = -1

const newTrack = (): Track => ({ at: NONE, step: 1, otherStep: 1, fresh: 0 })

const newPlace = (): Place => ({
  kinds: new Map(),
  recent: { next: undefined },
  track: newTrack(),
  entries: undefined,
})

/** Converts a number as JSON does: JSON has no -0, NaN or Infinity. */
const asJson = (one: number): number | null => (Number.isFinite(one) ? one + 0 : null)

/** Packs the JSON form of the value: undefined properties are left out, and undefined entries of lists become null. */
export function pack(value: unknown): Packed {
  const packing = new Packing()
  packing.put(value, newPlace(), 0)
  return packing.packed()
}

class Packing {
  readonly #texts: string[] = []
  readonly #numberOfText = new Map<string, number>()
  readonly #constants = new Map<Constant, number>()
  /** Numbers of shapes, by the JSON of their names. */
  readonly #shapes = new Map<string, number>()
  readonly #kinds: number[] = []
  readonly #changes: Change[] = []
  /** One for each depth: records inside a record are packed while it is still being packed. */
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
    // Kinds usually repeat in the same order, such as liability, own damage, theft and glass.
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

/** Returns the number of the key; keys are numbered in the order of their first use. */
function numberIn<K>(numbers: Map<K, number>, key: K): number {
  const earlier = numbers.get(key)
  if (earlier === undefined) numbers.set(key, numbers.size)
  return earlier ?? numbers.size - 1
}

/** Whether the record is of the kind. If so, also fills in `difference`. */
function differs(record: Record<string, unknown>, { names, last }: Kind, difference: Difference): boolean {
  const { columns, values } = difference
  let column = 0
  let count = 0
  let empty = 0
  // for...in is the fastest loop over objects of many shapes.
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
      // The next record gets a copied empty object here, so the old value no longer applies.
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

/** Most records have several empty objects, for fields, groups or media. */
function isEmpty(one: unknown): boolean {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return false
  for (const _ in one) return false
  return true
}
