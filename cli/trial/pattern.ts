// Generates texts that match a pattern, for the forms used in patterns of fields. Each text is checked by the service's own
// engine before it is used, so that an unknown form does not produce a wrong value.
import { splitLookAround } from '../../src/product/fields/look-around.ts'
import type { Random } from './random.ts'

/** The maximum number of repetitions if a pattern sets none. */
const MOST_REPEATED = 4

/** Returns undefined for a pattern that it cannot read. Whether the text satisfies look-arounds is left to chance. */
export function textOfPattern(pattern: string, random: Random): string | undefined {
  try {
    return new PatternText(splitLookAround(pattern).plain, random).make()
  } catch (problem) {
    if (problem instanceof Unreadable) return undefined
    throw problem
  }
}

class Unreadable extends Error {}

const DIGITS = '0123456789'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const WORD = `${LOWER}${LOWER.toUpperCase()}${DIGITS}_`
const PRINTED = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('')

const CLASSES: Readonly<Record<string, string>> = { d: DIGITS, w: WORD, s: ' ' }

const without = (all: string, some: string): string => [...all].filter(one => !some.includes(one)).join('')

class PatternText {
  readonly #pattern: string
  readonly #random: Random
  #at = 0

  constructor(pattern: string, random: Random) {
    this.#pattern = pattern
    this.#random = random
  }

  make(): string {
    const text = this.#alternatives()
    if (this.#at < this.#pattern.length) throw new Unreadable()
    return text
  }

  /** Reads all alternatives and returns one of them. */
  #alternatives(): string {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return this.#random.pick(options)
  }

  #sequence(): string {
    let text = ''
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern[this.#at]!))
      text += this.#repeated()
    return text
  }

  /** Repeats an atom as often as its quantifier permits, generating it again each time. */
  #repeated(): string {
    const from = this.#at
    let text = this.#atom()
    const end = this.#at
    const [least, most] = this.#quantifier()
    const after = this.#at
    const times = this.#random.whole(least, most)
    if (times === 0) return ''
    for (let count = 1; count < times; count += 1) {
      this.#at = from
      text += this.#atom()
      if (this.#at !== end) throw new Unreadable()
    }
    this.#at = after
    return text
  }

  #quantifier(): [number, number] {
    const [all, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(this.#pattern.slice(this.#at)) ?? []
    let found: [number, number] = [1, 1]
    if (all !== undefined) {
      this.#at += all.length
      const from = Number(least)
      if (comma === '') found = [from, from]
      else found = [from, most === '' ? from + MOST_REPEATED : Number(most)]
    } else if (this.#take('?')) found = [0, 1]
    else if (this.#take('*')) found = [0, MOST_REPEATED]
    else if (this.#take('+')) found = [1, MOST_REPEATED]
    else return found
    this.#take('?')
    return found
  }

  #atom(): string {
    const letter = this.#pattern[this.#at++]!
    if (letter === '(') {
      if (this.#take('?')) {
        const [name] = /^(?::|P?<\w+>)/.exec(this.#pattern.slice(this.#at)) ?? []
        if (name === undefined) throw new Unreadable()
        this.#at += name.length
      }
      const text = this.#alternatives()
      if (!this.#take(')')) throw new Unreadable()
      return text
    }
    if (letter === '[') return this.#random.pick([...this.#class()])
    if (letter === '.') return this.#random.pick([...PRINTED])
    if (letter === '^' || letter === '$') return ''
    if (letter === '\\') return this.#random.pick([...this.#escaped()])
    if ('*+?{)'.includes(letter)) throw new Unreadable()
    return letter
  }

  #class(): string {
    const isNegated = this.#take('^')
    let letters = ''
    for (let first = true; first || this.#pattern[this.#at] !== ']'; first = false) {
      if (this.#at >= this.#pattern.length || this.#pattern.startsWith('[:', this.#at)) throw new Unreadable()
      const from = this.#member()
      if (from.length === 1 && this.#pattern[this.#at] === '-' && this.#pattern[this.#at + 1] !== ']') {
        this.#at += 1
        const to = this.#member()
        const [low, high] = [from.codePointAt(0)!, to.codePointAt(0)!]
        if (to.length !== 1 || high < low) throw new Unreadable()
        for (let code = low; code <= high; code += 1) letters += String.fromCodePoint(code)
      } else letters += from
    }
    this.#at += 1
    const allowed = isNegated ? without(PRINTED, letters) : letters
    if (allowed === '') throw new Unreadable()
    return allowed
  }

  #member(): string {
    const letter = this.#pattern[this.#at++]!
    return letter === '\\' ? this.#escaped() : letter
  }

  #escaped(): string {
    const letter = this.#pattern[this.#at++]
    if (letter === undefined) throw new Unreadable()
    const known = CLASSES[letter]
    if (known !== undefined) return known
    const negated = CLASSES[letter.toLowerCase()]
    if (negated !== undefined) return without(PRINTED, negated)
    if (/[A-Za-z0-9]/.test(letter)) throw new Unreadable()
    return letter
  }

  #take(letter: string): boolean {
    if (this.#pattern[this.#at] !== letter) return false
    this.#at += 1
    return true
  }
}
