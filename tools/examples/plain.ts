// Replaces values that a test run makes up (locators, times, tokens, keys, ports) by values that are the same in every run, and
// shortens long ones.
import { createHash } from 'node:crypto'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const DIGITS = /^[1-9]\d{8,11}$/
const JWT = /eyJ[\w-]+\.[\w-]+\.[\w-]+/g
const LONG_LIVED = /bdy_[\w-]+/g
const SIGNED_ADDRESS = /\/files\/[\w.~%-]{20,}/g
const HEX = /\b[0-9a-f]{32,}\b/g
const PORT = /(?:127\.0\.0\.1|localhost):\d+/g
const ISO = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g
const MILLISECONDS = /^[12]\d{12}$/

/** 2026-03-02T09:30:00Z, the time of examples. */
const NOW = 1_772_443_800_000
const SECRET = /password|secret|^(?:x|kid|signature)$/i
const TOKEN = /^(?:pagingToken|token|authorizationToken)$/

const LONGEST_TEXT = 160
const LONGEST_LIST = 2
const MOST_KEYS = 60

/** Whether the time comes from the clock. Times that tests choose are whole minutes. */
const isNow = (at: number): boolean => at % 60_000 !== 0

/** Returns the value as examples show it. The same value has the same replacement wherever it occurs. */
export function normalizeExample(value: unknown): unknown {
  const uuids = new Map<string, string>()
  const digits = new Map<string, string>()
  const standIn = (known: Map<string, string>, found: string, made: (at: number) => string): string => {
    if (!known.has(found)) known.set(found, made(known.size + 1))
    return known.get(found)!
  }
  const uuid = (found: string): string =>
    standIn(uuids, found, at => {
      const hex = createHash('sha256').update(`locator ${at}`).digest('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
    })
  const text = (found: string): string => {
    if (MILLISECONDS.test(found)) return isNow(Number(found)) ? String(NOW) : found
    if (DIGITS.test(found)) return standIn(digits, found, at => String(100_000_000 + at))
    const same = found
      .replace(UUID, uuid)
      .replace(JWT, 'eyJhbGciOiJFZERTQSJ9.eyJ1c2VybmFtZSI6ImFsaWNlIn0.c2lnbmF0dXJl')
      .replace(LONG_LIVED, 'bdy_c2hvd24gb25jZQ')
      .replace(SIGNED_ADDRESS, '/files/c2lnbmVk')
      .replace(HEX, hex => 'a1b2c3d4'.repeat(hex.length / 8))
      .replace(PORT, 'example.com')
      .replace(ISO, at => (isNow(Date.parse(at)) ? new Date(NOW).toISOString() : at))
    if (same.length <= LONGEST_TEXT) return same
    // Base64 is cut at a length at which it is still valid.
    return `${same.slice(0, LONGEST_TEXT)}${/^[\w+/]+=*$/.test(same) ? '' : '…'}`
  }
  const walk = (node: unknown, name: string): unknown => {
    if (typeof node === 'string') {
      if (SECRET.test(name) && node !== '') return 'bm90IHNob3du'
      if (TOKEN.test(name) && !JWT.test(node) && !LONG_LIVED.test(node)) return 'bmV4dA'
      return text(node)
    }
    if (typeof node === 'number') {
      if (MILLISECONDS.test(String(node))) return isNow(node) ? NOW : node
      return node
    }
    if (Array.isArray(node)) return node.slice(0, LONGEST_LIST).map(one => walk(one, name))
    if (typeof node !== 'object' || node === null) return node
    const entries = Object.entries(node).slice(0, MOST_KEYS)
    return Object.fromEntries(entries.map(([key, one]) => [text(key), walk(one, key)]))
  }
  return walk(value, '')
}
