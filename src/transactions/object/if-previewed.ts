// `If-Previewed`: a write does what was previewed, at that price, or nothing (docs/design.md, section 4).
import { eq } from 'drizzle-orm'
import { invalidRequest } from '../../kernel/errors.ts'
import { now } from '../../kernel/time.ts'
import type { Database, Query } from '../../platform/database.ts'
import { writes } from '../../platform/tables.ts'
import { isIssued } from '../../policy/fold/line.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { allKinds, type Issuing, type PolicyOperation } from '../mechanism/kind.ts'
import type { PolicyMessage } from '../mechanism/message.ts'
import {
  digestOfPolicy,
  digestOfPrice,
  digestOfRequest,
  type IfPreviewed,
  previewOutdated,
} from '../mechanism/preview-token.ts'
import { recordedPriceChange } from '../mechanism/price-change.ts'

/** Returns the key that marks a token as used. It is stored with the idempotency keys of callers, which never have this form. */
const keyOfUse = ({ id }: IfPreviewed): string => `preview:${id}`

/** Rejects with 409 an operation, request, account or policy other than the previewed one. */
export async function assertPreviewed(
  { operation, ifPreviewed, caller, locator }: PolicyMessage,
  loaded: Loaded,
  database: Database,
): Promise<void> {
  if (!ifPreviewed) return
  const { expiresAt, account, body, policy } = ifPreviewed
  if (account !== caller.accountLocator) throw previewOutdated('account')
  const { name, issuing } = issuedBy(operation)
  if (name !== ifPreviewed.operation || policy !== locator) throw previewOutdated('operation')
  if (digestOfRequest(issuing.request) !== body) throw previewOutdated('body')
  if (hasChanged(ifPreviewed, loaded.aggregate))
    throw previewOutdated((await isUsed(ifPreviewed, database)) ? 'used' : 'policy')
  if (expiresAt <= now()) throw previewOutdated('expired')
}

/** Whether the policy has changed since the preview. New documents do not count. */
const hasChanged = ({ version, state }: IfPreviewed, aggregate: PolicyAggregate): boolean =>
  version !== aggregate.policy.version && state !== digestOfPolicy(aggregate)

/** Returns the completed operation, with the times of the preview where the request leaves times out. */
export const withPreviewedTimes = (
  { ifPreviewed }: PolicyMessage,
  operation: PolicyOperation,
  loaded: Loaded,
): PolicyOperation => (ifPreviewed ? issuedBy(operation).issuing.at(ifPreviewed.at, loaded) : operation)

function issuedBy(operation: PolicyOperation): { name: string; issuing: Issuing<object> } {
  for (const { previews = {} } of allKinds())
    for (const [name, preview] of Object.entries(previews)) {
      const issuing = preview?.issuedBy(operation)
      if (issuing) return { name, issuing }
    }
  throw invalidRequest(
    'A request with If-Previewed must also issue the transaction, because the preview showed the issue: send state "issued", or issue true.',
  )
}

async function isUsed(ifPreviewed: IfPreviewed, database: Database): Promise<boolean> {
  const [rows] = await database.batch([
    database.build
      .select({ key: writes.key })
      .from(writes)
      .where(eq(writes.key, keyOfUse(ifPreviewed))),
  ])
  return rows.length > 0
}

/** Rejects with 409 a transaction whose price differs from the preview. */
export function assertPreviewedPrice(
  { ifPreviewed }: PolicyMessage,
  { aggregate: before, product }: Loaded,
  after: PolicyAggregate,
): void {
  if (!ifPreviewed) return
  const made = [...after.modifications.values()].filter(
    one => isIssued(one) && before.modifications.get(one.locator)?.issuedAt === undefined,
  )
  const prices = made.map(one => digestOfPrice(recordedPriceChange(after, one, product)))
  if (prices.length !== 1 || prices[0] !== ifPreviewed.price) throw previewOutdated('price')
}

/**
 * Returns the row that marks the token as used, for the batch of the write. A token that was used already fails at the policy's
 * guard, since the policy's version has changed.
 */
export const rowOfUse = ({ ifPreviewed }: PolicyMessage, database: Database): Query[] =>
  ifPreviewed
    ? [
        database.build
          .insert(writes)
          .values({ key: keyOfUse(ifPreviewed), bodyHash: '', status: 0, subject: '', at: now() }),
      ]
    : []
