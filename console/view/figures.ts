// The figures of a month: reports of the service, shown as bars next to their numbers. Each links to its lines, and each line to
// its policy.
import { call, get, Problem } from '../api.ts'
import { clockAt } from '../calendar.ts'
import { isZero, sum } from '../decimal.ts'
import { type Child, h, type View } from '../element.ts'
import { displayNames } from '../find.ts'
import { day, money, monthName, words } from '../format.ts'
import { type Column, emptyNote, loadedSection, section, table } from '../parts.ts'
import { policyLink } from '../policy-table.ts'
import { zone } from '../session.ts'
import type { Report, ReportLines } from '../wire.ts'
import { FIGURES } from './figures-words.ts'

type Total = Report['totals'][number]

/** The month of the address, such as 2026-11. By default, and in place of another text, the present month. */
const monthOf = (query: URLSearchParams): string =>
  /^(?:19|[2-8]\d)\d\d-(?:0[1-9]|1[0-2])$/.test(query.get('month') ?? '')
    ? query.get('month')!
    : clockAt(Date.now(), zone()).slice(0, 7)

function addMonths(month: string, months: number): string {
  const [year, index] = month.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, index - 1 + months, 1)).toISOString().slice(0, 7)
}

const POLL_MS = 700

/** How often to try to begin a report while other reports of the tenant occupy all places. */
const MOST_TRIES = 40

async function beginReport(name: string, body: object, signal: AbortSignal): Promise<Report> {
  for (let tries = 1; ; tries += 1)
    try {
      return await call<Report>('POST', `/report/${name}?wait=15`, { body, signal })
    } catch (failure) {
      if (!(failure instanceof Problem) || failure.status !== 409 || tries === MOST_TRIES) throw failure
      await new Promise(resolve => setTimeout(resolve, POLL_MS))
    }
}

/** How many reports of the page run at a time. The service runs four for a tenant, and others may need one too. */
const MOST_RUNNING = 3

let running = 0
const waiting: (() => void)[] = []

