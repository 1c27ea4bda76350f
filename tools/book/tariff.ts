// The rates of the example: its tables, and the annual premium of each peril (examples/motor/README.md, "How premiums are made").
// The other system rated as ours does, so a policy that is rated again here has the same price as there.
import Big from 'big.js'

type VehicleType = {
  readonly base: string
  readonly ownDamage: string
  readonly kind: 'car' | 'van' | 'motorcycle'
}

const TYPES: Readonly<Record<string, VehicleType>> = {
  '0005-CPG': { base: '376.50', ownDamage: '0.0214', kind: 'car' },
  '0035-AXZ': { base: '264.00', ownDamage: '0.0176', kind: 'car' },
  '0603-BNV': { base: '402.00', ownDamage: '0.0198', kind: 'van' },
  '0603-BTP': { base: '318.00', ownDamage: '0.0185', kind: 'car' },
  '0710-FDD': { base: '455.10', ownDamage: '0.0221', kind: 'van' },
  '0999-AAX': { base: '221.40', ownDamage: '0.0243', kind: 'car' },
  '1313-JFH': { base: '248.40', ownDamage: '0.0162', kind: 'car' },
  '1480-ACP': { base: '389.70', ownDamage: '0.0230', kind: 'car' },
  '1727-ADA': { base: '287.60', ownDamage: '0.0190', kind: 'van' },
  '2135-AAB': { base: '142.80', ownDamage: '0.0315', kind: 'motorcycle' },
  '3333-BKH': { base: '273.90', ownDamage: '0.0208', kind: 'car' },
  '8566-BRK': { base: '309.00', ownDamage: '0.0179', kind: 'car' },
}

export const VEHICLE_TYPES = Object.keys(TYPES)
export const kindOf = (type: string): VehicleType['kind'] => TYPES[type]!.kind

const REGIONS: Readonly<Record<string, string>> = {
  R1: '0.86',
  R2: '0.94',
  R3: '1.00',
  R4: '1.08',
  R5: '1.17',
  R6: '1.29',
}
export const REGION_CLASSES = Object.keys(REGIONS)

/** By years without a claim, from 0 to 35. */
const CLAIMS_FREE = [
  ...['0.95', '0.62', '0.56', '0.52', '0.48', '0.45', '0.42', '0.40', '0.38', '0.36', '0.34', '0.33', '0.32'],
  ...['0.31', '0.30', '0.29', '0.28', '0.28', '0.27', '0.27', '0.26', '0.26', '0.25', '0.25', '0.24', '0.24'],
  ...['0.23', '0.23', '0.22', '0.22', '0.21', '0.21', '0.21', '0.20', '0.20', '0.20'],
]

export type Channel = {
  readonly channel: 'direct' | 'broker' | 'comparison_portal'
  readonly broker_code?: string
}

export type Price = {
  /** For a year, in euros. A monthly price is multiplied by twelve. */
  readonly year: Big
  readonly technicalYear: Big
  readonly commission?: { readonly recipient: string; readonly year?: Big; readonly once?: Big }
}

const cents = (value: Big): Big => value.round(2, Big.roundHalfUp)

const commissionOf = ({ channel, broker_code }: Channel, ofBroker: Big, ofPortal?: Big) => {
  if (channel === 'broker') return { commission: { recipient: broker_code!, year: cents(ofBroker) } }
  return channel === 'comparison_portal' && ofPortal
    ? { commission: { recipient: channel, year: ofPortal } }
    : {}
}

const mileageFactor = (km: number): string => {
  if (km <= 9_000) return '0.9'
  if (km <= 15_000) return '1'
  return km <= 25_000 ? '1.12' : '1.3'
}

const USAGES: Readonly<Record<string, string>> = { private: '1', commuting: '1.05', commercial: '1.25' }

export type Rated = Channel & {
  readonly region_class: string
  readonly claims_free_years: number
  /** Whether a driver is under 25 when the transaction takes effect. */
  readonly hasYoungDriver: boolean
}

export type RatedVehicle = {
  readonly vehicle_type: string
  readonly usage: string
  readonly annual_mileage_km: number
  readonly vehicle_value: number
  readonly parking?: string
  readonly anti_theft_devices: readonly string[]
}

export function liability(policy: Rated, vehicle: RatedVehicle): Price {
  const year = cents(
    new Big(TYPES[vehicle.vehicle_type]!.base)
      .times(REGIONS[policy.region_class]!)
      .times(CLAIMS_FREE[policy.claims_free_years]!)
      .times(mileageFactor(vehicle.annual_mileage_km))
      .times(USAGES[vehicle.usage]!)
      .times(policy.hasYoungDriver ? '1.45' : '1'),
  )
  return {
    year,
    technicalYear: cents(year.times('0.72')),
    ...commissionOf(policy, year.times('0.11'), new Big('15')),
  }
}

const DEDUCTIBLES: Readonly<Record<number, string>> = { 150: '1.2', 300: '1.08', 500: '1', 1000: '0.85' }

export function ownDamage(policy: Rated, vehicle: RatedVehicle, deductible: number): Price {
  const rated = new Big(vehicle.vehicle_value)
    .times(TYPES[vehicle.vehicle_type]!.ownDamage)
    .times(REGIONS[policy.region_class]!)
    .times(DEDUCTIBLES[deductible]!)
  const year = cents(rated).lt(60) ? new Big(60) : cents(rated)
  return {
    year,
    technicalYear: cents(year.times('0.65')),
    ...commissionOf(policy, year.times('0.15')),
  }
}

export function theft(policy: Rated, vehicle: RatedVehicle): Price {
  const devices = vehicle.anti_theft_devices.filter(device => device !== 'none').length
  const month = cents(
    new Big(vehicle.vehicle_value)
      .times('0.00018')
      .times(REGIONS[policy.region_class]!)
      .times(new Big(1).minus(new Big('0.05').times(devices)))
      .times(vehicle.parking === 'street' ? '1.1' : '1'),
  )
  return { year: month.times(12), technicalYear: cents(month.times('0.7')).times(12) }
}

export function glass(originalParts: boolean): Price {
  const year = new Big(originalParts ? '58.50' : '46.80')
  return { year, technicalYear: cents(year.times('0.8')) }
}

const TRAILERS: Readonly<Record<string, string>> = {
  cargo: '0.0090',
  horse: '0.0125',
  boat: '0.0110',
  caravan: '0.0140',
}
export const TRAILER_KINDS = Object.keys(TRAILERS)

export function trailerLiability(grossWeightTonnes: number): Price {
  const year = new Big(grossWeightTonnes > 0.75 ? 36 : 24)
  return { year, technicalYear: cents(year.times('0.6')) }
}

export function trailerDamage(kind: string, value: number): Price {
  const rated = cents(new Big(value).times(TRAILERS[kind]!))
  const year = rated.lt(18) ? new Big(18) : rated
  return { year, technicalYear: cents(year.times('0.6')) }
}

export function personalAccident(
  { channel, broker_code }: Channel,
  occupation: string,
  lumpSum: number,
): Price {
  const year = cents(new Big(lumpSum).div(1000).times(occupation === 'office' ? '0.62' : '0.94'))
  return {
    year,
    technicalYear: cents(year.times('0.5')),
    ...(channel !== 'direct' && {
      commission: { recipient: broker_code ?? channel, once: new Big('3.50') },
    }),
  }
}
