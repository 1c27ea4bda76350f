/** How far local time in a zone is ahead of UTC at a time, in milliseconds; undefined for an unknown zone. */
type ZoneOffset = (at: number, zone: string) => number | undefined

/**
 * Installs the sandbox's own `Intl`, so that every sandbox formats identically: American English for every locale except `en-CA`
 * and `sv-SE`, which scripts use for dates such as `2026-01-31`. Runs inside the sandbox, so it refers to nothing outside itself.
 *
 * @param unusualDigits the number of decimal places of each currency that does not have two
 */
export function ownIntl(zoneOffset: ZoneOffset, unusualDigits: Readonly<Record<string, number>>): void {
  const { construct } = Reflect
  // Not a Map: a script could replace `Map.prototype.get`, and through it reach what the next call finds.
  const digitsOf = { __proto__: null, ...unusualDigits } as unknown as Partial<Record<string, number>>
  type NumberOptions = {
    style?: string
    currency?: string
    minimumIntegerDigits?: number
    minimumFractionDigits?: number
    maximumFractionDigits?: number
    useGrouping?: boolean
  }
  type DateOptions = { timeZone?: string; hour12?: boolean; hourCycle?: string } & Record<string, unknown>
  const define = (on: object, name: string, value: unknown): void => {
    Reflect.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false })
  }
  const SIGNS: Record<string, string> = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹' }

  /**
   * `value` × 10^`shift` without its sign, rounded half-up on its decimal digits: `toFixed` rounds 1.005 to 1.00, and uses
   * exponents from 10^21.
   */
  const rounded = (value: number, shift: number, places: number): string => {
    const [mantissa, exponent] = Math.abs(value).toExponential().split('e') as [string, string]
    const digits = mantissa.replace('.', '')
    const kept = 1 + Number(exponent) + shift + places
    const known = kept < 0 ? '' : digits.slice(0, kept).padEnd(kept, '0')
    const up = kept >= 0 && digits.charAt(kept) >= '5' ? 1n : 0n
    const text = String(BigInt(known === '' ? '0' : known) + up).padStart(places + 1, '0')
    return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`
  }

  /** The least and the most decimal places that a format shows. */
  const placesOf = ({
    style,
    currency = '',
    minimumFractionDigits,
    maximumFractionDigits,
  }: NumberOptions): { least: number; most: number } => {
    const usual = style === 'currency' ? (digitsOf[currency] ?? 2) : 0
    const usualMost = style === 'currency' || style === 'percent' ? usual : 3
    const least = minimumFractionDigits ?? usual
    return { least, most: maximumFractionDigits ?? Math.max(least, usualMost) }
  }
  const digitsIn = (value: number, options: NumberOptions): string => {
    const { style, minimumIntegerDigits, useGrouping = true } = options
    const { least, most } = placesOf(options)
    const text = rounded(value, style === 'percent' ? 2 : 0, most)
    let [whole, fraction = ''] = text.split('.') as [string, string?]
    while (fraction.length > least && fraction.endsWith('0')) fraction = fraction.slice(0, -1)
    whole = whole.padStart(minimumIntegerDigits ?? 1, '0')
    if (useGrouping) whole = whole.replace(/\B(?=(\d{3})+$)/g, ',')
    return fraction === '' ? whole : `${whole}.${fraction}`
  }

  class NumberFormat {
    readonly #options: NumberOptions
    constructor(_locales?: unknown, options: NumberOptions = {}) {
      const { currency } = options
      this.#options = currency === undefined ? options : { ...options, currency: `${currency}`.toUpperCase() }
      this.format = this.format.bind(this)
    }
    format(given: unknown): string {
      const { style, currency = '' } = this.#options
      const value = Number(given)
      if (Number.isNaN(value)) return 'NaN'
      if (!Number.isFinite(value)) return value < 0 ? '-∞' : '∞'
      const number = digitsIn(value, this.#options)
      const sign = value < 0 && /[1-9]/.test(number) ? '-' : ''
      if (style === 'percent') return `${sign}${number}%`
      if (style !== 'currency') return sign + number
      return `${sign}${SIGNS[currency] ?? `${currency} `}${number}`
    }
    resolvedOptions(): object {
      return { locale: 'en-US', numberingSystem: 'latn', ...this.#options }
    }
  }

  const MONTHS =
    'January February March April May June July August September October November December'.split(' ')
  const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

  type Part = { type: string; value: string }
  const number = (value: number, how: unknown): string =>
    how === '2-digit' && value >= 0 && value < 10 ? `0${value}` : `${value}`
  const put = (list: Part[], separator: string, type: string, value: string): void => {
    if (list.length > 0) list.push({ type: 'literal', value: separator })
    list.push({ type, value })
  }

  // Records without a prototype, so that no style name finds a property of the language.
  const DATE_STYLES: Record<string, object> = {
    __proto__: null as never,
    short: { month: 'numeric', day: 'numeric', year: '2-digit' },
    medium: { month: 'short', day: 'numeric', year: 'numeric' },
    long: { month: 'long', day: 'numeric', year: 'numeric' },
    full: { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' },
  }
  const seconds = { hour: 'numeric', minute: '2-digit', second: '2-digit' }
  const TIME_STYLES: Record<string, object> = {
    __proto__: null as never,
    short: { hour: 'numeric', minute: '2-digit' },
    medium: seconds,
    long: seconds,
    full: seconds,
  }

  const isoDate = (local: Date): Part[] => {
    const date: Part[] = []
    put(date, '', 'year', String(local.getUTCFullYear()).padStart(4, '0'))
    put(date, '-', 'month', number(local.getUTCMonth() + 1, '2-digit'))
    put(date, '-', 'day', number(local.getUTCDate(), '2-digit'))
    return date
  }

  const worded = (name: string, how: unknown): string => (how === 'short' ? name.slice(0, 3) : name)

  const americanDate = (local: Date, { month, day, year, weekday }: DateOptions): Part[] => {
    const date: Part[] = []
    const inWords = month === 'long' || month === 'short'
    const monthAt = local.getUTCMonth()
    const fullYear = local.getUTCFullYear()
    const afterWords = day === undefined ? ' ' : ', '
    const beforeYear = inWords ? afterWords : '/'
    if (weekday !== undefined) put(date, '', 'weekday', worded(DAYS[local.getUTCDay()]!, weekday))
    if (month !== undefined)
      put(date, ', ', 'month', inWords ? worded(MONTHS[monthAt]!, month) : number(monthAt + 1, month))
    if (day !== undefined) put(date, inWords ? ' ' : '/', 'day', number(local.getUTCDate(), day))
    if (year !== undefined)
      put(date, beforeYear, 'year', year === '2-digit' ? number(fullYear % 100, year) : String(fullYear))
    return date
  }

  const timeOf = (local: Date, options: DateOptions, isOfTwelve: boolean): Part[] => {
    const { hour, minute, second, fractionalSecondDigits } = options
    const time: Part[] = []
    const hours = local.getUTCHours()
    const digits = Number(fractionalSecondDigits ?? 0)
    if (hour !== undefined)
      put(time, '', 'hour', isOfTwelve ? number(hours % 12 || 12, hour) : number(hours, '2-digit'))
    if (minute !== undefined) put(time, ':', 'minute', number(local.getUTCMinutes(), '2-digit'))
    if (second !== undefined) put(time, ':', 'second', number(local.getUTCSeconds(), '2-digit'))
    if (digits > 0) {
      const milliseconds = String(local.getUTCMilliseconds()).padStart(3, '0')
      put(time, '.', 'fractionalSecond', milliseconds.slice(0, digits))
    }
    if (hour !== undefined && isOfTwelve) put(time, ' ', 'dayPeriod', hours < 12 ? 'AM' : 'PM')
    return time
  }

  class DateTimeFormat {
    readonly #options: DateOptions
    /** Whether the date is year, month and day in digits, in this order. */
    readonly #isIso: boolean
    /** Whether the time also has 24 hours. */
    readonly #isSwedish: boolean
    /** The text between date and time. */
    readonly #between: string
    constructor(locales?: unknown, { dateStyle, timeStyle, ...given }: DateOptions = {}) {
      const options: DateOptions = {
        ...DATE_STYLES[`${dateStyle}`],
        ...TIME_STYLES[`${timeStyle}`],
        ...given,
      }
      const { timeZone = 'UTC' } = options
      if (zoneOffset(0, timeZone) === undefined)
        throw new RangeError(`Invalid time zone specified: ${timeZone}`)
      const parts = ['weekday', 'year', 'month', 'day', 'hour', 'minute', 'second', 'fractionalSecondDigits']
      const named = parts.some(part => options[part] !== undefined)
      const usual = named ? {} : { year: 'numeric', month: 'numeric', day: 'numeric' }
      this.#options = { ...usual, ...options, timeZone }
      const locale = `${Array.isArray(locales) ? locales[0] : locales}`
      const { year, month, day, weekday } = this.#options
      const isInDigits = [year, month, day].every(how => how === 'numeric' || how === '2-digit')
      this.#isIso = (locale === 'en-CA' || locale === 'sv-SE') && isInDigits && weekday === undefined
      this.#isSwedish = locale === 'sv-SE' && this.#isIso
      const isLong = dateStyle === 'long' || dateStyle === 'full'
      const between = isLong && timeStyle !== undefined ? ' at ' : ', '
      this.#between = this.#isSwedish ? ' ' : between
      this.format = this.format.bind(this)
    }
    format(at?: unknown): string {
      return this.formatToParts(at)
        .map(part => part.value)
        .join('')
    }
    formatToParts(given?: unknown): Part[] {
      const options = this.#options
      const ms = given === undefined ? Date.now() : Number(given)
      if (!Number.isFinite(ms)) throw new RangeError('Invalid time value')
      const local = new Date(ms + zoneOffset(ms, options.timeZone!)!)
      const { hour, hour12, hourCycle } = options
      const usuallyOfTwelve = hour !== undefined && !this.#isSwedish
      const isOfTwelve = hour12 ?? (hourCycle === undefined ? usuallyOfTwelve : hourCycle === 'h12')
      const date = this.#isIso ? isoDate(local) : americanDate(local, options)
      const time = timeOf(local, options, isOfTwelve)
      if (date.length === 0) return time
      if (time.length === 0) return date
      return [...date, { type: 'literal', value: this.#between }, ...time]
    }
    resolvedOptions(): object {
      return { locale: 'en-US', calendar: 'gregory', numberingSystem: 'latn', ...this.#options }
    }
  }

  /** Makes a class callable without `new`, like the built-in formats. */
  const callable = (name: string, own: typeof NumberFormat | typeof DateTimeFormat): unknown => {
    function Format(...given: unknown[]): unknown {
      return construct(own, given, new.target ?? own)
    }
    Format.prototype = own.prototype
    define(Format, 'name', name)
    define(own.prototype, 'constructor', Format)
    return Format
  }
  define(globalThis, 'Intl', {
    NumberFormat: callable('NumberFormat', NumberFormat),
    DateTimeFormat: callable('DateTimeFormat', DateTimeFormat),
  })
  const DATE = { year: 'numeric', month: 'numeric', day: 'numeric' }
  const TIME = { hour: 'numeric', minute: 'numeric', second: 'numeric' }
  const printing = (usual: object) =>
    function (this: Date, locales?: unknown, options: DateOptions = {}): string {
      if (Number.isNaN(this.getTime())) return 'Invalid Date'
      const { timeZone, hour12, hourCycle, ...parts } = options
      const asked = Object.keys(parts).length > 0 ? parts : usual
      return new DateTimeFormat(locales, { timeZone, hour12, hourCycle, ...asked }).format(this.getTime())
    }
  define(Date.prototype, 'toLocaleString', printing({ ...DATE, ...TIME }))
  define(Date.prototype, 'toLocaleDateString', printing(DATE))
  define(Date.prototype, 'toLocaleTimeString', printing(TIME))
  define(
    Number.prototype,
    'toLocaleString',
    function (this: number, locales?: unknown, options?: NumberOptions) {
      return new NumberFormat(locales, options).format(this)
    },
  )
  define(BigInt.prototype, 'toLocaleString', function (this: bigint) {
    return this.toString().replace(/\B(?=(\d{3})+$)/g, ',')
  })
  define(String.prototype, 'localeCompare', function (this: string, other: unknown) {
    const [own, its] = [String(this), String(other)]
    if (own < its) return -1
    return own > its ? 1 : 0
  })
  define(String.prototype, 'toLocaleUpperCase', String.prototype.toUpperCase)
  define(String.prototype, 'toLocaleLowerCase', String.prototype.toLowerCase)
}

/**
 * Computes zone offsets with the runtime's `Intl`. It refers to nothing outside itself: the isolate has its own copy, which
 * remembers offsets between calls and uses nothing that a script may have changed.
 */
export function zoneOffsets(): ZoneOffset {
  type Known = { readonly format: Intl.DateTimeFormat; offsets: Record<number, number>; count: number }
  const nothing = (): Record<string, never> => Object.create(null) as Record<string, never>
  let zones: Record<string, Known> = nothing()
  let zoneCount = 0
  const { floor } = Math
  const knownOf = (zone: string): Known => {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    return { format, offsets: nothing(), count: 0 }
  }
  const offsetAt = ({ format }: Known, at: number): number => {
    const parts = format.formatToParts(at)
    const part: Record<string, number> = nothing()
    for (let one = 0; one < parts.length; one += 1) part[parts[one]!.type] = +parts[one]!.value
    const { year, month, day, hour, minute, second } = part
    return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) - at
  }
  // A fleet needs the same few days thousands of times. Offsets are kept per second, because some zones changed at odd seconds.
  const MOST_KNOWN = 1_000
  // There are fewer zones than this, but each can be spelled in many ways.
  const MOST_ZONES = 500
  return (at, asked) => {
    // Convert once: a script may pass an object whose text differs at each read.
    const zone = `${asked}`
    try {
      if (!(zone in zones)) {
        const known = knownOf(zone)
        if (zoneCount === MOST_ZONES) {
          zones = nothing()
          zoneCount = 0
        }
        zones[zone] = known
        zoneCount += 1
      }
    } catch {
      return undefined
    }
    const known = zones[zone]!
    const second = floor(at / 1000)
    const offset = known.offsets[second]
    if (offset !== undefined) return offset
    if (known.count === MOST_KNOWN) {
      known.offsets = nothing()
      known.count = 0
    }
    const found = offsetAt(known, second * 1000)
    known.offsets[second] = found
    known.count += 1
    return found
  }
}
