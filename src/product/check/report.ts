import type { RefusalCode } from '../../../packages/zip/refusal.ts'
import { didYouMean } from '../../kernel/text.ts'
import type { Finding } from '../configuration.ts'

/** A place in the archive. Lines and columns count from 1. */
export type Place = { path: string; line?: number; column?: number }

/** The most findings of each severity, because the log is returned in one response. */
export const LARGEST_FINDING_COUNT = 2_000

/**
 * Limits on the work for one archive. They are counted, because the clock stands still in production while code runs. `comparisons`
 * counts comparisons of names for suggestions. `analysis` counts the statements of templates, once for each path that reaches them,
 * and the cost of copying a path.
 */
export const LARGEST_WORK = {
  tableCells: 1_000_000,
  patternSize: 2_000_000,
  comparisons: 1_000_000,
  analysis: 4_000_000,
} as const

/** Work that all checks share, limited so that one archive cannot exhaust the isolate. */
type Work = {
  /** Spends units of work. Returns false once the archive has used up its limit. */
  afford: (work: keyof typeof LARGEST_WORK, units: number) => boolean
  /** Returns ` Did you mean 'x'?` for the end of a message; empty if no known name is similar. */
  suggestion: (name: string, known: readonly string[]) => string
}

/** Reports problems at one place in the archive. */
export type PlaceReport = Work & {
  error: (code: FindingCode, message: string) => void
  warning: (code: FindingCode, message: string, more?: Pick<Finding, 'integration' | 'template'>) => void
}

/** Reports problems of a value in a file. `at` selects a value inside it. */
export type ValueReport = PlaceReport & {
  path: readonly PropertyKey[]
  at: (...path: PropertyKey[]) => ValueReport
}

/** The report on an archive. Keeps identical findings at the same place only once. */
export type ArchiveReport = Work & {
  at: (place: Place) => PlaceReport
  /** `placeOf` returns the place of a value in the text. */
  ofValue: (placeOf: (path: readonly PropertyKey[]) => Place, path?: readonly PropertyKey[]) => ValueReport
  add: (findings: readonly Finding[]) => void
  /** Whether a JSON file under the folder has an error, so that a part of its content was left out. */
  hasBrokenJson: (folder: string) => boolean
  /** Returns the findings, sorted by path and line. `failed` is true if one is an error. */
  close: () => { findings: Finding[]; failed: boolean }
}

/**
 * Opens a report. `isStrict` returns whether a file belongs to a strict product, in which anything that could change a price is an
 * error.
 */
export function openReport(isStrict: (path: string) => boolean = () => false): ArchiveReport {
  const kept = new Map<string, Finding>()
  const counts = { ERROR: 0, WARNING: 0 }
  const spent = { tableCells: 0, patternSize: 0, comparisons: 0, analysis: 0 }
  const broken = new Set<string>()
  const add = (given: Finding): void => {
    if (given.severity === 'ERROR' && given.path.endsWith('.json')) broken.add(given.path)
    const finding =
      given.severity === 'WARNING' && isErrorIfStrict(given) && isStrict(given.path)
        ? { ...given, severity: 'ERROR' as const }
        : given
    const isKept = counts[finding.severity] < LARGEST_FINDING_COUNT
    const key = isKept ? JSON.stringify(finding) : ''
    if (isKept && kept.has(key)) return
    counts[finding.severity] += 1
    if (isKept) kept.set(key, finding)
  }
  const work: Work = {
    afford: (kind, units) => {
      spent[kind] += units
      return spent[kind] <= LARGEST_WORK[kind]
    },
    suggestion: (name, known) => (work.afford('comparisons', known.length) ? didYouMean(name, known) : ''),
  }
  const reportAt = (placeOf: () => Place): PlaceReport => {
    const put = (severity: Finding['severity'], finding: Pick<Finding, 'code' | 'message'>): void => {
      const { path, line, column } = placeOf()
      add({ severity, path, ...(line !== undefined && { line, column }), ...finding })
    }
    return {
      ...work,
      error: (code, message) => put('ERROR', { code, message }),
      warning: (code, message, more) => put('WARNING', { code, message, ...more }),
    }
  }
  const ofValue: ArchiveReport['ofValue'] = (placeOf, path = []) => ({
    ...reportAt(() => placeOf(path)),
    path,
    at: (...below) => ofValue(placeOf, [...path, ...below]),
  })
  return {
    ...work,
    at: place => reportAt(() => place),
    ofValue,
    add: findings => findings.forEach(add),
    hasBrokenJson: folder => [...broken].some(path => path.startsWith(folder)),
    close: () => {
      const findings = [...kept.values()].sort(byPlace)
      for (const severity of ['ERROR', 'WARNING'] as const) {
        const message = `${counts[severity] - LARGEST_FINDING_COUNT} more of this severity are not listed; correct these first.`
        if (counts[severity] > LARGEST_FINDING_COUNT)
          findings.push({ severity, path: '(archive)', code: 'tooManyFindings', message })
      }
      return { findings, failed: counts.ERROR > 0 }
    },
  }
}

