// Variables of CSS: `--name: value` of an element and those around it, and `var(--name, otherwise)`.
import { closingParenthesis } from './selectors.ts'

export type Variables = ReadonlyMap<string, string>

export const NO_VARIABLES: Variables = new Map()

/** In characters. A value may name a variable often, and so on: without a limit, a few lines would print millions. */
const LONGEST_VALUE = 2_000

/** `var()` within what another gives if it has no value. */
const DEEPEST = 20

const VAR = /\bvar\(\s*(--[^\s,()]{1,200})\s*(?=[,)])/gi

export const hasVariable = (value: string): boolean => /\bvar\(/i.test(value)

/** Returns the variables of an element, whose own may name one another. A circle has no value. */
export function variablesWith(own: Variables, inherited: Variables): Variables {
  if (own.size === 0) return inherited
  const known = new Map(inherited)
  const open = new Set<string>()
  const done = new Set<string>()
  const valueFor = (name: string): string | undefined => {
    const value = own.get(name)
    if (value === undefined || done.has(name)) return known.get(name)
    if (open.has(name)) return undefined
    open.add(name)
    const filled = withVariables(value, valueFor)
    open.delete(name)
    done.add(name)
    if (filled === undefined) known.delete(name)
    else known.set(name, filled)
    return filled
  }
  for (const name of own.keys()) valueFor(name)
  return known
}

/** Undefined if a variable has neither a value nor one to use otherwise, or if the text becomes too long. */
export function withVariables(
  text: string,
  valueFor: (name: string) => string | undefined,
  depth = 1,
): string | undefined {
  let [filled, at] = ['', 0]
  for (;;) {
    VAR.lastIndex = at
    const found = VAR.exec(text)
    if (!found) break
    const after = found.index + found[0].length
    const end = closingParenthesis(text, after)
    if (end < 0 || depth > DEEPEST) return undefined
    const value =
      valueFor(found[1]!) ??
      (text[after] === ','
        ? withVariables(text.slice(after + 1, end).trim(), valueFor, depth + 1)
        : undefined)
    if (value === undefined) return undefined
    filled += text.slice(at, found.index) + value
    if (filled.length > LONGEST_VALUE) return undefined
    at = end + 1
  }
  filled += text.slice(at)
  return filled.length > LONGEST_VALUE || hasVariable(filled) ? undefined : filled
}
