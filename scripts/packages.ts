// `npm run package`: writes two tarballs for other projects to dist/. `bindery` has the typed client, `bindery-cli` the command
// line. Each contains all of its code, so that no other package is installed with it.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { INTERPRETER_FILE } from '../runner/interpreter-file.ts'
import { buildClient, writeContract } from './client.ts'

const OUT = 'dist'

const { version, license } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, string>

/** Properties of both packages. */
const common = { version, license, type: 'module' }

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Creates an empty folder in which a package is assembled. */
function begin(name: string): string {
  const folder = join(OUT, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync('CHANGELOG.md', join(folder, 'CHANGELOG.md'))
  return folder
}

/** Returns the licenses of the libraries whose code is in the package, as these require. */
function licensesOf({ inputs }: Metafile, types: readonly string[]): string {
  const names = new Set([
    ...types,
    ...Object.keys(inputs).flatMap(path => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  ])
  const parts = [...names].sort().map(name => {
    const folder = join('node_modules', name)
    const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find(one => /^licen[cs]e/i.test(one))
    const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `License: ${about.license}`
    return `${name} ${about.version}\n\n${text}\n`
  })
  return parts.join(`\n${'-'.repeat(80)}\n\n`)
}

async function writeBundle(
  folder: string,
  options: BuildOptions,
  types: readonly string[] = [],
): Promise<void> {
  const { metafile } = await build({
    bundle: true,
    format: 'esm',
    outdir: folder,
    metafile: true,
    legalComments: 'none',
    logLevel: 'error',
    // A module that is also a program must not run as one when it is bundled into another.
    define: { 'import.meta.main': 'false' },
    ...options,
  })
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), licensesOf(metafile!, types))
}

/** Type declarations of libraries to which the client's own types refer. */
const TYPES_OF_LIBRARIES = {
  'openapi-fetch': 'node_modules/openapi-fetch/dist/index.d.mts',
  'openapi-typescript-helpers': 'node_modules/openapi-typescript-helpers/dist/index.d.mts',
}

/** Writes the types of the client, with those of libraries next to them. */
function writeTypes(folder: string): void {
  const withLocalImports = (text: string): string =>
    text.replace(/(['"])(openapi-fetch|openapi-typescript-helpers)\1/g, "'./$2.js'")
  for (const name of readdirSync('client/dist').filter(one => one.endsWith('.d.ts')))
    writeFileSync(join(folder, name), withLocalImports(readFileSync(join('client/dist', name), 'utf8')))
  // Copied unchanged: the compiler would write it with four times the indentation.
  cpSync('client/contract.ts', join(folder, 'contract.d.ts'))
  for (const [name, file] of Object.entries(TYPES_OF_LIBRARIES))
    writeFileSync(join(folder, `${name}.d.ts`), withLocalImports(readFileSync(file, 'utf8')))
}

/** `bindery`: the client as one module with its types. */
async function clientPackage(): Promise<string> {
  await writeContract()
  buildClient()
  const folder = begin('bindery')
  const code = join(folder, 'client')
  const options: BuildOptions = {
    entryPoints: { index: 'client/index.ts' },
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
  }
  await writeBundle(code, options, Object.keys(TYPES_OF_LIBRARIES))
  writeTypes(code)
  cpSync('client/README.md', join(folder, 'README.md'))
  writeFileSync(
    join(folder, 'package.json'),
    json({
      name: 'bindery',
      description: 'The typed client of Bindery, policy administration at the edge.',
      ...common,
      engines: { node: '>=20' },
      sideEffects: false,
      exports: { './client': { types: './client/index.d.ts', default: './client/index.js' } },
    }),
  )
  return folder
}

/** Modules that the Worker loads as separate files. Here they are bundled into the code, as in cli/bin.mjs. */
const APART: Readonly<Record<string, string>> = {
  './sandbox.bundle.mjs': 'src/extension/plugins/runners/program.ts',
  './patterns.bundle.mjs': 'src/product/fields/pattern-engine.ts',
}

/** Modules that return the paths of files, as they are in the package, where all code is in `dist`. */
const PLACES: Readonly<Record<string, string>> = {
  'cli/files.ts': `import { fileURLToPath } from 'node:url'
const at = path => fileURLToPath(new URL(path, import.meta.url))
export const PACKAGE_FILE = at('../package.json')
export const STARTER_FOLDER = at('../starter')
export const SCRIPT_API_FILE = at('./script-api.ts')`,
  'runner/interpreter-file.ts': `export const INTERPRETER_FILE = new URL('./interpreter.wasm', import.meta.url)`,
}

const packaged: Plugin = {
  name: 'packaged',
  setup(build) {
    build.onResolve({ filter: /\.bundle\.mjs$/ }, ({ path }) =>
      APART[path] ? { path: resolve(APART[path]) } : { path, external: true },
    )
    build.onLoad({ filter: /[/\\](?:files|interpreter-file)\.ts$/ }, ({ path }) => {
      const contents = PLACES[relative('.', path)]
      return contents === undefined ? undefined : { contents, loader: 'js' }
    })
  },
}

/** The oldest version of Node for which the command line is built. */
const OLDEST_NODE = 22

/** `bindery-cli`: the command line, with the configuration that `bindery new` copies. */
async function cliPackage(): Promise<string> {
  const folder = begin('bindery-cli')
  const code = join(folder, 'dist')
  await writeBundle(code, {
    entryPoints: { bindery: 'cli/main.ts', 'cell.bundle': 'runner/cell.ts' },
    outExtension: { '.js': '.mjs' },
    splitting: true,
    platform: 'node',
    target: `node${OLDEST_NODE}`,
    minify: true,
    mainFields: ['module', 'main'],
    // For libraries that call `require` for modules of Node.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    loader: { '.html': 'text', '.ttf': 'empty' },
    plugins: [packaged],
  })
  cpSync(INTERPRETER_FILE, join(code, 'interpreter.wasm'))
  cpSync('src/extension/plugins/runners/script-api.ts', join(code, 'script-api.ts'))
  cpSync('cli/starter', join(folder, 'starter'), { recursive: true })
  cpSync('cli/README.md', join(folder, 'README.md'))
  writeFileSync(
    join(folder, 'bin.mjs'),
    `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < ${OLDEST_NODE}) {
  console.error(\`bindery: This needs Node ${OLDEST_NODE} or newer, but this is \${process.versions.node}.\`)
  process.exitCode = 2
} else {
  const { main } = await import('./dist/bindery.mjs')
  process.exitCode = await main()
}
`,
    { mode: 0o755 },
  )
  writeFileSync(
    join(folder, 'package.json'),
    json({
      name: 'bindery-cli',
      description: 'The command line of Bindery: write, check, price and deploy configurations.',
      ...common,
      engines: { node: `>=${OLDEST_NODE}` },
      bin: { bindery: 'bin.mjs' },
    }),
  )
  return folder
}

/** Returns the path of a package's tarball. */
export const tarballOf = (name: string): string => join(OUT, `${name}-${version}.tgz`)

const pack = (folder: string): void =>
  void execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', resolve(OUT)], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })

/** Writes both tarballs, and the folders from which they are made. */
export async function writePackages(): Promise<void> {
  for (const folder of [await clientPackage(), await cliPackage()]) pack(folder)
}

if (import.meta.main) {
  await writePackages()
  for (const name of ['bindery', 'bindery-cli']) console.log(tarballOf(name))
}