/** Runs the report when one of the places is free. */
async function runReport(name: string, body: object, signal: AbortSignal): Promise<Report> {
  if (running >= MOST_RUNNING) await new Promise<void>(resolve => waiting.push(resolve))
  else running += 1
  try {
    signal.throwIfAborted()
    return await runToEnd(name, body, signal)
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}

/** Begins the report, and waits until it has ended. */
async function runToEnd(name: string, body: object, signal: AbortSignal): Promise<Report> {
  let report = await beginReport(name, body, signal)
  while (report.state === 'running') {
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
    signal.throwIfAborted()
    report = await get<Report>(`/report/${report.locator}/status`, signal)
  }
  if (report.state !== 'finished') throw new Error(report.problem ?? FIGURES.reportIs(report.state))
  return report
}

type Measure = { readonly name: string; readonly head: string; readonly isCount?: true }

/** A bar that compares a number with the largest of its kind. Hidden from screen readers, because the number is next to it. */
function bar(amount: string, most: number): Child {
  const share = most === 0 ? 0 : Math.abs(Number(amount)) / most
  return h(
    'svg',
    { viewBox: '0 0 100 8', width: 100, height: 8, 'aria-hidden': 'true', class: 'figure' },
    h('rect', { x: 0, y: 0, width: Math.max(share > 0 ? 1 : 0, Math.round(share * 100)), height: 8, rx: 1 }),
  )
}

const linesAddress = (locator: string, { group, currency }: Total): string =>
  `#/figures/${locator}?${new URLSearchParams({ group: JSON.stringify(group), currency })}`

function plot(
  report: Report,
  caption: string,
  label: (total: Total) => string,
  measures: readonly Measure[],
): Child {
  const totals = report.totals.filter(({ sums }) =>
    measures.some(({ name }) => !isZero(String(sums[name] ?? '0'))),
  )
  if (totals.length === 0) return emptyNote(FIGURES.nothingInThisMonth)
  const value = (total: Total, name: string): string => String(total.sums[name] ?? '0')
  const [first] = measures as [Measure]
  const most = Math.max(...totals.map(total => Math.abs(Number(value(total, first.name)))))
  const columns: Column<Total>[] = [
    {
      head: words(caption),
      cell: total => h('a', { href: linesAddress(report.locator, total) }, label(total)),
    },
    { head: FIGURES.compared, cell: total => bar(value(total, first.name), most) },
    ...measures.map(
      ({ name, head, isCount }): Column<Total> => ({
        head,
        amount: true,
        cell: total => (isCount ? value(total, name) : money(value(total, name), total.currency)),
      }),
    ),
  ]
  return table(caption, columns, totals)
}

export function figuresView(query: URLSearchParams, signal: AbortSignal): View {
  const month = monthOf(query)
  const period = { from: `${month}-01`, to: `${addMonths(month, 1)}-01` }
  const product = async (): Promise<(total: Total) => string> => {
    const names = await displayNames()
    return ({ group }) => names.get(String(group.product)) ?? words(String(group.product))
  }
  const monthLink = (to: string, text: string): View => h('a', { href: `#/figures?month=${to}` }, text)
  return h(
    'div',
    { class: 'figures' },
    h('h1', { tabindex: -1 }, FIGURES.figuresOf(monthName(month))),
    h(
      'p',
      {},
      monthLink(addMonths(month, -1), FIGURES.theMonthBefore),
      ' · ',
      monthLink(addMonths(month, 1), FIGURES.theMonthAfter),
    ),
    section(
      FIGURES.writtenPremium,
      loadedSection(FIGURES.loadsWrittenPremium, async () =>
        plot(
          await runReport('writtenPremium', { ...period, by: ['product'] }, signal),
          FIGURES.product,
          await product(),
          [
            { name: 'premium', head: FIGURES.written },
            { name: 'heldBack', head: FIGURES.heldBack },
          ],
        ),
      ),
    ),
    section(
      FIGURES.earnedPremium,
      loadedSection(FIGURES.loadsEarnedPremium, async () =>
        plot(
          await runReport('earnedPremium', { ...period, by: ['product'] }, signal),
          FIGURES.product,
          await product(),
          [
            { name: 'earned', head: FIGURES.earned },
            { name: 'unearned', head: FIGURES.notEarnedYet },
          ],
        ),
      ),
    ),
    section(
      FIGURES.receivablesByAgeNow,
      loadedSection(FIGURES.loadsReceivables, async () =>
        plot(
          await runReport('receivables', { by: ['age'] }, signal),
          FIGURES.age,
          ({ group }) => FIGURES.ages[String(group.age)] ?? FIGURES.daysPastDue(String(group.age)),
          [
            { name: 'receivable', head: FIGURES.receivable },
            { name: 'unbilled', head: FIGURES.notInvoiced },
            { name: 'credit', head: FIGURES.credit },
          ],
        ),
      ),
    ),
    section(
      FIGURES.payments,
      loadedSection(FIGURES.loadsPayments, async () =>
        plot(
          await runReport('payments', { ...period, by: ['type'] }, signal),
          FIGURES.movement,
          ({ group }) => words(String(group.type)),
          [{ name: 'amount', head: FIGURES.amount }],
        ),
      ),
    ),
    section(
      FIGURES.quotesAndTheirConversion,
      loadedSection(FIGURES.loadsQuotes, async () =>
        conversion(await runReport('conversion', { ...period, by: ['state'] }, signal)),
      ),
    ),
  )
}

function conversion(report: Report): Child {
  const all = sum(report.totals.map(({ sums }) => String(sums.quotes)))
  const issued = sum(report.totals.map(({ sums }) => String(sums.issued)))
  return [
    !isZero(all) &&
      h('p', {}, FIGURES.issuedOf(issued, all, Math.round((100 * Number(issued)) / Number(all)))),
    plot(report, FIGURES.state, ({ group }) => words(String(group.state)), [
      { name: 'quotes', head: FIGURES.quotes, isCount: true },
      { name: 'premium', head: FIGURES.premium },
    ]),
  ]
}

const LINES = 200

/** The lines of one figure, each with its policy. */
export async function figureLinesView(
  locator: string,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<View> {
  const report = await get<Report>(`/report/${encodeURIComponent(locator)}/status`, signal)
  const asked = new URLSearchParams({ pageSize: String(LINES) })
  for (const name of ['group', 'currency']) if (query.get(name) !== null) asked.set(name, query.get(name)!)
  const { items, listCompleted } = await get<ReportLines>(
    `/report/${encodeURIComponent(locator)}/lines?${asked}`,
    signal,
  )
  const columns: Column<ReportLines['items'][number]>[] = [
    {
      head: FIGURES.policy,
      cell: line => (line.policyLocator ? policyLink(String(line.policyLocator)) : '–'),
    },
    ...report.columns
      .filter(({ name, isMeasure }) => isMeasure || ['effectiveAt', 'dueAt', 'transaction'].includes(name))
      .map(({ name, type }): Column<ReportLines['items'][number]> => {
        const isAmount = type === 'amount'
        return {
          head: words(name),
          amount: isAmount,
          cell: line => {
            const text = String(line[name] ?? '')
            if (text === '') return '–'
            if (isAmount) return money(text, String(line.currency))
            if (type === 'time') return day(text)
            return name === 'transaction' ? words(text) : text
          },
        }
      }),
  ]
  return h(
    'div',
    {},
    h('h1', { tabindex: -1 }, FIGURES.linesOf(words(report.name))),
    h('p', {}, h('a', { href: '#/figures' }, FIGURES.allFigures)),
    items.length === 0 ? emptyNote(FIGURES.noLines) : table(FIGURES.lines, columns, items),
    !listCompleted && h('p', { class: 'soft' }, FIGURES.firstLines(items.length)),
  )
}
