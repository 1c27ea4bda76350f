import type { ZoneOffset } from './sandbox/intl.ts'

/**
 * The offset of zones from UTC, by the runtime's `Intl`. It refers to nothing outside itself: the isolate has its own copy,
 * which remembers offsets between calls and uses nothing that a script may have changed.
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
  // A fleet asks thousands of times for the same few days. To the second, since some zones changed at odd seconds.
  const MOST_KNOWN = 1_000
  // There are fewer zones than this, but each has many spellings.
  const MOST_ZONES = 500
  return (at, asked) => {
    // A script may pass an object that is another text each time that it is read.
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
