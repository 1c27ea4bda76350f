// The report as one page that can be sent: HTML that contains its charts and loads nothing from elsewhere.
import type { CurrencyCode } from '../../../kernel/money.ts'
import { compareGroups } from '../groups.ts'
import { type Extreme, percentOf, quantile, type Sums, type Totals } from '../totals.ts'
import { type Bar, binsOf, changeBars, histogram } from './charts.ts'
import {
  amountText,
  changeText,
  escapeHtml,
  groupThousands,
  type Head,
  occasionText,
  percentText,
  policiesText,
  shareText,
} from './words.ts'

const STYLE = `
body { font-family: Helvetica, Arial, sans-serif; color: #1f2933; max-width: 800px; margin: 32px auto; padding: 0 16px; line-height: 1.45; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 36px 0 8px; } h3 { font-size: 15px; margin: 24px 0 4px; }
p { margin: 6px 0; } .muted { color: #6b7785; } svg { max-width: 100%; height: auto; display: block; margin: 8px 0; }
table { border-collapse: collapse; width: 100%; margin: 8px 0; font-size: 13px; } th { text-align: left; border-bottom: 2px solid #c5ced8; padding: 4px 8px; }
td { border-bottom: 1px solid #e4e9ef; padding: 4px 8px; } .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.figures { display: flex; flex-wrap: wrap; gap: 12px; margin: 16px 0; padding: 0; list-style: none; } .figures li { border: 1px solid #dde3ea; border-radius: 6px; padding: 10px 14px; min-width: 120px; }
.figures b { display: block; font-size: 20px; } @media print { h2 { break-after: avoid; } table, svg { break-inside: avoid; } body { margin: 0; } }`

/** The number of groups of a field that are shown. The others share one line. */
const MOST_GROUPS = 30

/** Quantiles of the distribution that are shown. */
const SHARES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]

