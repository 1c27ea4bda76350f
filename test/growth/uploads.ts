// Bodies that are not JSON, for the operations that accept them: the OpenAPI document describes these only as bytes.
import { archiveOf, deployForm } from '../support/examples.ts'
import { size } from '../support/sizes.ts'
import type { Input } from './inputs.ts'

/** An input with its smallest size, which is doubled three times. */
export type Upload = Input & { readonly smallest: number }

let uploads = 0
const newName = (): string => {
  uploads += 1
  return `name=growth${uploads}&staticName=growth${uploads}`
}

const encode = (text: string) => new Uint8Array(new TextEncoder().encode(text))

const formOf = (content: string | Uint8Array<ArrayBuffer>, fileName: string): FormData => {
  const form = new FormData()
  form.set('file', new Blob([content]), fileName)
  return form
}

const repeated = (size: number, text: (at: number) => string): string =>
  Array.from({ length: size }, (_, at) => text(at)).join('')

type Content = {
  readonly name: string
  readonly of: Input['of']
  readonly smallest: number
  readonly text: (size: number) => string
}

const CSV: readonly Content[] = [
  {
    name: 'rows',
    of: 'items',
    smallest: 500,
    text: n => `key,value\n${repeated(n, at => `k${at},${at}\n`)}`,
  },
  { name: 'rows of one key', of: 'items', smallest: 500, text: n => `key,value\n${'k,1\n'.repeat(n)}` },
  {
    name: 'rows with a wrong cell',
    of: 'items',
    smallest: 500,
    text: n => `key,value,number\n${repeated(n, at => `k${at},"${at}\n`)}`,
  },
  {
    name: 'columns',
    of: 'items',
    smallest: 100,
    text: n => `key${repeated(n, at => `,c${at}`)}\nk${',1'.repeat(n)}\n`,
  },
  {
    name: 'columns of one name',
    of: 'items',
    smallest: 100,
    text: n => `key${',c'.repeat(n)}\nk${',1'.repeat(n)}\n`,
  },
  { name: 'cell', of: 'characters', smallest: 8_000, text: n => `key,value\nk,"${'a"" '.repeat(n / 4)}"\n` },
  { name: 'key', of: 'characters', smallest: 8_000, text: n => `key,value\n${'k'.repeat(n)},1\n` },
  { name: 'blank lines', of: 'items', smallest: 2_000, text: n => `key,value\n${'\n'.repeat(n)}k,1\n` },
  { name: 'quotes that do not close', of: 'characters', smallest: 8_000, text: n => '"'.repeat(n - 1) },
]

const RANGES: readonly Content[] = [
  ...CSV,
  {
    name: 'ranges',
    of: 'items',
    smallest: 500,
    text: n => `key,rangeStart,rangeEnd,value\n${repeated(n, at => `k,${at},${at + 1},${at}\n`)}`,
  },
  {
    name: 'ranges that overlap',
    of: 'items',
    smallest: 500,
    text: n => `key,rangeStart,rangeEnd,value\n${repeated(n, at => `k,${at},${at + 1_000},${at}\n`)}`,
  },
]

const markup = (smallest: number, parts: Readonly<Record<string, (n: number) => string>>): Content[] =>
  Object.entries(parts).map(([name, text]) => ({ name, of: 'items', smallest, text }))

