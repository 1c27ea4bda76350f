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