/** Returns the page. `titles` are the titles of the fields, by id. */
export function impactPage(totals: Totals, head: Head, titles: ReadonlyMap<string, string>): string {
  const title = `What ${head.newName} changes for ${head.bookName}`
  const sections = [
    header(title, head),
    figures(totals, head),
    parts(totals, head),
    distribution(totals, head),
    coversSection(totals, head),
    products(totals, head),
    groups(totals, head, titles),
    extremesSection(totals, head),
    unpriced(totals),
    footer(head),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${sections.filter(section => section !== '').join('\n')}
</body>
</html>
`
}

const header = (title: string, { oldName, newName, currency, madeOn, ...when }: Head): string =>
  `<h1>${escapeHtml(title)}</h1>
<p class="muted">${escapeHtml(occasionText(when))}. Old: ${escapeHtml(oldName)}. New: ${escapeHtml(newName)}. Amounts in ${escapeHtml(currency)}, for one term. Created on ${escapeHtml(madeOn)}.</p>`

type Cell = string | { readonly n: string }

const table = (head: readonly Cell[], rows: readonly (readonly Cell[])[]): string => {
  const cells = (tag: 'th' | 'td', row: readonly Cell[]): string =>
    row
      .map(cell =>
        typeof cell === 'string'
          ? `<${tag}>${escapeHtml(cell)}</${tag}>`
          : `<${tag} class="n">${escapeHtml(cell.n)}</${tag}>`,
      )
      .join('')
  return `<table><thead><tr>${cells('th', head)}</tr></thead><tbody>${rows.map(row => `<tr>${cells('td', row)}</tr>`).join('')}</tbody></table>`
}

const numberCell = (text: string): Cell => ({ n: text })

function figures({ policies, compared, skipped, unpriced }: Totals, { currency }: Head): string {
  const same = compared.policies - compared.losers - compared.winners
  const list: [string, string][] = [
    ['policies compared', groupThousands(compared.policies)],
    ['change of the total', changeText(compared.old, compared.new)],
    ['new total', amountText(compared.new, currency)],
    ['pay more', `${groupThousands(compared.losers)} (${shareText(compared.losers, compared.policies)})`],
    ['pay less', `${groupThousands(compared.winners)} (${shareText(compared.winners, compared.policies)})`],
    ['pay the same', groupThousands(same)],
    ['without a price', groupThousands(unpriced)],
  ]
  const items = list
    .map(([name, value]) => `<li><b>${escapeHtml(value)}</b>${escapeHtml(name)}</li>`)
    .join('')
  return `<ul class="figures">${items}</ul>
<p class="muted">Of ${policiesText(policies)} in the book, ${groupThousands(skipped.notInForce)} ${skipped.notInForce === 1 ? 'is' : 'are'} not in force on the day and ${groupThousands(skipped.cancelled)} ${skipped.cancelled === 1 ? 'ends' : 'end'} by a cancellation.</p>`
}

function parts({ old, new: now }: Totals, { currency }: Head): string {
  const names = ['premium', 'taxes', 'fees', 'total'] as const
  const rows = names.map(name => [
    name,
    numberCell(amountText(old[name], currency)),
    numberCell(amountText(now[name], currency)),
    numberCell(amountText(now[name] - old[name], currency, true)),
    numberCell(changeText(old[name], now[name])),
  ])
  return `<h2>Totals</h2>${table(['', numberCell('old'), numberCell('new'), numberCell('change'), numberCell('percent')], rows)}`
}

function distribution({ percents, amounts, compared }: Totals, { currency }: Head): string {
  if (compared.policies === 0) return ''
  const rows = SHARES.map(share => {
    const [percent, amount] = [quantile(percents, share), quantile(amounts, share)]
    return [
      share === 0.5 ? 'half of the policies (median)' : `${Math.round(share * 100)} % of the policies`,
      numberCell(percent === undefined ? '-' : percentText(percent / 10, 1)),
      numberCell(amount === undefined ? '-' : amountText(amount, currency, true)),
    ]
  })
  return `<h2>Distribution</h2>
${histogram('histogram', binsOf(percents))}
<p class="muted">Each row shows the share of policies whose change is at most the value. Changes in money have three digits, and each column is sorted separately.</p>
${table(['', numberCell('percent'), numberCell('money')], rows)}`
}

function coversSection({ covers: byCover }: Totals, { currency }: Head): string {
  const names = Object.keys(byCover).sort(compareGroups)
  if (names.length === 0) return ''
  const bars = names.map(
    (name): Bar => ({
      label: name,
      percent: percentOf(byCover[name]!.old, byCover[name]!.new) ?? 0,
      note: `${amountText(byCover[name]!.new - byCover[name]!.old, currency, true)}`,
    }),
  )
  const rows = names.map(name => {
    const { policies, old, new: now } = byCover[name]!
    return [
      name,
      numberCell(groupThousands(policies)),
      numberCell(amountText(old, currency)),
      numberCell(amountText(now, currency)),
      numberCell(amountText(now - old, currency, true)),
      numberCell(changeText(old, now)),
    ]
  })
  return `<h2>Premium by cover</h2>
${changeBars('covers', 'Change of the premium of each cover', bars)}
${table(['cover', numberCell('policies'), numberCell('old'), numberCell('new'), numberCell('change'), numberCell('percent')], rows)}`
}

const GROUP_HEAD: readonly Cell[] = [
  'group',
  numberCell('policies'),
  numberCell('old'),
  numberCell('new'),
  numberCell('percent'),
  numberCell('pay less'),
  numberCell('pay more'),
]

const groupRow = (
  name: string,
  { policies, old, new: now, winners, losers }: Sums,
  currency: CurrencyCode,
): Cell[] => [
  name,
  numberCell(groupThousands(policies)),
  numberCell(amountText(old, currency)),
  numberCell(amountText(now, currency)),
  numberCell(changeText(old, now)),
  numberCell(shareText(winners, policies)),
  numberCell(shareText(losers, policies)),
]

function products({ products: byProduct }: Totals, { currency }: Head): string {
  const names = Object.keys(byProduct).sort()
  if (names.length < 2) return ''
  return `<h2>By product</h2>${table(
    GROUP_HEAD,
    names.map(name => groupRow(name, byProduct[name]!, currency)),
  )}`
}

function groups(
  { groups: byField }: Totals,
  { currency }: Head,
  titles: ReadonlyMap<string, string>,
): string {
  // The most significant fields come first: those whose groups differ most from one another.
  const fields = Object.entries(byField)
    .map(([id, sums]) => ({ id, sums: largestGroups(sums), spread: spreadOf(sums) }))
    .filter(({ sums }) => Object.keys(sums).length > 1)
    .sort((a, b) => b.spread - a.spread || (a.id < b.id ? -1 : 1))
  if (fields.length === 0) return ''
  const sections = fields.map(({ id, sums }) => {
    const names = Object.keys(sums).sort(compareGroups)
    const bars = names.map(
      (name): Bar => ({
        label: name,
        percent: percentOf(sums[name]!.old, sums[name]!.new) ?? 0,
        note: policiesText(sums[name]!.policies),
      }),
    )
    const title = titles.get(id) ?? id
    return `<h3>${escapeHtml(title)} <span class="muted">${escapeHtml(title === id ? '' : id)}</span></h3>
${changeBars(`group-${id.replaceAll(/[^a-zA-Z0-9_-]/g, '-')}`, `Change by ${title}`, bars)}
${table(
  GROUP_HEAD,
  names.map(name => groupRow(name, sums[name]!, currency)),
)}`
  })
  return `<h2>Who pays more, who pays less</h2>
<p class="muted">Change of the total by the values of each field; the fields with the largest differences come first.</p>
${sections.join('\n')}`
}

/** Returns the groups with the most policies, and the rest as one group. */
function largestGroups(sums: Readonly<Record<string, Sums>>): Record<string, Sums> {
  const sorted = Object.entries(sums).sort(([, a], [, b]) => b.policies - a.policies)
  const kept = sorted.slice(0, MOST_GROUPS)
  const rest = sorted.slice(MOST_GROUPS)
  if (rest.length === 0) return Object.fromEntries(kept)
  const joined = rest.reduce(
    (all, [, one]) =>
      Object.fromEntries(
        Object.entries(all).map(([name, value]) => [name, value + one[name as keyof Sums]]),
      ) as Sums,
    { policies: 0, old: 0, new: 0, losers: 0, more: 0, winners: 0, less: 0 },
  )
  return { ...Object.fromEntries(kept), [`(${rest.length} others)`]: joined }
}

/** Returns the largest difference between the changes of two groups. Ignores groups with less than one percent of the policies. */
function spreadOf(sums: Readonly<Record<string, Sums>>): number {
  const all = Object.values(sums).reduce((sum, { policies }) => sum + policies, 0)
  const percents = Object.values(sums)
    .filter(({ policies }) => policies * 100 >= all)
    .flatMap(({ old, new: now }) => percentOf(old, now) ?? [])
  return percents.length < 2 ? 0 : Math.max(...percents) - Math.min(...percents)
}

function extremesSection({ highest, lowest }: Totals, { currency }: Head): string {
  const rows = (list: readonly Extreme[]): Cell[][] =>
    list.map(({ locator, old, new: now }) => [
      locator,
      numberCell(amountText(old, currency)),
      numberCell(amountText(now, currency)),
      numberCell(amountText(now - old, currency, true)),
      numberCell(changeText(old, now)),
    ])
  const head = ['policy', numberCell('old'), numberCell('new'), numberCell('change'), numberCell('percent')]
  const section = (title: string, list: readonly Extreme[]): string =>
    list.length === 0 ? '' : `<h3>${title}</h3>${table(head, rows(list))}`
  const found = section('Largest increases', highest) + section('Largest decreases', lowest)
  return found === '' ? '' : `<h2>Single policies</h2>${found}`
}

function unpriced({ reasons, leftOut, decisions, unpriced: count }: Totals): string {
  const countRows = (record: Readonly<Record<string, number>>): Cell[][] =>
    Object.entries(record)
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .map(([what, policies]) => [what, numberCell(groupThousands(policies))])
  const priced = decisions.accept + decisions.none + decisions.reject
  return `<h2>Underwriting and missing prices</h2>
${table(
  ['underwriting of the new configuration', numberCell('policies'), numberCell('share')],
  [
    [
      'accepts',
      numberCell(groupThousands(decisions.accept)),
      numberCell(shareText(decisions.accept, priced)),
    ],
    [
      'refers to a person, or makes no decision',
      numberCell(groupThousands(decisions.none)),
      numberCell(shareText(decisions.none, priced)),
    ],
    [
      'rejects',
      numberCell(groupThousands(decisions.reject)),
      numberCell(shareText(decisions.reject, priced)),
    ],
  ],
)}
${Object.keys(reasons).length === 0 ? '<p>Every policy has both prices.</p>' : `<p>${policiesText(count)} ${count === 1 ? 'lacks' : 'lack'} one of the prices; a policy may have several reasons.</p>${table(['reason', numberCell('policies')], countRows(reasons))}`}
${Object.keys(leftOut).length === 0 ? '' : `<h3>Not known to the new configuration</h3><p class="muted">Left out when pricing.</p>${table(['what', numberCell('policies')], countRows(leftOut))}`}`
}

const footer = ({ occasion }: Head): string =>
  `<h2>How it was calculated</h2>
<p class="muted">Both prices are for a term as long as the current one${occasion === 'renewal' ? ', with the data that the policy has at its end' : ', with the data that the policy has on the day'}. The total is premium, taxes and fees of that term. Whether a policy pays more or less is decided by the total. Numbers are grouped by their first digit; a policy whose exposures have different values is in the group (several).</p>`
