// `bindery export --out DIR`: all records of a tenant as NDJSON, a file for each kind, and `export.json` with where it is. A run that was cut
// off goes on; a run on a whole export brings it up to date.
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { BinderyClient } from '../../client/index.ts'
import { EXIT, type ExitCode, Failure } from '../exit.ts'
import { signedIn } from '../sign-ins.ts'
import { type Run, say, show } from '../terminal.ts'

const KINDS = ['policyholders', 'policies', 'disbursements', 'journal'] as const
type Kind = (typeof KINDS)[number]

/** The file that a line of changes belongs to. */
const FILE_OF: Readonly<Record<string, Kind>> = {
  policyholder: 'policyholders',
  policy: 'policies',
  disbursement: 'disbursements',
  journal: 'journal',
}

const PAGE_SIZE = 50

type Progress = {
  readonly tenantLocator: string
  /** Changes from here on are not in the files. */
  cursor: string
  /** Of kinds that are begun: the next page, and where its lines begin. Null: the kind is whole. */
  readonly kinds: Partial<Record<Kind, { pagingToken?: string; bytes: number } | null>>
  /** Once it is whole. */
  files?: Record<Kind, { records: number; bytes: number; sha256: string }>
}

type Line = {
  readonly kind: string
  readonly record?: { readonly locator?: string; readonly id?: number }
  readonly pagingToken?: string
  readonly cursor?: string
  readonly isCompleted?: boolean
}

export async function exportAll({ out }: { out: string }, run: Run): Promise<ExitCode> {
  const { api, signIn } = signedIn('tenant', run.terminal)
  const { interrupted } = run.terminal
  mkdirSync(out, { recursive: true })
  const path = (name: string): string => join(out, name)
  const progress = readProgress(path('export.json'), signIn.tenantLocator!) ?? {
    tenantLocator: signIn.tenantLocator!,
    cursor: (await api.get('/export')).cursor,
    kinds: {},
  }
  const save = (): void => {
    writeFileSync(path('export.json.new'), `${JSON.stringify(progress, undefined, 2)}\n`)
    renameSync(path('export.json.new'), path('export.json'))
  }
  delete progress.files
  save()
  for (const kind of KINDS)
    if (!(await exportKind(api, kind, path(`${kind}.ndjson`), progress, save, run))) return EXIT.interrupted
  const changed = await applyChanges(api, out, progress, run)
  if (changed === undefined || interrupted.aborted) return EXIT.interrupted
  progress.files = {} as NonNullable<Progress['files']>
  for (const kind of KINDS) progress.files[kind] = await describeFile(path(`${kind}.ndjson`))
  save()
  const { files } = progress
  show(run, { ok: true, out, changed, files }, () =>
    [...KINDS.map(kind => `${files[kind].records} ${kind}`), `${changed} changed meanwhile or since`]
      .join(', ')
      .concat(` in ${out}\n`),
  )
  return EXIT.ok
}

function readProgress(file: string, tenantLocator: string): Progress | undefined {
  if (!existsSync(file)) return undefined
  const progress = JSON.parse(readFileSync(file, 'utf8')) as Progress
  if (progress.tenantLocator !== tenantLocator)
    throw new Failure(EXIT.refused, `'${file}' is of an export of another tenant. Name another folder.`)
  return progress
}

async function linesOf(api: BinderyClient, path: string, query: object): Promise<Line[]> {
  const text = (await api.get(path as never, { params: { query }, parseAs: 'text' } as never)) as string
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Line)
}

const textOf = (records: readonly Line[]): string =>
  records.map(({ record }) => `${JSON.stringify(record)}\n`).join('')

/** Whether it is whole; else it was interrupted. What follows the last whole page is cut off and asked for again. */
async function exportKind(
  api: BinderyClient,
  kind: Kind,
  file: string,
  progress: Progress,
  save: () => void,
  run: Run,
): Promise<boolean> {
  let begun = progress.kinds[kind]
  if (begun === null) return true
  begun ??= { bytes: 0 }
  if (existsSync(file)) truncateSync(file, begun.bytes)
  else writeFileSync(file, '')
  let { pagingToken } = begun
  for (;;) {
    if (run.terminal.interrupted.aborted) return false
    const query = { pageSize: PAGE_SIZE, ...(pagingToken !== undefined && { pagingToken }) }
    const lines = await linesOf(api, `/export/${kind}/records`, query)
    const last = lines.pop()!
    appendFileSync(file, textOf(lines))
    pagingToken = last.pagingToken
    progress.kinds[kind] =
      last.kind === 'end' ? null : { pagingToken: pagingToken!, bytes: statSync(file).size }
    save()
    if (last.kind === 'end') break
  }
  say(run, `${kind} are there\n`)
  return true
}

/** How many records changed; undefined where it was interrupted, and then the files are as they were. */
async function applyChanges(
  api: BinderyClient,
  out: string,
  progress: Progress,
  run: Run,
): Promise<number | undefined> {
  const changed = new Map<Kind, Map<string, string>>(KINDS.map(kind => [kind, new Map()]))
  let { cursor } = progress
  for (let isCompleted = false; !isCompleted; ) {
    if (run.terminal.interrupted.aborted) return undefined
    const lines = await linesOf(api, '/export/changes', { cursor })
    const last = lines.pop()!
    for (const { kind, record } of lines)
      changed.get(FILE_OF[kind]!)!.set(keyOf(record!), JSON.stringify(record))
    cursor = last.cursor!
    isCompleted = last.isCompleted!
  }
  let count = 0
  for (const kind of KINDS) {
    const records = changed.get(kind)!
    count += records.size
    if (records.size > 0) await replaceRecords(join(out, `${kind}.ndjson`), records)
  }
  progress.cursor = cursor
  return count
}

/** Rows of the journal have no locator: their text says all of them. */
const keyOf = (record: NonNullable<Line['record']>): string => record.locator ?? JSON.stringify(record)

/** Each record in its place, new ones at the end. The file is whole at any time. */
async function replaceRecords(file: string, records: ReadonlyMap<string, string>): Promise<void> {
  const left = new Map(records)
  const next = `${file}.new`
  writeFileSync(next, '')
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const key = keyOf(JSON.parse(line))
    appendFileSync(next, `${left.get(key) ?? line}\n`)
    left.delete(key)
  }
  for (const text of left.values()) appendFileSync(next, `${text}\n`)
  renameSync(next, file)
}

async function describeFile(file: string): Promise<{ records: number; bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let records = 0
  for await (const chunk of createReadStream(file)) {
    hash.update(chunk as Buffer)
    for (const byte of chunk as Buffer) if (byte === 10) records += 1
  }
  return { records, bytes: statSync(file).size, sha256: hash.digest('hex') }
}
