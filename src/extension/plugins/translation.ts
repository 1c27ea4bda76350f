// Reads the answers of plugins. For a fleet, getPerilRates returns thousands of rates, mostly plain ones. Plain rates are read
// here, several times faster than by the schema, which reads the rest (contract.ts).
import type { z } from 'zod'
import { Refusal } from '../../kernel/errors.ts'
import { isJsonObject } from '../../kernel/json.ts'
import { type CurrencyCode, currencyNameOf, type Decimal, decimal, minorDigits } from '../../kernel/money.ts'
import { isStorable } from '../../kernel/text.ts'
import { issuesOf, pathText } from '../../platform/wire-problem.ts'
import type { PolicyResponse } from '../../policy/contract/response.ts'
import { type PolicyAggregate, type Quote, selectedQuoteIfAny } from '../../policy/records/aggregate.ts'
import type { PluginFunction } from '../../product/configuration.ts'
import type { PerilRate, PluginPolicy } from './contract.ts'

type PerilRates = {
  /** By locators of peril characteristics. */
  readonly rates: ReadonlyMap<string, PerilRate>
  readonly exceptionMessage?: string | undefined
}

/**
 * Reads the rates. Rejects with 422 an invalid answer, with the place and the reason. `path` is the plugin's file; `perilOf` returns
 * what to add to a problem about these peril characteristics.
 */
export async function readPerilRates(
  answer: unknown,
  path: string,
  perilOf: (locator: string) => string = () => '',
): Promise<PerilRates> {
  const rates = plainRates(answer)
  if (rates) return { rates }
  const { PerilRatesResult } = await import('./contract.ts')
  // If the plugin refuses the request, its rates do not matter: those that could not be computed are often null.
  const { data } = PerilRatesResult.pick({ exceptionMessage: true }).safeParse(answer)
  const exceptionMessage = data?.exceptionMessage
  if (exceptionMessage !== undefined) return { rates: new Map(), exceptionMessage }
  const describe = (issue: Issue): string => `${problemOf(issue)}${perilOf(String(issue.path[1]))}`
  const { pricedPerilCharacteristics } = readAnswer('getPerilRates', PerilRatesResult, answer, path, describe)
  return { rates: new Map(Object.entries(pricedPerilCharacteristics)) }
}

/** Returns the rates if all of them are plain, with the same values as the schema returns; otherwise undefined. */
export function plainRates(answer: unknown): ReadonlyMap<string, PerilRate> | undefined {
  if (!isJsonObject(answer) || !isNone(answer.exceptionMessage)) return undefined
  const { pricedPerilCharacteristics: priced } = answer
  if (!isJsonObject(priced)) return undefined
  const rates = new Map<string, PerilRate>()
  for (const locator of Object.keys(priced)) {
    const rate = plainRate(priced[locator])
    if (!rate) return undefined
    rates.set(locator, rate)
  }
  return rates
}

function plainRate(one: unknown): PerilRate | undefined {
  if (!isJsonObject(one) || !isNone(one.premium) || !isNone(one.technicalPremium)) return undefined
  const yearlyPremium = plainAmount(one.yearlyPremium)
  const exactPremium = plainAmount(one.exactPremium)
  const yearlyTechnicalPremium = plainAmount(one.yearlyTechnicalPremium)
  const exactTechnicalPremium = plainAmount(one.exactTechnicalPremium)
  const commissions = isNone(one.commissions) ? undefined : plainCommissions(one.commissions)
  if (yearlyPremium === false || exactPremium === false || commissions === false) return undefined
  if (yearlyTechnicalPremium === false || exactTechnicalPremium === false) return undefined
  if (!yearlyPremium && !exactPremium) return undefined
  return { yearlyPremium, exactPremium, yearlyTechnicalPremium, exactTechnicalPremium, commissions }
}

function plainCommissions(list: unknown): NonNullable<PerilRate['commissions']> | false {
  if (!Array.isArray(list) || list.length > 50) return false
  const commissions: NonNullable<PerilRate['commissions']> = []
  for (const one of list as unknown[]) {
    if (!isJsonObject(one) || !isNone(one.amount)) return false
    const { recipient } = one
    const yearlyAmount = plainAmount(one.yearlyAmount)
    const exactAmount = plainAmount(one.exactAmount)
    if (typeof recipient !== 'string' || recipient === '' || recipient.length > 128 || !isStorable(recipient))
      return false
    if (yearlyAmount === false || exactAmount === false || (!yearlyAmount && !exactAmount)) return false
    commissions.push({ recipient, yearlyAmount, exactAmount })
  }
  return commissions
}

