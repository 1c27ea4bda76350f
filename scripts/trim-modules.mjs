// Removes the parts of installed packages that nothing here opens: about 100 MB of node_modules. npm runs it after each install
// (`prepare` in package.json). It is JavaScript because an install without development packages runs it with the system's Node.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url))

const UNUSED_PATHS = [
  // The package of Node's binary and headers. The package `node` has a hard link to the binary.
  'node/node_modules',
  // Builds for browsers. The code that runs here is bundled from the modules (`es` and `js`).
  '@cantoo/pdf-lib/dist/pdf-lib.esm.js',
  '@cantoo/pdf-lib/dist/pdf-lib.esm.min.js',
  '@cantoo/pdf-lib/dist/pdf-lib.js',
  '@cantoo/pdf-lib/dist/pdf-lib.min.js',
  'pdfmake/build',
  'pdfkit/js/pdfkit.standalone.js',
  // Sources, and types for TypeScript 3.
  '@cantoo/pdf-lib/src',
  '@cantoo/pdf-lib/ts3.4',
  'zod/src',
  // The package manager of the authors.
  'pdfkit/.yarn',
  // The programming interface. Migrations are generated with the command.
  'drizzle-kit/api.js',
  'drizzle-kit/api.mjs',
  // Tables of the characters that the fonts cover.
  'dejavu-fonts-ttf/status.txt',
  'dejavu-fonts-ttf/unicover.txt',
  // Types of experimental features of the runtime.
  '@cloudflare/workers-types/experimental',
  // Everything except the build for browsers, from which the page at /docs loads parts.
  '@scalar/api-reference/dist/browser/standalone.js',
  '@scalar/api-reference/dist/style.css',
  '@scalar/api-reference/dist/vue-styles.css',
  ...[
    '_virtual',
    'blocks',
    'components',
    'features',
    'helpers',
    'hooks',
    'plugins',
    'standalone',
    'styles',
  ].map(folder => `@scalar/api-reference/dist/${folder}`),
  '@scalar/api-reference/CHANGELOG.md',
  // Viewers of recordings. Tests record nothing.
  'playwright-core/lib/vite',
]

const UNUSED_KINDS = [
  // Source maps of the PDF libraries and of the reference. Those of other packages are small, and the test runner reads them.
  /^(?:@cantoo\/pdf-lib|pdfmake|pdfkit|fontkit|@scalar\/api-reference)\/.*\.map$/,
  // CommonJS builds and source maps of the agent protocol, which is bundled from the modules.
  /^@modelcontextprotocol\/.*\.(?:map|cjs)$/,
  // Types for CommonJS.
  /\.d\.cts$/,
  // Weights and widths of fonts that no page uses.
  /NotoSans_[12389]00\w*\.ttf$/,
  /DejaVu(Serif|SansCondensed|Sans-ExtraLight|Math)[\w-]*\.ttf$/,
]

if (existsSync(MODULES)) {
  for (const path of UNUSED_PATHS) rmSync(join(MODULES, path), { recursive: true, force: true })
  for (const path of readdirSync(MODULES, { recursive: true }))
    if (UNUSED_KINDS.some(kind => kind.test(path))) rmSync(join(MODULES, path))
}
