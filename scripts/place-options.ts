// The options `--jurisdiction` and `--location` of commands.
import { isJurisdiction, JURISDICTIONS, LOCATIONS, type Place } from '../src/platform/tenancy/places.ts'
import { Misuse } from './command-line.ts'

/** Options of `parseArgs`. */
export const PLACE_OPTIONS = {
  jurisdiction: { type: 'string' },
  location: { type: 'string' },
} as const

export type PlaceValues = { readonly jurisdiction?: string; readonly location?: string }

/** Returns the place that the options name, or an empty text for none. Throws a `Misuse` that lists the valid ones. */
export function placeOfOptions(values: PlaceValues): Place {
  const { jurisdiction, location } = values
  if (jurisdiction !== undefined && location !== undefined)
    throw new Misuse('A jurisdiction already determines where data may be. Omit --location.')
  const known: readonly string[] = jurisdiction === undefined ? LOCATIONS : JURISDICTIONS
  const place = jurisdiction ?? location ?? ''
  if (place !== '' && !known.includes(place))
    throw new Misuse(
      `'${place}' is not a known ${jurisdiction === undefined ? 'location' : 'jurisdiction'}. Known ones are ${known.join(', ')}.`,
    )
  return place as Place
}

/** The arguments with which the provider's tool creates a database in the place. */
export const placeArguments = (place: Place): string[] =>
  place === '' ? [] : [isJurisdiction(place) ? '--jurisdiction' : '--location', place]
