import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs'
import type { BinderyClient, components } from '../../client/index.ts'
import { countText } from '../../src/kernel/text.ts'
import type { TimeZone } from '../../src/kernel/time.ts'
import { now } from '../../src/kernel/time.ts'
import { bookedPolicy, termsOf } from '../../src/servicing/impact/book-policy.ts'
import { failureOf } from '../api.ts'
import { EXIT, type ExitCode, Failure, usage } from '../exit.ts'
import { linesOf } from '../lines.ts'
import { BOOK, BOOK_END } from '../offline/book.ts'
import { signedIn } from '../sign-ins.ts'
import { type Run, say, show } from '../terminal.ts'
import { dayOf } from './impact.ts'

type Summary = components['schemas']['PolicySummaryResponse']

/** Policies per page. Each is read by its own request, `AT_ONCE` at a time. */
const PAGE_SIZE = 100
const AT_ONCE = 4

/** States of policies with cover now or later. A cancelled policy may be covered for a while longer. */
const WITH_COVER: ReadonlySet<Summary['state']> = new Set(['issued', 'pending', 'inGrace', 'cancelled'])

/** The header of the file, and the end of its last complete page. */
type Begun = {
  readonly tenantLocator: string
  readonly after: number
  readonly token?: string
  readonly policies: number
}

/**
 * `bindery book export --out FILE`: writes the policies with cover on the day or later, one per line, page by page. Continues an
 * incomplete file after its last complete page.
 */
export async function exportBook(
  { out, day: asked }: { out: string; day?: string },
  run: Run,
): Promise<ExitCode> {
  const { api, signIn } = signedIn('tenant', run.terminal)
  const tenantLocator = signIn.tenantLocator!
  const { day } = dayOf(asked, 'UTC' as TimeZone)
  const found = await readUnfinishedBook(out, tenantLocator)
  if (found === 'whole')
    throw new Failure(
      EXIT.refused,
      `'${out}' is already a complete book. Name another file, or remove this one.`,
    )
  const begun: Begun = found ?? { tenantLocator, after: day, policies: 0 }
  const file = openSync(out, found ? 'a' : 'w')
  const write = (value: object): void => void writeSync(file, `${JSON.stringify(value)}\n`)
  try {
    if (!found) write({ kind: BOOK, tenantLocator, after: begun.after, exportedAt: now() })
    else say(run, `Continuing after ${countText(begun.policies, 'policy', 'policies')}\n`)
    const policies = await writePages(api, begun, write, run)
    if (policies === undefined) return EXIT.interrupted
    write({ kind: BOOK_END, policies })
    show(
      run,
      { ok: true, file: out, policies },
      () => `${countText(policies, 'policy', 'policies')} in ${out}\n`,
    )
    return EXIT.ok
  } finally {
    closeSync(file)
  }
}

/** Returns undefined if there is no file. Cuts off everything after the last complete page. */
async function readUnfinishedBook(file: string, tenantLocator: string): Promise<Begun | 'whole' | undefined> {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat?.isDirectory()) throw usage(`'${file}' is a folder. Name the file to write.`)
  // An empty file was cut off before its first line.
  if (!stat || stat.size === 0) return undefined
  let begun: Begun | undefined
  let [whole, policies] = [0, 0]
  for await (const { text, start, length, isEnded } of linesOf(file)) {
    // The line was cut off while it was written.
    if (!isEnded) break
    const end = start + length + 1
    const value = readLine(text)
    if (value?.kind === BOOK_END) return 'whole'
    if (value?.kind === BOOK) {
      begun = { tenantLocator: String(value.tenantLocator), after: Number(value.after), policies: 0 }
      whole = end
    } else if (value?.kind === 'policy') policies += 1
    else if (value?.kind === 'page' && begun) {
      begun = { ...begun, token: String(value.pagingToken), policies }
      whole = end
    }
  }
  if (!begun) throw new Failure(EXIT.refused, `'${file}' is not an unfinished book. Name another file.`)
  if (begun.tenantLocator !== tenantLocator)
    throw new Failure(EXIT.refused, `'${file}' is an unfinished book of another tenant. Name another file.`)
  truncateSync(file, whole)
  return begun
}

function readLine(line: string): { kind?: unknown; [name: string]: unknown } | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Returns the number of policies, or undefined if Ctrl-C came first. */
async function writePages(
  api: BinderyClient,
  { after, token, policies }: Begun,
  write: (value: object) => void,
  run: Run,
): Promise<number | undefined> {
  const { interrupted, isWatched } = run.terminal
  let written = policies
  let pagingToken = token
  try {
    do {
      const query = {
        effectiveAfterTimestamp: after,
        pageSize: PAGE_SIZE,
        ...(pagingToken !== undefined && { pagingToken }),
      }
      const page = await api.get('/policies', { params: { query } } as never)
      const { policies: list, pagingToken: next } = page as components['schemas']['PolicyListResponse']
      const holders = new Map<string, Promise<Record<string, string[]>>>()
      const wanted = list.filter(({ state }) => WITH_COVER.has(state))
      for (let at = 0; at < wanted.length; at += AT_ONCE) {
        if (interrupted.aborted) return undefined
        const read = await Promise.all(wanted.slice(at, at + AT_ONCE).map(one => bookedOf(api, one, holders)))
        for (const policy of read) write({ kind: 'policy', policy })
        written += read.length
        if (isWatched) say(run, `\r\u001b[2K${countText(written, 'policy', 'policies')}`)
      }
      if (next !== undefined) write({ kind: 'page', pagingToken: next })
      pagingToken = next
    } while (pagingToken !== undefined)
  } catch (problem) {
    if (failureOf(problem)?.exit === EXIT.interrupted) return undefined
    throw problem
  }
  if (isWatched) say(run, '\n')
  return written
}

async function bookedOf(
  api: BinderyClient,
  { locator, policyholderLocator }: Summary,
  holders: Map<string, Promise<Record<string, string[]>>>,
) {
  const holder = holders.get(policyholderLocator) ?? valuesOf(api, policyholderLocator)
  holders.set(policyholderLocator, holder)
  const [policy, policyholder] = await Promise.all([
    api.get('/policy/{policyLocator}', { params: { path: { policyLocator: locator } } }),
    holder,
  ])
  return bookedPolicy(policy as never, { policyholder, terms: termsOf(policy as never) })
}

async function valuesOf(api: BinderyClient, policyholderLocator: string): Promise<Record<string, string[]>> {
  const { entity } = await api.get('/policyholder/{policyholderLocator}', {
    params: { path: { policyholderLocator } },
  })
  return entity.values as Record<string, string[]>
}
