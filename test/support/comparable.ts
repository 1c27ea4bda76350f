// Makes the results of two runs of the same operations comparable.

/**
 * Returns the value without what differs between two runs of the same operations. Locators are numbered in the order in which
 * they occur, so it remains visible which of them are equal. Of the times of recording, only their presence remains.
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

/** Properties that issuing sets: when a record was issued, replaced or last changed. */
const SET_BY_ISSUE = /^(issued|replaced|updated)Timestamp$/

/**
 * Returns a policy, either previewed as issued or read after the issue, without what may differ between the two: the times that
 * issuing sets and the documents that it generates. Locators and all other properties remain.
 */
export function withoutIssueEffects<P extends { documents: unknown }>(policy: P): Omit<P, 'documents'> {
  const { documents: _madeByIssue, ...rest } = policy
  return JSON.parse(
    JSON.stringify(rest, (name, value: unknown) => (SET_BY_ISSUE.test(name) ? 'set' : value)),
  ) as Omit<P, 'documents'>
}
