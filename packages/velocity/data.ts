// The data of a template as Velocity reads it. A number may be transported as text, so that it prints as it was given. Liquid
// computes with such text, but here `+` would join it.
import { asNumber, dataNumber, isDataNumber, LiquidNumber } from '../liquid/values.ts'

/**
 * A property of a map of the data, or of its prototype: the names of members whose text is a number. Templates cannot reach
 * symbols.
 */
export const NUMBER_MEMBERS: unique symbol = Symbol('number members')

/** Returns a value of the data for templates: exact numbers, and nothing that can be called. */
export function readable(value: unknown): unknown {
  if (isDataNumber(value)) return dataNumber(value)
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : value
}

/** Returns an own member of a map. */
export function memberOf(map: object, name: string): unknown {
  if (!Object.hasOwn(map, name)) return undefined
  const value = readable((map as Record<string, unknown>)[name])
  if (!(map as { [NUMBER_MEMBERS]?: ReadonlySet<string> })[NUMBER_MEMBERS]?.has(name)) return value
  return Array.isArray(value) ? numbersOf(value) : textNumber(value)
}

/** Lists of the data never change. Cached, because a template may read a list at each step of a loop. */
const lists = new WeakMap<readonly unknown[], readonly unknown[]>()

function numbersOf(list: readonly unknown[]): readonly unknown[] {
  let numbers = lists.get(list)
  if (!numbers) {
    numbers = list.map(textNumber)
    lists.set(list, numbers)
  }
  return numbers
}

/** Computes as a number and prints as its text: `12.50` keeps its zero. Also has the methods of text. */
export class TextNumber extends LiquidNumber {
  readonly #text: string

  constructor(text: string, { value, whole }: LiquidNumber) {
    super(value, whole)
    this.#text = text
  }

  override toString(): string {
    return this.#text
  }
}

function textNumber(value: unknown): unknown {
  const number = typeof value === 'string' ? asNumber(value) : undefined
  return number ? new TextNumber(value as string, number) : value
}
