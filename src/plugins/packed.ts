// Values on their way into an isolate. A fleet of a thousand vehicles says the same things thousands of times: of each
// name, text and set of properties there is one, and what the values are is a row of numbers. As JSON it would be five
// times as long, and take as long to write and read as rating it takes.

/** Plain data, as JSON has it, packed by `pack`. */
export type Packed = {
  readonly strings: readonly string[]
  /** Numbers, truth values and null. */
  readonly constants: readonly (number | boolean | null)[]
  /** Names of the properties of objects that have the same ones, in order. */
  readonly shapes: readonly (readonly string[])[]
  /**
   * The values in order, each four times a number plus its kind: 0 and the text's number, 1 and the constant's, 2 and the
   * length of a list whose entries follow, 3 and the shape of an object whose values follow.
   */
  readonly data: Int32Array
}

type ShapeNode = { readonly next: Map<string, ShapeNode>; shape?: number }

/** Numbers things as they come, each once. */
function numbered<T>(): { of(thing: T): number; all: T[] } {
  const numbers = new Map<T, number>()
  const all: T[] = []
  return {
    all,
    of(thing) {
      let number = numbers.get(thing)
      if (number === undefined) {
        number = all.length
        all.push(thing)
        numbers.set(thing, number)
      }
      return number
    },
  }
}

/** JSON knows no -0, and no number that is none. */
const asJson = (one: number): number | null => (Number.isFinite(one) ? one + 0 : null)

/** Packs what JSON can say of the value: properties that are undefined are left out, such entries of lists are null. */
export function pack(value: unknown): Packed {
  const strings = numbered<string>()
  const constants = numbered<number | boolean | null>()
  const shapes: string[][] = []
  const root: ShapeNode = { next: new Map() }
  const data: number[] = []
  const shapeOf = (names: readonly string[]): number => {
    let node = root
    for (const name of names) {
      let next = node.next.get(name)
      if (!next) {
        next = { next: new Map() }
        node.next.set(name, next)
      }
      node = next
    }
    node.shape ??= shapes.push([...names]) - 1
    return node.shape
  }
  const put = (one: unknown): void => {
    if (typeof one === 'string') data.push(strings.of(one) * 4)
    else if (typeof one === 'number') data.push(constants.of(asJson(one)) * 4 + 1)
    else if (typeof one === 'boolean') data.push(constants.of(one) * 4 + 1)
    else if (Array.isArray(one)) {
      data.push(one.length * 4 + 2)
      for (const entry of one) put(entry)
    } else if (typeof one === 'object' && one !== null) {
      const record = one as Record<string, unknown>
      const names = Object.keys(record)
      const said = names.some(name => record[name] === undefined)
        ? names.filter(name => record[name] !== undefined)
        : names
      data.push(shapeOf(said) * 4 + 3)
      for (const name of said) put(record[name])
    } else data.push(constants.of(null) * 4 + 1)
  }
  put(value)
  return { strings: strings.all, constants: constants.all, shapes, data: Int32Array.from(data) }
}

/** The value. Runs inside the isolate: it stands alone. */
export function unpack({ strings, constants, shapes, data }: Packed): unknown {
  const { defineProperty } = Reflect
  let at = 0
  const read = (): unknown => {
    const code = data[at]!
    at += 1
    const number = code >>> 2
    switch (code & 3) {
      case 0:
        return strings[number]
      case 1:
        return constants[number]
      case 2: {
        const list: unknown[] = []
        for (let index = 0; index < number; index += 1) list[index] = read()
        return list
      }
      default: {
        const names = shapes[number]!
        const record: Record<string, unknown> = {}
        for (let index = 0; index < names.length; index += 1) {
          const name = names[index]!
          // To assign it would be to set the prototype, not a property of that name.
          if (name === '__proto__')
            defineProperty(record, name, {
              value: read(),
              writable: true,
              enumerable: true,
              configurable: true,
            })
          else record[name] = read()
        }
        return record
      }
    }
  }
  return read()
}
