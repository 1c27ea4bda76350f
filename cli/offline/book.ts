// Reads a book of policies from files: lines of `bindery book export`, or requests of a migration.
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../../src/kernel/errors.ts'
import { newUuid, transientLocators, type Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import { BookedPolicy, bookedAggregate } from '../../src/servicing/impact/book-policy.ts'
import { convertAccount } from '../../src/servicing/migration/convert/account.ts'
import { readAccount, type SentAccount } from '../../src/servicing/migration/request.ts'
import { ElementSplitter } from '../../src/servicing/migration/split.ts'
import { EXIT, Failure, usage } from '../exit.ts'
import { linesOf } from '../lines.ts'

/** A policy, or the reasons why an entry of the book is not one. */
export type Entry =
  | { readonly policy: BookedPolicy }
  | { readonly locator: string; readonly reasons: readonly string[] }

/** The kinds of the first and the last line of an exported book. */
export const BOOK = 'bindery.book'
export const BOOK_END = 'bindery.book.end'

/**
 * Reads one policy after the other. A folder is read as requests of a migration (its `*.json` files), in the order of their
 * names. `configuration` is used to read those; `now` is the time of the migration.
 */
export async function* readBook(
  path: string,
  configuration: Configuration,
  now: Instant,
): AsyncGenerator<Entry> {
  for (const file of filesOf(path)) {
    const isLines = await beginsWith(file, '{')
    yield* isLines ? exportedPolicies(file) : migratedPolicies(file, configuration, now)
  }
}

function filesOf(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) throw usage(`There is no book '${path}'.`)
  if (!stat.isDirectory()) return [path]
  const files = readdirSync(path)
    .filter(name => name.endsWith('.json') && name !== 'faults.json')
    .sort()
  if (files.length === 0) throw usage(`The folder '${path}' has no requests of a migration (*.json).`)
  return files.map(name => join(path, name))
}

async function beginsWith(file: string, character: string): Promise<boolean> {
  for await (const piece of createReadStream(file, { end: 63 }))
    return String(piece)
      .replace(/^\uFEFF/, '')
      .trimStart()
      .startsWith(character)
  throw new Failure(EXIT.refused, `The book '${file}' is empty.`)
}

const badLine = (file: string, number: number, what: string): Failure =>
  new Failure(EXIT.refused, `${file}:${number}: ${what}`)

async function* exportedPolicies(file: string): AsyncGenerator<Entry> {
  let number = 0
  let isWhole = false
  for await (const { text } of linesOf(file)) {
    number += 1
    if (text.trim() === '') continue
    const value = parseLine(file, number, text)
    if (number === 1 && value.kind !== BOOK)
      throw badLine(
        file,
        1,
        `This is not a book: the first line must have the kind '${BOOK}'. 'bindery book export' writes one.`,
      )
    isWhole = value.kind === BOOK_END
    if (value.kind !== 'policy') continue
    const read = BookedPolicy.safeParse(value.policy)
    if (read.success) yield { policy: read.data }
    else {
      const [issue] = read.error.issues
      throw badLine(file, number, `The policy cannot be read: ${issue?.path.join('.')} ${issue?.message}.`)
    }
  }
  if (!isWhole)
    throw new Failure(
      EXIT.refused,
      `The book '${file}' is incomplete. Run 'bindery book export' again to continue it.`,
    )
}

function parseLine(file: string, number: number, line: string): { kind?: unknown; policy?: unknown } {
  try {
    const value = JSON.parse(line) as unknown
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Not JSON: rejected below, with the number of the line.
  }
  throw badLine(
    file,
    number,
    number === 1
      ? "This is not a book: the first line is not a JSON object. 'bindery book export' writes one (docs/rate-change.md)."
      : 'The line is not a JSON object.',
  )
}

async function* migratedPolicies(
  file: string,
  configuration: Configuration,
  now: Instant,
): AsyncGenerator<Entry> {
  const splitter = new ElementSplitter({ single: false })
  let number = 0
  for await (const piece of createReadStream(file, { highWaterMark: 1_048_576 }))
    for (const { text } of asRequest(file, () => splitter.push(piece as Uint8Array))) {
      number += 1
      const sent = asRequest(file, () => JSON.parse(text) as SentAccount)
      if (!('accountData' in sent || 'policies' in sent))
        throw new Failure(
          EXIT.refused,
          `${file}: Entry ${number} is not an account of a migration: it has neither 'accountData' nor 'policies'. Use a file that 'bindery book export' wrote, or migration requests (docs/rate-change.md).`,
        )
      yield* policiesOf(sent, configuration, now)
    }
  asRequest(file, () => splitter.end())
}

/** Adds the name of the file to errors about text that is not JSON, or not a list of accounts. */
function asRequest<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (problem) {
    if (!(problem instanceof Refusal || problem instanceof SyntaxError)) throw problem
    throw new Failure(EXIT.refused, `${file} is not a migration request: ${problem.message}`)
  }
}

/** Converts accounts as a migration does. Identifies a policy by the ids of the other system. */
function* policiesOf(sent: SentAccount, configuration: Configuration, now: Instant): Generator<Entry> {
  const accountId = idOf(sent)
  const { request, failures } = readAccount(sent, accountId, true)
  const locator = newUuid(0)
  const converted = convertAccount(request, {
    configuration,
    configVersion: 1,
    now,
    supply: transientLocators(0),
    shard: 0,
    accountLocator: locator,
    callerLocator: locator as Uuid,
    failed: failures,
  })
  const ids = new Map(
    converted.mappings.flatMap(mapping =>
      mapping.kind === 'policies' ? [[mapping.locator, mapping.originalId]] : [],
    ),
  )
  const values = converted.account?.entity.values ?? {}
  for (const aggregate of converted.policies) {
    const product = configuration.products[aggregate.policy.productName]!
    const policy = bookedAggregate(aggregate, product, values)
    yield { policy: { ...policy, locator: `${accountId}/${ids.get(policy.locator) ?? policy.locator}` } }
  }
  for (const { kind, originalId, problems } of [...failures, ...converted.failures])
    if (kind === 'policies')
      yield {
        locator: `${accountId}/${originalId}`,
        reasons: [...new Set(problems.flatMap(({ errors }) => errors))],
      }
}

const idOf = ({ accountData }: SentAccount): string => {
  const id = (accountData as { id?: unknown } | null | undefined)?.id
  return typeof id === 'string' || typeof id === 'number' ? String(id) : 'account'
}
