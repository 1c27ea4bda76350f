import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { Calls } from './calls.ts'
import type { IfMatch } from './http/entity-tags.ts'
import type { Tenant } from './tenancy.ts'

/** Who signed in. */
export type Caller = {
  readonly accountLocator: Uuid
  readonly username: string
  /** E.g. `account.tenant.employee`; see accounts/permissions. */
  readonly accountType: string
  /**
   * What the caller may, as `group.action` or `group.*`, in the place of what the account type may: of a token that
   * has permissions of its own, or of roles that the tenant defines. Absent: what the type may.
   */
  readonly permissions?: readonly string[]
  /** When a long-lived token expires, in real time. Absent for callers who signed in with a password. */
  readonly tokenExpiresAt?: Instant
  /** The tenants that an administration account's long-lived token is for (access/rights.ts, `requireTenant`). */
  readonly tenants?: readonly string[]
}

/** What makes a repeat of a write recognisable: the caller's key and a hash of method, path and body. */
export type IdempotencyKey = { readonly key: string; readonly bodyHash: string }

/**
 * Everything that a service needs to know about a request beside its data. Plain data except `env`, `calls` and
 * `later`; a Durable Object builds its own from the message that it gets.
 */
export type RequestContext = {
  readonly env: Env
  readonly tenant: Tenant
  readonly caller: Caller
  /** Also the answer's X-Request-Id and the requestId of the events that the request causes. */
  readonly requestId: Uuid
  /** The tenant's time (platform/tenancy, `tenantNow`) on a tenant's routes and in its objects; else the real one. */
  readonly now: Instant
  readonly idempotency: IdempotencyKey | undefined
  /** How the record that the request changes must be (platform/http/entity-tags.ts); undefined for any. */
  readonly ifMatch?: IfMatch | undefined
  /** Whether it may make the tenant's data larger; erasing and background work do not. */
  readonly adds?: boolean
  readonly calls: Calls
  /** Runs on after the answer. */
  readonly later: (work: Promise<unknown>) => void
}

/** A request of an administration account: it belongs to no tenant. */
export type AdministrationContext = Omit<RequestContext, 'tenant'>

/** Scheduler work is attributed to this account. */
export const SYSTEM_CALLER: Caller = {
  accountLocator: '00000000-0000-4000-8000-000000000000' as Uuid,
  username: 'system',
  accountType: 'account.internal',
}
