// The sandbox's own code as text, for use elsewhere. It consists of functions that refer to nothing outside themselves.
import { UNUSUAL_DIGITS } from '../../../../kernel/currencies.ts'
import { scriptApi } from './api.ts'
import { addGlobals, tidyGlobals } from './globals.ts'
import { ownIntl } from './intl.ts'
import { keepDeletable, rememberLanguage } from './language.ts'
import { moduleLoader } from './loader.ts'
import { realm } from './realm.ts'

/** An expression: a function that sets up the sandbox with a RealmHost and a zone-offset function, and returns its Realm. */
export const REALM_SOURCE = `((host, zoneOffset) => {
const setClock = (${fixedClock})();
(${tidyGlobals})();
(${addGlobals})();
(${ownIntl})(zoneOffset, ${JSON.stringify(UNUSUAL_DIGITS)});
return (${realm})(setClock, host, (${rememberLanguage})((${keepDeletable})()), ${moduleLoader}, ${scriptApi});
})`

/**
 * Gives `Date` the time of the call in UTC and the same format in every sandbox, and makes `Math.random` use the call's seed. Runs
 * inside the sandbox, so it refers to nothing outside itself.
 */
function fixedClock(): (now: number, seed: number) => void {
  const Real = Date
  let now = 0
  let state = 0
  const Fixed = function (this: unknown, ...given: unknown[]): unknown {
    if (!new.target) return new Real(now).toString()
    const target = new.target === (Fixed as unknown) ? Real : new.target
    return Reflect.construct(Real, given.length === 0 ? [now] : given, target)
  }
  const define = (on: object, name: string, value: unknown): void => {
    Reflect.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false })
  }
  define(Fixed, 'now', () => now)
  define(Fixed, 'parse', Real.parse)
  define(Fixed, 'UTC', Real.UTC)
  Fixed.prototype = Real.prototype
  define(Real.prototype, 'constructor', Fixed)
  define(globalThis, 'Date', Fixed)

  const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
  const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
  const two = (value: number): string => String(value).padStart(2, '0')
  const dateText = (at: Date): string =>
    `${DAYS[at.getUTCDay()]} ${MONTHS[at.getUTCMonth()]} ${two(at.getUTCDate())} ${String(at.getUTCFullYear()).padStart(4, '0')}`
  const timeText = (at: Date): string =>
    `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} GMT+0000 (Coordinated Universal Time)`
  const printing = (print: (at: Date) => string) =>
    function (this: Date): string {
      return Number.isNaN(this.getTime()) ? 'Invalid Date' : print(this)
    }
  define(
    Real.prototype,
    'toString',
    printing(at => `${dateText(at)} ${timeText(at)}`),
  )
  define(Real.prototype, 'toDateString', printing(dateText))
  define(Real.prototype, 'toTimeString', printing(timeText))

  // A 32-bit generator (mulberry32) suffices for plugins.
  define(Math, 'random', () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  })
  return (at, seed) => {
    now = at
    state = seed | 0
  }
}
