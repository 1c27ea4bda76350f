// The guidelines as a plugin, with the same decisions for the same reasons.
const { valueOf, groupsOf, isYounger } = require('../lib/policy.js')

/** @type {Bindery.GetUnderwritingResult} */
function getUnderwritingResult(data) {
  const segment = data.policy.characteristics[data.policy.characteristics.length - 1]
  const timeZone = 'Europe/Berlin'
  const notes = []
  /** @type {Bindery.GetUnderwritingResultAnswer['decision']} */
  let decision = 'accept'

  if (valueOf(segment, 'previous_insurer_cancelled') === 'yes') {
    decision = 'none'
    notes.push('A previous insurer has cancelled: refer to an underwriter.')
  }
  if (groupsOf(segment, 'claims').length > 3) {
    decision = 'reject'
    notes.push('More than 3 claims in the last five years.')
  }
  for (const driver of groupsOf(segment, 'named_drivers')) {
    if (isYounger(driver.birth_date[0], 18, segment.policyStartTimestamp, timeZone)) {
      decision = 'reject'
      notes.push(driver.full_name[0] + ' is under 18 when the cover starts.')
    }
    if (driver.licence_withdrawn[0] === 'yes') {
      decision = 'reject'
      notes.push('The licence of ' + driver.full_name[0] + ' was withdrawn in the last five years.')
    }
  }
  return { decision, notes }
}

exports.getUnderwritingResult = getUnderwritingResult
