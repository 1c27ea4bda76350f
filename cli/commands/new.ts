import { cpSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { EXIT, type ExitCode, usage } from '../exit.ts'
import { STARTER_FOLDER } from '../files.ts'
import { SCHEMA_FOLDER, writeSchemas } from '../format/schema-files.ts'
import { makeFolder } from '../make-folder.ts'
import { type Run, show } from '../terminal.ts'

/** The starter's name for its product, in paths and in files. */
const PRODUCT = 'starter_product'

/** `bindery new NAME`: creates a folder with a configuration to begin with, and a policy to price with it. */
export async function newConfiguration(folder: string, run: Run): Promise<ExitCode> {
  const product = productName(basename(folder))
  const present = statSync(folder, { throwIfNoEntry: false })
  if (present && (!present.isDirectory() || readdirSync(folder).length > 0))
    throw usage(
      `'${folder}' already exists and is ${present.isDirectory() ? 'not empty' : 'a file'}. Choose another name.`,
    )
  makeFolder(folder)
  cpSync(STARTER_FOLDER, folder, { recursive: true })
  const products = join(folder, 'configuration', 'products')
  renameSync(join(products, PRODUCT), join(products, product))
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const text = readFileSync(path, 'utf8')
    if (text.includes(PRODUCT)) writeFileSync(path, text.replaceAll(PRODUCT, product))
  }
  // The files of the starter name these schemas.
  writeSchemas(join(folder, SCHEMA_FOLDER))
  const { colors } = run.terminal
  show(run, { ok: true, folder, product }, () =>
    [
      `${colors.green('created')} ${folder} with the product ${product}`,
      '',
      'Next:',
      `  npx bindery check ${shellQuoted(folder)}`,
      `  npx bindery price ${shellQuoted(folder)} --policy ${shellQuoted(join(folder, 'policy.json'))} --explain`,
      `  npx bindery test ${shellQuoted(folder)}`,
      '  npx bindery login http://localhost:8787',
      `  npx bindery deploy ${shellQuoted(folder)} --tenant ${tenantName(product)}`,
      '',
    ].join('\n'),
  )
  return EXIT.ok
}

/** Quotes a path for a shell. */
const shellQuoted = (path: string): string =>
  /^[\w./~:\\-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`

/** Names of products consist of letters, digits and `_`. */
function productName(name: string): string {
  const product = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  if (/^[a-z]/.test(product)) return product
  throw usage(`'${name}' cannot be the name of a product: it must begin with a letter.`)
}

const tenantName = (product: string): string => `${product.replaceAll('_', '-')}-test`
