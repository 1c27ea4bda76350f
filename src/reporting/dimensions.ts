// The dimensions by which lines of reports are grouped.
import { invalidRequest } from '../kernel/errors.ts'
import { didYouMean, shortened } from '../kernel/text.ts'
import { isoDay } from '../kernel/time.ts'
import { jurisdictionOf } from '../policy/selection-basis.ts'
import type { Configuration, FieldDefinition } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'
import type {
  Cell,
  Column,
  ReportedPolicy,
  ReportKind,
  ReportLine,
  ReportParameters,
  ReportSurroundings,
} from './kind.ts'

type CellFor = (line: ReportLine, policy: ReportedPolicy, surroundings: ReportSurroundings) => Cell

export type Dimension = { readonly column: Column; readonly cellFor: CellFor }

const FIELD = 'field:'
const MOST_DIMENSIONS = 6
const LONGEST_VALUE = 200

const dimension = (name: string, about: string, cellFor: CellFor): Dimension => ({
  column: { name, type: 'text', about },
  cellFor,
})

/** Dimensions of every report. */
const COMMON: readonly Dimension[] = [
  dimension('product', 'The product. Empty for money that belongs to no policy.', (line, { policy }) =>
    String(line.own?.product ?? policy?.productName ?? ''),
  ),
  dimension('jurisdiction', 'The jurisdiction in the policy data.', (line, policy, { configuration }) => {
    const product = configuration.products[policy.policy?.productName ?? '']
    const data = dataOf(line, policy)
    return (product && data && jurisdictionOf(product, data)) ?? ''
  }),
]

/** Dimensions of the reports that name them. */
const OWN: readonly Dimension[] = [
  dimension('peril', 'The peril. Empty for amounts of no peril.', ({ entry, own }) =>
    String(own?.peril ?? entry?.peril ?? ''),
  ),
  dimension('month', 'The month in which it is booked, such as 2026-11.', ({ booked }, _, { timeZone }) =>
    booked === undefined ? '' : isoDay(booked, timeZone).slice(0, 7),
  ),
  dimension('day', 'The day on which it is booked.', ({ booked }, _, { timeZone }) =>
    booked === undefined ? '' : isoDay(booked, timeZone),
  ),
  dimension('transaction', 'The kind of transaction.', ({ row }) => row?.kind ?? ''),
  dimension('account', 'The account of the journal.', ({ entry }) => entry?.account ?? ''),
  dimension('name', 'The tax, the fee or the recipient of the commission.', ({ entry }) => entry?.name ?? ''),
  ...(
    [
      ['age', 'How long an invoice is past due.'],
      ['type', 'The kind of money movement.'],
      ['outcome', 'What happened to the term.'],
      ['state', 'The state of the quote.'],
    ] as const
  ).map(([name, about]) => dimension(name, about, ({ own }) => own?.[name] ?? '')),
]

const dataOf = ({ data, row }: ReportLine, { segments }: ReportedPolicy): FieldData | undefined =>
  data ?? (row?.segmentLocator && segments.get(row.segmentLocator))

/** Whether a field has one short value: fields by which policies are searched, and fields with few values. */
const isGrouping = ({ type, searchable, repeatable }: FieldDefinition): boolean =>
  !repeatable && (searchable || type === 'select') && ['select', 'string', 'number', 'lookup'].includes(type)

const groupingFields = ({ products }: Configuration): string[] => [
  ...new Set(
    Object.values(products).flatMap(({ fields }) => fields.filter(isGrouping).map(({ name }) => name)),
  ),
]

/** Whether any of the dimensions reads the data of the policy. */
export const readsData = (names: readonly string[]): boolean =>
  names.some(name => name === 'jurisdiction' || name.startsWith(FIELD))

/** Returns the dimensions that `by` names. Rejects with 400 one that the report or the configuration does not have. */
export function dimensionsOf(
  { name: report, dimensions }: Pick<ReportKind, 'name' | 'dimensions'>,
  { by }: Pick<ReportParameters, 'by'>,
  { configuration }: Pick<ReportSurroundings, 'configuration'>,
): Dimension[] {
  if (by.length > MOST_DIMENSIONS)
    throw invalidRequest(`'by' has ${by.length} dimensions; at most ${MOST_DIMENSIONS} are allowed.`)
  const own = OWN.filter(one => dimensions.includes(one.column.name))
  const known = [...COMMON, ...own]
  return [...new Set(by)].map(name => {
    const found = known.find(one => one.column.name === name)
    if (found) return found
    const fields = groupingFields(configuration)
    if (name.startsWith(FIELD) && fields.includes(name.slice(FIELD.length))) return fieldDimension(name)
    const names = [...known.map(one => one.column.name), ...fields.map(field => FIELD + field)]
    throw invalidRequest(
      `The report '${report}' cannot be grouped by '${name.slice(0, 100)}'.${didYouMean(name, names)} Use one of: ${names.join(', ')}.`,
    )
  })
}

/** Returns the names of the report's dimensions. Fields depend on the configuration. */
export const dimensionNames = ({ dimensions }: Pick<ReportKind, 'dimensions'>): string[] => [
  ...COMMON.map(({ column }) => column.name),
  ...OWN.map(({ column }) => column.name).filter(name => dimensions.includes(name)),
  `${FIELD}NAME`,
]

const fieldDimension = (name: string): Dimension =>
  dimension(
    name,
    'A field of the policy, with its value when the transaction takes effect.',
    (line, policy) => {
      const value = dataOf(line, policy)?.values[name.slice(FIELD.length)]?.[0] ?? ''
      return shortened(value, LONGEST_VALUE)
    },
  )
