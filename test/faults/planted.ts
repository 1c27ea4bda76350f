// One violation for each check of the checker, as it would appear: planted in the databases of a run without violations, or in the
// contents read from it where rows alone cannot show it.

import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import { BELONGS } from './checks/policies.ts'
import { isDone, writeOf } from './checks/wishes.ts'
import type { Wish } from './client.ts'
import { type Contents, type Row, SHARD } from './contents.ts'
import type { Check } from './violation.ts'

/** Planted by a statement, in shard 0. */
export type PlantedRow = {
  readonly what: string
  readonly check: Check
  readonly table: string
  readonly sql: string
  readonly says: RegExp
}

export const PLANTED_ROWS: readonly PlantedRow[] = [
  {
    what: 'an event that is lost before it is delivered',
    check: 'delivery',
    table: 'delivery',
    sql: 'delete from delivery where event_sequence = (select max(event_sequence) from delivery)',
    says: /has no delivery/,
  },
  {
    what: 'an event that was not delivered',
    check: 'delivery',
    table: 'delivery',
    sql: `update delivery set state = 'failed' where event_sequence = (select max(event_sequence) from delivery)`,
    says: /is failed after/,
  },
  {
    what: 'an event that is lost',
    check: 'toldOnce',
    table: 'event',
    sql: `delete from event where type = 'policy.issue' or instr(type, '"policy.issue"') > 0`,
    says: /It is there, and has 0 events policy\.issue/,
  },
  {
    what: 'an event told of twice',
    check: 'toldOnce',
    table: 'event',
    sql: `insert into event select (select max(sequence) from event) + 1, 'twice', request_id, type, newer_type, at, data,
       account_locator, username, policyholder_locator, policy_locator from ${EVERY_EVENT} where type = 'policy.issue' limit 1`,
    says: /It is there, and has 2 events policy\.issue/,
  },
  {
    what: 'an installment that is invoiced twice',
    check: 'invoices',
    table: 'invoice',
    sql: `insert into invoice (locator, policy_locator, display_id, policy_modification_locator, installment_number, type, start, end,
         due_at, created_at, updated_at, statuses)
       select 'twice', policy_locator, display_id, policy_modification_locator, installment_number, type, start, end,
         due_at, created_at, updated_at, statuses from invoice
       where policy_locator in (select locator from policy where version > 0) limit 1`,
    says: /is invoiced twice/,
  },
  {
    what: 'a payment that is lost',
    check: 'invoices',
    table: 'payment',
    sql: 'delete from payment where reversed_at is null and invoice_locator is not null',
    says: /is paid, and \d+ of it is not/,
  },
  {
    what: 'an invoice that stays open although it is paid',
    check: 'invoices',
    table: 'invoice',
    sql: `update invoice set statuses = json_array(json_extract(statuses, '$[0]'))
       where json_extract(statuses, '$[#-1].status') = 'paid'`,
    says: /is not fulfilled, and nothing of it is open/,
  },
  {
    what: 'a payment taken twice',
    check: 'recordWished',
    table: 'payment',
    sql: `insert into payment (locator, display_id, policy_locator, policyholder_locator, invoice_locator, source, amount, credited,
         currency, field_values, posted_at)
       select 'twice', display_id, policy_locator, policyholder_locator, invoice_locator, source, amount, credited,
         currency, field_values, posted_at from payment where source = 'received' limit 1`,
    says: /The payment twice is there, and nobody wished for it/,
  },
  {
    what: 'a premium charged that nobody set',
    check: 'bills',
    table: 'peril_run',
    sql: 'update peril_run set premium = premium + 100 where replaced_by is null and premium is not null',
    says: /is billed and planned, and .* is due/,
  },
  {
    what: 'a change of premium that is not what was recorded',
    check: 'modifications',
    table: 'modification',
    sql: 'update modification set premium_change = premium_change + 100 where premium_change is not null',
    says: /expected/,
  },
  {
    what: 'transactions whose order is lost',
    check: 'changes',
    table: 'modification',
    sql: 'update modification set number = 1 where number > 0',
    says: /expected/,
  },
  {
    what: 'half a transaction: without its segments',
    check: 'bills',
    table: 'policy_segment',
    sql: 'delete from policy_segment',
    says: /is billed and planned, and .* is due/,
  },
  {
    what: 'segments that lie over each other',
    check: 'segments',
    table: 'policy_segment',
    sql: 'update policy_segment set start = start - 864000000 where predecessor is not null and replaced_by is null',
    says: /Two segments are in force/,
  },
  {
    what: 'a segment that ends before it starts',
    check: 'segments',
    table: 'policy_segment',
    sql: 'update policy_segment set end = start - 1 where replaced_by is null',
    says: /before it starts/,
  },
  {
    what: 'half a transaction: without its modification',
    check: 'belongs',
    table: 'modification',
    sql: 'delete from modification where number > 0',
    says: /is of a modification that is not there/,
  },
  {
    what: 'half a transaction: without its write',
    check: 'acknowledgedThere',
    table: 'write',
    sql: `delete from "write" where key like '%:wish-%'`,
    says: /It was acknowledged and is not there/,
  },
  {
    what: 'a transaction that came to half of its commits',
    check: 'version',
    table: 'policy',
    sql: 'update policy set version = version + 1',
    says: /It is at version \d+, and was written \d+ times/,
  },
  {
    what: 'a policy that nothing can read',
    check: 'readable',
    table: 'policy',
    sql: 'update policy set config_version = 99',
    says: /It cannot be read/,
  },
  {
    what: 'a timer that never fired',
    check: 'timer',
    table: 'timer',
    sql: `insert into timer values ('planted', 1, 'policy.invoice', '1', '{}')`,
    says: /A timer policy\.invoice was due at 1/,
  },
  {
    what: 'a document that is never made',
    check: 'documentReady',
    table: 'document',
    sql: `update document set state = 'draft'`,
    says: /is draft/,
  },
]

