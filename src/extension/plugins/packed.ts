// Values on their way into an isolate. A fleet of a thousand vehicles says the same things thousands of times: of each
// record only what differs from the one before it is told, a text that comes again is told by its number, and what the
// values are is a row of numbers beside one long text. As JSON they would be ten times as long, and take as long to
// write and read as rating them takes.

/** Plain data, as JSON has it, packed by `pack`. */
export type Packed = {
  /** All texts, one after the other. */
  readonly text: string
  readonly constants: readonly Constant[]
  /** Names of the properties of objects that have the same ones, in order. */
  readonly shapes: readonly (readonly string[])[]
  /** Records of one shape in one place are of a kind: the shape of each kind. */
  readonly kinds: readonly number[]
  readonly changes: readonly Change[]
  /** The values in order, each eight times a number plus one of CODES. */
  readonly data: Int32Array
}

export type Constant = number | boolean | null

/**
 * What differs from the last record of the kind: of `names` the values are told; those of `empty` have nothing in them, as
 * the last one's had, and each record has its own.
 */
export type Change = {
  readonly kind: number
  readonly names: readonly string[]
  readonly empty: readonly string[]
}

export const CODES = {
  /** The number is its length. */
  newText: 0,
  /** Which of the texts so far. */
  earlierText: 1,
  constant: 2,
  /** Its length; its entries follow. */
  list: 3,
  /** Its change; the values of those names follow. */
  record: 4,
} as const

/**
 * The value. Runs inside the isolate: it stands alone, and knows CODES by heart. `copies` are functions of the text
 * COPIES.
 */
export function unpack(
  { text, constants, shapes, kinds, changes, data }: Packed,
  copies: readonly ((record: object) => object)[],
): unknown {
  // What has all its properties from the start is filled several times faster than what grows; and what is an object's
  // own, be it named __proto__, is assigned as it is.
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

/** The same function many times over: an engine copies fastest where it meets objects of one shape only. */
export const COPIES = `[${Array.from({ length: 64 }, () => 'record => ({ ...record })').join()}]`
