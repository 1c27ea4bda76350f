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
   * `group.action` or `group.*`, from a token with permissions of its own or from roles that the tenant defines. They replace
   * the permissions of the account type; absent, these apply.
   */
  readonly permissions?: readonly string[]
  /** Expiry of a long-lived token, in real time. Absent after a sign-in with a password. */
  readonly tokenExpiresAt?: Instant
  /** Whether a software agent calls for the account, through `/mcp`: audit entries say so. */
  readonly isAgent?: boolean
  /** Tenants of an administration account's long-lived token (access/rights.ts, `requireTenant`). */
  readonly tenants?: readonly string[]
}

/** Recognises a repeat of a write: the caller's key and a hash of method, path and body. */
export type IdempotencyKey = { readonly key: string; readonly bodyHash: string }

/**
 * What a service needs to know about a request, beside its data. Plain data except `env`, `calls` and `later`; a Durable
 * Object builds its own from its message.
 */
export type RequestContext = {
  readonly env: Env
  readonly tenant: Tenant
  readonly caller: Caller
  /** Also the X-Request-Id of the answer and the requestId of events. */
  readonly requestId: Uuid
  /** The tenant's time (`tenantNow`) on a tenant's routes and in its objects; otherwise real time. */
  readonly now: Instant
  readonly idempotency: IdempotencyKey | undefined
  /** The required version of the record to change (platform/http/entity-tags.ts); undefined for any. */
  readonly ifMatch?: IfMatch | undefined
  /** The token of the preview that the write must carry out, unread; undefined without one. */
  readonly previewToken?: string | undefined
  /** Whether it may enlarge the tenant's data; erasure and background work do not. */
  readonly adds?: boolean
  readonly calls: Calls
  /** Continues after the answer. */
  readonly later: (work: Promise<unknown>) => void
}

/** For administration accounts, which have no tenant. */
export type AdministrationContext = Omit<RequestContext, 'tenant'>

/** The account of scheduler work. */
export const SYSTEM_CALLER: Caller = {
  accountLocator: '00000000-0000-4000-8000-000000000000' as Uuid,
  username: 'system',
  accountType: 'account.internal',
}