/** Planted in the contents that were read. */
export type PlantedContents = {
  readonly what: string
  readonly check: Check
  readonly plant: (contents: Contents) => Contents
}

const withTable = (contents: Contents, table: string, rows: (rows: readonly Row[]) => Row[]): Contents => ({
  ...contents,
  rows: { ...contents.rows, [table]: rows(contents.rows[table] ?? []) },
})

const withRow = (contents: Contents, table: string, row: Row): Contents =>
  withTable(contents, table, rows => [...rows, { [SHARD]: 0, ...row }])

const withFiles = (contents: Contents, change: (files: string[]) => string[]): Contents => ({
  ...contents,
  files: new Set(change([...contents.files])),
})

/** A wish of the kind that was carried out. The run must have one. */
function doneWish(contents: Contents, kind: string): Wish {
  const wish = contents.ledger.find(
    one => one.kind === kind && one.outcome === 'acknowledged' && isDone(contents, one),
  )
  if (!wish) throw new Error(`Nobody wished for '${kind}' in this run; take another seed.`)
  return wish
}

const withWish = (contents: Contents, wish: Wish, change: Partial<Wish>): Contents => ({
  ...contents,
  ledger: contents.ledger.map(one => (one === wish ? { ...wish, ...change } : one)),
})

/** The locator that follows the folder in the path. */
const named = ({ asked }: Wish, folder: string): string => asked.path.split(`/${folder}/`)[1]!.split('/')[0]!

const locatorOf = (wish: Wish): string => (wish.answers[0] as { locator: string }).locator

