// Builds the modules that the service seldom needs into separate files. They are loaded when first needed and do not take part in
// the Worker's start-up (docs/design.md, section 3).
import { resolve } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { consoleModule } from './console-page.ts'
import { writeKept } from './kept-builds.ts'
import { referenceModule } from './reference-page.ts'

const CACHED_FONTS = resolve('packages/pdf/fontkit-cached.ts')

/** Gives the PDF library a `fontkit` that keeps the fonts it has read. Only that module gets the real library. */
const cachedFonts: Plugin = {
  name: 'cached-fonts',
  setup: build =>
    build.onResolve({ filter: /^fontkit$/ }, ({ importer }) =>
      importer === CACHED_FONTS ? undefined : { path: CACHED_FONTS },
    ),
}

/** Marks modules of the platform as external, by the names under which libraries import them. */
const platform: Plugin = {
  name: 'platform',
  setup: build =>
    build.onResolve(
      { filter: /^(?:node:)?(?:fs|stream|zlib|buffer|util|events|assert|path|crypto)$/ },
      ({ path }) => ({
        path: path.startsWith('node:') ? path : `node:${path}`,
        external: true,
      }),
    ),
}

/** The package of the interpreter finds a file by its own location, so it is not bundled. */
const INTERPRETER = '@jitl/quickjs-wasmfile-release-sync'

type Bundle = { file: string; entry: string; options: BuildOptions }

/**
 * The files, with the names that src/bundles/load.ts uses, and the programs of `npm start`. As one file each, these take half the
 * time and memory.
 */
const BUNDLES: readonly Bundle[] = [
  {
    file: 'src/bundles/renderer.bundle.mjs',
    entry: 'packages/pdf/render.ts',
    options: {
      conditions: ['import'],
      plugins: [cachedFonts, platform],
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire('file:///'); const __dirname = '/';",
      },
    },
  },
  {
    file: 'src/bundles/merger.bundle.mjs',
    entry: 'packages/pdf/merge.ts',
    options: { conditions: ['import'], plugins: [platform] },
  },
  {
    file: 'src/bundles/sandbox.bundle.mjs',
    entry: 'src/extension/plugins/runners/program.ts',
    options: { conditions: ['workerd', 'import'] },
  },
  {
    file: 'src/bundles/analysis.bundle.mjs',
    entry: 'src/servicing/template-data/analysis.ts',
    // The other bundles are files next to this one.
    options: { conditions: ['workerd', 'import'], plugins: [platform], external: ['./*.bundle.mjs'] },
  },
  {
    file: 'src/bundles/difference.bundle.mjs',
    entry: 'src/product/difference/configurations.ts',
    options: { conditions: ['workerd', 'import'], plugins: [platform] },
  },
  {
    file: 'src/bundles/document.bundle.mjs',
    entry: 'src/wording/apart.ts',
    options: { conditions: ['workerd', 'import'], plugins: [platform] },
  },
  {
    file: 'src/bundles/parquet.bundle.mjs',
    entry: 'src/reporting/files/parquet.ts',
    options: { conditions: ['browser', 'import'] },
  },
  {
    file: 'src/bundles/patterns.bundle.mjs',
    entry: 'src/product/fields/pattern-engine.ts',
    options: { conditions: ['import'] },
  },
  {
    file: 'src/bundles/agents.bundle.mjs',
    entry: 'src/agents/protocol/serve.ts',
    options: { conditions: ['workerd', 'import'] },
  },
  { file: 'runner/main.bundle.mjs', entry: 'runner/main.ts', options: { platform: 'node' } },
  {
    file: 'scripts/run-worker.bundle.mjs',
    entry: 'scripts/run-worker.ts',
    options: { platform: 'node', external: ['miniflare'] },
  },
  {
    file: 'runner/cell.bundle.mjs',
    entry: 'runner/cell.ts',
    options: { platform: 'node', external: [INTERPRETER] },
  },
]

export const buildBundles = (): Promise<void> =>
  writeKept('bundles', async () => {
    const pages = [pageFile('console', consoleModule), pageFile('reference', referenceModule)]
    return Object.fromEntries(await Promise.all([...BUNDLES.map(buildBundle), ...pages]))
  })

type Built = readonly [file: string, text: string]

const pageFile = async (name: string, make: () => Promise<string>): Promise<Built> => [
  `src/bundles/${name}.bundle.mjs`,
  await make(),
]

/** Builds the plugin runner with the given esbuild plugins. */
export const buildRunner = (plugins: Plugin[]): Promise<Built[]> =>
  Promise.all(
    BUNDLES.filter(({ file }) => file.startsWith('runner/')).map(one =>
      buildBundle({ ...one, options: { ...one.options, plugins } }),
    ),
  )

async function buildBundle({ file, entry, options }: Bundle): Promise<Built> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2024',
    minify: true,
    legalComments: 'none',
    write: false,
    // A module that is also a program must not run as one when it is bundled into another.
    define: { 'import.meta.main': 'false' },
    ...options,
  })
  return [file, outputFiles![0]!.text]
}

if (import.meta.main) await buildBundles()
