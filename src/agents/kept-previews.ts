// Previews of agents, kept until they expire. An agent sends only a short name, so nothing of what was previewed can be changed on
// the way. A preview is stored as the answer of an idempotent write, sealed, and removed by a timer.
import { and, eq, gte, lt, lte } from 'drizzle-orm'
import { auditRows } from '../access/audit/store.ts'
import { tooLarge } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import { type Instant, now } from '../kernel/time.ts'
import { commit, isBySubject, LONGEST_KEPT_ANSWER, storedAnswer } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Query } from '../platform/database.ts'
import type { TimerOwner } from '../platform/events/timers.ts'
import { seal, unseal } from '../platform/sealed.ts'
import { writes } from '../platform/tables.ts'
import {
  HOME_SHARD,
  homeDatabase,
  sealedPlace,
  shardDatabase,
  type TenantPlace,
} from '../platform/tenancy.ts'
import { PREVIEW_LIFE_MS, previewOutdated } from '../transactions/mechanism/preview-token.ts'
import type { Previewed } from './protocol/host.ts'

type KeptPreview = {
  readonly account: Uuid
  /** Real time. */
  readonly expiresAt: number
  readonly previewed: Previewed
}

/** These keys cannot collide with those of callers, which begin with the locator of an account. */
const keyOf = (id: string): string => `agent:${id}`
const keyOfUse = (id: string): string => `agent-used:${id}`

const withPreviewKey = (context: RequestContext, id: string): RequestContext => ({
  ...context,
  idempotency: { key: keyOf(id), bodyHash: '' },
})

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'
const ID_LETTERS = 24

/** 120 random bits, in letters that models copy without mistakes. */
const newId = (): string =>
  `pv_${[...crypto.getRandomValues(new Uint8Array(ID_LETTERS))].map(one => LETTERS[one % LETTERS.length]).join('')}`

/** One round trip. Rejects with 413 a preview that is too long to keep. */
export async function keepPreview(
  context: RequestContext,
  previewed: Previewed,
): Promise<{ preview: string; expiresTimestamp: string }> {
  const { env, tenant, caller } = context
  const id = newId()
  const expiresAt = now() + PREVIEW_LIFE_MS
  const kept: KeptPreview = { account: caller.accountLocator, expiresAt, previewed }
  const text = await seal(env, sealedPlace(tenant, 'agents', id), JSON.stringify(kept))
  if (text.length > LONGEST_KEPT_ANSWER)
    throw tooLarge(
      'The transaction is too large for an agent. Split it into several transactions, or use the API.',
    )
  // A full database accepts no previews either.
  await commit({ ...withPreviewKey(context, id), adds: true }, homeDatabase(context), {
    shard: HOME_SHARD,
    guards: [],
    facts: [],
    subject: id,
    answer: { status: 200, text },
    timers: [
      {
        dueAt: (context.now + PREVIEW_LIFE_MS) as Instant,
        kind: 'agent.preview.expiry',
        subject: id,
        payload: {},
      },
    ],
  })
  return { preview: id, expiresTimestamp: String(expiresAt) }
}

/** One round trip. Rejects with 409 a preview that is unknown, has expired, or belongs to another account. */
export async function takePreview(context: RequestContext, id: string): Promise<Previewed> {
  const answer = await storedAnswer(withPreviewKey(context, id), homeDatabase(context))
  if (!answer || isBySubject(answer)) throw previewOutdated('unknown')
  const { env, tenant, caller } = context
  const kept: KeptPreview = JSON.parse(await unseal(env, sealedPlace(tenant, 'agents', id), answer.text))
  if (kept.account !== caller.accountLocator) throw previewOutdated('account')
  if (kept.expiresAt <= now()) throw previewOutdated('expired')
  return kept.previewed
}

/**
 * Records that the preview is about to be carried out: one round trip. An operation that `If-Previewed` does not guard, such as a
 * new quote, can begin only once: a second attempt is rejected with 409.
 */
export async function beginPreviewed(
  context: RequestContext,
  id: string,
  { operation, subject, asked }: Previewed,
): Promise<void> {
  const home = homeDatabase(context)
  const entry = { action: 'agents.carryOut', subject, details: { operation, preview: id } } as const
  const audit = auditRows(home, context, HOME_SHARD, [entry])
  if (asked.ifPreviewed !== undefined) {
    await home.batch(audit as [Query, ...Query[]])
    return
  }
  const use = { key: keyOfUse(id), bodyHash: '', status: 0, subject: id, at: now() }
  const [made] = await home.batch([
    home.build.insert(writes).values(use).onConflictDoNothing().returning({ key: writes.key }),
    ...audit,
  ] as const)
  if ((made as unknown[]).length === 0) throw previewOutdated('used')
}

/**
 * Removes all previews that were stored until then (real time). They are sealed and may show values of any policyholder, so after
 * an erasure agents must preview again.
 */
export async function removePreviews({ env, tenant, calls }: TenantPlace, until: number): Promise<void> {
  const database = shardDatabase(env, tenant, HOME_SHARD, calls)
  const [first, end] = [keyOf(''), 'agent;']
  await database.batch([
    database.build
      .delete(writes)
      .where(and(gte(writes.key, first), lt(writes.key, end), lte(writes.at, until))),
  ])
}

/** Idempotent. */
export const removePreview: TimerOwner = async ({ subject }, { env, tenant, shard, calls }) => {
  const database = shardDatabase(env, tenant, shard, calls)
  await database.batch([database.build.delete(writes).where(eq(writes.key, keyOf(subject)))])
}
