// The data of a template as Velocity reads it. A number may travel as text, so that it prints as it was given: Liquid
// computes with such text, and here `+` would join it.
import { asNumber, dataNumber, isDataNumber, LiquidNumber } from '../liquid/values.ts'

/** On a map of the data or its prototype: the names of members whose text is a number. Templates reach no symbols. */
export const NUMBER_MEMBERS: unique symbol = Symbol('number members')

/** A value of the data for templates: exact numbers, and nothing that can be called. */
export function readable(value: unknown): unknown {
  if (isDataNumber(value)) return dataNumber(value)
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : value
}

/** An own member of a map. */
export function memberOf(map: object, name: string): unknown {
  if (!Object.hasOwn(map, name)) return undefined
  const value = readable((map as Record<string, unknown>)[name])
  if (!(map as { [NUMBER_MEMBERS]?: ReadonlySet<string> })[NUMBER_MEMBERS]?.has(name)) return value
  return Array.isArray(value) ? numbersOf(value) : textNumber(value)
}

/** Lists of the data never change; a template may ask for one at each step of a loop. */
const lists = new WeakMap<readonly unknown[], readonly unknown[]>()

function numbersOf(list: readonly unknown[]): readonly unknown[] {
  let numbers = lists.get(list)
  if (!numbers) {
    numbers = list.map(textNumber)
    lists.set(list, numbers)
  }
  return numbers
}

/** Computes as a number, prints as its text: `12.50` keeps its zero. Has the methods of text too. */
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
