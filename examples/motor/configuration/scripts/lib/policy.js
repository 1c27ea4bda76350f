// Reads values of a policy for rating and underwriting.
const { partsAt } = require('./calendar.js')

// Returns the first value of a field, or undefined.
const valueOf = (characteristics, field) => (characteristics.fieldValues[field] || [])[0]

// Returns the groups of a repeatable field, in order.
const groupsOf = (characteristics, field) =>
  (characteristics.fieldValues[field] || []).map(locator => characteristics.fieldGroupsByLocator[locator])

// Whether a person with that birth date is younger than `years` at `timestamp`, by the calendar of the zone.
const isYounger = (birthDate, years, timestamp, timeZone) => {
  const birthday = partsAt(Number(birthDate), timeZone)
  birthday[0] += years
  const isLeapYear = year => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  if (birthday[1] === 2 && birthday[2] === 29 && !isLeapYear(birthday[0])) birthday[2] = 28
  const now = partsAt(Number(timestamp), timeZone)
  for (let part = 0; part < now.length; part++)
    if (birthday[part] !== now[part]) return birthday[part] > now[part]
  return false
}

exports.valueOf = valueOf
exports.groupsOf = groupsOf
exports.isYounger = isYounger
