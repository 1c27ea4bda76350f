import type { CurrencyCode } from '../../src/kernel/money.ts'
import type { Instant, TimeZone } from '../../src/kernel/time.ts'
import type { CompiledTemplate } from './compile.ts'
import type { RenderLimits } from './limits.ts'

/**
 * What a look-up answers. `notLoaded`: the key goes to `missing`, rendering goes on with blank; the caller fetches
 * all missing keys at once and renders again.
 */
export type LookupResult = { value: string } | 'noSuchTable' | 'noSuchKey' | 'notLoaded'

/** What a template may ask for beyond its data. Nothing here waits: rendering is synchronous. */
export type RenderingEnvironment = {
  timeZone: TimeZone
  currency: CurrencyCode
  /** The time of `"now"`. */
  now: Instant
  /** `at` is the time that `lookup_effective` was given. */
  lookup(table: string, key: string, at?: Instant): LookupResult
  /** For `get_policyholder_info_from_id`; without it the filter gives nothing. */
  policyholderInfo?(locator: string): unknown
  /** For `image_url`; without it the name is printed unchanged. */
  imageUrl?(name: string): string | undefined
  /** For `include` and `render`; undefined for an unknown name. */
  templates?(name: string): CompiledTemplate | undefined
  limits?: Partial<RenderLimits>
}

/** A key that was not loaded yet. `at` only from `lookup_effective`. */
export type MissingKey = { table: string; key: string; at?: Instant }
