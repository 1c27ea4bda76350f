// Input of plugins: what answers show, with every number as text (brief 5.5), so that none loses a digit.
import { type CurrencyCode, minorDigits } from '../platform/money.ts'

/**
 * The value with its numbers as text. An amount, which has its currency beside it, has all its minor digits: `379.10`.
 */
export function asPluginInput(value: unknown): unknown {
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(asPluginInput)
  if (typeof value !== 'object' || value === null) return value
  const record = value as Record<string, unknown>
  const input: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(record)) {
    if (part === undefined) continue
    const currency = typeof part === 'number' ? record[`${name}Currency`] : undefined
    input[name] =
      typeof currency === 'string'
        ? (part as number).toFixed(minorDigits(currency as CurrencyCode))
        : asPluginInput(part)
  }
  return input
}
