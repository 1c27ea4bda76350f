// The risks that a policy of the example insures, and changes of them.
import { birthDateOf, nameOf, type Person } from './people.ts'
import type { Random } from './random.ts'
import {
  type Channel,
  glass,
  kindOf,
  liability,
  ownDamage,
  type Price,
  personalAccident,
  type Rated,
  REGION_CLASSES,
  TRAILER_KINDS,
  theft,
  trailerDamage,
  trailerLiability,
  VEHICLE_TYPES,
} from './tariff.ts'

type Driver = { full_name: string; birth_date: string; licence_year?: string; licence_withdrawn: 'no' }

type VehicleData = {
  vehicle_type: string
  registration_plate: string
  vehicle_kind: string
  usage: string
  payload_kg?: number
  parking?: string
  first_registration: string
  vehicle_value: number
  annual_mileage_km: number
  anti_theft_devices: string[]
}

type Vehicle = {
  readonly id: string
  readonly data: VehicleData
  /** Undefined if own damage is not insured. */
  readonly deductible?: number
  readonly hasTheft: boolean
  readonly originalParts?: boolean
}

type PolicyData = Channel & {
  document_delivery: 'email' | 'post'
  contact_email?: string
  contact_phone?: string
  region_class: string
  claims_free_years: number
  previous_insurer_cancelled: 'no'
  named_drivers: Driver[]
  claims?: { claim_month: string; kind: string; amount: number }[]
  consented_at?: string
}

type Trailer = { trailer_kind: string; gross_weight_t: number; trailer_value: number }

export type Risk = {
  readonly policy: PolicyData
  readonly vehicles: readonly Vehicle[]
  readonly trailer?: Trailer
  readonly occupation?: string
}

const two = (number: number): string => String(number).padStart(2, '0')

const plateOf = (random: Random): string =>
  `${random.pick(['B', 'HH', 'M', 'K', 'LÖ', 'WÜ'])}-${random.pick(['GL', 'X', 'KA', 'RT'])} ${random.between(1, 9_999)}${random.chance(0.1) ? 'E' : ''}`

function vehicleDataOf(random: Random): VehicleData {
  const type = random.pick(VEHICLE_TYPES)
  const kind = kindOf(type)
  const usage = random.pick(['private', 'private', 'commuting', 'commercial'])
  return {
    vehicle_type: type,
    registration_plate: plateOf(random),
    vehicle_kind: kind,
    usage,
    ...(kind === 'van' && usage === 'commercial' && { payload_kg: random.between(400, 1_400) }),
    ...(kind !== 'motorcycle' && { parking: random.pick(['garage', 'private_ground', 'street']) }),
    first_registration: `${random.between(2_008, 2_022)}-${two(random.between(1, 12))}-01`,
    vehicle_value: random.between(8, 480) * 100,
    annual_mileage_km: random.between(4, 34) * 1_000,
    anti_theft_devices: random.pick([['none'], ['immobiliser'], ['immobiliser', 'alarm'], ['tracker']]),
  }
}

function vehicleOf(random: Random, number: number): Vehicle {
  const isCovered = random.chance(0.45)
  return {
    id: `veh-${number}`,
    data: vehicleDataOf(random),
    ...(isCovered && { deductible: random.pick([150, 300, 500, 1_000]) }),
    hasTheft: isCovered || random.chance(0.25),
    ...(isCovered && random.chance(0.6) && { originalParts: random.chance(0.3) }),
  }
}

const driverOf = (random: Random): Driver => ({
  full_name: nameOf(random),
  birth_date: birthDateOf(random),
  ...(random.chance(0.5) && { licence_year: `${random.between(2_005, 2_021)}-01-01` }),
  licence_withdrawn: 'no',
})

export function riskOf(random: Random, holder: Person): Risk {
  const channel = random.pick(['direct', 'direct', 'broker', 'comparison_portal'] as const)
  const delivery = random.chance(0.75) ? 'email' : 'post'
  return {
    policy: {
      channel,
      ...(channel === 'broker' && { broker_code: `BRK-${random.between(1_000, 1_060)}` }),
      document_delivery: delivery,
      ...(delivery === 'email' && { contact_email: 'post@example.com' }),
      ...(random.chance(0.4) && { contact_phone: `+49 171 ${random.between(1_000_000, 9_999_999)}` }),
      region_class: random.pick(REGION_CLASSES),
      claims_free_years: random.between(0, 30),
      previous_insurer_cancelled: 'no',
      named_drivers: [
        { full_name: holder.fullName, birth_date: holder.birthDate, licence_withdrawn: 'no' },
        ...(random.chance(0.25) ? [driverOf(random)] : []),
      ],
      ...(random.chance(0.15) && {
        claims: [{ claim_month: '2022-11-01', kind: 'glass', amount: random.between(100, 900) }],
      }),
    },
    vehicles: Array.from({ length: random.chance(0.06) ? 2 : 1 }, (_, at) => vehicleOf(random, at + 1)),
    ...(random.chance(0.08) && {
      trailer: {
        trailer_kind: random.pick(TRAILER_KINDS),
        gross_weight_t: random.between(3, 35) / 10,
        trailer_value: random.between(5, 120) * 100,
      },
    }),
    ...(random.chance(0.12) && { occupation: random.pick(['office', 'manual', 'driving']) }),
  }
}

export type Change = { readonly name: string; readonly risk: Risk }

