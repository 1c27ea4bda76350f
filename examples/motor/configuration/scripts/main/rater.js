// The rates of the premium templates as a plugin, equal to the cent for every peril. One call rates all perils of a
// policy.
const { Decimal } = require('../lib/decimal.js')
const { valueOf, groupsOf, isYounger } = require('../lib/policy.js')

const factor = (table, key) => {
  const value = socotraApi.tableLookup(0, table, key)
  if (value === '') throw new Error("table '" + table + "' has no row '" + key + "'")
  return value
}

function mileageFactor(vehicle) {
  const kilometres = Number(valueOf(vehicle, 'annual_mileage_km'))
  if (kilometres <= 9000) return '0.9'
  if (kilometres <= 15000) return '1'
  return kilometres <= 25000 ? '1.12' : '1.3'
}

const usageFactors = { private: '1', commuting: '1.05' }
const deductibleFactors = { 150: '1.2', 300: '1.08', 1000: '0.85' }

const rates = {
  liability({ policy, exposure, timeZone }) {
    const isYoung = groupsOf(policy, 'named_drivers').some(driver =>
      isYounger(driver.birth_date[0], 25, policy.startTimestamp, timeZone),
    )
    const year = Decimal.of(factor('liability_base', valueOf(exposure, 'vehicle_type')))
      .times(factor('region_factor', valueOf(policy, 'region_class')))
      .times(factor('claims_free_factor', valueOf(policy, 'claims_free_years')))
      .times(mileageFactor(exposure))
      .times(usageFactors[valueOf(exposure, 'usage')] || '1.25')
      .times(isYoung ? '1.45' : '1')
      .round(2)
    const commissions = []
    const channel = valueOf(policy, 'channel')
    if (channel === 'broker')
      commissions.push({ recipient: valueOf(policy, 'broker_code'), yearlyAmount: year.times('0.11').round(2) })
    // 1.25 a month.
    if (channel === 'comparison_portal') commissions.push({ recipient: channel, yearlyAmount: 15 })
    return { year, technical: year.times('0.72').round(2), commissions }
  },

  own_damage({ policy, exposure, peril }) {
    const year = Decimal.of(valueOf(exposure, 'vehicle_value'))
      .times(factor('own_damage_rate', valueOf(exposure, 'vehicle_type')))
      .times(factor('region_factor', valueOf(policy, 'region_class')))
      .times(deductibleFactors[Number(peril.deductible)] || '1')
      .round(2)
      .atLeast(60)
    const commissions =
      valueOf(policy, 'channel') === 'broker'
        ? [{ recipient: valueOf(policy, 'broker_code'), yearlyAmount: year.times('0.15').round(2) }]
        : []
    return { year, technical: year.times('0.65').round(2), commissions }
  },

  theft({ policy, exposure }) {
    let protection = Decimal.of(1)
    for (const device of exposure.fieldValues.anti_theft_devices || [])
      if (device !== 'none') protection = protection.minus('0.05')
    const month = Decimal.of(valueOf(exposure, 'vehicle_value'))
      .times('0.00018')
      .times(factor('region_factor', valueOf(policy, 'region_class')))
      .times(protection)
      .times(valueOf(exposure, 'parking') === 'street' ? '1.1' : '1')
      .round(2)
    return { year: month.times(12), technical: month.times('0.7').round(2).times(12) }
  },

  glass({ peril }) {
    const year = Decimal.of('46.8')
      .times(valueOf(peril, 'original_parts') === 'yes' ? '1.25' : '1')
      .round(2)
    return { year, technical: year.times('0.8').round(2) }
  },

  personal_accident({ policy, exposure, peril }) {
    const rate = valueOf(exposure, 'occupation_class') === 'office' ? '0.62' : '0.94'
    const year = Decimal.of(peril.lumpSumPayment || '0')
      .times('0.001')
      .times(rate)
      .round(2)
    const channel = valueOf(policy, 'channel')
    const recipient = channel === 'broker' ? valueOf(policy, 'broker_code') : channel
    const commissions = channel === 'direct' ? [] : [{ recipient, exactAmount: 3.5 }]
    return { year, technical: year.times('0.5').round(2), commissions }
  },

  trailer_liability({ exposure }) {
    const year = Decimal.of(Number(valueOf(exposure, 'gross_weight_t')) > 0.75 ? 36 : 24)
    return { year, technical: year.times('0.6').round(2) }
  },

  trailer_damage({ exposure }) {
    const year = Decimal.of(valueOf(exposure, 'trailer_value'))
      .times(factor('trailer_damage_rate', valueOf(exposure, 'trailer_kind')))
      .round(2)
      .atLeast(18)
    return { year, technical: year.times('0.6').round(2) }
  },
}

/** @type {Bindery.GetPerilRates} */
function getPerilRates(data) {
  const policies = new Map(data.policy.characteristics.map(one => [one.locator, one]))
  const exposures = new Map()
  const perils = new Map()
  for (const exposure of data.policy.exposures) {
    for (const one of exposure.characteristics) exposures.set(one.locator, one)
    for (const peril of exposure.perils)
      for (const one of peril.characteristics) perils.set(one.locator, { name: peril.name, peril: one })
  }
  const pricedPerilCharacteristics = {}
  for (const asked of data.policyExposurePerils) {
    const { name, peril } = perils.get(asked.perilCharacteristicsLocator)
    const { year, technical, commissions = [] } = rates[name]({
      policy: policies.get(asked.policyCharacteristicsLocator),
      exposure: exposures.get(asked.exposureCharacteristicsLocator),
      peril,
      timeZone: data.tenantTimeZone,
    })
    pricedPerilCharacteristics[asked.perilCharacteristicsLocator] = {
      yearlyPremium: String(year),
      yearlyTechnicalPremium: String(technical),
      commissions: commissions.map(one => ({
        ...one,
        ...(one.yearlyAmount !== undefined && { yearlyAmount: String(one.yearlyAmount) }),
      })),
    }
  }
  return { pricedPerilCharacteristics }
}

exports.getPerilRates = getPerilRates
