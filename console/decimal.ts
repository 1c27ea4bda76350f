// Exact addition of decimal text. Amounts arrive as digits and stay digits.

const SCALE = 12

/** Returns the number times 10^12. */
function toScaled(text: string): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) throw new Error(`'${text}' is not a decimal number`)
  const digits = BigInt(whole + fraction.padEnd(SCALE, '0').slice(0, SCALE))
  return sign ? -digits : digits
}

function fromScaled(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(SCALE + 1, '0')
  const text = `${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`.replace(/\.?0+$/, '')
  return value < 0n ? `-${text}` : text
}

/** Returns the sum of the numbers, '0' if there are none. */
export const sum = (numbers: readonly (string | undefined)[]): string =>
  fromScaled(numbers.reduce((total, text) => (text === undefined ? total : total + toScaled(text)), 0n))

/** Returns the amount of one of several equal parts, to 12 decimal places. For display only. */
export const shareOf = (amount: string, parts: number): string =>
  fromScaled(toScaled(amount) / BigInt(Math.max(1, Math.round(parts))))

/** Whether the text is an amount without a sign, as people type it, with at most that many digits after the point. */
export function isAmount(text: string, digits: number): boolean {
  const match = /^\d+(?:\.(\d+))?$/.exec(text)
  return match !== null && (match[1] ?? '').length <= digits
}

export const isZero = (text: string): boolean => toScaled(text) === 0n
export const isNegative = (text: string): boolean => toScaled(text) < 0n
