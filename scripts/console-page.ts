// The console: a page with its first script and its style inside, files with the scripts that it loads when they are needed, and
// the policy by which a browser runs these and nothing else.
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

const FOLDER = 'console'

/** The browsers of the last two years: `light-dark()`, and `JSON.parse` that tells digits where it can. */
const TARGET = ['chrome123', 'firefox120', 'safari17.5']

/** How a content security policy names an element with the text. */
export const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const OPTIONS = {
  bundle: true,
  format: 'esm',
  target: TARGET,
  minify: true,
  legalComments: 'none',
  charset: 'utf8',
  write: false,
  // Names of files are made from paths too: a checkout that links to the packages of another makes the same ones.
  preserveSymlinks: true,
} satisfies BuildOptions

/** What would end the element early, wherever it stands in a text. */
const withinPage = (text: string): string => text.trim().replaceAll('</', '<\\/')

/** A script or style of `console/` as one text that can stand within a page. `define` puts values in the place of names. */
export async function builtForBrowsers(
  entry: string,
  define: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: [`${FOLDER}/${entry}`],
    define,
    // What the page loads from the service.
    external: ['/docs/*'],
  })
  return withinPage(outputFiles[0]!.text)
}

/** Where the files of the console are. */
const FILES = '/console/'

type Scripts = {
  /** The script of the page. */
  readonly main: string
  /** Those that it loads, by their names, which change with their contents. */
  readonly files: Readonly<Record<string, string>>
  /** Names of those that the first page needs. */
  readonly first: readonly string[]
}

async function consoleScripts(): Promise<Scripts> {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: [`${FOLDER}/main.ts`],
    splitting: true,
    metafile: true,
    outdir: 'out',
    publicPath: FILES,
    chunkNames: '[name]-[hash]',
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]))
  const first = new Set(['main.js'])
  for (const name of first)
    for (const { path, kind } of outputs.get(name)!.imports)
      if (kind === 'import-statement') first.add(basename(path))
  const { 'main.js': main, ...files } = Object.fromEntries(texts)
  return { main: withinPage(main!), files, first: [...first].filter(name => name !== 'main.js') }
}

export type ConsolePage = {
  readonly html: string
  readonly policy: string
  readonly files: Readonly<Record<string, string>>
  readonly first: readonly string[]
}

export async function consolePage(): Promise<ConsolePage> {
  const [{ main: script, files, first }, style] = await Promise.all([
    consoleScripts(),
    builtForBrowsers('style.css'),
  ])
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Bindery</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<noscript>The console needs JavaScript.</noscript>
<script type="module">${script}</script>
</body>
</html>
`
  const policy = [
    "default-src 'none'",
    // The page's own script by its hash, and its files one by one: whatever else the host serves is never run.
    ['script-src', hashOf(script), ...Object.keys(files).map(name => `{origin}${FILES}${name}`)].join(' '),
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  return { html, policy, files, first }
}

/** Text of the module that has the page; src/bundles/console.bundle.d.mts says what it exports. */
export async function consoleModule(): Promise<string> {
  const { html, policy, files } = await consolePage()
  return Object.entries({ html, policy, files })
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}\n`)
    .join('')
}
