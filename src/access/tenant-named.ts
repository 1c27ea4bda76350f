// Which tenant a sign-in names: in the query or in the body, by name, host name or locator.
import { Refusal } from '../kernel/errors.ts'
import type { AuthenticateAdminQuery } from './contract.ts'

/** What a sign-in says of its tenant; all that is given must fit. */
export type TenantNamed = {
  readonly tenantName: string | undefined
  readonly hostName: string | undefined
  readonly tenantLocator: string | undefined
}

const PROPERTIES = ['tenantName', 'hostName', 'tenantLocator'] as const

/** Joins query and body; 400 when they give one property two values. */
export function tenantNamed(query: AuthenticateAdminQuery, body: AuthenticateAdminQuery): TenantNamed {
  const one = (property: (typeof PROPERTIES)[number]): string | undefined => {
    const [a, b] = [query[property], body[property]]
    if (a !== undefined && b !== undefined && a !== b)
      throw new Refusal(
        'invalidRequest',
        `The query and the body give different values for '${property}'; send one of them.`,
      )
    return a ?? b
  }
  return {
    tenantName: one('tenantName'),
    hostName: one('hostName')?.toLowerCase(),
    tenantLocator: one('tenantLocator')?.toLowerCase(),
  }
}

/** How many of the three properties are given. */
export const namings = (named: TenantNamed): number =>
  PROPERTIES.filter(property => named[property] !== undefined).length