/** Findings that are warnings in general, and errors in a strict product. */
export const ERRORS_IF_STRICT: ReadonlySet<string> = new Set<FindingCode>([
  ...(['unknownProperty', 'duplicateKey', 'conditionNeverHolds'] as const),
  ...(['duplicateTableKey', 'emptyTable', 'headerCase', 'wrongDelimiter'] as const),
  ...(['scriptSetsNothing', 'orphanScript', 'unknownPlugin', 'missingFunction'] as const),
  ...(['missingPremiumScript'] as const),
])

/** Repairs of invalid Liquid (packages/liquid). Each may differ from what the author meant. */
const REPAIRS: ReadonlySet<string> = new Set([
  ...['blockNotClosed', 'bracesInMarkup', 'curlyQuote', 'doubledEqualsSign', 'emptyFilter', 'emptyOutput'],
  ...['extraBrace', 'htmlEntity', 'invisibleCharacter', 'markupNotClosed', 'markupNotOpened'],
  ...['missingInput', 'unusualOperator'],
])

/** Scripts whose result is an amount or a decision. */
const RATING_SCRIPT =
  /(?:\.premium\.liquid|\/policy\.calculations\.liquid|\/underwriting\.guidelines\.liquid)$/

const isErrorIfStrict = ({ code, path }: Finding): boolean =>
  ERRORS_IF_STRICT.has(code) || (REPAIRS.has(code) && RATING_SCRIPT.test(path))

const byPlace = (a: Finding, b: Finding): number =>
  Number(a.path > b.path) - Number(a.path < b.path) ||
  (a.line ?? 0) - (b.line ?? 0) ||
  (a.column ?? 0) - (b.column ?? 0)

/** Reports repeated names. `report` is that of the list; `kind` is the noun for an entry in messages. */
export function checkUniqueNames(
  entries: readonly (readonly [index: number, entry: { readonly name: string }])[],
  kind: string,
  report: ValueReport,
): void {
  const seen = new Set<string>()
  for (const [index, { name }] of entries) {
    const message = `Another ${kind} has the name '${name}' too. Rename or remove one of them.`
    if (seen.has(name)) report.at(index, 'name').error('duplicateName', message)
    seen.add(name)
  }
}