/** Digits, below the largest amount. */
const PLAIN = /^-?\d{1,12}(\.\d{1,20})?$/

/** Returns undefined if there is no amount, and false if it is not plain. */
function plainAmount(wire: unknown): Decimal | undefined | false {
  if (isNone(wire)) return undefined
  if (typeof wire !== 'string' && typeof wire !== 'number') return false
  const text = String(wire)
  return PLAIN.test(text) && decimal(text)
}

const isNone = (value: unknown): value is undefined | null => value === undefined || value === null

/** The most problems of an answer that are reported: a plugin that is wrong for one peril is wrong for a thousand. */
const MOST_LISTED = 5

/**
 * Reads the answer with its schema. Rejects with 422 an invalid one, with the place and the reason; `path` is the plugin's file.
 */
export function readAnswer<S extends z.ZodType>(
  name: PluginFunction,
  schema: S,
  answer: unknown,
  path: string,
  describe: (issue: Issue) => string = issue => problemOf(issue),
): z.output<S> {
  const { success, data, error } = schema.safeParse(answer)
  if (success) return data
  throw invalidAnswer(name, issuesOf(error).map(describe), path)
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string }

/** Describes a problem: its place, and the reason. `within` is the path of the part that was read. */
export function problemOf({ path, message }: Issue, ...within: string[]): string {
  // zod's own messages begin with the place, and call the whole value a request.
  const prefix = path.length > 0 ? `'${pathText(path)}' ` : 'The request '
  const reason = (message.startsWith(prefix) ? message.slice(prefix.length) : message).replace(/\.$/, '')
  const place = [...within, ...path.map(String)].join('.')
  if (place !== '') return `'${place}' ${reason}`
  return reason === message ? reason : `the answer ${reason}`
}

/** The error (422) for an invalid answer of the function in that file. */
export function invalidAnswer(name: PluginFunction, problems: readonly string[], path: string): Refusal {
  const listed = problems.slice(0, MOST_LISTED).join('; ')
  const more = problems.length > MOST_LISTED ? `; and ${problems.length - MOST_LISTED} more` : ''
  return new Refusal('pluginFailed', `Plugin ${name} (${path}) returned an invalid answer: ${listed}${more}.`)
}

/**
 * Converts the numbers of a value to text (brief 5.5), so that no digit is lost. An amount with a currency next to it gets all its
 * minor digits, as in `379.10`. Parts without numbers are not copied.
 */
export function asPluginInput(value: unknown): unknown {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    let list: unknown[] | undefined
    for (let at = 0; at < value.length; at += 1) {
      const entry = asPluginInput(value[at])
      if (entry === value[at]) continue
      list ??= [...value]
      list[at] = entry
    }
    return list ?? value
  }
  const record = value as Record<string, unknown>
  let input: Record<string, unknown> | undefined
  for (const name in record) {
    const part = record[name]
    if (typeof part === 'string' || part === undefined) continue
    const text = typeof part === 'number' ? numberText(part, name, record) : asPluginInput(part)
    if (text === part) continue
    input ??= { ...record }
    input[name] = text
  }
  return input ?? value
}

/** The policy as plugins and external raters receive it. `quote` is the quote of new business, by default the selected one. */
export const pluginPolicy = (
  shown: PolicyResponse,
  aggregate: PolicyAggregate,
  quote: Quote | undefined = selectedQuoteIfAny(aggregate),
): PluginPolicy => ({
  ...(asPluginInput(shown) as PluginPolicy),
  currency: aggregate.policy.currency,
  ...(quote && { quoteLocator: String(quote.locator) }),
})

function numberText(number: number, name: string, record: Readonly<Record<string, unknown>>): string {
  const currency = record[currencyNameOf(name, record) ?? '']
  return typeof currency === 'string' ? number.toFixed(minorDigits(currency as CurrencyCode)) : String(number)
}
