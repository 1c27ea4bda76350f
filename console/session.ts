// The signed-in user. The token is in the session storage of this tab and ends with the tab.

export type Session = {
  readonly token: string
  readonly expiresAt: number
  readonly username: string
  readonly name: string
  readonly tenantName: string
  readonly tenantLocator: string
  readonly tenantType: string
  /** Time zone of the tenant's configuration. All times are shown in it. */
  readonly timeZone: string
}

const KEY = 'bindery.session'
const TENANT_KEY = 'bindery.tenant'

/** Reads the claims of a token without verifying them. They are only displayed: the service verifies them. */
function claimsOf(token: string): Record<string, unknown> {
  const base64 = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/')
  const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
}

export function sessionOf(token: string): Session {
  const claims = claimsOf(token)
  const text = (name: string): string => String(claims[name] ?? '')
  return {
    token,
    expiresAt: Number(claims.exp) * 1000,
    username: text('sub'),
    name: text('account.name') || text('sub'),
    tenantName: text('tenant.name'),
    tenantLocator: text('tenant.uuid'),
    tenantType: text('tenant.type'),
    timeZone: text('tenant.timezone') || 'UTC',
  }
}

let current: Session | undefined
let last: Session | undefined

/** The session of this page, even if it has ended. */
export const lastSession = (): Session | undefined => last

/** The session of this tab, if there is one that has not ended. */
export function session(): Session | undefined {
  if (!current) {
    const token = sessionStorage.getItem(KEY)
    try {
      if (token) current = sessionOf(token)
    } catch {
      sessionStorage.removeItem(KEY)
    }
  }
  last = current ?? last
  if (current && current.expiresAt <= Date.now()) endSession()
  return current
}

/** The tenant's time zone. A page that is still open after its session has ended keeps showing the same days. */
export const zone = (): string => (session() ?? last)?.timeZone ?? 'UTC'

export function beginSession(token: string): Session {
  current = sessionOf(token)
  sessionStorage.setItem(KEY, token)
  return current
}

export function endSession(): void {
  current = undefined
  sessionStorage.removeItem(KEY)
}

/** The tenant that was signed in to last, which the next sign-in suggests. */
export const lastTenant = (): string => localStorage.getItem(TENANT_KEY) ?? ''
export const rememberTenant = (name: string): void => localStorage.setItem(TENANT_KEY, name)
