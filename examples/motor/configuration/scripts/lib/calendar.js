// Days and months as the calendar of a time zone has them.

const clocks = {}

// Year, month, day, hour, minute and second at a time.
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

// The time at which clocks of the zone show these parts.
function timeOf(parts, timeZone) {
  const shown = asUtc(parts)
  let at = shown
  // Once for the zone's offset, and once more where it changes in between.
  for (let round = 0; round < 2; round++) at += shown - asUtc(partsAt(at, timeZone))
  return at
}

const daysIn = (year, month) => new Date(Date.UTC(year, month, 0)).getUTCDate()

// So many months later on the same day of the month, or on its last where it has no such day.
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

// The last millisecond of the day.
function endOfDay(timestamp, timeZone) {
  const [year, month, day] = partsAt(timestamp, timeZone)
  return timeOf([year, month, day + 1, 0, 0, 0], timeZone) - 1
}

exports.partsAt = partsAt
exports.addMonths = addMonths
exports.addDays = addDays
exports.endOfDay = endOfDay
