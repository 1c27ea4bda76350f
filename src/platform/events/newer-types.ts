// The names that the events interface and webhooks have for events of the stream (resources brief 8.1): one row, two
// views. A row has one newer name at most, so each act has the name on one of its rows:
//
// - To quote prices and underwrites in one act: the last of the newer steps, `underwrite`, tells of it, and
//   `underwritingStatus` says what came of it; a person's decision is `manualunderwrite`.
// - A policy's issue is the issue of its quote. Endorsements are `policy.change`.
// - What can go on from where it is put back to is `reset` (a quote or reinstatement whose acceptance is taken back);
//   what cannot is `discard` (an invalidated endorsement, a rescinded cancellation, an expired reinstatement).
// - `policy.status.update` tells of the end of cover when it comes, and not of the decision to end it.
// - Rows that stand beside another one of the same act have none (`policy.endorse` beside `endorsement.issue`,
//   `policy.invoice` beside `invoice.issue`, `policy.finalize` beside `policy.quote.accept`), nor have sign-ins.
import type { EventType } from './types.ts'

const STEPS = {
  create: 'create',
  update: 'update',
  quote: 'underwrite',
  accept: 'accept',
  issue: 'issue',
  invalidate: 'discard',
  discard: 'discard',
} as const

type Stepwise = `${'endorsement' | 'renewal'}.${keyof typeof STEPS}`

const stepwise = (older: 'endorsement' | 'renewal', newer: string) =>
  Object.fromEntries(
    Object.entries(STEPS).map(([step, name]) => [`${older}.${step}`, `${newer}.${name}`]),
  ) as Record<Stepwise, string>

/** By older type. A type whose newer name is the same is left out, and so is one that has none. */
export const NEWER_TYPES: Readonly<Partial<Record<EventType, string>>> = {
  'policyholder.create': 'policy.account.create',
  'policyholder.update': 'policy.account.update',
  'policy.quote.quoted': 'policy.quote.underwrite',
  'policy.quote.declined': 'policy.quote.underwrite',
  'policy.issue': 'policy.quote.issue',
  ...stepwise('endorsement', 'policy.change'),
  ...stepwise('renewal', 'policy.renewal'),
  'cancellation.create': 'policy.cancellation.create',
  'cancellation.update': 'policy.cancellation.update',
  'cancellation.rescind': 'policy.cancellation.discard',
  'cancellation.issue': 'policy.cancellation.issue',
  'cancellation.effective': 'policy.status.update',
  'reinstatement.create': 'policy.reinstatement.create',
  'reinstatement.accept': 'policy.reinstatement.accept',
  'reinstatement.issue': 'policy.reinstatement.issue',
  'reinstatement.invalidate': 'policy.reinstatement.reset',
  'reinstatement.deadlineReached': 'policy.reinstatement.discard',
  'policy.reinstatement.open': 'policy.reinstatement.create',
  'policy.reinstatement.close': 'policy.reinstatement.discard',
  'policy.end': 'policy.status.update',
  'policy.gracePeriod': 'billing.delinquency.create',
  'policy.lapse': 'billing.delinquency.lapse',
  'invoice.issue': 'billing.invoice.generate',
  'payment.pay': 'billing.payment.post',
  'payment.reverse': 'billing.payment.reverse',
}

/** What an act is called where that does not follow from its older type: it says so itself. With the older types. */
export const SPOKEN_NEWER_TYPES = {
  'policy.quote.manualunderwrite': ['policy.quote.quoted', 'policy.quote.declined'],
  'policy.quote.reset': ['policy.quote.update'],
  'policy.change.manualUnderwrite': ['endorsement.update'],
  'policy.renewal.manualUnderwrite': ['renewal.update'],
} as const satisfies Record<string, readonly EventType[]>

export type SpokenNewerType = keyof typeof SPOKEN_NEWER_TYPES

/** Every newer name that an event of the older type may have. */
export const newerTypesOf = (type: EventType): string[] => [
  ...(NEWER_TYPES[type] === undefined ? [] : [NEWER_TYPES[type]]),
  ...Object.entries(SPOKEN_NEWER_TYPES).flatMap(([newer, older]) =>
    older.some(one => one === type) ? [newer] : [],
  ),
]

/**
 * The newer name of an event, which subscriptions match as well as the older: what the act said, or what follows from
 * its type; undefined where there is none.
 */
export const newerTypeOf = ({
  type,
  newerType,
}: {
  readonly type: string
  readonly newerType?: SpokenNewerType
}): string | undefined =>
  newerType ?? (Object.hasOwn(NEWER_TYPES, type) ? NEWER_TYPES[type as EventType] : undefined)

const named = (prefix: string, actions: string): string[] =>
  actions.split(' ').map(action => `${prefix}.${action}`)

const TRANSACTION =
  'create update validate price underwrite manualUnderwrite accept issue refuse discard reset'

let everyNewerType: readonly string[] | undefined

/**
 * Every newer name that the brief spells out: each is accepted in subscriptions and filters, also those of acts that
 * the service does not have.
 */
export function newerTypes(): readonly string[] {
  everyNewerType ??= listed()
  return everyNewerType
}

const listed = (): string[] => [
  ...named('policy.account', 'create update validate discard anonymize'),
  ...named(
    'policy.quote',
    'create update validate price underwrite manualunderwrite accept issue refuse discard reset anonymize',
  ),
  ...['change', 'renewal', 'cancellation', 'reinstatement', 'reversal'].flatMap(kind =>
    named(`policy.${kind}`, TRANSACTION),
  ),
  ...named('policy', 'status.update anonymize'),
  ...named('billing.invoice', 'generate settle unsettle autopay autopayfailed'),
  ...named(
    'billing.payment',
    'create request execute post distribute validationfailed fail cancel reverse anonymize',
  ),
  ...named('billing.disbursement', 'create approve execute reject reverse anonymize'),
  ...named('billing.delinquency', 'create settle lapse'),
  ...named('document', 'ready failed'),
  ...named('migration', 'start pause resume recover patch error fail finish'),
  ...['account', 'quote', 'policy'].map(kind => `${kind}.config.migration.failed`),
]
