// Names of operations, for generated clients and links into the reference. A name follows from method and path alone, so
// that no new operation changes another's.
import type { Route } from '../route.ts'

/** The legacy record of the same name has its plural elsewhere. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  'get /reinstatement/{reinstatementLocator}': 'getLegacyReinstatement',
}

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')

const pascal = (text: string): string =>
  text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())

const parameterOf = (segment: string | undefined): string | undefined => segment?.match(/^\{(\w+)\}$/)?.[1]

/**
 * One record of a list is its singular, and a parameter that says no more than the word before it goes without saying:
 * `get /policies/{policyLocator}/quotes` is `getPolicyQuotes`, `get /auxData/{locator}` is `getAuxDataByLocator`. The
 * tenant in a path is always the caller's.
 */
export function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const segments = path.split('/').filter(segment => segment !== '' && segment !== '{tenantLocator}')
  const words = segments.map((segment, at) => {
    const parameter = parameterOf(segment)
    if (parameter === undefined)
      return pascal(parameterOf(segments[at + 1]) === undefined ? segment : singular(segment))
    const before = segments[at - 1] ?? ''
    const isSaid = singular(before) !== before || parameter.startsWith(before)
    return isSaid ? '' : `By${pascal(parameter)}`
  })
  return OWN_NAMES[`${method} ${path}`] ?? method + words.join('')
}
