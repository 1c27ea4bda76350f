import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Signing } from '../../platform/outbound/signature.ts'

/** Types of integrations (resources brief 6.1). Bindery calls the first two; the others are stored for clients. */
export const INTEGRATION_TYPES = ['external_rater', 'data_autofill', 'webhook', 'fe-plugins'] as const

export type IntegrationType = (typeof INTEGRATION_TYPES)[number]

/** `secureSsl` is only stored; certificates are always verified. */
export type Security = Signing & { readonly secureSsl: boolean }

/** Sealed in the database, as one value. */
export type Connection = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly security?: Security
}

export type Integration = Connection & {
  readonly locator: Uuid
  /** Unique within the tenant. */
  readonly name: string
  readonly type: IntegrationType
  readonly createdAt: Instant
  readonly updatedAt: Instant
}
