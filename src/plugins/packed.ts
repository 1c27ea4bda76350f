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

const isSame = (a: readonly string[], b: readonly string[]): boolean => {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false
  return true
}

/** JSON knows no -0, and no number that is none. */
const asJson = (one: number): number | null => (Number.isFinite(one) ? one + 0 : null)

/** Packs what JSON can say of the value: properties that are undefined are left out, such entries of lists are null. */
export function pack(value: unknown): Packed {
  const strings = numbered<string>()
  const constants = numbered<number | boolean | null>()
  const shapes: string[][] = []
  /** By their first name: objects whose names are locators have shapes of their own. */
  const byFirst = new Map<string | undefined, number[]>()
  const data: number[] = []
  const shapeOf = (names: readonly string[]): number => {
    const alike = byFirst.get(names[0]) ?? []
    for (const shape of alike) if (isSame(shapes[shape]!, names)) return shape
    byFirst.set(names[0], [...alike, shapes.length])
    return shapes.push([...names]) - 1
  }
  const put = (one: unknown): void => {
    if (typeof one === 'string') data.push(strings.of(one) * 4)
    else if (typeof one === 'number') data.push(constants.of(asJson(one)) * 4 + 1)
    else if (typeof one === 'boolean') data.push(constants.of(one) * 4 + 1)
    else if (Array.isArray(one)) {
      data.push(one.length * 4 + 2)
      for (const entry of one) put(entry)
    } else if (typeof one === 'object' && one !== null) {
      let names = Object.keys(one)
      let values: unknown[] = Object.values(one)
      if (values.includes(undefined)) {
        names = names.filter((_, index) => values[index] !== undefined)
        values = values.filter(each => each !== undefined)
      }
      data.push(shapeOf(names) * 4 + 3)
      for (const each of values) put(each)
    } else data.push(constants.of(null) * 4 + 1)
  }
  put(value)
  return { strings: strings.all, constants: constants.all, shapes, data: Int32Array.from(data) }
}

/** The value. Runs inside the isolate: it stands alone. */
export function unpack({ strings, constants, shapes, data }: Packed): unknown {
  // Copies of an object that has all its properties are filled several times faster than objects that grow; and what
  // is the object's own, be it named __proto__, is assigned as it is.
  const templates = shapes.map(
    names => JSON.parse(`{${names.map(name => `${JSON.stringify(name)}:null`).join(',')}}`) as object,
  )
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
        const record: Record<string, unknown> = { ...templates[number] }
        for (let index = 0; index < names.length; index += 1) record[names[index]!] = read()
        return record
      }
    }
  }
  return read()
}
