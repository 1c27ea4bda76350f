// `bindery export --out DIR`: writes all records of a tenant as NDJSON, a file for each kind, and `export.json` with the
// progress. An interrupted run continues. A run on a complete export brings it up to date.
import { appendFileSync, existsSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type BinderyClient, BinderyError } from '../../client/index.ts'
import { countText } from '../../src/kernel/text.ts'
import { EXIT, type ExitCode, Failure } from '../exit.ts'
import { ChangedRecords, describeFile, type FileFigures } from '../export/changed-records.ts'
import { type Downloaded, downloadFiles, pageWithFiles } from '../export/files.ts'
import { EXPORT_FORMAT, KINDS, type Kind, type Progress, readProgress } from '../export/progress.ts'
import { makeFolder } from '../make-folder.ts'
import { signedIn } from '../sign-ins.ts'
import { type Run, say, show } from '../terminal.ts'

/** Kinds whose changes are not reported. Each run exports them completely. */
const KINDS_WITHOUT_CHANGES: ReadonlySet<Kind> = new Set(['disbursements', 'auxData', 'quickQuotes', 'notes'])

/** The file that a line of changes belongs to. */
const FILE_OF: Readonly<Record<string, Kind>> = {
  policyholder: 'policyholders',
  policy: 'policies',
  journal: 'journal',
}

/** What one record of a kind is called. Auxiliary data and lines of the journal have no singular. */
const NOUN_OF: Readonly<Record<Kind, string>> = {
  policyholders: 'policyholder',
  policies: 'policy',
  disbursements: 'disbursement',
  auxData: 'auxData',
  quickQuotes: 'quickQuote',
  notes: 'note',
  journal: 'journal',
}

/** Kinds whose lines name files. */
const WITH_FILES: readonly Kind[] = ['policyholders', 'policies']

const PAGE_SIZE = 50

type ExportOptions = { readonly out: string; readonly files?: boolean }

type Exporting = {
  readonly api: BinderyClient
  readonly run: Run
  readonly out: string
  readonly progress: Progress
  readonly save: () => void
  /** Downloads the files that the lines name. */
  readonly filesOf: (lines: readonly string[]) => Promise<Downloaded>
}

export async function exportAll({ out, files: isWithFiles }: ExportOptions, run: Run): Promise<ExitCode> {
  const { api, signIn } = signedIn('tenant', run.terminal)
  makeFolder(out)
  const path = join(out, 'export.json')
  const progress = (await progressOf(path, signIn.tenantLocator!, run)) ?? {
    format: EXPORT_FORMAT,
    tenantLocator: signIn.tenantLocator!,
    cursor: (await api.get('/export')).cursor,
    kinds: {},
  }
  const save = (): void => {
    writeFileSync(`${path}.new`, `${JSON.stringify(progress, undefined, 2)}\n`)
    renameSync(`${path}.new`, path)
  }
  let downloaded = 0
  const filesOf = async (lines: readonly string[]): Promise<Downloaded> => {
    if (!isWithFiles) return { count: 0, isWhole: true }
    const got = await downloadFiles(lines, join(out, 'files'), run.terminal.interrupted)
    downloaded += got.count
    return got
  }
  const exporting: Exporting = { api, run, out, progress, save, filesOf }
  if (progress.files) for (const kind of KINDS_WITHOUT_CHANGES) delete progress.kinds[kind]
  delete progress.files
  // Changes do not repeat the lines that name files which an earlier run left out.
  if (isWithFiles && !progress.hasFiles) for (const kind of WITH_FILES) delete progress.kinds[kind]
  progress.hasFiles = isWithFiles
  save()
  const changed = await exportUpToDate(exporting)
  if (changed === undefined) return EXIT.interrupted
  const files = {} as Record<Kind, FileFigures>
  for (const kind of KINDS) files[kind] = await describeFile(fileOf(out, kind))
  progress.files = files
  save()
  show(run, { ok: true, out, changed, files, ...(isWithFiles && { downloaded }) }, () =>
    [
      ...KINDS.map(kind => countText(files[kind].records, NOUN_OF[kind], kind)),
      `${changed} changed during or since the export`,
      ...(isWithFiles ? [`${countText(downloaded, 'file')} downloaded`] : []),
    ]
      .join(', ')
      .concat(` in ${out}\n`),
  )
  return EXIT.ok
}

const fileOf = (out: string, kind: Kind): string => join(out, `${kind}.ndjson`)

