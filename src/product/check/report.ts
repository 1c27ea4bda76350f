import type { RefusalCode } from '../../../packages/zip/refusal.ts'
import { didYouMean } from '../../kernel/text.ts'
import type { Finding } from '../configuration.ts'

/** A place in the archive. Lines and columns count from 1. */
export type Place = { path: string; line?: number; column?: number }

/** The most findings of each severity, because the log is returned in one response. */
export const LARGEST_FINDING_COUNT = 2_000

/**
 * Limits on the work for one archive. They are counted, because the clock stands still in production while code runs. `comparisons`
 * counts comparisons of names for suggestions. `templateParts` counts as `partsOf` does. `scriptCharacters` counts a script once for
 * each product that needs it. `analysis` counts the statements of templates, once for each path that reaches them,
 * and the cost of copying a path.
 */
export const LARGEST_WORK = {
  tableCells: 1_000_000,
  patternSize: 2_000_000,
  comparisons: 1_000_000,
  templateParts: 1_000_000,
  scriptCharacters: 8_000_000,
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
  const spent = {
    tableCells: 0,
    patternSize: 0,
    comparisons: 0,
    templateParts: 0,
    scriptCharacters: 0,
    analysis: 0,
  }
  const broken = new Set<string>()
  const addFinding = (given: Finding): void => {
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
      addFinding({ severity, path, ...(line !== undefined && { line, column }), ...finding })
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
    add: findings => findings.forEach(addFinding),
    hasBrokenJson: folder => [...broken].some(path => path.startsWith(folder)),
    close: () => {
      const findings = [...kept.values()].sort(comparePlaces)
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

const comparePlaces = (a: Finding, b: Finding): number =>
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
    const message = `Another ${kind} also has the name '${name}'. Rename or remove one of them.`
    if (seen.has(name)) report.at(index, 'name').error('duplicateName', message)
    seen.add(name)
  }
}

/** The rule behind each finding. The codes appear in the deploy log and are stable. */
export const findingCodes = {
  backslashInPath: 'The zip separates folders by backslashes.',
  outsideRoot: 'A file is next to the folder that contains the configuration, and is ignored.',
  nestedArchive: 'A file is itself an archive, and is ignored.',
  badSyntax: 'A JSON file does not parse.',
  duplicateKey: 'A JSON object has the same key twice; the last one counts.',
  badValue: 'A property has a value of the wrong kind.',
  missingProperty: 'A required property is missing.',
  unknownProperty: 'A property is not part of the format and is ignored.',
  propertyOfOtherType: 'A property has no meaning for a field of this type and is ignored.',
  unknownFile: 'A file is not part of the format and is ignored.',
  unsupportedFeature: 'A file configures a feature that Bindery does not have.',
  olderForm: 'A form of an older configuration is not read.',
  ignoredFolder: 'A folder is not part of the format and is ignored.',
  missingFile: 'A required file is missing.',
  missingConfig: 'config.json, its time zone or its currency is missing.',
  noProducts: 'The archive has no product.',
  noExposures: 'A product has no exposure.',
  noPerils: 'No exposure of a product has a peril.',
  noPaymentSchedules: 'The list of payment schedules of a product is empty.',
  badName: 'A name has characters that are not permitted.',
  duplicateName: 'Two items of one kind have the same name.',
  sharedPerilName: 'Perils of different exposures have the same name.',
  nameDiffersFromFile: 'The name inside a file differs from the name of the file or folder.',
  unknownTimeZone: 'The time zone is not in the IANA database.',
  unknownCurrency: 'The currency is not in ISO 4217.',
  unknownFieldType: 'A field has a type that does not exist.',
  fieldTypeNotAllowed: 'A field has a type that is not permitted there.',
  selectWithoutValues: 'A select field has no choices.',
  duplicateValue: 'A select field offers the same value twice.',
  lookupWithoutTable: 'A lookup field names no table.',
  groupWithoutFields: 'A group field has no fields.',
  nestedGroup: 'A group is inside another group.',
  missingPrecision: 'A date field has no precision; it is read as a day.',
  badBounds: 'The bounds of a field contradict each other or do not parse.',
  slashedDate: 'A bound of a date is written with slashes.',
  badRegex: 'A pattern does not compile in RE2 syntax.',
  unknownConditionField: 'A condition refers to a field that does not exist next to it.',
  circularConditions: 'Conditions of fields form a cycle.',
  badJurisdiction: 'A declared jurisdiction has an invalid name.',
  badJurisdictionField:
    'The field that a product names as its jurisdiction does not exist, has an unsuitable type, or applies only under a condition.',
  undeclaredJurisdiction: 'A policy can be in a jurisdiction that config.json does not declare.',
  badConstraint: 'A constraint of a field names something that does not exist, or has no meaning there.',
  circularConstraints: 'Constraints of fields form a cycle.',
  conditionNeverHolds: 'A condition lists a value that the field never has.',
  pluginWithoutGrace: 'A plugin for grace periods is enabled in a product that has none.',
  badScript: 'A script does not parse.',
  missingTable: 'A table does not exist.',
  notALookupTable: 'A table in which a script looks up lacks the header key,value.',
  badTable: 'A CSV file does not parse.',
  tableTooLarge: 'The tables of the archive have too many cells.',
  emptyTable: 'A table has a header but no rows.',
  headerCase: 'The header is key,value, but not in lower case.',
  duplicateTableKey: 'A key,value table has a key twice; the first row counts.',
  tablesDiffer: 'Two products have tables with the same name and different content.',
  missingTemplate: 'A document names a template that does not exist.',
  documentTwice: 'A document for invoices uses the template that already creates one because of its name.',
  unusedTemplate: 'No document uses a template, and it has no fixed name.',
  missingStaticDocument: 'A template or a document refers to a static document that does not exist.',
  missingSnippet:
    'A script includes a snippet, or a template includes one that is not in the templateSnippets of its document.',
  badDocument: 'Properties of a document contradict each other, or have no meaning there.',
  documentScope: 'A document has a different scope from the documents of its file.',
  badSnippetName: 'A document lists an invalid name of a snippet or a font.',
  missingPremiumScript: 'Nothing prices a peril.',
  missingTaxScript: 'A tax has no script.',
  scriptSetsNothing: 'A script for a premium, a tax or a decision does not set one.',
  orphanScript: 'A premium script does not belong to any peril or tax.',
  unknownFee: 'A script adds a fee that is not declared in fees.json.',
  unknownPlugin: 'A plugin function does not exist and is never called.',
  missingPlugin: 'A plugin names a script that does not exist.',
  missingScript: 'A script requires a file that does not exist.',
  absentGlobal: 'The script of an enabled plugin uses a global of Node or browsers that plugins do not have.',
  missingFunction:
    'The script of an enabled plugin never mentions its function, or does not export it by its name.',
  externalRater: 'A product names an external rater that is not connected.',
  invalidHoldback:
    'The holdback of a cancellation type has neither or both of amount and percentage, or is out of range.',
  unevenCategories: 'Some cancellation types have categories, but others have none.',
  badReminder: 'A reminder is not counted in days before the end of the policy.',
  unknownRole: 'A user has a role that is not in roles.json.',
  unknownPermission: 'A role has a permission that does not exist, or that no role of a tenant can have.',
  unknownFormField: 'A screen shows a field that is not in the dictionary.',
  unknownAccount: 'books.json names an account that the journal does not have.',
  unknownColumn: 'A bordereau has a column that does not exist.',
  tooManyColumns: 'A bordereau has too many columns.',
  badBootstrap: 'The resources that a tenant starts with contradict each other, or are missing.',
  secretInArchive: 'The archive contains a secret.',
  badTableDeclaration: 'config.json declares a resource table with properties that contradict each other.',
  badCustomEvent: 'A custom event in config.json is invalid, or its schedule is.',
  customEventKept: 'A custom event is declared as not persisted, but every event is kept.',
  unknownPath: 'A template or plugin reads data that does not exist, or a variable that nothing sets.',
  unsetVariable: 'A template reads a variable that some of its branches leave without a value.',
  badNumber:
    'A cell or text looks like a number but is not one, for example because of a letter O; arithmetic counts it as 0.',
  textInSum: 'A sum includes text or another value that is not a number, which counts as 0.',
  wrongDelimiter: 'The columns of a table are not separated by commas.',
  keyNotText: 'The key of a look-up in a template is a number, but must be text.',
  unknownDecision: 'A script sets a decision other than accept, reject or none.',
  effectIgnored:
    'A template records something that only other scripts can record, such as a fee in a premium script.',
  missingRow: 'A look-up can request a key that the table does not have.',
  rowNeverMatches:
    'Nothing can look up the key of a row, because of blanks, different case, or a value that no field has.',
  neverHolds: 'A template compares a field with a value that it never has.',
  alwaysHolds: 'A condition of a template is only a text or number, so it always holds.',
  textNotOrdered: 'A template compares by size a number and a select field whose values are not numbers.',
  rangeHole: 'Ranges of a table or of branches leave a gap.',
  rangeOverlap: 'Ranges of a table or of branches overlap, or a branch is never taken.',
  unusedField: 'No premium, tax, fee, underwriting or document uses a field.',
  premiumUnset: 'Some branches of a premium script set no premium.',
  premiumAlwaysZero: 'A premium script sets 0 in every case.',
  premiumCanBeZero: 'A premium is 0 if an optional field has no value.',
  checkIncomplete: 'A template or script is too large to be analysed completely.',
  tooManyFindings: 'There are more findings than a log can list.',
} as const

export type FindingCode = keyof typeof findingCodes | RefusalCode
