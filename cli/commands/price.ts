import { Refusal } from '../../src/kernel/errors.ts'
import type { CurrencyCode } from '../../src/kernel/money.ts'
import { decimal, minorDigits } from '../../src/kernel/money.ts'
import { EXIT, type ExitCode, Failure } from '../exit.ts'
import { countsOf, countsText, findingsText, shownFindings } from '../findings.ts'
import { checkConfiguration } from '../offline/check.ts'
import { readPolicyFile } from '../offline/policy-file.ts'
import { type Priced, pricedOffline } from '../offline/price.ts'
import { type Run, say, show, type Terminal } from '../terminal.ts'
import { worksheetText } from '../worksheet.ts'

/** `bindery price SOURCE --policy FILE [--explain]`: prices the policies of the file with the configuration, without a service. */
export async function price(
  source: string,
  { policy: file, explain = false }: { policy: string; explain?: boolean },
  run: Run,
): Promise<ExitCode> {
  const cases = readPolicyFile(file)
  const { configuration, findings, root } = await checkConfiguration(source)
  if (!configuration) {
    const shown = shownFindings(findings, root)
    const error = `The configuration has mistakes: ${countsText(findings)}.`
    show(run, { ok: false, error, ...countsOf(findings), findings: shown }, () => '')
    say(run, `${findingsText(shown, run.terminal)}\n`)
    if (run.json) return EXIT.refused
    throw new Failure(EXIT.refused, error)
  }
  let outcome: ExitCode = EXIT.ok
  for (const [index, one] of cases.entries())
    try {
      const priced = await pricedOffline(configuration, one, explain ? {} : undefined)
      show(run, { ok: true, ...priced }, () => (index > 0 ? '\n' : '') + priceText(priced, run.terminal))
    } catch (problem) {
      if (!(problem instanceof Refusal)) throw problem
      const { code, message } = problem
      outcome = EXIT.refused
      show(run, { ok: false, name: one.name, code, message }, () => '')
      say(
        run,
        `${one.name === undefined ? '' : `${one.name}: `}${run.terminal.colors.red(code)}: ${message}\n`,
      )
    }
  return outcome
}

/** The widths of the columns for labels and amounts. */
const LABEL = 48
const AMOUNT = 14

function priceText(priced: Priced, { colors }: Terminal): string {
  const { price: whole, underwriting, name } = priced
  const currency = whole.totalCurrency
  const digits = minorDigits(currency as CurrencyCode)
  const row = (label: string, value: number, shown: (text: string) => string = String): string =>
    `${shown(label.slice(0, LABEL).padEnd(LABEL) + decimal(value).toFixed(digits).padStart(AMOUNT))}\n`
  const day = (at: number): string => dayText(at, priced.timeZone)
  const decided = { accept: colors.green, reject: colors.red, none: colors.yellow }[underwriting.decision]
  return [
    ...(name === undefined ? [] : [`${colors.bold(name)}\n`]),
    `${priced.productName}, ${day(priced.policyStartTimestamp)} to ${day(priced.policyEndTimestamp)}, ${currency}\n\n`,
    ...whole.exposurePrices.flatMap(exposure => [
      row(exposure.name, exposure.grossPremium, colors.bold),
      ...exposure.perilPrices.map(peril => row(`  ${peril.name}`, peril.premium)),
    ]),
    row('premium', whole.grossPremium),
    ...whole.taxGroups.map(tax => row(`  tax ${tax.name}`, tax.amount)),
    ...whole.fees.map(fee => row(`  fee ${fee.name}`, fee.amount)),
    row('total', whole.total, colors.bold),
    ...whole.commissions.map(one => row(`  commission of ${one.recipient}`, one.amount)),
    `\nunderwriting: ${decided(underwriting.decision)}\n`,
    ...underwriting.notes.map(note => `  ${note}\n`),
    ...priced.notes.map(note => `${colors.yellow('note')}  ${note}\n`),
    ...(priced.worksheet ? [worksheetText(priced.worksheet, { dayOf: at => day(Number(at)), colors })] : []),
  ].join('')
}

const dayText = (at: number, timeZone: string): string =>
  new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' }).format(at)
