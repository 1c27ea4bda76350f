// A migration that moves three tables, and writes to them that a model follows.
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { migrate, migrateInSteps, readMigrations } from '../../src/platform/database/migrations.ts'
import type { MigrationTarget } from '../../src/platform/database/target.ts'

const statements = (...texts: string[]): string => texts.join('\n--> statement-breakpoint\n')

const FIRST = statements(
  'CREATE TABLE `fence` (`id` integer PRIMARY KEY NOT NULL)',
  `CREATE TABLE \`event\` (
     \`sequence\` integer PRIMARY KEY AUTOINCREMENT NOT NULL, \`locator\` text NOT NULL, \`type\` text NOT NULL, \`data\` text)`,
  'CREATE UNIQUE INDEX `event_locator` ON `event` (`locator`)',
  `CREATE INDEX \`event_custom\` ON \`event\` (\`locator\`) WHERE "event"."type" like 'custom.%'`,
  'CREATE TABLE `quote` (`locator` text PRIMARY KEY NOT NULL, `policy_locator` integer NOT NULL, `state` text NOT NULL, `amount` integer)',
  'CREATE INDEX `quote_policy` ON `quote` (`policy_locator`)',
  'CREATE TABLE `timer` (`locator` text PRIMARY KEY NOT NULL, `due_at` integer NOT NULL, `subject` text NOT NULL)',
  'CREATE INDEX `timer_due` ON `timer` (`due_at`)',
  'CREATE INDEX `timer_subject` ON `timer` (`subject`)',
  'CREATE TABLE `other` (`x` integer)',
  'CREATE INDEX `other_x` ON `other` (`x`)',
)

const MOVE = `-- moves: quote, event, timer
${statements(
  `CREATE TABLE IF NOT EXISTS \`quote_moved\` (
     \`amount\` integer, \`policy_locator\` integer NOT NULL, \`locator\` text NOT NULL, \`state\` text NOT NULL,
     PRIMARY KEY(\`policy_locator\`, \`locator\`)) WITHOUT ROWID;`,
  `CREATE TABLE IF NOT EXISTS \`event_moved\` (
     \`sequence\` integer PRIMARY KEY AUTOINCREMENT NOT NULL, \`locator\` text NOT NULL, \`data\` text, \`type\` text NOT NULL);`,
  'CREATE UNIQUE INDEX IF NOT EXISTS `event_by_locator` ON `event_moved` (`locator`);',
  `CREATE INDEX IF NOT EXISTS \`event_of_custom\` ON \`event_moved\` (\`locator\`) WHERE "event_moved"."type" like 'custom.%';`,
  'CREATE TABLE IF NOT EXISTS `timer_moved` (`locator` text PRIMARY KEY NOT NULL, `due_at` integer NOT NULL, `subject` text NOT NULL);',
  'CREATE INDEX IF NOT EXISTS `timer_by_due` ON `timer_moved` (`due_at`);',
)}
-- at the end
DROP INDEX IF EXISTS \`other_x\`;
`

const LATER = 'ALTER TABLE `quote` ADD `note` text'

const [first, move, later] = await readMigrations({
  '0000_first.sql': FIRST,
  '0001_keys.sql': MOVE,
  '0002_later.sql': LATER,
})
export const BEFORE_MOVE = [first!]
export const WITH_MOVE = [first!, move!]
export const AFTER_MOVE = [first!, move!, later!]

/** The names in a database after the move. The database had the same tables before. */
export const NAMES_MOVED = [
  'event',
  'event_by_locator',
  'event_of_custom',
  'fence',
  'migration',
  'other',
  'quote',
  'timer',
  'timer_by_due',
]

export async function namesOf(target: MigrationTarget): Promise<unknown[]> {
  const rows = await target.query(
    `select name, sql from sqlite_master where name not like 'sqlite%' and name not like '\\_%' escape '\\' order by name`,
  )
  for (const { sql } of rows) if (/_(?:moved|left)/.test(String(sql))) throw new Error(String(sql))
  return rows.map(({ name }) => name)
}

const KINDS = [
  ...(['add', 'put', 'replace', 'ignore', 'change', 'rename', 'remove', 'sweep'] as const),
  ...(['emit', 'append', 'forget', 'wake', 'restamp', 'sleep'] as const),
]
type Write = { readonly kind: (typeof KINDS)[number]; readonly number: number; readonly amount: number }

/** Numbers near the first row, and near the border between two steps. */
const numbers = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1_990, max: 2_010 }))
const writes = fc.array(
  fc.record<Write>({ kind: fc.constantFrom(...KINDS), number: numbers, amount: fc.nat(9) }),
  { maxLength: 4 },
)

