// The input of plugins: responses with every number as text (brief 5.5), so that no digit is lost.
import { type CurrencyCode, minorDigits } from '../../kernel/money.ts'

/**
 * The value with its numbers as text. An amount with its currency beside it has all its minor digits: `379.10`. What has no
 * numbers is not copied.
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
    const text = typeof part === 'number' ? numberText(part, record[`${name}Currency`]) : asPluginInput(part)
    if (text === part) continue
    input ??= { ...record }
    input[name] = text
  }
  return input ?? value
}

const numberText = (number: number, currency: unknown): string =>
  typeof currency === 'string' ? number.toFixed(minorDigits(currency as CurrencyCode)) : String(number)
