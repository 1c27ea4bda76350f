// The files of an archive, for the checks. A file that no check takes is reported as unknown.
import { ArchiveRefused } from '../../../packages/zip/refusal.ts'
import { nearest } from '../../kernel/text.ts'
import type { ArchiveFile } from '../archive/read.ts'
import { type ArchiveReport, type FindingCode, LARGEST_FINDING_COUNT } from './report.ts'

export type Archive = {
  readonly report: ArchiveReport
  /** Returns the file and marks it as part of the configuration. */
  take: (path: string) => ArchiveFile | undefined
  /** Names of the files directly in the folder. */
  namesIn: (folder: string) => string[]
  foldersIn: (folder: string) => string[]
  /** Paths of all files under the folder, relative to it. */
  pathsBelow: (folder: string) => string[]
  /** Files that no check took, which are reported as unknown. */
  leftOver: () => string[]
}

type Folder = { readonly names: string[]; readonly folders: Map<string, Folder> }

const newFolder = (): Folder => ({ names: [], folders: new Map() })

/**
 * Indexes the files by path and folder. Names and folders are listed in the order of the paths, so the folder `a-b` comes before
 * `a`.
 */
export function indexFiles(files: readonly ArchiveFile[], report: ArchiveReport): Archive {
  const byPath = new Map(files.map(file => [file.path, file]))
  const paths = [...byPath.keys()].sort()
  const root = newFolder()
  for (const path of paths) {
    const segments = path.split('/')
    const name = segments.pop()!
    let folder = root
    for (const segment of segments) {
      const inner = folder.folders.get(segment) ?? newFolder()
      folder.folders.set(segment, inner)
      folder = inner
    }
    folder.names.push(name)
  }
  const folderAt = (path: string): Folder | undefined =>
    path.split('/').reduce<Folder | undefined>((folder, segment) => folder?.folders.get(segment), root)
  const taken = new Set<string>()
  return {
    report,
    take: path => {
      const file = byPath.get(path.normalize('NFC'))
      if (file !== undefined) taken.add(file.path)
      return file
    },
    namesIn: folder => folderAt(folder)?.names ?? [],
    foldersIn: folder => [...(folderAt(folder)?.folders.keys() ?? [])],
    pathsBelow: folder =>
      paths.filter(path => path.startsWith(`${folder}/`)).map(path => path.slice(folder.length + 1)),
    leftOver: () => paths.filter(path => !taken.has(path)),
  }
}

/** Returns undefined if the file cannot be read, and reports why. */
export const readText = (file: ArchiveFile, report: ArchiveReport): string | undefined =>
  readFile(file, report, () => undefined)

/**
 * Reads a template or script. A file in an older encoding is reported but still checked as far as possible, so that it is not also
 * reported as missing.
 */
export const readSource = (file: ArchiveFile, report: ArchiveReport): string | undefined =>
  readFile(file, report, bytes => new TextDecoder().decode(bytes))

function readFile(
  file: ArchiveFile,
  report: ArchiveReport,
  otherwise: (notUtf8: Uint8Array) => string | undefined,
): string | undefined {
  try {
    return file.text()
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error
    report.at({ path: file.path }).error(error.code, error.message)
    return error.code === 'textNotUtf8' ? otherwise(file.bytes()) : undefined
  }
}

/** Names that the format defines, at any depth; used for suggestions. */
const NAMES = [
  ...['config.json', 'products', 'payment', 'policyholder', 'security', 'scripts', 'bootstrap'],
  ...['policy', 'exposures', 'perils', 'tables', 'taxes', 'static_documents'],
  ...['policy.json', 'exposure.json', 'fees.json', 'taxes.json', 'payment.json'],
  ...['endorsements.json', 'renewals.json', 'cancellations.json', 'roles.json', 'test_users.json'],
  ...['policyholder.dictionary.json', 'policyholder.form.json', 'policyholder.card.json'],
  ...['policy.calculations.liquid', 'underwriting.guidelines.liquid'],
]
const KNOWN_NAMES = new Set(NAMES)

