// Where a tenant's data lies. A place is a jurisdiction, which the platform never lets the data out of, or a location, which is
// a wish: databases are made near it, and objects start there (https://developers.cloudflare.com/d1/configuration/data-location/).

/** Borders that data does not cross: databases, objects and files. */
export const JURISDICTIONS = ['eu', 'us', 'fedramp'] as const

/** Parts of the world that databases and objects are made in when there is room. */
export const LOCATIONS = ['wnam', 'enam', 'weur', 'eeur', 'apac', 'oc'] as const

/** Empty: anywhere. */
export const PLACES = ['', ...JURISDICTIONS, ...LOCATIONS] as const
export type Jurisdiction = (typeof JURISDICTIONS)[number]
export type Location = (typeof LOCATIONS)[number]
export type Place = (typeof PLACES)[number]

export const isPlace = (text: string): text is Place => (PLACES as readonly string[]).includes(text)

export const isJurisdiction = (place: Place): place is Jurisdiction =>
  (JURISDICTIONS as readonly string[]).includes(place)

/** Binding of the bucket for files of a place: `FILES`, and one for each jurisdiction, as `FILES_EU`. */
export const bucketBinding = (place: Place): string =>
  isJurisdiction(place) ? `FILES_${place.toUpperCase()}` : 'FILES'
