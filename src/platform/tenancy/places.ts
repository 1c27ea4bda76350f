// The place of a tenant's data: a jurisdiction, which data never leaves, or a location, which is a preference for new databases
// and objects (https://developers.cloudflare.com/d1/configuration/data-location/).

/** Databases, objects and files stay within a jurisdiction. */
export const JURISDICTIONS = ['eu', 'us', 'fedramp'] as const

/** Databases and objects start in a location when it has room. */
export const LOCATIONS = ['wnam', 'enam', 'weur', 'eeur', 'apac', 'oc'] as const

/** Empty: anywhere. */
export const PLACES = ['', ...JURISDICTIONS, ...LOCATIONS] as const
export type Jurisdiction = (typeof JURISDICTIONS)[number]
export type Location = (typeof LOCATIONS)[number]
export type Place = (typeof PLACES)[number]

export const isPlace = (text: string): text is Place => (PLACES as readonly string[]).includes(text)

export const isJurisdiction = (place: Place): place is Jurisdiction =>
  (JURISDICTIONS as readonly string[]).includes(place)

/** Returns `FILES`, or the bucket of a jurisdiction, e.g. `FILES_EU`. */
export const bucketBinding = (place: Place): string =>
  isJurisdiction(place) ? `FILES_${place.toUpperCase()}` : 'FILES'
