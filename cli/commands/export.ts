// `bindery export --out DIR`: all records of a tenant as NDJSON, a file for each kind, and `export.json` with where it is. A run that was cut
// off goes on; a run on a whole export brings it up to date.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type BinderyClient, BinderyError } from '../../client/index.ts'
import { EXPORT_KINDS, type ExportKind } from '../../src/reporting/export/contract.ts'
import { EXIT, type ExitCode, Failure } from '../exit.ts'
import { ChangedRecords, describeFile, type FileFigures } from '../export/changed.ts'
import { downloadFiles } from '../export/files.ts'
import { signedIn } from '../sign-ins.ts'
import { type Run, say, show } from '../terminal.ts'

/** The command follows changes in the place of events. */
type Kind = Exclude<ExportKind, 'events'>
const KINDS = EXPORT_KINDS.filter((kind): kind is Kind => kind !== 'events')

/** Kinds of which no change tells: each run gets them whole. */
const UNTOLD: ReadonlySet<Kind> = new Set(['disbursements', 'auxData', 'quickQuotes', 'notes'])

/** The file that a line of changes belongs to. */
const FILE_OF: Readonly<Record<string, Kind>> = {
  policyholder: 'policyholders',
  policy: 'policies',
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
  files?: Record<Kind, FileFigures>
}

type ExportOptions = { readonly out: string; readonly files?: boolean }

type Exporting = {
  readonly api: BinderyClient
  readonly run: Run
  readonly out: string
  readonly progress: Progress
  readonly save: () => void
  /** Downloads what the lines name; how many files were new. */
  readonly filesOf: (lines: readonly string[]) => Promise<number>
}

export async function exportAll({ out, files: isWithFiles }: ExportOptions, run: Run): Promise<ExitCode> {
  const { api, signIn } = signedIn('tenant', run.terminal)
  mkdirSync(out, { recursive: true })
  const path = join(out, 'export.json')
  const progress = readProgress(path, signIn.tenantLocator!) ?? {
    tenantLocator: signIn.tenantLocator!,
    cursor: (await api.get('/export')).cursor,
    kinds: {},
  }
  const save = (): void => {
    writeFileSync(`${path}.new`, `${JSON.stringify(progress, undefined, 2)}\n`)
    renameSync(`${path}.new`, path)
  }
  let downloaded = 0
  const filesOf = async (lines: readonly string[]): Promise<number> => {
    const got = isWithFiles ? await downloadFiles(lines, join(out, 'files'), run.terminal.interrupted) : 0
    downloaded += got
    return got
  }
  const exporting: Exporting = { api, run, out, progress, save, filesOf }
  if (progress.files) for (const kind of UNTOLD) delete progress.kinds[kind]
  delete progress.files
  save()
  const changed = await exportUpToDate(exporting)
  if (changed === undefined) return EXIT.interrupted
  const files = {} as NonNullable<Progress['files']>
  for (const kind of KINDS) files[kind] = await describeFile(fileOf(out, kind))
  progress.files = files
  save()
  show(run, { ok: true, out, changed, files, ...(isWithFiles && { downloaded }) }, () =>
    [
      ...KINDS.map(kind => `${files[kind].records} ${kind}`),
      `${changed} changed meanwhile or since`,
      ...(isWithFiles ? [`${downloaded} files downloaded`] : []),
    ]
      .join(', ')
      .concat(` in ${out}\n`),
  )
  return EXIT.ok
}

const fileOf = (out: string, kind: Kind): string => join(out, `${kind}.ndjson`)

function readProgress(file: string, tenantLocator: string): Progress | undefined {
  if (!existsSync(file)) return undefined
  const progress = JSON.parse(readFileSync(file, 'utf8')) as Progress
  if (progress.tenantLocator !== tenantLocator)
    throw new Failure(EXIT.refused, `'${file}' is of an export of another tenant. Name another folder.`)
  return progress
}

/** How many records changed meanwhile or since; undefined where it was interrupted. Begins again where the tenant was restored since the cursor. */
async function exportUpToDate(exporting: Exporting): Promise<number | undefined> {
  const { api, run, progress, save } = exporting
  for (;;) {
    for (const kind of KINDS) if (!(await exportKind(exporting, kind))) return undefined
    try {
      return await applyChanges(exporting)
    } catch (problem) {
      if (!(problem instanceof BinderyError) || problem.problem?.code !== 'exportRestored') throw problem
      say(run, 'the tenant was restored to an earlier time since: everything is exported again\n')
      progress.cursor = (await api.get('/export')).cursor
      for (const kind of KINDS) delete progress.kinds[kind]
      save()
    }
  }
}

type LastLine = { kind: string; pagingToken?: string; cursor?: string; isCompleted?: boolean }

async function linesOf(api: BinderyClient, path: string, query: object): Promise<[string[], LastLine]> {
  const text = (await api.get(path as never, { params: { query }, parseAs: 'text' } as never)) as string
  const lines = text.trimEnd().split('\n')
  return [lines, JSON.parse(lines.pop()!) as LastLine]
}

type Line = { readonly kind: string; readonly record: ExportedRecord }
type ExportedRecord = { readonly locator?: string; readonly shard?: number; readonly id?: number }

/** Whether it is whole; else it was interrupted. What follows the last whole page is cut off and asked for again. */
async function exportKind(
  { api, run, out, progress, save, filesOf }: Exporting,
  kind: Kind,
): Promise<boolean> {
  const file = fileOf(out, kind)
  const begun = progress.kinds[kind] === null ? null : (progress.kinds[kind] ?? { bytes: 0 })
  if (begun === null) return true
  if (existsSync(file)) truncateSync(file, begun.bytes)
  else writeFileSync(file, '')
  let { pagingToken } = begun as { pagingToken?: string }
  for (;;) {
    if (run.terminal.interrupted.aborted) return false
    const query = { pageSize: PAGE_SIZE, ...(pagingToken !== undefined && { pagingToken }) }
    const [lines, last] = await linesOf(api, `/export/${kind}/records`, query)
    // Addresses of files work for half an hour: now, or never.
    await filesOf(lines)
    const records = lines.map(line => `${JSON.stringify((JSON.parse(line) as Line).record)}\n`)
    appendFileSync(file, records.join(''))
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
async function applyChanges({ api, out, progress, run, filesOf }: Exporting): Promise<number | undefined> {
  const changed = new Map(Object.values(FILE_OF).map(kind => [kind, new ChangedRecords(fileOf(out, kind))]))
  try {
    let { cursor } = progress
    for (let isCompleted = false; !isCompleted; ) {
      if (run.terminal.interrupted.aborted) return undefined
      const [lines, last] = await linesOf(api, '/export/changes', { cursor })
      await filesOf(lines)
      for (const line of lines) {
        const { kind, record } = JSON.parse(line) as Line
        changed.get(FILE_OF[kind]!)!.add(keyOf(record), JSON.stringify(record))
      }
      cursor = last.cursor!
      isCompleted = last.isCompleted!
    }
    let count = 0
    for (const records of changed.values()) count += await records.merge(line => keyOf(JSON.parse(line)))
    progress.cursor = cursor
    return count
  } finally {
    for (const records of changed.values()) records.close()
  }
}

/** Rows of the journal are counted in each database by itself. */
const keyOf = ({ locator, shard, id }: ExportedRecord): string => locator ?? `${shard}-${id}`
