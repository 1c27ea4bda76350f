// Two carryings-out of the same held against one another.

/**
 * The value with what two carryings-out of the same differ in taken away: locators are numbered in the order in
 * which they are met, so that which of them are the same still tells; times of recording are there or not.
 */
export function comparable(value: unknown): unknown {
  const names = new Map<string, string>()
  const numbered = (text: string): string => {
    const name = names.get(text) ?? `locator ${names.size + 1}`
    names.set(text, name)
    return name
  }
  const isLocator = (text: string): boolean => /^([0-9a-f]{8}-[0-9a-f-]{27}|[1-9]\d{8,9})$/.test(text)
  const isNamed = (name: string): boolean => /[lL]ocators?$|^displayId$/.test(name)
  const RECORDED = /^(created|updated|issued|replaced|decision|posted|issue)?[tT]imestamp$/
  const walk = (one: unknown, name = ''): unknown => {
    if (typeof one === 'string') return isNamed(name) || isLocator(one) ? numbered(one) : one
    if (Array.isArray(one)) return one.map(element => walk(element, name))
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(
      Object.entries(one).map(([key, inner]) => [
        isLocator(key) ? numbered(key) : key,
        RECORDED.test(key) ? 'recorded' : walk(inner, key),
      ]),
    )
  }
  return walk(value)
}

/** What issuing itself sets: when each record was issued, replaced or changed last. */
const SET_BY_ISSUE = /^(issued|replaced|updated)Timestamp$/

/**
 * A policy foreseen as issued, or read after the issue, without what the two may differ in: the times that issuing sets
 * and the documents that it makes. Locators and every other property stay as they are.
 */
export function foreseeable<P extends { documents: unknown }>(policy: P): Omit<P, 'documents'> {
  const { documents: _madeByIssue, ...rest } = policy
  return JSON.parse(
    JSON.stringify(rest, (name, value: unknown) => (SET_BY_ISSUE.test(name) ? 'set' : value)),
  ) as Omit<P, 'documents'>
}
