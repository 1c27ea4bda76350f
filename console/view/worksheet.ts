// How the price of a policy was calculated, peril by peril. The calculation of a peril is requested when it is opened, because a
// policy may have thousands of perils, and each is rated again.
import type { Worksheet, WorksheetPeril, WorksheetRun } from '../../src/policy/contract/worksheet.ts'
import {
  DIFFERS,
  isSplit,
  lookupText,
  RATED_BY,
  runLines,
  type SheetLine,
  shareLines,
  stepLines,
  taxLines,
} from '../../src/policy/worksheet-lines.ts'
import { get } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { money, span, words } from '../format.ts'
import { collapsible, emptyNote, loadedSection, section, table } from '../parts.ts'
import type { Peril, Policy, Price } from '../wire.ts'
import { VIEW } from './words.ts'

type Names = ReadonlyMap<string, string>

/** The largest number of perils listed. The others are shown under Cover. */
const MOST_LISTED = 500

export function worksheetView(policy: Policy, names: Names, signal: AbortSignal): View {
  const perils = policy.exposures.flatMap(exposure => exposure.perils.map(peril => ({ exposure, peril })))
  const spoken = (name: string): string => names.get(name) ?? words(name)
  return h(
    'div',
    {},
    section(
      VIEW.perils,
      h('p', { class: 'soft small' }, VIEW.ratedWhenOpened),
      perils.length === 0
        ? emptyNote(VIEW.nothingPriced)
        : perils
            .slice(0, MOST_LISTED)
            .map(({ exposure, peril }) =>
              perilNode(policy, peril, `${spoken(exposure.name)} / ${spoken(peril.name)}`, signal),
            ),
      perils.length > MOST_LISTED && emptyNote(VIEW.morePerils(perils.length - MOST_LISTED)),
    ),
  )
}

const perilNode = (policy: Policy, peril: Peril, name: string, signal: AbortSignal): View =>
  collapsible(
    peril.locator,
    false,
    [h('span', { class: 'node-name' }, name), h('span', { class: 'soft small' }, peril.displayId)],
    () => loadedSection(VIEW.loads.worksheet, () => worksheetOf(policy, peril, signal)),
  )

async function worksheetOf(policy: Policy, peril: Peril, signal: AbortSignal): Promise<Child> {
  const path = `/policy/${encodeURIComponent(policy.locator)}/price`
  const price = await get<Price>(`${path}?explain=true&perilLocator=${peril.locator}`, signal)
  // Numbers are text here, and are only displayed.
  const sheet = price.worksheet as unknown as Worksheet
  return [
    sheet.notes.map(note => h('p', { class: 'notice' }, note)),
    sheet.differs && h('p', { class: 'notice bad' }, DIFFERS),
    sheet.perils.map(one => perilSheet(one, sheet.currency)),
    sheet.calls.map(call =>
      sheetOf(VIEW.lookedUp(call.source), [
        ...call.lookups.map(lookup => ({ line: '', what: lookupText(lookup), value: lookup.value ?? '–' })),
        ...call.notes.map(({ label, value }) => ({ line: '', what: label, value })),
      ]),
    ),
    sheet.feeScripts.map(script => sheetOf(VIEW.feesBy(script.source), stepLines(script))),
  ]
}

const perilSheet = (peril: WorksheetPeril, currency: string): Child => [
  peril.runs.map(runSheet),
  h('p', {}, h('strong', {}, VIEW.premiumOf(money(peril.premium, currency)))),
]

function runSheet(run: WorksheetRun): Child {
  const { startTimestamp, endTimestamp, transaction, configVersion, ratedBy, source, problem } = run
  return [
    h('h3', {}, `${words(transaction)}, `, span(startTimestamp, endTimestamp)),
    h(
      'p',
      { class: 'soft small' },
      `${RATED_BY[ratedBy]} ${source ?? ''}, version ${configVersion}`.replace(' ,', ','),
    ),
    problem !== undefined && h('p', { class: 'notice bad' }, problem),
    sheetOf(VIEW.rating, runLines(run)),
    run.taxes.map(tax => sheetOf(VIEW.taxOf(tax.name), taxLines(tax))),
    isSplit(run) &&
      run.pieces.map(piece =>
        sheetOf(
          `${span(piece.startTimestamp, piece.endTimestamp)}${piece.replacedBy === undefined ? '' : ', replaced later'}`,
          shareLines(piece.shares),
        ),
      ),
  ]
}

const sheetOf = (caption: string, lines: readonly SheetLine[]): Child =>
  lines.length > 0 && [
    h('h4', {}, caption),
    table<SheetLine>(
      caption,
      [
        { head: VIEW.line, cell: ({ line }) => line || '–' },
        { head: VIEW.what, cell: ({ what }) => what.trim() },
        { head: VIEW.value, amount: true, cell: ({ value }) => value },
      ],
      lines,
    ),
  ]
