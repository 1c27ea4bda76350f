// Values of CSS properties: lengths in points, colours as #rrggbb.

/** Points of each unit. */
const UNITS = { px: 0.75, pt: 1, mm: 72 / 25.4, cm: 72 / 2.54, in: 72, pc: 12, q: 72 / 101.6 } as const

/** The root font size for `rem`: 16 px, as in browsers. */
export const ROOT_SIZE = 12

/** Returns the length in points; `em` uses the given font size. Undefined for percentages and anything that is not a length. */
export function lengthOf(text: string, fontSize: number): number | undefined {
  const match = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))([a-z]*)$/.exec(text.trim().toLowerCase())
  if (!match) return undefined
  const [, digits, unit] = match as unknown as [string, string, string]
  const value = Math.max(-10_000, Math.min(10_000, Number(digits)))
  if (unit === '') return value === 0 ? 0 : undefined
  if (unit === 'em') return value * fontSize
  if (unit === 'rem') return value * ROOT_SIZE
  if (unit === 'ex' || unit === 'ch') return (value * fontSize) / 2
  return Object.hasOwn(UNITS, unit) ? value * UNITS[unit as keyof typeof UNITS] : undefined
}

/** A part of the available room plus a fixed length in points. Either may be 0. */
export type Length = { readonly percent: number; readonly points: number }

/** Returns the length in points. */
export const pointsIn = (length: Length | undefined, room: number): number | undefined =>
  length && (room * length.percent) / 100 + length.points

/** Reads `40%` as 40. */
export function percentageOf(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?|\.\d+)%$/.exec(text.trim())
  return match ? Math.min(Number(match[1]), 1_000) : undefined
}

const NAMED: Readonly<Record<string, string>> = Object.fromEntries(
  `black 000000 silver c0c0c0 gray 808080 grey 808080 white ffffff maroon 800000 red ff0000 purple 800080
  fuchsia ff00ff magenta ff00ff green 008000 lime 00ff00 olive 808000 yellow ffff00 navy 000080 blue 0000ff
  teal 008080 aqua 00ffff cyan 00ffff orange ffa500 brown a52a2a pink ffc0cb gold ffd700 crimson dc143c
  darkred 8b0000 darkgreen 006400 darkblue 00008b darkgray a9a9a9 darkgrey a9a9a9 dimgray 696969 dimgrey 696969
  lightgray d3d3d3 lightgrey d3d3d3 gainsboro dcdcdc whitesmoke f5f5f5 lightblue add8e6 lightyellow ffffe0
  lightgreen 90ee90 steelblue 4682b4 royalblue 4169e1 midnightblue 191970 slategray 708090 slategrey 708090
  darkslategray 2f4f4f indigo 4b0082 beige f5f5dc ivory fffff0 tomato ff6347 firebrick b22222 forestgreen 228b22
  seagreen 2e8b57 darkorange ff8c00 khaki f0e68c lavender e6e6fa tan d2b48c aliceblue f0f8ff`
    .split(/\s+(?=[a-z]+ [0-9a-f]{6})/)
    .map(pair => pair.trim().split(' ')),
)

const hex = (part: number): string =>
  Math.max(0, Math.min(255, Math.round(part)))
    .toString(16)
    .padStart(2, '0')

const RGB = /^rgba?\(\s*([\d.]+%?)[\s,]+([\d.]+%?)[\s,]+([\d.]+%?)(?:[\s,/]+([\d.]+%?))?\s*\)$/

/** Returns the colour as #rrggbb, or undefined for anything else, including `transparent`. Alpha is blended with white. */
export function colourOf(text: string): string | undefined {
  const value = text.trim().toLowerCase()
  if (Object.hasOwn(NAMED, value)) return `#${NAMED[value]}`
  if (/^#[0-9a-f]{3}$/.test(value)) return value.replace(/[0-9a-f]/g, '$&$&')
  if (/^#[0-9a-f]{6}$/.test(value)) return value
  const parts = RGB.exec(value)
  if (!parts) return undefined
  const number = (part: string, of: number): number =>
    part.endsWith('%') ? (Number.parseFloat(part) * of) / 100 : Number(part)
  const alpha = parts[4] === undefined ? 1 : Math.max(0, Math.min(1, number(parts[4], 1)))
  if (alpha === 0) return undefined
  return `#${[parts[1]!, parts[2]!, parts[3]!].map(part => hex(number(part, 255) * alpha + 255 * (1 - alpha))).join('')}`
}
