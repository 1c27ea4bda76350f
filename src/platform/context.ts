import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { Calls } from './calls.ts'
import type { IfMatch } from './http/entity-tags.ts'
import type { Tenant } from './tenancy.ts'

export type Caller = {
  readonly accountLocator: Uuid
  readonly username: string
  /** E.g. `account.tenant.employee`. */
  readonly accountType: string
  /**
   * `group.action` or `group.*`, from a token with its own permissions or from roles that the tenant defines. They replace the
   * permissions of the account type, which apply when this is absent.
   */
  readonly permissions?: readonly string[]
  /** Expiry of a long-lived token, in real time. Absent after a sign-in with a password. */
  readonly tokenExpiresAt?: Instant
  /** Whether a software agent calls for the account, through `/mcp`. Audit entries record it. */
  readonly isAgent?: boolean
  /** Tenants of an administration account's long-lived token (access/rights.ts, `requireTenant`). */
  readonly tenants?: readonly string[]
}

/** Identifies a repeat of a write: the caller's key and a hash of method, path and body. */
export type IdempotencyKey = { readonly key: string; readonly bodyHash: string }

/**
 * Everything that a service needs to know about a request, in addition to its data. Plain data except `env`, `calls` and `later`.
 * A Durable Object builds its own context from its message.
 */
export type RequestContext = {
  readonly env: Env
  readonly tenant: Tenant
  readonly caller: Caller
  /** Also the X-Request-Id of the response and the requestId of events. */
  readonly requestId: Uuid
  /** The time of the tenant (`tenantNow`) on a tenant's routes and in its objects; real time elsewhere. */
  readonly now: Instant
  readonly idempotency: IdempotencyKey | undefined
  /** The version that the record to change must have (platform/http/entity-tags.ts). Undefined for any version. */
  readonly ifMatch?: IfMatch | undefined
  /** The unparsed token of the preview that the write must match. Undefined without one. */
  readonly previewToken?: string | undefined
  /** Whether the request may add to the tenant's data. Erasure and background work do not. */
  readonly adds?: boolean
  readonly calls: Calls
  /** Lets the work continue after the response. */
  readonly later: (work: Promise<unknown>) => void
}

/** The context of administration accounts, which have no tenant. */
export type AdministrationContext = Omit<RequestContext, 'tenant'>

/** The account of background work. */
export const SYSTEM_CALLER: Caller = {
  accountLocator: '00000000-0000-4000-8000-000000000000' as Uuid,
  username: 'system',
  accountType: 'account.internal',
}