const LIQUID = markup(250, {
  outputs: n => '{{ data.name | upcase | append: "x" }} text '.repeat(n),
  tags: n => '{% if data.a == 1 %}a{% else %}b{% endif %}\n'.repeat(n),
  'names that are assigned': n => repeated(n, at => `{% assign v${at} = ${at} %}`),
  'nested tags': n => '{% if data.a %}'.repeat(n) + '{% endif %}'.repeat(n),
  'tags that do not close': n => '{% if data.a %}'.repeat(n),
  'unknown tags': n => repeated(n, at => `{% wrong${at} %}`),
  'unknown filters': n => repeated(n, at => `{{ a | wrong${at} }}`),
  'filters in one output': n => `{{ data.a ${'| upcase '.repeat(n)}}}`,
  'terms in one condition': n => `{% if a == 1 ${'and b == 2 '.repeat(n)}%}x{% endif %}`,
  'braces that open': n => '{{ '.repeat(n * 10),
  'percent signs': n => '{%'.repeat(n * 10),
  blanks: n => `{{ ${' '.repeat(n * 40)} a }}`,
  'blanks before a dash': n => `${' '.repeat(n * 40)}{{- a }}`,
  'one name': n => `{{ ${'a'.repeat(n * 40)} }}`,
  'a path': n => `{{ a${'.b'.repeat(n * 10)} }}`,
  'a path of brackets': n => `{{ ${'a['.repeat(n)}0${']'.repeat(n)} }}`,
  'a text that does not end': n => `{{ "${'a'.repeat(n * 40)} }}`,
  'raw blocks': n => '{% raw %}{{{% endraw %}'.repeat(n),
  comments: n => '{% comment %}a{% endcomment %}'.repeat(n),
  cases: n => `{% case a %}${repeated(n, at => `{% when ${at} %}x`)}{% endcase %}`,
  elements: n => '<div class="a"><p>x</p></div>'.repeat(n),
  'elements that do not close': n => '<div><p>'.repeat(n),
  'angle brackets': n => '<'.repeat(n * 40),
  rules: n => `<style>${repeated(n, at => `.c${at} p { color: red }`)}</style><p>x</p>`,
})

const VELOCITY = markup(250, {
  references: n => `$data.name and $\{data.other}\n`.repeat(n),
  directives: n => '#if($data.a == 1)a#{else}b#end\n'.repeat(n),
  'names that are set': n => repeated(n, at => `#set($v${at} = ${at})\n`),
  'nested directives': n => '#if($a)'.repeat(n) + '#end'.repeat(n),
  'directives that do not close': n => '#if($a)'.repeat(n),
  'unknown directives': n => repeated(n, at => `#wrong${at}($a)\n`),
  'terms in one condition': n => `#if($a == 1 ${'&& $b == 2 '.repeat(n)})x#end`,
  parentheses: n => `#set($a = ${'('.repeat(n)}1${')'.repeat(n)})`,
  'hash signs': n => '#'.repeat(n * 40),
  'dollar signs': n => '$'.repeat(n * 40),
  'backslashes before a dollar sign': n => `${'\\'.repeat(n * 40)}$a`,
  'a path': n => `$a${'.b'.repeat(n * 10)}`,
  'calls in a path': n => `$a${'.trim()'.repeat(n)}`,
  'a text that does not end': n => `#set($a = "${'a'.repeat(n * 40)})`,
  'a comment that does not end': n => `#*${'* '.repeat(n * 20)}`,
  'items of a list': n => `#set($a = [${'1, '.repeat(n)}1])`,
})

/** A text after the signature that a reader expects. */
const behind = (signature: string): Content[] => [
  {
    name: 'bytes',
    of: 'characters',
    smallest: 32_000,
    text: n => signature + '\u0001a<('.repeat(n / 4),
  },
]

const ARCHIVES: readonly Upload[] = [
  archive('entries that nobody reads', 'items', 100, n =>
    Object.fromEntries(Array.from({ length: n }, (_, at) => [`notes/${at}/wrong_${at}.json`, '{}'])),
  ),
  archive('folders of products', 'items', size(10, 25), n =>
    Object.fromEntries(Array.from({ length: n }, (_, at) => [`products/p${at}/policy/policy.json`, '{}'])),
  ),
  archive('perils of a product', 'items', 25, n =>
    Object.fromEntries(
      Array.from({ length: n }, (_, at) => [
        `products/p/policy/exposures/e/perils/x${at}.json`,
        `{"name":"x${at}","fields":[]}`,
      ]),
    ),
  ),
  archive('the name of an entry', 'characters', 128, n => ({ [`${'a/'.repeat(n / 2 - 4)}b.json`]: '{}' })),
  archive('the names of 20 entries', 'characters', 5_000, n =>
    Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`${at}/${'a/'.repeat(n / 2 - 4)}b.json`, '{}']),
    ),
  ),
  archive('fields of a policy', 'items', 100, n => ({
    'products/p/policy/policy.json': JSON.stringify({
      fields: Array.from({ length: n }, (_, at) => ({ name: `f${at}`, title: 'F', typ: 'string' })),
    }),
  })),
  archive('JSON in JSON', 'items', 100, n => ({ 'config.json': '['.repeat(n) + ']'.repeat(n) })),
  archive('a template', 'items', 250, n => ({
    'products/p/policy/policy.template.liquid': '{% if a %}{{ b | upcase }}{% endif %}'.repeat(n),
  })),
]

