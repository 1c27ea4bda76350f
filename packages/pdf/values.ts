// Values of CSS properties: lengths in points, colours as #rrggbb.
import { calcOf, isCalc } from './calc.ts'

/** Points of each unit. */
const UNITS = { px: 0.75, pt: 1, mm: 72 / 25.4, cm: 72 / 2.54, in: 72, pc: 12, q: 72 / 101.6 } as const

/** The root font size for `rem`: 16 px, as in browsers. */
export const ROOT_SIZE = 12

/** Returns the length in points; `em` uses the given font size. Undefined for percentages and anything that is not a length. */
export function lengthOf(text: string, fontSize: number): number | undefined {
  if (isCalc(text.trim())) {
    const length = calcIn(text, fontSize)
    return length?.percent === 0 ? length.points : undefined
  }
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

/** Reads `calc(50% - 6px)`, and what is only a percentage or a length. */
const calcIn = (text: string, fontSize: number): Length | undefined =>
  calcOf(text.trim().toLowerCase(), one => lengthOf(one, fontSize))

/** Reads a percentage, which may be negative, a length, or a sum of both. */
export function partOf(text: string, fontSize: number): Length | undefined {
  if (isCalc(text.trim())) return calcIn(text, fontSize)
  const percent = /^([+-]?\d{1,4}(?:\.\d{1,10})?|[+-]?\.\d{1,10})%$/.exec(text.trim())?.[1]
  if (percent !== undefined) return { percent: Number(percent), points: 0 }
  const points = lengthOf(text, fontSize)
  return points === undefined ? undefined : { percent: 0, points }
}

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
const HSL = /^hsla?\(\s*(-?[\d.]+)(?:deg)?[\s,]+([\d.]+)%[\s,]+([\d.]+)%(?:[\s,/]+([\d.]+%?))?\s*\)$/

/** Returns the colour as #rrggbb, or undefined for anything else, including `transparent`. Alpha is blended with white. */
export function colourOf(text: string): string | undefined {
  const value = text.trim().toLowerCase()
  if (Object.hasOwn(NAMED, value)) return `#${NAMED[value]}`
  const digits = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(value) ? value.slice(1) : undefined
  if (digits !== undefined) {
    const long = digits.length < 6 ? digits.replace(/./g, '$&$&') : digits
    const [red, green, blue, alpha = 255] = long.match(/../g)!.map(part => Number.parseInt(part, 16))
    return blended([red!, green!, blue!], alpha / 255)
  }
  const number = (part: string, of: number): number =>
    part.endsWith('%') ? (Number.parseFloat(part) * of) / 100 : Number(part)
  const alphaOf = (part: string | undefined): number => (part === undefined ? 1 : number(part, 1))
  const rgb = RGB.exec(value)
  if (rgb) return blended([number(rgb[1]!, 255), number(rgb[2]!, 255), number(rgb[3]!, 255)], alphaOf(rgb[4]))
  const hsl = HSL.exec(value)
  return hsl ? blended(fromHsl(Number(hsl[1]), Number(hsl[2]), Number(hsl[3])), alphaOf(hsl[4])) : undefined
}

function blended(parts: readonly [number, number, number], given: number): string | undefined {
  const alpha = Math.max(0, Math.min(1, given))
  if (alpha === 0) return undefined
  return `#${parts.map(part => hex(part * alpha + 255 * (1 - alpha))).join('')}`
}

/** The hue is in degrees, the others are in per cent. */
function fromHsl(hue: number, saturation: number, lightness: number): [number, number, number] {
  const [light, most] = [Math.min(lightness, 100) / 100, Math.min(saturation, 100) / 100]
  const reach = most * Math.min(light, 1 - light)
  const part = (offset: number): number => {
    const step = (((offset + hue / 30) % 12) + 12) % 12
    return 255 * (light - reach * Math.max(-1, Math.min(step - 3, 9 - step, 1)))
  }
  return [part(0), part(8), part(4)]
}

const GRADIENT = /^(?:-[a-z]+-)?(?:repeating-)?(?:linear|radial|conic)-gradient\((.*)\)$/is

/** Returns the colour of a background. A gradient has the mean of its colours, so that text on it stays legible. */
export function backgroundOf(words: readonly string[]): string | undefined {
  for (const word of words) {
    const [, inside] = GRADIENT.exec(word) ?? []
    const mean = inside === undefined ? undefined : meanOf(inside)
    if (mean !== undefined) return mean
  }
  return words.map(colourOf).find(colour => colour !== undefined)
}

const COLOUR = /#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([^()]{0,100}\)|[a-z]+/gi

function meanOf(stops: string): string | undefined {
  const found = [...stops.matchAll(COLOUR)].flatMap(([text]) => colourOf(text) ?? [])
  if (found.length === 0) return undefined
  const part = (at: number): number =>
    found.reduce((sum, colour) => sum + Number.parseInt(colour.slice(at, at + 2), 16), 0) / found.length
  return `#${[1, 3, 5].map(at => hex(part(at))).join('')}`
}