export const PLANTED_CONTENTS: readonly PlantedContents[] = [
  {
    what: 'a key that was used in two databases',
    check: 'keyOnce',
    plant: contents =>
      withRow(contents, 'write', {
        ...writeOf(contents, doneWish(contents, 'create policyholder'))[0],
        [SHARD]: 1,
      }),
  },
  {
    what: 'what was refused, and carried out',
    check: 'refusedAbsent',
    plant: contents => withWish(contents, doneWish(contents, 'issue'), { outcome: 'refused' }),
  },
  {
    what: 'a repeat that is answered otherwise',
    check: 'oneAnswer',
    plant: contents => {
      const wish = doneWish(contents, 'create policy')
      return withWish(contents, wish, { answers: [...wish.answers, {}] })
    },
  },
  {
    what: 'a request and its repeat that were both carried out',
    check: 'oneTry',
    plant: contents => {
      const wish = doneWish(contents, 'issue')
      const event = contents.rows.event!.find(row => wish.requestIds.includes(String(row.request_id)))!
      const twice = withRow(contents, 'event', { ...event, locator: 'twice', request_id: 'repeat' })
      return withWish(twice, wish, { requestIds: [...wish.requestIds, 'repeat'] })
    },
  },
  {
    what: 'an event of what is not there',
    check: 'absentUntold',
    plant: contents => {
      const { key } = doneWish(contents, 'issue')
      return withTable(contents, 'write', rows => rows.filter(row => !String(row.key).endsWith(key)))
    },
  },
  {
    what: 'a record that two wishes were told of',
    check: 'recordOfOneWish',
    plant: contents => {
      const wish = doneWish(contents, 'create policy')
      const both = { ...contents, ledger: [...contents.ledger, { ...wish, key: 'wish-other' }] }
      return withRow(both, 'write', { ...writeOf(contents, wish)[0], key: 'somebody:wish-other' })
    },
  },
  {
    what: 'a record that was acknowledged and is not there',
    check: 'recordThere',
    plant: contents => {
      const locator = locatorOf(doneWish(contents, 'create policy'))
      return withTable(contents, 'policy', rows => rows.filter(row => String(row.locator) !== locator))
    },
  },
  {
    what: 'a fee that was acknowledged and is not there',
    check: 'feeOnce',
    plant: contents => {
      doneWish(contents, 'add fee')
      return withTable(contents, 'fee', rows =>
        rows.filter(row => !String(row.description).startsWith('By hand')),
      )
    },
  },
  {
    what: 'a document that was added twice',
    check: 'documentOnce',
    plant: contents =>
      withTable(contents, 'document', rows => rows.flatMap(row => [row, { ...row, locator: 'twice' }])),
  },
  {
    what: 'a document that was removed and is there',
    check: 'documentOnce',
    plant: contents => {
      const wish = doneWish(contents, 'add document')
      const undoes = new URL(wish.asked.path, 'http://x').searchParams.get('displayName')!
      const removal = {
        ...wish,
        kind: 'remove document',
        key: 'wish-removal',
        asked: { ...wish.asked, undoes },
      }
      const both = { ...contents, ledger: [...contents.ledger, removal] }
      return withRow(both, 'write', { ...writeOf(contents, wish)[0], key: 'somebody:wish-removal' })
    },
  },
  {
    what: 'a payment that was reversed and counts',
    check: 'reversed',
    plant: contents => {
      const payment = named(doneWish(contents, 'reverse'), 'payments')
      return withTable(contents, 'payment', rows =>
        rows.map(row => (row.locator === payment ? { ...row, reversed_at: null } : row)),
      )
    },
  },
  ...BELONGS.map(
    ([table, column, owner]): PlantedContents => ({
      what: `a ${table} of a ${owner} that is not there`,
      check: 'belongs',
      plant: contents => withRow(contents, table, { locator: 'planted', [column]: 'nobody' }),
    }),
  ),
  {
    what: 'an answer that is not what is stored',
    check: 'answered',
    plant: contents => ({
      ...contents,
      policies: new Map(
        [...contents.policies].map(([locator, kept]) => [
          locator,
          kept.shown ? { ...kept, shown: { ...kept.shown, currency: 'XXX' } } : kept,
        ]),
      ),
    }),
  },
  {
    what: 'credit that was used twice',
    check: 'credit',
    plant: contents =>
      withRow(contents, 'payment', {
        source: 'credit',
        amount: 10_000_000,
        reversed_at: null,
        policyholder_locator: contents.rows.policyholder![0]!.locator,
      }),
  },
  {
    what: 'an event that did not come to the webhook',
    check: 'arrival',
    plant: contents => ({ ...contents, posts: contents.posts.slice(1) }),
  },
  {
    what: 'a post of what never happened',
    check: 'noStranger',
    plant: contents => ({ ...contents, posts: [...contents.posts, 'stranger'] }),
  },
  {
    what: 'events of a policy that came in another order',
    check: 'order',
    plant: contents => ({ ...contents, posts: contents.posts.toReversed() }),
  },
  {
    what: 'an event that is in the stream twice',
    check: 'streamOnce',
    plant: contents => ({ ...contents, stream: [...contents.stream, contents.stream[0]!] }),
  },
  {
    what: 'an event that the stream lacks',
    check: 'streamWhole',
    plant: contents => ({ ...contents, stream: contents.stream.slice(1) }),
  },
  {
    what: 'documents that nobody makes',
    check: 'documentJob',
    plant: contents => withRow(contents, 'document_job', { policy_locator: 1 }),
  },
  {
    what: 'an account that waits to be migrated',
    check: 'migrated',
    plant: contents =>
      withTable(contents, 'migration_account', rows => rows.map(row => ({ ...row, state: 'processing' }))),
  },
  {
    what: 'an account that was migrated into two databases',
    check: 'migratedOnce',
    plant: contents =>
      withTable(contents, 'migration_mapping', rows =>
        rows.flatMap(row => [row, { ...row, account_locator: 'another' }]),
      ),
  },
  {
    what: 'a guard that stayed',
    check: 'guard',
    plant: contents => withRow(contents, 'guard', { name: 'guard_policy_version' }),
  },
  ...['documents/', 'media/', 'archives/'].map(
    (folder): PlantedContents => ({
      what: `a file that is lost of ${folder}`,
      check: 'fileThere',
      plant: contents => withFiles(contents, files => files.filter(key => !key.startsWith(folder))),
    }),
  ),
  ...['documents/x', 'media/x', 'resources/x', 'integration-calls/x', 'migrations/x/body'].map(
    (key): PlantedContents => ({
      what: `a file that was stored and never recorded: ${key}`,
      check: 'fileNamed',
      plant: contents => withFiles(contents, files => [...files, key]),
    }),
  ),
]