function archive(
  name: string,
  of: Input['of'],
  smallest: number,
  files: (size: number) => Record<string, string>,
): Upload {
  const build = (size: number) => {
    const zip = archiveOf({ 'config.json': '{}', ...files(size) })
    const fields = {
      tenantName: 'growth',
      hostName: 'growth.example',
      tenantNameSuffix: 'grown',
      version: '1',
    }
    return { body: deployForm(zip, fields) }
  }
  return { name, of, smallest, build }
}

const uploadsOf = (contents: readonly Content[], fileName: string, query: () => string): Upload[] =>
  contents.map(({ text, ...content }) => ({
    ...content,
    build: size => ({ body: formOf(encode(text(size)), fileName), query: query() }),
  }))

/** What is uploaded to the path after the tenant, whether new or as a replacement. */
const RESOURCES: Readonly<Record<string, readonly [readonly Content[], string]>> = {
  tables: [CSV, 't.csv'],
  rangeTables: [RANGES, 't.csv'],
  constraints: [CSV, 't.csv'],
  documents: [behind('%PDF-1.7\n'), 'd.pdf'],
  fonts: [behind('\0\u0001\0\0'), 'f.ttf'],
  'templates/liquid': [LIQUID, 't.liquid'],
  'templates/velocity': [VELOCITY, 't.vm'],
  'templateSnippets/liquid': [LIQUID, 't.liquid'],
  'templateSnippets/velocity': [VELOCITY, 't.vm'],
}

/**
 * Some operations read uploads with the same code. One of them is measured with all contents; at the small size, the others only
 * with this many.
 */
const SHARED = 3

/** Operations that read archives. */
const ARCHIVE = /^(?:\/configuration\/|\/assets\/v1\/deploy$|\/impacts$)/

/** Resources for uploads to replace, one of each kind, with the paths that create them. */
export const firstUploads = (): { readonly path: string; readonly body: FormData }[] =>
  Object.entries(RESOURCES).map(([kind, [[content], fileName]]) => ({
    path: `${kind}?name=${firstName(kind)}&staticName=${firstName(kind)}`,
    body: formOf(encode(content!.text(content!.smallest)), fileName),
  }))

/** The name of the first resource of a kind. Names are unique within the tenant. */
const firstName = (kind: string): string => `first_${kind.replace('/', '_')}`

/** The name of the first resource of the kind that the path is for. */
export const firstNameOf = (path: string): string =>
  firstName(Object.keys(RESOURCES).find(kind => path.includes(`/${kind}`)) ?? 'tables')

const ofSharedCode = <T>(contents: readonly T[]): readonly T[] => size(contents.slice(0, SHARED), contents)

/** The growing uploads of an operation; undefined for an operation not handled here. */
export function uploadsFor(method: string, path: string): readonly Upload[] | undefined {
  if (ARCHIVE.test(path)) return path.endsWith('/deployTest') ? ARCHIVES : ofSharedCode(ARCHIVES)
  const kind = /^\/resource\/\{tenantLocator\}\/(.*?)(?:\/\{name\})?$/.exec(path)?.[1]
  const resource = kind === undefined ? undefined : RESOURCES[kind]
  if (resource) {
    const [contents, fileName] = resource
    return method === 'POST'
      ? uploadsOf(contents, fileName, newName)
      : uploadsOf(ofSharedCode(contents), fileName, () => `name=${firstNameOf(path)}`)
  }
  return path === '/media' || path.endsWith('/addDocument')
    ? uploadsOf(behind('%PDF-1.7\n'), 'm.pdf', () => 'fileName=m.pdf&displayName=m')
    : undefined
}
