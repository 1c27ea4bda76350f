import type { ZoneOffset } from './sandbox/intl.ts'

/** How far zones are ahead of UTC, by the runtime's own `Intl`. Stands alone: the isolate has its own copy. */
export function zoneOffsets(): ZoneOffset {
  const formats = new Map<string, Intl.DateTimeFormat>()
  const formatOf = (zone: string): Intl.DateTimeFormat => {
    const known = formats.get(zone)
    if (known) return known
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
    formats.set(zone, format)
    return format
  }
  return (at, zone) => {
    let format: Intl.DateTimeFormat
    try {
      format = formatOf(zone)
    } catch {
      return undefined
    }
    const whole = Math.floor(at / 1000) * 1000
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(whole)) part[type] = Number(value)
    const { year, month, day, hour, minute, second } = part
    return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) - whole
  }
}
