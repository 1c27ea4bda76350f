// Days and months by the calendar of a time zone.

const clocks = {}

// Returns the year, month, day, hour, minute and second of a time.
/** @returns {[number, number, number, number, number, number]} */
function partsAt(timestamp, timeZone) {
  clocks[timeZone] =
    clocks[timeZone] ||
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  const parts = {}
  for (const { type, value } of clocks[timeZone].formatToParts(timestamp)) parts[type] = Number(value)
  return [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second]
}

const asUtc = ([year, month, day, hour, minute, second]) =>
  Date.UTC(year, month - 1, day, hour, minute, second)

// Returns the time at which clocks in the zone show these parts.
function timeOf(parts, timeZone) {
  const shown = asUtc(parts)
  let at = shown
  // The first round applies the zone's offset, the second corrects for a change of the offset in between.
  for (let round = 0; round < 2; round++) at += shown - asUtc(partsAt(at, timeZone))
  return at
}

const daysIn = (year, month) => new Date(Date.UTC(year, month, 0)).getUTCDate()

// Returns the same day of the month `count` months later, or the last day of a month without that day.
function addMonths(timestamp, count, timeZone) {
  const [year, month, day, ...time] = partsAt(timestamp, timeZone)
  const months = year * 12 + (month - 1) + count
  const [newYear, newMonth] = [Math.floor(months / 12), (months % 12) + 1]
  return timeOf([newYear, newMonth, Math.min(day, daysIn(newYear, newMonth)), ...time], timeZone)
}

function addDays(timestamp, count, timeZone) {
  const [year, month, day, ...time] = partsAt(timestamp, timeZone)
  return timeOf([year, month, day + count, ...time], timeZone)
}

// Returns the last millisecond of the day.
function endOfDay(timestamp, timeZone) {
  const [year, month, day] = partsAt(timestamp, timeZone)
  return timeOf([year, month, day + 1, 0, 0, 0], timeZone) - 1
}

exports.partsAt = partsAt
exports.addMonths = addMonths
exports.addDays = addDays
exports.endOfDay = endOfDay
