// A version of the service as modules that the runtime can load, from this checkout or from a commit of its history.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { V4ModuleDefinition } from 'miniflare'
import { cheapPasswords, FOR_WORKERD, platform } from '../service-bundle.ts'

/** The Worker's modules. The entry is first. */
export type Version = V4ModuleDefinition[]

/** Separate modules that are built into the one file here. The others (documents, the console) are left out. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  './analysis.bundle.mjs': ['src/servicing/template-data/analysis.ts'],
  './document.bundle.mjs': ['src/wording/apart.ts'],
  './patterns.bundle.mjs': ['src/product/fields/pattern-engine.ts', 'src/platform/fields/pattern-engine.ts'],
  './sandbox.bundle.mjs': [
    'src/extension/plugins/runners/sandboxed.ts',
    'src/plugins/sandboxed.ts',
    'src/extension/plugins/runners/program.ts',
  ],
}

/** Packages that the service no longer uses, with replacements that suffice for the tables of motor's archive. */
const GONE: Readonly<Record<string, string>> = {
  'csv-parse/sync': `
    export class CsvError extends Error {}
    export const parse = (text, { on_record }) =>
      text.trimEnd().split(/\\r?\\n/).forEach((line, at) => {
        const cells = line.match(/"[^"]*"|[^,]+|(?<=,)(?=,|$)/g) ?? ['']
        on_record(cells.map(cell => cell.replace(/^"|"$/g, '')), { lines: at + 1 })
      })`,
}

const apart = (folder: string): Plugin => ({
  name: 'apart',
  setup(build) {
    build.onResolve({ filter: /\.bundle\.mjs$/ }, ({ path }) => {
      const entry = ENTRIES[path]?.map(file => join(folder, file)).find(existsSync)
      return entry === undefined ? { path, namespace: 'left-out' } : { path: entry }
    })
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'export {}' }))
  },
})

/** Turns files that are not code into separate modules. */
const beside = (found: Map<string, V4ModuleDefinition>): Plugin => ({
  name: 'beside',
  setup(build) {
    build.onResolve({ filter: /\.(?:ttf|wasm)$/ }, async ({ path, resolveDir, kind, pluginData }) => {
      if (pluginData === 'found') return undefined
      const { path: file, errors } = await build.resolve(path, { resolveDir, kind, pluginData: 'found' })
      if (errors.length > 0) return { errors }
      const name = `${createHash('sha256').update(file).digest('hex').slice(0, 8)}-${basename(file)}`
      const type = file.endsWith('.wasm') ? 'CompiledWasm' : 'Data'
      found.set(file, { type, path: `/version/${name}`, contents: readFileSync(file) })
      return { path: `./${name}`, external: true }
    })
  },
})

/** Builds the version whose files are in the folder, including its route index. */
export async function versionOf(folder: string): Promise<Version> {
  const files = new Map<string, V4ModuleDefinition>()
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['src/worker.ts'],
    ...FOR_WORKERD,
    plugins: [beside(files), apart(folder), platform, cheapPasswords],
  })
  return [
    { type: 'ESModule', path: '/version/worker.mjs', contents: outputFiles[0]!.text },
    ...files.values(),
  ]
}

/** Builds the version of a commit, with the packages of this checkout. */
export async function versionOfCommit(commit: string): Promise<Version> {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-version-'))
  try {
    unpack(commit, folder)
    linkPackages(join(folder, 'node_modules'))
    execFileSync(process.execPath, ['--no-warnings', 'scripts/route-index.ts'], { cwd: folder })
    return await versionOf(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Links every package of this checkout, and writes files for the packages that no longer exist. */
function linkPackages(folder: string): void {
  mkdirSync(folder)
  for (const name of readdirSync('node_modules'))
    symlinkSync(resolve('node_modules', name), join(folder, name))
  for (const [gone, contents] of Object.entries(GONE)) {
    const file = join(folder, `${gone}.js`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, contents)
  }
}

/** The files needed to build a version. */
const SOURCES = ['src', 'durable', 'scripts', 'migrations', 'package.json']

function unpack(commit: string, folder: string): void {
  const packed = spawnSync('git', ['archive', commit, ...SOURCES], { maxBuffer: 2 ** 28 })
  if (packed.status !== 0)
    throw new Error(
      `The history of this checkout lacks ${commit}, which runs beside this version: get it by \`git fetch --unshallow\`. ${packed.stderr}`,
    )
  execFileSync('tar', ['-x', '-C', folder], { input: packed.stdout })
}