/** Parts of older configurations that nothing reads, and notes for people (brief 5.1). They are not reported. */
const OBSOLETE = [
  /^(brand|reports)\//,
  /(^|\/)perms\.json$/,
  /^global\.dictionary\.json$/,
  /^policyholder\/policyholder\.json$/,
  /^products\/[^/]+\/[^/]*\.(form|card|dictionary)\.json$/,
  /(^|\/)(readme|license|licence|notice|changelog|contributing)(\.[a-z]+)?$/i,
  /\.md$/i,
]

/** Files that Bindery does not use, and what that means for the tenant. */
const WITHOUT_EFFECT: readonly (readonly [RegExp, FindingCode, string])[] = [
  [
    /^products\/[^/]+\/(?:policy\/)?premium-?reporting\.json$/i,
    'unsupportedFeature',
    'Bindery has no premium reporting, so this file has no effect: the product is rated and billed as an ordinary one.',
  ],
  [
    /^products\/[^/]+\/(?:policy\/)?premium-?report(?:\.template\.liquid|\.premium\.liquid|\.json)$/i,
    'unsupportedFeature',
    'Bindery has no premium reports, so this file is never used: no report is priced, and no document is made from it.',
  ],
  [
    /^payment\/payment\.(?:form|dictionary|card)\.json$/,
    'olderForm',
    'This is a payment form of an older configuration, whose fields are not read. Payments accept and validate only the fields of payment/payment.json. Move the fields there.',
  ],
  [
    /^scripts\/.*\.[cm]?tsx?$/i,
    'unknownFile',
    'Plugins are JavaScript, so this file is ignored. Compile it to .js, and put the result in its place.',
  ],
  [
    /^products\/[^/]+\/policy\/tables\/[^/]+\.(?:xlsx?|ods|numbers|tsv|txt)$/i,
    'unknownFile',
    'Tables are CSV files, so this file is ignored. Save it as .csv, with commas, in UTF-8.',
  ],
]

/** Files of a product's claims, in any of the older formats. */
const CLAIMS = /^products\/[^/]+\/claims?\//

/**
 * Warns about files that no check took: once for the claims of a product, once for an unknown folder at the root, and otherwise for
 * each file.
 */
export function checkLeftOver({ leftOver, report }: Archive, knownFolders: ReadonlySet<string>): void {
  const folders = new Set<string>()
  for (const path of leftOver()) {
    if (OBSOLETE.some(pattern => pattern.test(path))) continue
    const known = WITHOUT_EFFECT.find(([pattern]) => pattern.test(path))
    const [first, second] = path.split('/', 2)
    const folder = `${first}/`
    const [claims] = CLAIMS.exec(path) ?? []
    if (claims !== undefined) {
      const message =
        'Bindery has no claims, so the files in this folder are not read. Keep claims in another system.'
      if (!folders.has(claims)) report.at({ path: claims }).warning('unsupportedFeature', message)
      folders.add(claims)
    } else if (known) report.at({ path }).warning(known[1], known[2])
    else if (second === undefined || knownFolders.has(first!)) {
      const message = `This file is not part of a configuration and is ignored. Check its name and folder, or leave it out.${pathSuggestion(path, report)}`
      report.at({ path }).warning('unknownFile', message)
    } else if (folders.size < LARGEST_FINDING_COUNT && !folders.has(folder)) {
      folders.add(folder)
      const message = `This folder is not part of a configuration and is ignored. Check its name, or leave it out.${pathSuggestion(folder, report)}`
      report.at({ path: folder }).warning('unknownFile', message)
    }
  }
}

/** Extensions whose case matters. For `.csv` it does not. */
const ENDING = /\.(json|liquid|js|cjs|mjs|vm|velocity)$/i

/** Suggests a correction for nearly right names of the format, such as `Perils`, and for extensions such as `.JSON`. */
function pathSuggestion(path: string, report: ArchiveReport): string {
  const names = path.split('/')
  if (!report.afford('comparisons', names.length * NAMES.length)) return ''
  const nearestKnownName = (name: string): string | undefined =>
    KNOWN_NAMES.has(name) ? name : nearest(name, NAMES)
  const meant = names
    .map(name => nearestKnownName(name) ?? name.replace(ENDING, ending => ending.toLowerCase()))
    .join('/')
  return meant === path ? '' : ` Did you mean '${meant}'?`
}