type Quote = { locator: string; policy_locator: number; state: string; amount: number }
type Event = { sequence: number; locator: string; type: string; data: string }
type Timer = { locator: string; due_at: number; subject: string }

/** Writes to the three tables, in both layouts, and checks their contents against a model. */
class Book {
  readonly #target: MigrationTarget
  readonly #quotes = new Map<string, Quote>()
  readonly #events = new Map<number, Event>()
  /** In the order of their row ids. */
  readonly #timers = new Map<string, Timer>()
  #lastSequence = 0
  #emitted = 0

  constructor(target: MigrationTarget) {
    this.#target = target
  }

  async fill(rows: number): Promise<void> {
    const number = `with recursive n(x) as (select 1 union all select x + 1 from n where x < ${rows})`
    if (rows > 0)
      await this.#target.execute([
        `${number} insert into quote (locator, policy_locator, state, amount) select 'q' || x, 900 + x % 5, 'draft', x from n`,
        `${number} insert into event (locator, type, data) select 'e' || x, iif(x % 3, 'policy.issue', 'custom.x'), '{}' from n`,
        `${number} insert into timer (locator, due_at, subject) select 't' || x, 10000 - x, 's' from n`,
      ])
    for (let x = 1; x <= rows; x += 1) {
      this.#quotes.set(`q${x}`, {
        locator: `q${x}`,
        policy_locator: 900 + (x % 5),
        state: 'draft',
        amount: x,
      })
      const type = x % 3 ? 'policy.issue' : 'custom.x'
      this.#events.set(x, { sequence: x, locator: `e${x}`, type, data: '{}' })
      this.#timers.set(`t${x}`, { locator: `t${x}`, due_at: 10_000 - x, subject: 's' })
    }
    this.#lastSequence = rows
    this.#emitted = rows
  }

  async write({ kind, number, amount }: Write): Promise<void> {
    const quote = { locator: `q${number}`, policy_locator: 900 + (number % 5), state: kind, amount }
    const present = this.#quotes.get(quote.locator)
    const values = `quote (locator, policy_locator, state, amount) values ('${quote.locator}', ${quote.policy_locator}, '${kind}', ${amount})`
    const timer = { locator: `t${number}`, due_at: amount, subject: kind }
    const timed = `timer (locator, due_at, subject) values ('${timer.locator}', ${amount}, '${kind}')`
    const send = (statement: string): Promise<void> => this.#target.execute([statement])
    switch (kind) {
      case 'add':
        if (present) return
        this.#quotes.set(quote.locator, quote)
        return send(`insert into ${values}`)
      case 'put':
        this.#quotes.set(quote.locator, quote)
        return send(
          `insert into ${values} on conflict do update set state = excluded.state, amount = excluded.amount`,
        )
      case 'replace':
        this.#quotes.set(quote.locator, quote)
        return send(`insert or replace into ${values}`)
      case 'ignore':
        if (!present) this.#quotes.set(quote.locator, quote)
        return send(`insert or ignore into ${values}`)
      case 'change':
        for (const one of this.#quotes.values())
          if (one.policy_locator === quote.policy_locator) one.amount += 1
        return send(`update quote set amount = amount + 1 where policy_locator = ${quote.policy_locator}`)
      case 'rename': {
        const locator = `q${number + 100_000}`
        if (!present || this.#quotes.has(locator)) return
        this.#quotes.delete(quote.locator)
        this.#quotes.set(locator, { ...present, locator })
        return send(`update quote set locator = '${locator}' where locator = '${quote.locator}'`)
      }
      case 'remove':
        this.#quotes.delete(quote.locator)
        return send(`delete from quote where locator = '${quote.locator}'`)
      case 'sweep':
        for (const one of this.#quotes.values())
          if (one.policy_locator === quote.policy_locator) this.#quotes.delete(one.locator)
        return send(`delete from quote where policy_locator = ${quote.policy_locator}`)
      case 'emit':
        return this.emit()
      case 'append':
        for (const one of this.#events.values()) if (one.sequence <= number) one.data = `${amount}`
        return send(`update event set data = '${amount}' where sequence <= ${number}`)
      case 'forget':
        this.#events.delete(Math.max(0, ...this.#events.keys()))
        return send('delete from event where sequence = (select max(sequence) from event)')
      case 'wake': {
        const before = this.#timers.get(timer.locator)
        if (before) before.due_at = amount
        else this.#timers.set(timer.locator, timer)
        return send(`insert into ${timed} on conflict (locator) do update set due_at = excluded.due_at`)
      }
      case 'restamp':
        this.#timers.delete(timer.locator)
        this.#timers.set(timer.locator, timer)
        return send(`insert or replace into ${timed}`)
      case 'sleep':
        this.#timers.delete(timer.locator)
        return send(`delete from timer where locator = '${timer.locator}'`)
    }
  }

  /** Adds an event, and checks that its sequence was never used before. */
  async emit(): Promise<void> {
    this.#emitted += 1
    const event = {
      locator: `e${this.#emitted}`,
      type: this.#emitted % 3 ? 'policy.issue' : 'custom.x',
      data: '{}',
    }
    await this.#target.execute([
      `insert into event (locator, type, data) values ('${event.locator}', '${event.type}', '{}')`,
    ])
    const [row] = await this.#target.query(`select sequence from event where locator = '${event.locator}'`)
    const sequence = Number(row!.sequence)
    expect(sequence).toBeGreaterThan(this.#lastSequence)
    this.#lastSequence = sequence
    this.#events.set(sequence, { sequence, ...event })
  }

  async expectContents(): Promise<void> {
    const [quotes, events, timers] = await Promise.all([
      this.#target.query('select locator, policy_locator, state, amount from quote'),
      this.#target.query('select sequence, locator, type, data from event order by sequence'),
      this.#target.query('select locator, due_at, subject from timer order by rowid'),
    ])
    const byLocator = (rows: Iterable<object>) =>
      [...(rows as Iterable<Quote>)].sort((a, b) => (a.locator < b.locator ? -1 : 1))
    expect(byLocator(quotes)).toEqual(byLocator(this.#quotes.values()))
    expect(events).toEqual([...this.#events.values()])
    expect(timers).toEqual([...this.#timers.values()])
    const custom = [...this.#events.values()].filter(({ type }) => type.startsWith('custom.'))
    const [counted] = await this.#target.query(`select count(*) as n from event where type like 'custom.%'`)
    expect(counted).toEqual({ n: custom.length })
  }
}

const LOST = new Error('Network connection lost.')

/** What happens at each call of the database, in the order of the calls. Later calls are undisturbed. */
const moments = fc.array(
  fc.record({
    writes,
    fault: fc.constantFrom('none', 'none', 'none', 'before', 'after'),
    /** Steps that another run makes meanwhile. */
    others: fc.constantFrom(0, 0, 0, 0, 1, 3),
  }),
  { maxLength: 40 },
)

export const stories = fc.record({
  rows: fc.oneof(fc.constantFrom(0, 1_999, 2_000, 2_001, 4_100), fc.nat(20)),
  moments,
  /** Maximum number of steps of each run. */
  steps: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
})

/** Moves the tables of a new database while rows are written, and expects that each row ends up in its place exactly once. */
export async function moveDuring(
  target: MigrationTarget,
  { rows, moments, steps }: typeof stories extends fc.Arbitrary<infer Story> ? Story : never,
): Promise<void> {
  await migrate(target, BEFORE_MOVE)
  const book = new Book(target)
  await book.fill(rows)
  // The database has been in use, and its highest sequence number was assigned and deleted.
  await target.execute(['insert into fence (id) values (1)'])
  await book.emit()
  await book.write({ kind: 'forget', number: 1, amount: 0 })
  const coming = moments.values()
  const during = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const { value } = coming.next()
    if (!value) return await call()
    for (const one of value.writes) await book.write(one)
    if (value.others > 0) await migrateInSteps(target, WITH_MOVE, { left: value.others })
    if (value.fault === 'before') throw LOST
    const result = await call()
    if (value.fault === 'after') throw LOST
    return result
  }
  const interrupted: MigrationTarget = {
    name: target.name,
    execute: statements => during(() => target.execute(statements)),
    query: statement => during(() => target.query(statement)),
  }
  const mayFail = moments.some(({ others, fault }) => others > 0 || fault !== 'none')
  for (let run = 0; ; run += 1) {
    const left = steps[run % steps.length]!
    const outcome = await migrateInSteps(interrupted, WITH_MOVE, { left }).catch((problem: unknown) => {
      if (mayFail) return undefined
      throw problem
    })
    if (outcome?.isDone) break
    if (run > 500) throw new Error('It does not end.')
  }
  expect(await namesOf(target)).toEqual(NAMES_MOVED)
  await book.expectContents()
  await book.emit()
  for (const kind of KINDS) await book.write({ kind, number: 3, amount: 3 })
  await book.expectContents()
}