/** Returns a change that a customer requests. Changes of contact details have no price. */
export function changedRisk(random: Random, risk: Risk): Change {
  const [first, ...others] = risk.vehicles
  const vehicle = (changes: Partial<Vehicle>): Change => ({
    name: random.pick(['change_of_risk', 'change']),
    risk: { ...risk, vehicles: [{ ...first!, ...changes }, ...others] },
  })
  const { data } = first!
  switch (random.between(0, 7)) {
    case 0:
      return {
        name: 'change_of_contact',
        risk: {
          ...risk,
          policy: { ...risk.policy, contact_phone: `+49 160 ${random.between(1_000_000, 9_999_999)}` },
        },
      }
    case 1:
      return vehicle({ data: vehicleDataOf(random) })
    case 2:
      return vehicle({ data: { ...data, annual_mileage_km: random.between(4, 34) * 1_000 } })
    case 3:
      return vehicle({ deductible: random.pick([150, 300, 500, 1_000]), hasTheft: true })
    case 4:
      return {
        name: 'change_of_risk',
        risk: {
          ...risk,
          policy: {
            ...risk.policy,
            named_drivers: [...risk.policy.named_drivers.slice(0, 3), driverOf(random)],
          },
        },
      }
    case 5:
      return risk.vehicles.length < 3
        ? {
            name: 'change_of_risk',
            risk: { ...risk, vehicles: [...risk.vehicles, vehicleOf(random, risk.vehicles.length + 1)] },
          }
        : vehicle({ originalParts: true })
    case 6:
      return {
        name: 'tariff_adjustment',
        risk: { ...risk, policy: { ...risk.policy, region_class: random.pick(REGION_CLASSES) } },
      }
    default:
      return { name: 'change_of_risk', risk: { ...risk, occupation: risk.occupation ?? 'office' } }
  }
}

/** Returns the risk at the renewal, with one more year without a claim. */
export const aYearLater = (risk: Risk): Risk => ({
  ...risk,
  policy: { ...risk.policy, claims_free_years: Math.min(35, risk.policy.claims_free_years + 1) },
})

export type RatedPeril = {
  readonly id: string
  readonly type: string
  readonly data?: Record<string, unknown>
  readonly terms: Record<string, unknown>
  readonly price: Price
  /** Whether the vehicle is in commercial use, which has a levy. */
  readonly levied: boolean
}

export type RatedExposure = {
  readonly id: string
  readonly type: string
  readonly data: Record<string, unknown>
  readonly perils: readonly RatedPeril[]
}

/** The lump sum of driver protection. */
const LUMP_SUM = 50_000

/** Returns exposures with their perils, rated for cover that begins on the day (YYYY-MM-DD, local). */
export function exposuresOf(risk: Risk, day: string): RatedExposure[] {
  const turns25After = (birth: string): boolean => `${Number(birth.slice(0, 4)) + 25}${birth.slice(4)}` > day
  const rated: Rated = {
    ...risk.policy,
    hasYoungDriver: risk.policy.named_drivers.some(driver => turns25After(driver.birth_date)),
  }
  const vehicles = risk.vehicles.map(({ id, data, deductible, hasTheft, originalParts }): RatedExposure => {
    const peril = (type: string, terms: object, price: Price, values?: object): RatedPeril => ({
      id: `${id}-${type}`,
      type,
      price,
      levied: data.usage === 'commercial',
      terms: terms as Record<string, unknown>,
      ...(values && { data: values as Record<string, unknown> }),
    })
    return {
      id,
      type: 'vehicle',
      data,
      perils: [
        peril(
          'liability',
          { indemnityPerItem: 15_000_000, indemnityPerEvent: 100_000_000 },
          liability(rated, data),
        ),
        ...(deductible === undefined
          ? []
          : [peril('own_damage', { deductible }, ownDamage(rated, data, deductible))]),
        ...(hasTheft
          ? [
              peril(
                'theft',
                { indemnityPerEvent: 250_000, indemnityInAggregate: 500_000, deductible: 150 },
                theft(rated, data),
              ),
            ]
          : []),
        ...(originalParts === undefined
          ? []
          : [
              peril('glass', { indemnityPerItem: 2_500, deductible: 0 }, glass(originalParts), {
                original_parts: originalParts ? 'yes' : 'no',
              }),
            ]),
      ],
    }
  })
  const { trailer, occupation } = risk
  const other = (id: string, type: string, data: object, perils: Omit<RatedPeril, 'levied'>[]) => ({
    id,
    type,
    data: data as Record<string, unknown>,
    perils: perils.map(peril => ({ ...peril, levied: false })),
  })
  return [
    ...vehicles,
    ...(trailer
      ? [
          other('trailer-1', 'trailer', trailer, [
            {
              id: 'trailer-1-liability',
              type: 'trailer_liability',
              terms: { indemnityPerEvent: 100_000_000 },
              price: trailerLiability(trailer.gross_weight_t),
            },
            {
              id: 'trailer-1-damage',
              type: 'trailer_damage',
              terms: { deductible: 150 },
              price: trailerDamage(trailer.trailer_kind, trailer.trailer_value),
            },
          ]),
        ]
      : []),
    ...(occupation
      ? [
          other('driver-1', 'driver_protection', { occupation_class: occupation }, [
            {
              id: 'driver-1-accident',
              type: 'personal_accident',
              terms: { lumpSumPayment: LUMP_SUM },
              price: personalAccident(risk.policy, occupation, LUMP_SUM),
            },
          ]),
        ]
      : []),
  ]
}
