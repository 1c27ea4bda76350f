// A preview's token records what was previewed, of which policy, for whom and at what price. A write that sends it as
// `If-Previewed` does exactly that, or nothing (docs/design.md, section 4).
import { hash, randomUUID } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { invalidParameter, Refusal } from '../../kernel/errors.ts'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { TOKEN_ALGORITHM, tokenKeys } from '../../platform/token-keys.ts'
import type { PolicyAggregate, Stamped } from '../../policy/records/aggregate.ts'
import { canonical } from '../../product/difference/values.ts'
import type { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'

/** How long a preview can be carried out. */
export const PREVIEW_LIFE_MS = 15 * 60 * 1000

/** Differs from the type of access tokens, so that neither is accepted as the other. */
const TYPE = 'preview+jwt'

/** The previewed transaction. `body`, `state` and `price` are digests. */
export type PreviewedFacts = {
  readonly policy: PolicyLocator
  readonly operation: string
  readonly body: string
  readonly version: number
  /** The digest of the policy's records except documents (`digestOfPolicy`). Absent from tokens of the previous release. */
  readonly state?: string
  readonly price: string
  /** In the tenant's time. */
  readonly at: Instant
}

/** A verified token. It may have expired: a repeat with the same `Idempotency-Key` still gets its answer. */
export type IfPreviewed = PreviewedFacts & {
  readonly id: string
  readonly account: Uuid
  /** Real time. */
  readonly expiresAt: number
}

type Signing = Pick<RequestContext, 'env' | 'tenant' | 'caller'>

/** Returns a token for the preview, and the real time, in milliseconds, at which it expires. */
export async function signPreview(
  { env, tenant, caller }: Signing,
  facts: PreviewedFacts,
): Promise<{ token: string; expiresAt: number }> {
  const { signing } = await tokenKeys(env)
  const signedAt = Math.floor(now() / 1000)
  const expiresAt = signedAt + PREVIEW_LIFE_MS / 1000
  const token = await new SignJWT({ ...facts, generation: tenant.generation })
    .setProtectedHeader({ alg: TOKEN_ALGORITHM, typ: TYPE, kid: signing.kid })
    .setAudience(tenant.locator)
    .setSubject(caller.accountLocator)
    .setJti(randomUUID())
    .setIssuedAt(signedAt)
    .setExpirationTime(expiresAt)
    .sign(signing.key)
  return { token, expiresAt: expiresAt * 1000 }
}

const invalidToken = () =>
  invalidParameter(
    'If-Previewed must be an unchanged previewToken from a response of POST /policies/{policyLocator}/preview for this tenant.',
  )

/** Rejects with 400 a token that this service did not sign for the tenant. */
export async function readPreview(
  { env, tenant }: Pick<RequestContext, 'env' | 'tenant'>,
  token: string,
): Promise<IfPreviewed> {
  const { verifying } = await tokenKeys(env)
  const { payload } = await jwtVerify(
    token,
    ({ kid = '' }) => {
      const key = verifying.get(kid)
      if (!key) throw invalidToken()
      return key
    },
    {
      algorithms: [TOKEN_ALGORITHM],
      typ: TYPE,
      audience: tenant.locator,
      // Expiry is checked where the write is decided, after repeats have been answered.
      currentDate: new Date(0),
      requiredClaims: ['exp', 'sub', 'jti'],
    },
  ).catch(() => {
    throw invalidToken()
  })
  if (payload.generation !== tenant.generation) throw invalidToken()
  const { policy, operation, body, version, state, price, at } = payload as unknown as PreviewedFacts
  return {
    policy,
    operation,
    body,
    version,
    price,
    at,
    ...(state !== undefined && { state }),
    id: payload.jti!,
    account: payload.sub as Uuid,
    expiresAt: payload.exp! * 1000,
  }
}

const digest = (text: string): string => hash('sha256', text, 'base64url')

/** Digests a request without `state` and `issue`. A preview always shows the transaction issued, so these do not matter to it. */
export function digestOfRequest(request: object): string {
  const { state: _, issue: __, ...rest } = request as { state?: unknown; issue?: unknown }
  return digest(canonical(rest))
}

/** Every change of these records updates their time stamps, and nothing else of a policy changes without one of them. */
const STAMPED = [
  'quotes',
  'modifications',
  'endorsements',
  'cancellations',
  'reinstatements',
  'gracePeriods',
  'lapseReinstatements',
  'invoices',
] as const

type StampedRecord = Stamped & {
  readonly locator: number | string
  readonly state?: string
  readonly statuses?: readonly unknown[]
}

/** Combines the time with the state, since several changes may have the same time. */
const stampOf = ({ locator, updatedAt, state, statuses }: StampedRecord): string =>
  [locator, updatedAt, state, statuses?.length].join(' ')

/**
 * Digests the times when the records of a policy last changed. Excludes documents: they are created in the background and raise
 * the policy's version, but no transaction depends on them.
 */
export function digestOfPolicy(aggregate: PolicyAggregate): string {
  const { policy, payments, lapses } = aggregate
  const stamps = STAMPED.flatMap(name => [...aggregate[name].values()].map(stampOf))
  const paid = [...payments.values()].map(({ locator, reversedAt }) => `${locator} ${reversedAt ?? ''}`)
  const all = [...stamps, ...paid, ...lapses.keys()].sort()
  return digest([policy.updatedAt, policy.configVersion, ...all].join('\n'))
}

/** Digests all amounts. Excludes locators, since the real transaction creates records with other locators than the preview. */
export const digestOfPrice = ({ worksheet: _, ...price }: PolicyPriceChangeResponse): string =>
  digest(JSON.stringify(price, (name, value) => (/locator$/i.test(name) ? undefined : value)))

const REASONS = {
  expired: 'The preview has expired',
  used: 'The preview has already been carried out',
  account: 'The preview was made by a different account',
  operation: 'The preview was for a different operation',
  body: 'The preview was for a different request',
  policy: 'The policy has changed since the preview',
  price: 'The price has changed since the preview',
  unknown: 'The preview does not exist or has been removed',
} as const

/** Returns the 409 for a write that would differ from its preview. Nothing was changed. */
export const previewOutdated = (reason: keyof typeof REASONS): Refusal =>
  new Refusal('previewOutdated', `${REASONS[reason]}. Preview the transaction again, and decide again.`, {
    previewReason: reason,
  })
