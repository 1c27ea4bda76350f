import { nearest } from '../../kernel/text.ts'
import { type FindingCode, LARGEST_FINDING_COUNT, type Report } from './report.ts'

/** Files and folders that the format names, wherever they stand. */
const NAMES = [
  ...['config.json', 'products', 'payment', 'policyholder', 'security', 'scripts', 'bootstrap'],
  ...['policy', 'exposures', 'perils', 'tables', 'taxes', 'static_documents'],
  ...['policy.json', 'exposure.json', 'fees.json', 'taxes.json', 'payment.json'],
  ...['endorsements.json', 'renewals.json', 'cancellations.json', 'roles.json', 'test_users.json'],
  ...['policyholder.dictionary.json', 'policyholder.form.json', 'policyholder.card.json'],
  ...['policy.calculations.liquid', 'underwriting.guidelines.liquid'],
]
const KNOWN_NAMES = new Set(NAMES)

/** Parts of older configurations that nothing reads any more, and notes for people (brief 5.1). */
const OBSOLETE = [
  /^(brand|reports)\//,
  /(^|\/)perms\.json$/,
  /^global\.dictionary\.json$/,
  /^policyholder\/policyholder\.json$/,
  /^products\/[^/]+\/claim\//,
  /^products\/[^/]+\/[^/]*\.(form|card|dictionary)\.json$/,
  /(^|\/)(readme|license|licence|notice|changelog|contributing)(\.[a-z]+)?$/i,
  /\.md$/i,
]

/** Files whose absence from Bindery changes what the tenant gets, with that consequence. */
const WITHOUT_EFFECT: readonly (readonly [RegExp, FindingCode, string])[] = [
  [
    /^products\/[^/]+\/(?:policy\/)?premium-?reporting\.json$/i,
    'unsupportedFeature',
    'Bindery has no premium reporting, so this file has no effect: the product will be rated and billed as an ordinary one.',
  ],
  [
    /^products\/[^/]+\/(?:policy\/)?premium-?report(?:\.template\.liquid|\.premium\.liquid|\.json)$/i,
    'unsupportedFeature',
    'Bindery has no premium reports, so this file is never used: no report is priced and no document made of it.',
  ],
  [
    /^payment\/payment\.(?:form|dictionary|card)\.json$/,
    'olderForm',
    'This is a payment form of an older configuration. Its fields are not read: payments take and check only the fields of payment/payment.json. Move the fields there.',
  ],
]

/** Warns of every file that no check asked for; of a whole unknown folder at the top once. */
export function checkLeftOver(
  paths: readonly string[],
  knownFolders: ReadonlySet<string>,
  report: Report,
): void {
  const unknown = paths.filter(path => !OBSOLETE.some(pattern => pattern.test(path)))
  const folders = new Set<string>()
  for (const path of unknown) {
    const known = WITHOUT_EFFECT.find(([pattern]) => pattern.test(path))
    if (known) {
      report.warning({ path }, known[1], known[2])
      continue
    }
    const [first, second] = path.split('/', 2)
    if (second === undefined || knownFolders.has(first!)) {
      report.warning(
        { path },
        'unknownFile',
        'This file is not part of a configuration and is ignored. Check its name and folder, or leave it out.' +
          meantPath(path, report),
      )
      continue
    }
    if (folders.size >= LARGEST_FINDING_COUNT || folders.has(first!)) continue
    folders.add(first!)
    report.warning(
      { path: `${first}/` },
      'unknownFile',
      'This folder is not part of a configuration and is ignored. Check its name, or leave it out.' +
        meantPath(`${first}/`, report),
    )
  }
}

/** The path with names of the format in the place of those that are nearly so, as `Perils` is. */
function meantPath(path: string, report: Report): string {
  const names = path.split('/')
  if (!report.afford('comparisons', names.length * NAMES.length)) return ''
  const meant = names.map(name => (KNOWN_NAMES.has(name) ? name : (nearest(name, NAMES) ?? name))).join('/')
  return meant === path ? '' : ` Did you mean '${meant}'?`
}