/** The rule behind each finding. The codes appear in the deploy log and are stable. */
export const findingCodes = {
  backslashInPath: 'The zip separates folders by backslashes.',
  outsideRoot: 'A file lies beside the folder that holds the configuration, and is ignored.',
  nestedArchive: 'A file is an archive itself, and is ignored.',
  badSyntax: 'A JSON file does not parse.',
  duplicateKey: 'A JSON object has the same key twice; the last one counts.',
  badValue: 'A property has a value of the wrong kind.',
  missingProperty: 'A property that must be there is not.',
  unknownProperty: 'A property is not part of the format and is ignored.',
  propertyOfOtherType: 'A property has no meaning for a field of this type and is ignored.',
  unknownFile: 'A file is not part of the format and is ignored.',
  unsupportedFeature: 'A file configures a feature that Bindery does not have.',
  olderForm: 'A form of an older configuration is not read.',
  ignoredFolder: 'A folder is not part of what a deploy applies.',
  missingFile: 'A file that must be there is not.',
  missingConfig: 'config.json, its time zone or its currency is missing.',
  noProducts: 'The archive has no product.',
  noExposures: 'A product has no exposure.',
  noPaymentSchedules: 'A product lists no payment schedules.',
  badName: 'A name has characters that it must not have.',
  duplicateName: 'Two things of one kind have the same name.',
  sharedPerilName: 'Perils of different exposures have the same name.',
  nameDiffersFromFile: 'The name inside a file is not that of the file or folder.',
  unknownTimeZone: 'The time zone is none of the IANA database.',
  unknownCurrency: 'The currency is none of ISO 4217.',
  unknownFieldType: 'A field has a type that does not exist.',
  fieldTypeNotAllowed: 'A field has a type that is not allowed where it stands.',
  selectWithoutValues: 'A select field offers nothing to choose.',
  duplicateValue: 'A select field offers the same value twice.',
  lookupWithoutTable: 'A lookup field names no table.',
  groupWithoutFields: 'A group field has no fields.',
  nestedGroup: 'A group stands inside a group.',
  missingPrecision: 'A date field has no precision; day counts.',
  badBounds: 'The bounds of a field contradict each other or do not parse.',
  slashedDate: 'A bound of a date is written with slashes.',
  badRegex: 'A pattern does not compile in RE2 syntax.',
  unknownConditionField: 'A condition names a field that does not exist beside it.',
  circularConditions: 'Conditions of fields go round in a circle.',
  badJurisdiction: 'A declared jurisdiction has a name that none can have.',
  badJurisdictionField: 'A product names as jurisdiction what its policies do not have, or have not always.',
  undeclaredJurisdiction: 'A policy may be in a jurisdiction that config.json does not declare.',
  badConstraint: 'A constraint of a field names what there is not, or has no meaning there.',
  circularConstraints: 'Constraints of fields go round in a circle.',
  conditionNeverHolds: 'A condition asks for a value that the field never has.',
  pluginWithoutGrace: 'A plugin of grace periods is switched on in a product that has none.',
  badScript: 'A script does not parse.',
  missingTable: 'A table that is named does not exist.',
  notALookupTable: 'A table that a script looks up in lacks the header key,value.',
  badTable: 'A CSV file does not parse.',
  tableTooLarge: 'The tables of the archive have too many cells.',
  emptyTable: 'A table has a header and no rows.',
  headerCase: 'The header is key,value in other letters than lower case.',
  duplicateTableKey: 'A key,value table has a key twice; the first row counts.',
  tablesDiffer: 'Two products have tables of one name and different content.',
  missingTemplate: 'A document names a template that does not exist.',
  documentTwice: 'A document of invoices has the template that makes one by its name alone.',
  unusedTemplate: 'No document uses a template, and it has no fixed name.',
  missingStaticDocument: 'A template or a document names a static document that does not exist.',
  missingSnippet:
    'A script takes in a snippet, or a template one that the templateSnippets of its document do not list.',
  badDocument: 'What a document says of itself contradicts itself, or means nothing where it stands.',
  documentScope: 'A document is of another scope than documents of its place.',
  badSnippetName: 'A document lists a snippet or a font by a name that none can have.',
  missingPremiumScript: 'Nothing prices a peril.',
  missingTaxScript: 'A tax has no script.',
  scriptSetsNothing: 'A script for a premium, a tax or a decision sets none.',
  orphanScript: 'A premium script belongs to no peril or tax.',
  unknownFee: 'A script adds a fee that fees.json does not declare.',
  unknownPlugin: 'A plugin function is not one that is ever called.',
  missingPlugin: 'A plugin names a script that does not exist.',
  missingScript: 'A script requires a file that does not exist.',
  missingFunction:
    'A plugin that is switched on is a function that its script never names, or does not export by its name.',
  externalRater: 'A product names an external rater that is not connected.',
  invalidHoldback:
    'A cancellation type holds back neither an amount nor a percentage, or both, or more than all.',
  unevenCategories: 'Some cancellation types have categories and others have none.',
  badReminder: 'A reminder is not counted in days before the end of the policy.',
  unknownRole: 'A user has a role that roles.json does not name.',
  unknownPermission: 'A role has a permission that does not exist, or that no role of a tenant may have.',
  unknownFormField: 'A screen shows a field that the dictionary does not have.',
  unknownAccount: 'books.json names an account that the journal does not have.',
  unknownColumn: 'A bordereau has a column that is no field.',
  tooManyColumns: 'A bordereau has more columns than are taken.',
  badBootstrap: 'What the tenant is to start with contradicts itself, or is not there.',
  secretInArchive: 'A secret lies in the archive.',
  badTableDeclaration: 'config.json declares a table of resources that contradicts itself.',
  badCustomEvent: 'A custom event of config.json, or its schedule, contradicts itself.',
  customEventKept: 'A custom event is not to be persisted, and is.',
  unknownPath: 'A template or plugin reads what is not there, or a variable that nothing sets.',
  unsetVariable: 'A template reads a variable that some of its branches leave without a value.',
  badNumber: 'A cell or text looks like a number and is none, as with a letter O; arithmetic counts it as 0.',
  textInSum: 'Text, or something else that is no number, is in a sum, which counts it as 0.',
  wrongDelimiter: 'The columns of a table are separated by something else than commas.',
  keyNotText: 'The key of a look-up in a template is a number, and must be text.',
  unknownDecision: 'A script decides something else than accept, reject or none.',
  effectIgnored:
    'A template records something that is read of other scripts only, such as a fee in a premium.',
  missingRow: 'A look-up can ask for a key that the table does not have.',
  rowNeverMatches: 'Nothing can ask for the key of a row: blanks, other case, or a value that no field has.',
  neverHolds: 'A template compares a field with a value that it never has.',
  alwaysHolds: 'A condition of a template is a text or number alone, which always holds.',
  textNotOrdered: 'A template asks which is more of a number and a select field whose values are no numbers.',
  rangeHole: 'Ranges of a table or of branches leave something between them.',
  rangeOverlap: 'Ranges of a table or of branches share something, or a branch is never taken.',
  unusedField: 'No premium, tax, fee, underwriting or document uses a field.',
  premiumUnset: 'Some branches of a premium script set no premium.',
  premiumAlwaysZero: 'A premium script sets 0 in every case.',
  premiumCanBeZero: 'A premium is 0 where a field that may be left out has no value.',
  checkIncomplete: 'A template is too large to be followed to its end.',
  tooManyFindings: 'More was found than a log can hold.',
} as const

export type FindingCode = keyof typeof findingCodes | RefusalCode
