// Bundles the service into one file for its tests. As hundreds of separate modules it would cost each test file seconds of
// processor time. As one file that the runtime reads itself, it costs a fraction of a second.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import type { TestProject } from 'vitest/node'
import { buildRunner } from '../../scripts/bundles.ts'

/** Named to match the rule in wrangler.toml for separate modules, so that the runtime reads the file itself. */
const SERVICE_BUNDLE = '.wrangler/tests/service.bundle.mjs'

/** The main module in tests. It only re-exports the service's exports, because they are parsed again for each test file. */
export const SERVICE_ENTRY = '.wrangler/tests/entry.bundle.mjs'

/** Names of the platform's modules as libraries import them. */
const PLATFORM = /^(?:fs|stream|zlib|buffer|util|events|assert|path|crypto)$/

/**
 * Handles files that are not code. Fonts are loaded when first needed, which is never in a Durable Object. WebAssembly is
 * imported with the service, because in the tests' runtime a Durable Object cannot load anything later.
 */
const files: Plugin = {
  name: 'files',
  setup(build) {
    build.onResolve(
      { filter: /\.(?:ttf|wasm)$/ },
      async ({ path, resolveDir, kind, namespace, pluginData }) => {
        if (pluginData === 'found') return undefined
        if (namespace === 'early') return { path, external: true }
        const found = await build.resolve(path, { resolveDir, kind, pluginData: 'found' })
        if (found.errors.length > 0) return found
        return path.endsWith('.wasm')
          ? { path: found.path, namespace: 'early' }
          : { path: `${found.path}?mf_vitest_force=Data`, external: true }
      },
    )
    build.onLoad({ filter: /.*/, namespace: 'early' }, ({ path }) => ({
      contents: `import file from ${JSON.stringify(path)}\nexport default file`,
      resolveDir: '/',
    }))
  },
}

export const platform: Plugin = {
  name: 'platform',
  setup: build =>
    build.onResolve({ filter: PLATFORM }, ({ path }) => ({ path: `node:${path}`, external: true })),
}

type Change = { readonly file: RegExp; readonly is: string; readonly becomes: string }

const changing = (name: string, changes: readonly Change[]): Plugin => ({
  name,
  setup(build) {
    for (const { file, is, becomes } of changes)
      build.onLoad({ filter: file }, ({ path }) => {
        const source = readFileSync(path, 'utf8')
        const changed = source.replace(is, becomes)
        if (changed === source) throw new Error(`${path} no longer says \`${is}\`.`)
        return { contents: changed, loader: 'ts' }
      })
  },
})

/**
 * Password hashes cost a thousandth of their work in production, because every deploy hashes some passwords and every sign-in
 * checks one. test/accounts/passwords.domain.test.ts measures the production cost.
 */
const PASSWORDS: Change = {
  file: /\/src\/[a-z/]+\/passwords\.ts$/,
  is: 'const COST = { ln: 14,',
  becomes: 'const COST = { ln: 4,',
}

export const cheapPasswords = changing('cheap-passwords', [PASSWORDS])

/** In the small size, smaller policies reach the limits of long responses, in the same code. */
const LONG_ANSWERS: readonly Change[] = [
  {
    file: /\/src\/policy\/projection\/policy\.ts$/,
    is: 'const MOST_PERIL_CHARACTERISTICS = 150_000',
    becomes: 'const MOST_PERIL_CHARACTERISTICS = 15_000',
  },
  {
    file: /\/src\/transactions\/mechanism\/kind\.ts$/,
    is: 'const LONGEST_REPLY = 8 * 2 ** 20',
    becomes: 'const LONGEST_REPLY = 2 * 2 ** 20',
  },
  {
    file: /\/src\/platform\/http\/respond\.ts$/,
    is: 'const MOST_HELD_BYTES = 16 * 2 ** 20',
    becomes: 'const MOST_HELD_BYTES = 4 * 2 ** 20',
  },
]

const CHANGED_FOR_TESTS: readonly Change[] = [
  PASSWORDS,
  // A control database that is slow on a busy machine must not make the service use outdated data of a tenant.
  // test/tenants/control-outage.service.test.ts tests the unchanged file.
  {
    file: /\/src\/platform\/tenancy\/snapshots\.ts$/,
    is: 'const PATIENCE_MS = 2_000',
    becomes: 'const PATIENCE_MS = 100_000',
  },
]

/**
 * Stops a plugin that never ends after a fifth of the steps, because the full number takes a second of processor time.
 * test/plugins/service.process.test.ts tests the unchanged limit.
 */
const fewerSteps = changing('fewer-steps', [
  {
    file: /\/src\/extension\/plugins\/limits\.ts$/,
    is: 'const MOST_INTERRUPTS = 10_000',
    becomes: 'const MOST_INTERRUPTS = 2_000',
  },
])

/** Builds the plugin runner for tests. Returns its file. */
export async function buildTestRunner(): Promise<string> {
  for (const [file, text] of await buildRunner([fewerSteps])) write(`.wrangler/tests/${file}`, text)
  return '.wrangler/tests/runner/main.bundle.mjs'
}

/** Options for a bundle that the runtime can read. */
export const FOR_WORKERD = {
  write: false,
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['workerd', 'worker', 'import'],
  target: 'es2024',
  loader: { '.html': 'text' },
  external: ['cloudflare:*', 'node:*'],
  legalComments: 'none',
  logLevel: 'error',
} as const satisfies BuildOptions

/**
 * Rebuilds the bundle from the current files, which takes half a second. Replaces the file atomically, for other runs in
 * progress. A global setup of `service`.
 */
export default async function buildServiceBundle(project: TestProject): Promise<void> {
  const isSmall = project.getProvidedContext().sizes === 'small'
  const { outputFiles, metafile } = await build({
    entryPoints: ['test/support/fresh-start/service.ts'],
    ...FOR_WORKERD,
    plugins: [
      files,
      platform,
      changing('changed-for-tests', [...CHANGED_FOR_TESTS, ...(isSmall ? LONG_ANSWERS : [])]),
    ],
    metafile: true,
  })
  const names = Object.values(metafile.outputs).flatMap(output => output.exports)
  write(SERVICE_BUNDLE, outputFiles[0]!.contents)
  write(SERVICE_ENTRY, `export { ${names.join(', ')} } from './${basename(SERVICE_BUNDLE)}'\n`)
}

function write(file: string, contents: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true })
  const written = `${file}.${process.pid}`
  writeFileSync(written, contents)
  renameSync(written, file)
}