/** Returns undefined without a file. Kinds whose files differ from those of the last run start over. */
async function progressOf(path: string, tenantLocator: string, run: Run): Promise<Progress | undefined> {
  const progress = readProgress(path)
  if (!progress) return undefined
  if (progress.tenantLocator !== tenantLocator)
    throw new Failure(EXIT.refused, `'${path}' belongs to an export of another tenant. Name another folder.`)
  for (const kind of KINDS) {
    if (await isUnchangedSinceLastRun(progress, kind, fileOf(dirname(path), kind))) continue
    say(run, `${kind}.ndjson is missing or has changed since the last run: it is exported again in full\n`)
    delete progress.kinds[kind]
  }
  return progress
}

/**
 * Returns how many records changed during or since the export, or undefined if it was interrupted. Starts over if the tenant was
 * restored since the cursor.
 */
async function exportUpToDate(exporting: Exporting): Promise<number | undefined> {
  const { api, run, progress, save } = exporting
  for (;;) {
    for (const kind of KINDS) if (!(await exportKind(exporting, kind))) return undefined
    try {
      return await applyChanges(exporting)
    } catch (problem) {
      if (!(problem instanceof BinderyError) || problem.problem?.code !== 'exportRestored') throw problem
      say(
        run,
        'the tenant was restored to an earlier time since the last run: everything is exported again\n',
      )
      progress.cursor = (await api.get('/export')).cursor
      for (const kind of KINDS) delete progress.kinds[kind]
      save()
    }
  }
}

async function isUnchangedSinceLastRun(
  { kinds, files }: Progress,
  kind: Kind,
  file: string,
): Promise<boolean> {
  const begun = kinds[kind]
  if (begun === undefined) return true
  if (!existsSync(file)) return false
  if (begun !== null) return statSync(file).size >= begun.bytes
  return files?.[kind] === undefined || (await describeFile(file)).sha256 === files[kind].sha256
}

type LastLine = { kind: string; pagingToken?: string; cursor?: string; isCompleted?: boolean }

async function linesOf(api: BinderyClient, path: string, query: object): Promise<[string[], LastLine]> {
  const text = (await api.get(path as never, { params: { query }, parseAs: 'text' } as never)) as string
  const lines = text.trimEnd().split('\n')
  return [lines, JSON.parse(lines.pop()!) as LastLine]
}

type Line = { readonly kind: string; readonly record: ExportedRecord }
type ExportedRecord = { readonly locator?: string; readonly shard?: number; readonly id?: number }

/**
 * Returns whether the kind is complete. Otherwise it was interrupted. Cuts off everything after the last complete page and
 * requests it again.
 */
async function exportKind(
  { api, run, out, progress, save, filesOf }: Exporting,
  kind: Kind,
): Promise<boolean> {
  const file = fileOf(out, kind)
  const begun = progress.kinds[kind]
  if (begun === null) return true
  let pagingToken = begun?.pagingToken
  if (begun && pagingToken !== undefined) truncateSync(file, begun.bytes)
  else writeFileSync(file, '')
  const { interrupted } = run.terminal
  for (;;) {
    if (interrupted.aborted) return false
    const query = { pageSize: PAGE_SIZE, ...(pagingToken !== undefined && { pagingToken }) }
    const ask = () => linesOf(api, `/export/${kind}/records`, query)
    const [lines, last] = await pageWithFiles(ask, filesOf, interrupted)
    // The files of this page may be incomplete.
    if (interrupted.aborted) return false
    const records = lines.map(line => `${JSON.stringify((JSON.parse(line) as Line).record)}\n`)
    appendFileSync(file, records.join(''))
    pagingToken = last.pagingToken
    progress.kinds[kind] =
      last.kind === 'end' ? null : { pagingToken: pagingToken!, bytes: statSync(file).size }
    save()
    if (last.kind === 'end') break
  }
  say(run, `${kind}: exported\n`)
  return true
}

/** Returns how many records changed, or undefined if it was interrupted. In that case the files are unchanged. */
async function applyChanges({ api, out, progress, run, filesOf }: Exporting): Promise<number | undefined> {
  const { interrupted } = run.terminal
  const changed = new Map(Object.values(FILE_OF).map(kind => [kind, new ChangedRecords(fileOf(out, kind))]))
  try {
    let { cursor } = progress
    for (let isCompleted = false; !isCompleted; ) {
      if (interrupted.aborted) return undefined
      const ask = () => linesOf(api, '/export/changes', { cursor })
      const [lines, last] = await pageWithFiles(ask, filesOf, interrupted)
      if (interrupted.aborted) return undefined
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

/** Each database numbers its own rows of the journal. */
const keyOf = ({ locator, shard, id }: ExportedRecord): string => locator ?? `${shard}-${id}`
